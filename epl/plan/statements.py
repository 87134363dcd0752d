"""What analysis makes of statements: frozen data from which the runtime builds, and which explain() prints."""
from __future__ import annotations

import re
from typing import Literal as Choice

import attrs

from epl.event_types import EventType
from epl.plan.checks import check
from epl.plan.context.contexts import Context
from epl.plan.declared import Declared, Reference
from epl.plan.expressions import TypedExpression
from epl.plan.join.joins import JoinPlan
from epl.plan.join.subqueries import SubqueryPlan
from epl.plan.notebooks import ShownInNotebooks
from epl.plan.patterns.match_recognize import RowRecognitionPlan
from epl.plan.reads import Reads
from epl.plan.result_set import ResultSetPlan, TerminatedOutput
from epl.plan.stores.tables import Table
from epl.plan.streams import StreamPlan
from epl.syntax import Annotation, Declaration
from epl.value_types import ValueType


def class_words(class_name: str) -> str:
    """Return what a plan's class is called, in words.

    >>> class_words("RowRecognitionPlan"), class_words("CreateSchemaPlan")
    ('row recognition', 'create schema')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", class_name.removesuffix("Plan")).lower()


@attrs.frozen(kw_only=True)
class InsertPlan:
    """Where the output goes on to. ``stream``: which of insert / remove stream is routed.

    ``positions``: for each property of the target, the column of the row that fills it (None: null). ``converts``: the type that a number
    widens to, that a struct becomes an event of, or of an array with the event as its only element (a collection: the rows of a sub-query
    become its elements); None: as it is. ``same``: rows are events of the target already. ``precedence`` is evaluated on the inserted
    event. ``nested``: the column whose event is inserted itself, its values read by name, or ``by_place``. ``table``: which the events
    become rows of; they are routed nowhere. ``whole``: events of an open target keep what else the row, or the nested event, holds.
    """

    target: EventType
    stream: Choice["istream", "rstream", "irstream"]
    same: bool = True
    positions: tuple[int | None, ...] = ()
    converts: tuple[ValueType | None, ...] = ()
    precedence: TypedExpression | None = None
    nested: int | None = None
    by_place: bool = False
    table: Table | None = None
    whole: bool = False

    def __attrs_post_init__(self) -> None:
        expected = 0 if self.same or self.nested is not None else len(self.target.properties)
        check(len(self.positions) == expected, f"{len(self.positions)} positions for the {expected} properties of '{self.target.name}'")
        check(len(self.converts) == len(self.positions), f"{len(self.converts)} conversions for {len(self.positions)} positions")
        check(not (self.same and self.nested is not None), "rows that are events of the target have no nested event")


@attrs.frozen
class DeliveryPlan:
    """for grouped_delivery: listeners are called once a group of equal ``keys`` (of output rows); without keys (discrete_delivery) once a
    row.
    """

    keys: tuple[TypedExpression, ...]


@attrs.frozen
class BodyPlan:
    """What a statement does. ``output_type``: the type of what its listeners get, None where it has no output. ``subqueries``: those of
    all its expressions, equal ones once (epl.analysis.statements.modules collects them).
    """

    output_type: EventType | None
    subqueries: tuple[SubqueryPlan, ...] = attrs.field(default=(), kw_only=True)


@attrs.frozen(kw_only=True)
class SelectPlan(BodyPlan):
    """select … from streams: source → windows → join → where → match_recognize → result set → insert into.

    ``where`` is None where it has been moved into the filter or the join. ``join``: of several streams.
    """

    streams: tuple[StreamPlan, ...]
    join: JoinPlan | None = None
    result_set: ResultSetPlan
    where: TypedExpression | None = None
    row_recognition: RowRecognitionPlan | None = None
    insert: InsertPlan | None = None
    delivery: DeliveryPlan | None = None

    def __attrs_post_init__(self) -> None:
        check(self.streams != (), "a select without a stream")
        joined = 1 if self.join is None else len(self.join.kinds) + 1
        check(joined == len(self.streams), f"a join of {joined} streams over {len(self.streams)}")
        check(self.row_recognition is None or len(self.streams) == 1, "match_recognize over a join")
        check(self.result_set.arity == len(self.streams), f"a result set of {self.result_set.arity} streams over {len(self.streams)}")
        emitted = self.result_set.output_type if self.insert is None else self.insert.target
        check(self.output_type is emitted, f"rows of '{emitted.name}', which is not the output type")


@attrs.frozen
class SelectRowPlan(BodyPlan):
    """A select without from clause. In a context each partition emits the row as it begins; at its end where ``terminated`` is given."""

    columns: tuple[TypedExpression, ...]
    terminated: TerminatedOutput | None = None


@attrs.frozen
class CreateSchemaPlan(BodyPlan):
    event_type: EventType


@attrs.frozen
class CreateContextPlan(BodyPlan):
    """create context: declares, and runs what begins and ends the partitions of all statements that name it."""

    context: Context


@attrs.frozen
class CreateVariablePlan(BodyPlan):
    name: str
    type: ValueType
    constant: bool
    initial: TypedExpression | None


@attrs.frozen
class CreateTablePlan(BodyPlan):
    table: Table


@attrs.frozen
class CreateExpressionPlan(BodyPlan):
    declaration: Declaration


@attrs.frozen(kw_only=True)
class StatementPlan(ShownInNotebooks):
    """A statement, ready to be built. ``fingerprint``: canonical text with the schemas of the types used, as far as they are read; names
    the statement across restarts with ``name``. ``parameters``: keys (names, or numbers from 1) and types of its substitution parameters.
    ``context``: of which each partition has an instance of the statement. ``reads``: the properties that it reads of its events.
    ``refers``: declared expressions that were put in place of their calls; of a statement that declares one, also the tables and variables
    that its body names; of one that declares a type, the types that it is written with.
    """

    name: str
    body: BodyPlan
    text: str
    reads: Reads
    annotations: tuple[Annotation, ...] = ()
    priority: int = 0
    drop: bool = False
    fingerprint: str = ""
    parameters: tuple[tuple[str | int, ValueType], ...] = ()
    context: Context | None = None
    refers: frozenset[Reference] = attrs.field(default=frozenset(), eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        keys = [key for key, _ in self.parameters]
        check(len(set(keys)) == len(keys), f"substitution parameters that are listed twice: {keys}")

    @property
    def kind(self) -> str:
        """What it is in EPL's words: ``select``, ``create window``, ``on merge``."""
        return class_words(type(self.body).__name__)

    @property
    def selects(self) -> bool:
        """Whether it is there for the rows that it selects: a select, an on-select, a split stream."""
        return self.kind in ("select", "select row", "on select", "on split")

    @property
    def is_named(self) -> bool:
        """Whether ``@name`` gave it its name."""
        return any(a.name.lower() == "name" for a in self.annotations)


@attrs.frozen
class ModulePlan(ShownInNotebooks):
    """A compiled module: deploy it as often as you like."""

    statements: tuple[StatementPlan, ...]
    declared: tuple[Declared, ...]
    text: str
    name: str | None = None
    uses: tuple[str, ...] = ()
