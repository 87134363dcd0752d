"""REST: modules, statements and queries of the runtime."""

from __future__ import annotations

import json
import warnings
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from epl.errors import EplError, EplWarning
from runtime.api.deployment import Deployment
from runtime.api.statement import Statement
from runtime.conversion.rows import Row
from runtime.tools.serve.answers import as_utf8, error_json, rows_json, short, statement_json
from runtime.tools.serve.engine import ServedEngine
from runtime.tools.serve.options import ServeLimits
from runtime.tools.serve.requests import EPL, JSON, Json, RequestFault, media_type, read_body, read_object
from runtime.tools.serve.streams import OutputStreams


class RuleEndpoints:
    """The handlers. Each does its work in the runtime's thread."""

    def __init__(self, engine: ServedEngine, streams: OutputStreams, limits: ServeLimits) -> None:
        self.engine, self.streams, self.limits = engine, streams, limits
        self.runtime = engine.runtime

    def routes(self, base: str) -> list[BaseRoute]:
        return [
            Route(f"{base}/deployments", self.deployments, methods=["GET"]),
            Route(f"{base}/deployments", self.deploy, methods=["POST"]),
            Route(f"{base}/deployments/{{id:path}}", self.deployment, methods=["GET"]),
            Route(f"{base}/deployments/{{id:path}}", self.undeploy, methods=["DELETE"]),
            Route(f"{base}/compile", self.compile, methods=["POST"]),
            Route(f"{base}/query", self.query, methods=["POST"]),
            Route(f"{base}/statements", self.statements, methods=["GET"]),
            Route(f"{base}/statements/{{name:path}}/rows", self.rows, methods=["GET"]),
            Route(f"{base}/statements/{{name:path}}/plan", self.plan, methods=["GET"]),
            Route(f"{base}/statements/{{name:path}}", self.statement, methods=["GET"]),
            Route(f"{base}/faults", self.faults, methods=["GET"]),
        ]

    # ------------------------------------------------------------------ modules

    async def deployments(self, _: Request) -> Response:
        return Json({"deployments": await self.engine.call(lambda: [self._deployment_json(d) for d in self.runtime.deployments.values()])})

    async def deployment(self, request: Request) -> Response:
        return Json(await self.engine.call(lambda: {**self._deployment_json(d := self._find(request)), "epl": d.plan.text}))

    async def deploy(self, request: Request) -> Response:
        options = await self._module(request)

        def work() -> tuple[dict[str, Any], list[str]]:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", EplWarning)
                deployment = self.runtime.deploy(
                    options["epl"], name=options.get("name"), replace=options.get("replace", False),
                    parameters=_parameters(options.get("parameters", {})),
                )  # fmt: skip
            self.streams.attach()
            return self._deployment_json(deployment), [short(str(warning.message)) for warning in caught]

        deployment, warned = await self.engine.call(work, changes=True)
        return Json({**deployment, "warnings": warned}, status_code=201)

    async def undeploy(self, request: Request) -> Response:
        def work() -> None:
            self.runtime.undeploy(self._find(request).id)
            self.streams.attach()

        await self.engine.call(work, changes=True)
        return Response(status_code=204)

    async def compile(self, request: Request) -> Response:
        """Check a module: 200 also where it is refused, with the errors."""
        options = await self._module(request)

        def work() -> dict[str, Any]:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", EplWarning)
                try:
                    plan = self.runtime.compile(options["epl"])
                except EplError as error:
                    return {"accepted": False, "statements": [], "errors": [error_json(error, options["epl"])], "warnings": []}
            statements = [{"name": s.name, "kind": s.kind} for s in plan.statements]
            return {"accepted": True, "statements": statements, "errors": [], "warnings": [short(str(w.message)) for w in caught]}

        return Json(await self.engine.call(work))

    async def _module(self, request: Request) -> dict[str, Any]:
        """Return a module as text, or in JSON with how it is to be deployed."""
        if media_type(request, JSON, EPL) == EPL:
            query = request.query_params
            name = {"name": query["name"]} if "name" in query else {}
            text = await read_body(request, self.limits.text, self.limits.body_seconds)
            return {"epl": text, "replace": query.get("replace", "") in ("1", "true"), **name}
        return await read_object(request, self.limits, required=("epl",), epl=str, name=str, replace=bool, parameters=dict)

    def _find(self, request: Request) -> Deployment:
        deployment_id = request.path_params["id"]
        deployment = self.runtime.deployments.get(deployment_id)
        if deployment is None:
            raise RequestFault.of(404, f"Deployment id '{short(deployment_id)}' cannot be found", code="deployment")
        return deployment

    def _deployment_json(self, deployment: Deployment) -> dict[str, Any]:
        return {"id": deployment.id, "module": deployment.plan.name, "statements": [statement_json(s) for s in deployment]}

    # ------------------------------------------------------------------ statements

    async def statements(self, _: Request) -> Response:
        def work() -> list[dict[str, Any]]:
            return [statement_json(s) for d in self.runtime.deployments.values() for s in d]

        return Json({"statements": await self.engine.call(work)})

    async def statement(self, request: Request) -> Response:
        return Json(await self.engine.call(lambda: {**statement_json(s := self._find_statement(request)), "tier": s.tier}))

    async def plan(self, request: Request) -> Response:
        return Json(await self.engine.call(lambda: {"statement": (s := self._find_statement(request)).name, "plan": s.explain()}))

    async def rows(self, request: Request) -> Response:
        """Return the statement's current rows."""
        def work() -> bytes:
            statement = self._find_statement(request)
            return self._rows_answer(list(statement), statement.properties, statement.name)

        return Json(await self.engine.call(work))

    def _find_statement(self, request: Request) -> Statement:
        """Return the statement of the path: the newest of its name, or that of ``?deployment=``."""
        name, deployment = request.path_params["name"], request.query_params.get("deployment")
        for each in reversed(self.runtime.deployments.values()):
            for statement in each:
                if statement.name == name and deployment in (None, each.id):
                    return statement
        raise RequestFault.of(404, f"no statement named '{short(name)}'", code="statement")

    # ------------------------------------------------------------------ queries, faults

    async def query(self, request: Request) -> Response:
        options = await read_object(request, self.limits, required=("epl",), epl=str, parameters=dict)

        def work() -> bytes:
            prepared = self.runtime.compile_query(options["epl"])
            rows = self.runtime.query(prepared, _parameters(options.get("parameters", {})))
            properties = {p.name: str(p.type) for p in rows.event_type.properties.values()}
            return self._rows_answer(rows, properties, None)

        try:
            return Json(await self.engine.call(work, changes=True))
        except EplError as error:
            error.within(options["epl"])
            raise

    def _rows_answer(self, rows: list[Row], properties: dict[str, str], statement: str | None) -> bytes:
        columns = [{"name": name, "type": kind} for name, kind in properties.items()]
        shown = rows[: self.limits.query_rows]
        head = json.dumps({"statement": statement, "columns": columns, "truncated": len(rows) > len(shown)})[:-1]
        return as_utf8(f'{head},"rows":{rows_json(shown)}}}')

    async def faults(self, _: Request) -> Response:
        """Return the last exceptions in expressions and listeners."""
        return Json(await self.engine.call(lambda: {"count": self.engine.fault_count, "faults": list(self.engine.faults)}))


def _parameters(values: dict[str, Any]) -> dict[str | int, Any]:
    """Substitution parameters, whose positions are names in JSON; also those by statement name."""
    def key(name: str) -> str | int:
        return int(name) if name.isascii() and name.isdigit() and len(name) < 6 else name

    return {key(name): _parameters(value) if isinstance(value, dict) else value for name, value in values.items()}


__all__ = ["RuleEndpoints"]
