"""Modules into deployments and out again: all statements of a module, or none."""
from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from epl.analysis.statements.annotations import annotation_warning, unknown_in_module
from epl.analysis.statements.modules import analyse_module
from epl.catalog import Catalog, Variable
from epl.errors import (
    AlreadyDeclaredError,
    EplDeploymentError,
    EplError,
    EplRuntimeError,
    EplSyntaxError,
    EplUnsupportedError,
    EplValidationError,
    EplWarning,
)
from epl.event_types import EventType
from epl.functions.user import import_python
from epl.parse import preceding_statements
from epl.plan.context.contexts import Context
from epl.plan.declared import Declared
from epl.plan.statements import CreateTablePlan, CreateVariablePlan, ModulePlan, StatementPlan
from epl.plan.stores.queries import QueryPlan
from epl.plan.stores.tables import Table
from epl.syntax import Module
from runtime.api.definitions import Definitions
from runtime.api.deployment import DeployedModule, Deployment
from runtime.api.plan_cache import parse_text
from runtime.api.preconditions import check_preconditions, first_use, locate, module_names, sees
from runtime.api.properties_read import PropertiesRead
from runtime.api.queries import compile_query, fill, plan_query
from runtime.api.statement import Statement
from runtime.api.substitution_parameters import check_all_used, check_parameters
from runtime.build import prepare
from runtime.event_loop.loop import EventLoop
from runtime.expressions import Environment, compile_expression
from runtime.expressions.environment import Cell
from runtime.state.runtime_state import Counts
from runtime.statements.queries.query import Query
from runtime.statements.queries.rows import Stores
from runtime.statements.statement_output import Listener, StatementHost, StatementOutput
from runtime.stores.by_partition import PartitionedTable, PartitionedVariable
from runtime.stores.table import TableStore
from runtime.stores.variables import VariableCell
from windows.protocol import State


