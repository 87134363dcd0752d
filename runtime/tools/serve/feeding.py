"""REST: events and time in, output as Server-Sent Events."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from epl.errors import EplError, EplRuntimeError
from runtime.api.runtime import internal_engine
from runtime.clock.instants import to_instant
from runtime.conversion.undeclared import build_check
from runtime.tools.serve.answers import error_json, short, time_text
from runtime.tools.serve.engine import ServedEngine
from runtime.tools.serve.options import ServeOptions
from runtime.tools.serve.requests import JSON, LINES, Json, RequestFault, media_type, read_body, read_items, read_object
from runtime.tools.serve.streams import OutputStreams

MOST_STOPS = 1_000_000
"""Times at which a timer is due, in one call."""


class Feeding:
    """The handlers of what goes in and what comes out."""

    def __init__(self, engine: ServedEngine, streams: OutputStreams, options: ServeOptions) -> None:
        self.engine, self.streams, self.limits, self._unknown = engine, streams, options.limits, options.unknown
        self.runtime = engine.runtime

    def routes(self, base: str) -> list[BaseRoute]:
        return [
            Route(f"{base}/events", self.send_mixed_events, methods=["POST"]),
            Route(f"{base}/events/{{type:path}}", self.events, methods=["POST"]),
            Route(f"{base}/time", self.time, methods=["GET"]),
            Route(f"{base}/time", self.advance, methods=["POST"]),
            Route(f"{base}/stream", self.stream, methods=["GET"]),
        ]

    # ------------------------------------------------------------------ events

    async def events(self, request: Request) -> Response:
        """Events of one type: an object, an array of objects, or a line each."""
        event_type = request.path_params["type"]
        return await self._take(request, lambda item: {"type": event_type, "event": item})

    async def send_mixed_events(self, request: Request) -> Response:
        """Events of several types, and time between them: ``{"type": …, "event": {…}}``, ``{"time": …}``."""
        return await self._take(request, _step)

    async def _take(self, request: Request, step_of: Callable[[Any], dict[str, Any]]) -> Response:
        form = media_type(request, JSON, LINES)
        text = await read_body(request, self.limits.body, self.limits.body_seconds)
        return Json(await self.engine.call(lambda: self._process(form, text, step_of), changes=True))

    def _process(self, form: str, text: str, step_of: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Process the events, after all of them are checked."""
        steps: list[tuple[int, str | None, Any]] = []
        warned: list[str] = []
        check = build_check(self._unknown, lambda text: warned.append(short(text)))
        for number, item in read_items(form, text):
            try:
                step = step_of(item)
                if "time" in step:
                    self._check_external()
                    steps.append((number, None, self._instant(step["time"])))
                else:
                    if check is not None:
                        check(internal_engine(self.runtime).bus_type(step["type"]), step["event"])
                    steps.append((number, step["type"], self.runtime.event_of(step["type"], step["event"])))
            except EplError as error:
                raise RequestFault(422, error_json(error), item=number, accepted=0) from error
        faults, accepted = self.engine.fault_count, 0
        for number, event_type, value in steps:
            try:
                if event_type is None:
                    self._walk(value)
                else:
                    self.runtime.send(event_type, value)
                    self.engine.events[event_type] += 1
                    accepted += 1
            except EplError as error:
                raise RequestFault(422, error_json(error), item=number, accepted=accepted) from error
        return {"accepted": accepted, "now": self.runtime.now, "faults": self.engine.fault_count - faults, "warnings": warned}

    # ------------------------------------------------------------------ time

    async def time(self, _: Request) -> Response:
        return Json(await self.engine.call(self._time_json))

    async def advance(self, request: Request) -> Response:
        options = await read_object(request, self.limits, to=(int, str), by=int, mode=str)
        mode = options.get("mode", "span")
        if ("to" in options) == ("by" in options) or mode not in ("span", "jump"):
            raise RequestFault.of(400, "either 'to' or 'by' is expected, and a mode 'span' or 'jump'")

        def work() -> dict[str, Any]:
            self._check_external()
            target = self._instant(options["to"]) if "to" in options else self.runtime.now + options["by"]
            if mode == "jump":
                self.runtime.advance_time(target)
            else:
                self._walk(target)
            return self._time_json()

        return Json(await self.engine.call(work, changes=True))

    def _check_external(self) -> None:
        if self.engine.follows_clock:
            raise RequestFault.of(409, "engine time is the wall clock's", "start the server with --clock external", code="time")

    def _instant(self, value: Any) -> Any:
        """Engine units, or a datetime from ISO 8601."""
        if not isinstance(value, str):
            return value
        try:
            return datetime.datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
        except ValueError:
            raise EplRuntimeError(f"'{short(value)}' is not a time", hint="ms since 1970, or ISO 8601: 2024-05-01T09:00:00Z") from None

    def _walk(self, target: Any) -> None:
        target = to_instant("time", target, self.runtime.settings.units_per_second)
        if target < self.runtime.now:
            raise EplRuntimeError(f"time goes back from {self.runtime.now} to {target}", hint="sort by time, or jump")
        self.runtime.advance_time_span(target, max_stops=MOST_STOPS)

    def _time_json(self) -> dict[str, Any]:
        runtime = self.runtime
        return {
            "now": runtime.now, "at": time_text(runtime.now, runtime.settings.units_per_second), "next": runtime.next_scheduled_time,
            "clock": "system" if self.engine.follows_clock else "external",
        }  # fmt: skip

    # ------------------------------------------------------------------ output

    async def stream(self, request: Request) -> Response:
        if len(self.streams.clients) >= self.limits.streams:
            raise RequestFault.of(503, f"{self.limits.streams} clients listen already", code="busy")
        requested = request.query_params.getlist("statement")

        def listen() -> list[str]:
            with_output = [s.name for d in self.runtime.deployments.values() for s in d if s.plan.body.output_type is not None]
            for name in requested:
                if name not in with_output:
                    raise RequestFault.of(404, f"no statement named '{short(name)}' that emits rows", code="statement")
            names = list(dict.fromkeys(requested or with_output))
            self.streams.listen(names)
            return names

        names = await self.engine.call(listen)
        last_id = request.headers.get("last-event-id") or request.query_params.get("last_event_id")
        return StreamingResponse(self.streams.messages(names, last_id), media_type="text/event-stream", headers={"x-accel-buffering": "no"})


def _step(item: Any) -> dict[str, Any]:
    if isinstance(item, dict) and (item.keys() == {"time"} or (item.keys() == {"type", "event"} and isinstance(item["type"], str))):
        return item
    raise EplRuntimeError('an event is {"type": "…", "event": {…}}, a step of time {"time": …}')


__all__ = ["Feeding"]
