"""The playground: its page, its files, its runs."""

from __future__ import annotations

import json
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from epl.grammar.lexis import KEYWORDS
from runtime.api.version import version
from runtime.replay.epl_online import DEFAULT_START
from runtime.tools.serve.access import Policy
from runtime.tools.serve.counters import Counters
from runtime.tools.serve.options import ServeLimits
from runtime.tools.serve.requests import Json, RequestFault, read_object
from runtime.tools.serve.sandbox import Sandbox

FOLDER = Path(__file__).parent / "static"
MEDIA = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


@lru_cache(maxsize=32)
def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


class Playground:
    """The handlers. ``policy`` gives the token that the page sends back."""

    def __init__(self, sandbox: Sandbox, policy: Policy, counters: Counters, limits: ServeLimits) -> None:
        self.sandbox, self.policy, self.counters, self.limits = sandbox, policy, counters, limits
        self.files = {path.name for path in FOLDER.iterdir() if path.suffix in MEDIA}

    def routes(self, base: str) -> list[BaseRoute]:
        return [
            Route("/", self.page, methods=["GET"]),
            Route("/static/{name}", self.file, methods=["GET"]),
            Route(f"{base}/playground", self.settings, methods=["GET"]),
            Route(f"{base}/playground/run", self.run, methods=["POST"]),
        ]

    async def page(self, _: Request) -> Response:
        html = _text("page.html").replace("@PAGE_TOKEN@", "" if self.policy.token else self.policy.page_token)
        return Response(html, media_type="text/html")

    async def file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self.files:
            raise RequestFault.of(404, "there is no such file")
        return Response(_text(name), headers={"content-type": MEDIA[Path(name).suffix]})

    async def settings(self, _: Request) -> Response:
        """Return what the page shows: examples, the words of the language, limits."""
        limits = {
            "seconds": self.limits.run_seconds, "events": self.limits.run_events, "rows": self.limits.run_rows,
            "memory": self.limits.run_memory, "text": self.limits.text,
        }  # fmt: skip
        return Json({
            "version": version(), "start": DEFAULT_START, "keywords": sorted(KEYWORDS), "limits": limits,
            "examples": json.loads(_text("examples.json")),
        })  # fmt: skip

    async def run(self, request: Request) -> Response:
        job = await read_object(request, self.limits, required=("epl", "script"), epl=str, script=str, start=str)
        started = time.monotonic()
        result = await self.sandbox.run(job)
        self.counters.run_seconds.observe(time.monotonic() - started)
        self.counters.runs.labels(_outcome(result)).inc()
        return Json(result)


def _outcome(result: dict[str, Any]) -> str:
    return result["stopped"]["reason"] if result["stopped"] else "error" if result["errors"] else "finished"


__all__ = ["Playground"]