class Deployer:
    """The deployments of one runtime; used under its lock.

    ``functions``, ``types``, ``variables``, ``historical``: the runtime's own, as they are at any time.
    ``catalog_of(declared)``: what was registered, and what deployments have declared; ``undeploy(id)``: what ``Deployed.undeploy`` calls.
    """

    def __init__(self, host: StatementHost, core: EventLoop, definitions: Definitions, undeploy: Callable[[str], None]) -> None:
        self.deployments: dict[str, DeployedModule] = {}
        self.counts = Counts()
        self.properties_read = PropertiesRead(self._plans, lambda: core.is_observed)
        self.tables: dict[Table, Any] = {}
        """TableStore of each, or PartitionedTable."""
        self.row_pattern_observer: Callable[[Any, int | None, int], None] | None = None
        self.pattern_observer: Callable[[Any, int, bool], None] | None = None
        """Of statements that are deployed from now on; see Environment."""
        self._names_gone = False
        """Whether something declared has gone since ``check_restorable``."""
        self._host, self._core, self._settings = host, core, core.settings
        self._definitions, self._functions, self._variables = definitions, definitions.functions, definitions.variables
        self._undeploy = undeploy

    def statements(self) -> Iterator[StatementOutput]:
        """Yield all deployed statements, in order of deployment."""
        return (statement for deployment in self.deployments.values() for statement in deployment)

    def _plans(self) -> Iterator[StatementPlan]:
        return (statement.plan for statement in self.statements())

    # ------------------------------------------------------------------ compile

    def catalog(self, module: str | None = None, without: Sequence[DeployedModule] = ()) -> Catalog:
        """Return what a module of that name compiled now would see, were the deployments ``without`` not there."""
        there = [dep for dep in list(self.deployments.values()) if dep not in without]
        return self._definitions.catalog([d for dep in there for d in dep.plan.declared if sees(d, dep.plan, module)])

    def newest_type(self, name: str) -> EventType | None:
        """Return the event type of that name that was declared last, by whatever deployment."""
        types = [d.value for dep in self.deployments.values() for d in dep.plan.declared if d.kind == "event_type" and d.name == name]
        return types[-1] if types else None

    def import_names(self, module: Module) -> None:
        """See Runtime.import_names."""
        allowed = self._settings.python_imports
        for name in (*self._settings.imports, *module.imports) if allowed else ():
            if any(name == root or name.startswith(f"{root}.") for root in allowed) and not import_python(self._functions, name):
                raise EplValidationError(f"Could not load class by name '{name}', please check imports", hint="no Python module or class")

    def compile_module(self, text: str, without: Sequence[DeployedModule] = ()) -> ModulePlan:
        """Return the plan of a module's text, as if the deployments ``without`` were not there. Raise EplError; warn of unknown
        annotations, in the name of the code that called the caller's public method."""
        try:
            module = parse_text(text)
        except (EplSyntaxError, EplValidationError) as error:
            self._refuse_preceding(error, text, without)
            raise
        return self._analyse(module, without)

    def _refuse_preceding(self, error: EplError, text: str, without: Sequence[DeployedModule]) -> None:
        """Raise what is wrong with a statement before the one that is not EPL: as in Esper, one is compiled after the other."""
        before = None if error.span is None else preceding_statements(text, error.span.start)
        if before is not None:
            with suppress(EplUnsupportedError):
                analyse_module(before, self.catalog(before.name, without))

    def _analyse(self, module: Module, without: Sequence[DeployedModule] = ()) -> ModulePlan:
        self.import_names(module)
        catalog = self.catalog(module.name, without)
        try:
            plan = analyse_module(module, catalog)
        except AlreadyDeclaredError as error:
            locate(error, self.deployments.values())
            raise
        for annotation in unknown_in_module(module, catalog):
            warnings.warn(annotation_warning(annotation), EplWarning, stacklevel=6)
        return plan

    def namesakes(self, module: str | ModulePlan) -> list[DeployedModule]:
        """Return the deployments that the module would double, newest first: same statement names, same declared names."""
        if isinstance(module, ModulePlan):
            names = {s.name for s in module.statements} | {d.name for d in module.declared}
        else:
            names = module_names(parse_text(module))
        return [
            d for d in reversed(self.deployments.values())
            if names & ({s.name for s in d if s.plan.is_named} | {each.name for each in d.plan.declared})
        ]

    # ------------------------------------------------------------------ deploy

    def deploy(
        self, plan: ModulePlan, name: str | None, listeners: Mapping[str, Listener], parameters: dict[str | int, Any]
    ) -> DeployedModule:
        """Deploy a plan; see Runtime.deploy. Whatever is raised, nothing of the module stays."""
        unknown = listeners.keys() - {s.name for s in plan.statements}
        if unknown:
            raise EplDeploymentError(
                f"no statement named '{min(unknown)}' to attach a listener to; there are {', '.join(s.name for s in plan.statements)}"
            )
        deployment = self.prepare(plan, name, parameters)
        try:
            for statement in deployment:
                statement.running = statement.prepared.instantiate()
            for statement in deployment:
                if statement.name in listeners:
                    statement.attach(listeners[statement.name])
                statement.running.start()
            self._core.settle()
        except BaseException as error:
            self.undeploy(deployment)
            if isinstance(error, EplError):
                error.within(plan.text)
            raise
        return deployment

    def prepare(self, plan: ModulePlan, name: str | None, parameters: dict[str | int, Any]) -> DeployedModule:
        """Add a deployment whose statements are prepared, and have no instances yet. Whatever is raised, nothing of the module stays."""
        deployment_id = name if name is not None else self._next_id()
        if deployment_id in self.deployments:
            raise EplDeploymentError(f"Deployment by id '{deployment_id}' already exists")
        check_preconditions(plan, self.deployments.values(), self._definitions.types.values(), self._variables)
        check_all_used(plan, parameters)
        statements = self._prepare_all(plan, deployment_id, {s.name: check_parameters(s, parameters) for s in plan.statements})
        self.properties_read.add(plan.statements)
        public = Deployment(deployment_id, plan, tuple(Statement(each) for each in statements), self._undeploy)
        deployment = self.deployments[deployment_id] = DeployedModule(deployment_id, plan, statements, parameters, public)
        self._names_changed(deployment)
        return deployment

    def resume(self, statement: StatementOutput, state: State) -> None:
        """Run an instance in that state in place of the one that runs, if one does."""
        statement.running.close()
        statement.running = statement.prepared.instantiate(state=state)
        statement.running.start()

    def _next_id(self) -> str:
        while f"d{self.counts.deployments}" in self.deployments:
            self.counts.deployments += 1
        self.counts.deployments += 1
        return f"d{self.counts.deployments - 1}"

    def _prepare_all(
        self, plan: ModulePlan, deployment_id: str, parameters: Mapping[str, dict[str | int, Any]]
    ) -> tuple[StatementOutput, ...]:
        """Return all statements. ``parameters``: by statement name."""
        statements: list[StatementOutput] = []
        cells: list[str] = []
        tables: list[Table] = []
        variables = self._module_variables(plan)

        def environment(statement: str) -> Environment:
            return self.environment(parameters[statement], variables=variables)

        try:
            for each in plan.statements:
                if isinstance(each.body, CreateVariablePlan):
                    cell = self._create_cell(each.body, each.context, deployment_id, environment(each.name))
                    self._variables.add(cell)
                    variables[each.body.name] = cell
                    cells.append(each.body.name)
                if isinstance(each.body, CreateTablePlan):
                    self._create_table(each.body.table, deployment_id, environment(each.name))
                    tables.append(each.body.table)
                statements.append(self._prepare(each, deployment_id, environment(each.name)))
        except BaseException as error:
            for name in cells:
                self._variables.remove(name, deployment_id)
            for table in tables:
                del self.tables[table]
            for statement in statements:
                self._core.forget_statement(statement.number)
            if isinstance(error, EplError):
                error.within(plan.text)
            raise
        return tuple(statements)

    def _module_variables(self, plan: ModulePlan) -> dict[str, VariableCell]:
        """Return what holds the variables that a module sees and will create: the runtime's own where all modules see the same ones."""
        owners = (*(dep.plan for dep in self.deployments.values() if dep.plan.name == plan.name), plan)
        if not self._variables.older and all(d.access == "public" for each in owners for d in each.declared if d.kind == "variable"):
            return self._variables
        return dict(self._variables.visible_cells(partial(self._sees, plan.name)))

    def _sees(self, module: str | None, cell: VariableCell) -> bool:
        owner = self.deployments.get(cell.deployment or "")
        return owner is None or any(
            d.kind == "variable" and d.name == cell.variable.name and sees(d, owner.plan, module) for d in owner.plan.declared)

    def _create_cell(
        self, plan: CreateVariablePlan, context: Context | None, deployment_id: str, environment: Environment
    ) -> VariableCell:
        def no_value() -> None:
            return None

        initial = no_value if plan.initial is None else compile_expression(plan.initial, environment, 0)
        if context is None:
            return VariableCell(Variable(plan.name, plan.type, plan.constant), initial(), deployment_id)
        return PartitionedVariable(Variable(plan.name, plan.type, plan.constant, context=context.name), initial, deployment_id)

    def _create_table(self, table: Table, deployment_id: str, environment: Environment) -> None:
        if table in self.tables:
            raise EplDeploymentError(
                f"A precondition is not satisfied: A table by name '{table.name}' has already been created", hint="compile the module again"
            )
        if table.context is None:
            self.tables[table] = TableStore(table, environment, deployment_id)
        else:
            self.tables[table] = PartitionedTable(lambda: TableStore(table, environment, deployment_id))

    def row_counts(self) -> dict[str, int]:
        """Return the number of rows of each named window and table, by name; of those of one name in several modules together."""
        counts: dict[str, int] = {}
        windows = [(store.window.name, store.row_count()) for store in self._core.stores.values()]
        for name, rows in (*windows, *((table.name, store.row_count()) for table, store in self.tables.items())):
            counts[name] = counts.get(name, 0) + rows
        return counts

    def environment(
        self, parameters: Mapping[str | int, Any], cells: Mapping[str | int, Cell] | None = None,
        variables: Mapping[str, VariableCell] | None = None,
    ) -> Environment:
        """Return what the expressions of a statement with these parameters may touch. ``cells``: of parameters whose values change;
        ``variables``: of the statement's module, else those that all see."""
        if variables is None:
            variables = self._variables.visible_cells(partial(self._sees, None))
        return Environment(
            functions=self._functions, variables=variables, clock=self._core.clock, parameters=parameters, settings=self._settings,
            historical=self._definitions.historical, tables=self.tables, parameter_cells=cells or {},
            row_pattern_observer=self.row_pattern_observer, pattern_observer=self.pattern_observer,
        )

    def fill(self, name: str, frame: Any) -> int:
        """See Runtime.fill."""
        catalog = self.catalog()
        declared = catalog.named_windows.get(name) or catalog.tables.get(name)
        if declared is None:
            raise EplRuntimeError(f"A named window or table '{name}' has not been declared")
        return fill(self._core, Stores(self._core.stores, self.tables), declared, frame)

    def query(self, query: str | QueryPlan, *, prepared: bool) -> Query:
        """Return a fire-and-forget query, compiled; raise EplError."""
        plan = plan_query(query, self.catalog()) if isinstance(query, str) else query
        return compile_query(plan, self._core, lambda cells: self.environment({}, cells), prepared=prepared)

    def _prepare(self, plan: StatementPlan, deployment_id: str, environment: Environment) -> StatementOutput:
        self.counts.statements += 1
        statement = StatementOutput(plan, self._host, self._core, deployment_id, self.counts.statements)
        statement.prepared = prepare(plan, self._core, statement.number, environment, statement)
        self._core.statements.append(statement.number)
        return statement

    # ------------------------------------------------------------------ undeploy

    def undeploy(self, deployment: DeployedModule) -> None:
        """Stop and forget a deployment, even if others use what it declares."""
        for statement in reversed(deployment.statements):
            statement.running.close()
            self._core.forget_statement(statement.number)
        for declared in deployment.plan.declared:
            if declared.kind == "variable":
                self._variables.remove(declared.name, deployment.id)
            if declared.kind == "table":
                self.tables.pop(declared.value, None)
        del self.deployments[deployment.id]
        self.properties_read.forget()
        self._names_gone = self._names_gone or bool(deployment.plan.declared)
        self._names_changed(deployment)
        for statement in deployment.statements:
            for ended in tuple(statement.at_end):
                ended()

    def _names_changed(self, deployment: DeployedModule) -> None:
        """Note that a deployment has come or gone: the names of the event types that it declares may mean other types now."""
        if any(declared.kind == "event_type" for declared in deployment.plan.declared):
            self._core.forget_generated()

    def check_unused(self, deployment_id: str) -> DeployedModule:
        """Return the deployment of that id; EplDeploymentError where there is none, or others use what it declares."""
        deployment = self.deployments.get(deployment_id)
        if deployment is None:
            raise EplDeploymentError(f"Deployment id '{deployment_id}' cannot be found")
        for declared in deployment.plan.declared:
            others = [d for d in self.deployments.values() if d is not deployment and sees(declared, deployment.plan, d.plan.name)]
            user = first_use(declared, others)
            if user is not None:
                raise EplDeploymentError(
                    f"A precondition is not satisfied: {declared.title} '{declared.name}' cannot be un-deployed as it is referenced "
                    f"by deployment '{user.id}'"
                )
        return deployment

    def check_restorable(self) -> None:
        """Raise EplRuntimeError where a restore could not deploy a module again: it sees what those before it declare, and no more what
        has been undeployed. Analyses again only if something declared has gone since the last time."""
        if not self._names_gone:
            return
        deployments = list(self.deployments.values())
        for place, deployment in enumerate(deployments):
            module = parse_text(deployment.plan.text)
            try:
                plan = analyse_module(module, self.catalog(module.name, without=deployments[place:]))
            except EplError as error:
                raise _not_restorable(deployment, error.message) from error
            if any(again.fingerprint != s.plan.fingerprint for again, s in zip(plan.statements, deployment, strict=True)):
                raise _not_restorable(deployment, "its event types would be other ones")
        self._names_gone = False

    def check_replaceable(self, event_type: EventType) -> None:
        """Raise EplDeploymentError where a deployment uses the type."""
        user = first_use(Declared("event_type", event_type.name, event_type), self.deployments.values())
        if user is not None:
            raise EplDeploymentError(
                f"Event type '{event_type.name}' cannot be replaced as it is referenced by deployment '{user.id}'",
                hint="undeploy it first"
            )


def _not_restorable(deployment: DeployedModule, reason: str) -> EplRuntimeError:
    return EplRuntimeError(
        f"no snapshot can be taken: deployment '{deployment.id}' could not be restored: {reason}",
        hint="what it refers to has been undeployed; undeploy it too"
    )


__all__ = ["Deployer"]
