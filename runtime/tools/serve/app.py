"""The application: routes, what they share, beginning and end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from epl.errors import EplError
from runtime.tools.serve.access import Policy, RequestGuard
from runtime.tools.serve.answers import error_json, fault_json, http_status
from runtime.tools.serve.counters import Counters
from runtime.tools.serve.engine import TICK, ServedEngine
from runtime.tools.serve.feeding import Feeding
from runtime.tools.serve.openapi import describe_api
from runtime.tools.serve.options import ServeOptions
from runtime.tools.serve.playground import Playground
from runtime.tools.serve.requests import Json, RequestFault
from runtime.tools.serve.rules import RuleEndpoints
from runtime.tools.serve.sandbox import Busy, Sandbox
from runtime.tools.serve.stored_state import StoredState
from runtime.tools.serve.streams import OutputStreams
from runtime.tools.serve.tasks import Tasks

log = logging.getLogger("epl.serve")

BASE = "/api/v1"
READY_SECONDS = 2.0


class Application:
    """A server. ``engine``: the runtime that REST works on, None where it is switched off."""

    def __init__(self, options: ServeOptions, policy: Policy, engine: ServedEngine | None, state: StoredState | None) -> None:
        self.options, self.engine, self.state = options, engine, state
        self.counters = Counters()
        self.tasks = Tasks()
        self.not_saved: str | None = None
        """Why the state was not saved when the server ended."""
        self.streams: OutputStreams | None = None
        self.sandbox: Sandbox | None = None
        general = {"/health": self.health, "/ready": self.ready, "/metrics": self.metrics, "/openapi.json": self.openapi}
        routes: list[BaseRoute] = [Route(path, handler) for path, handler in general.items()]
        if engine is not None:
            self.streams = OutputStreams(engine.runtime, options.limits)
            self.counters.watch(engine, self.streams, self.tasks)
            for handlers in (RuleEndpoints(engine, self.streams, options.limits), Feeding(engine, self.streams, options)):
                routes += handlers.routes(BASE)
        if options.playground:
            self.sandbox = Sandbox(options.limits, options.allowed)
            routes += Playground(self.sandbox, policy, self.counters, options.limits).routes(BASE)
        handlers_of = dict.fromkeys((RequestFault, EplError, Busy, HTTPException, Exception), self._answer)
        app = Starlette(routes=[self._count_requests(route) for route in routes], lifespan=self._lifespan, exception_handlers=handlers_of)
        app.router.redirect_slashes = False
        self.asgi: ASGIApp = RequestGuard(app, policy)

    # ------------------------------------------------------------------ beginning and end

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        if self.sandbox is not None:
            self.sandbox.prepare()
        if self.engine is not None and self.engine.follows_clock:
            self.tasks.every("clock", TICK, self.engine.tick)
        if self.engine is not None and self.state is not None:
            self.tasks.every("state", self.options.snapshot_seconds, partial(self._save, self.engine, self.state))
        try:
            yield
        finally:
            await self.tasks.close()
            if self.sandbox is not None:
                await self.sandbox.close()
            if self.engine is not None and self.state is not None:
                await self._save_last(self.engine, self.state)

    async def _save(self, engine: ServedEngine, state: StoredState) -> None:
        def work() -> None:
            if not state.is_current(engine.changes):
                state.write(engine.runtime.snapshot(), engine.changes)

        await engine.run(work)

    async def _save_last(self, engine: ServedEngine, state: StoredState) -> None:
        try:
            await self._save(engine, state)
        except Exception as error:  # raised by who runs the server
            log.error("the state was not saved: %s: %s", type(error).__name__, error, exc_info=error)
            self.not_saved = f"{state.folder}: the state was not saved at the end: {getattr(error, 'strerror', None) or error}"

    def close_streams(self) -> None:
        """End the clients' streams, which otherwise would go on for as long as they like."""
        if self.streams is not None:
            self.streams.close()

    # ------------------------------------------------------------------ what every server has

    async def health(self, _: Request) -> Response:
        return Json({"status": "ok"})

    async def ready(self, _: Request) -> Response:
        """200 where the runtime answers within two seconds, and the last step of each task went well."""
        if self.engine is not None:
            try:
                await asyncio.wait_for(self.engine.call(lambda: None), READY_SECONDS)
            except (asyncio.TimeoutError, Busy):
                reason = f"too many requests wait, or one has taken more than {READY_SECONDS:g} seconds"
                return Json({"status": "busy", "reason": reason}, status_code=503)
            except Exception as error:  # noqa: BLE001 - the answer says it
                return Json({"status": "failing", "reason": f"runtime: {type(error).__name__}: {error}"}, status_code=503)
        if self.tasks.failures:
            reason = "; ".join(f"{name}: {why}" for name, why in self.tasks.failures.items())
            return Json({"status": "failing", "reason": reason}, status_code=503)
        return Json({"status": "ready"})

    async def metrics(self, _: Request) -> Response:
        work: Callable[[], bytes] = lambda: generate_latest(self.counters.registry)  # noqa: E731
        text = work() if self.engine is None else await self.engine.call(work)
        return Response(text, headers={"content-type": CONTENT_TYPE_LATEST})

    async def openapi(self, _: Request) -> Response:
        return Json(describe_api(rules=self.engine is not None, playground=self.sandbox is not None, token=self.options.token is not None))

    # ------------------------------------------------------------------ answers to faults

    def _count_requests(self, route: BaseRoute) -> BaseRoute:
        """Count the requests of a route by their status."""
        assert isinstance(route, Route)
        handler: Callable[[Request], Awaitable[Response]] = route.endpoint
        path = route.path

        async def count_request(request: Request) -> Response:
            try:
                response = await handler(request)
            except Exception as error:  # noqa: BLE001 - answered like any other, and logged there
                response = await self._answer(request, error)
            self.counters.requests.labels(path, str(response.status_code)).inc()
            return response

        return Route(path, count_request, methods=list(route.methods or ["GET"]))

    async def _answer(self, _: Request, error: Exception) -> Response:
        if isinstance(error, RequestFault):
            return _error(error.status, error.error, **error.more)
        if isinstance(error, EplError):
            return _error(http_status(error), error_json(error))
        if isinstance(error, Busy):
            return _error(503, fault_json("busy", "too many requests wait", "try again later"), headers={"retry-after": "1"})
        if isinstance(error, HTTPException):
            return _error(error.status_code, fault_json("request", error.detail), headers=dict(error.headers or {}))
        log.error("a request failed", exc_info=error)
        return _error(500, fault_json("internal", f"{type(error).__name__}: {error}"))


def _error(status: int, error: Any, headers: dict[str, str] | None = None, **more: Any) -> Response:
    return Json({"error": dict(error), **more}, status_code=status, headers=headers)


__all__ = ["Application"]
