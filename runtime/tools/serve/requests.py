"""Reading requests: bodies within their limits, in the forms that are taken, each fault an answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from runtime.tools.serve.answers import encode_json, fault_json
from runtime.tools.serve.options import ServeLimits

JSON, LINES, EPL = "application/json", "application/x-ndjson", "text/x-epl"
"""Media types that pages of other sites cannot send without asking first."""


class RequestFault(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, error: Mapping[str, Any], **more: Any) -> None:
        super().__init__(error["message"])
        self.status = status
        self.error = error
        self.more = more

    @classmethod
    def of(cls, status: int, message: str, hint: str | None = None, code: str = "request") -> RequestFault:
        return cls(status, fault_json(code, message, hint))


class Json(Response):
    """An answer in JSON."""

    media_type = JSON

    def render(self, content: Any) -> bytes:
        return content if isinstance(content, bytes) else encode_json(content)


def media_type(request: Request, *accepted: str) -> str:
    """Return the request's media type; raise Fault 415."""
    form = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if form not in accepted:
        expected = " or ".join(accepted)
        raise RequestFault.of(415, f"a body of {expected} is expected, not of {form[:100] or 'no type'}", f"Content-Type: {accepted[0]}")
    return form


async def read_body(request: Request, most: int, seconds: float) -> str:
    """Return the body, UTF-8. Raise Fault: 413 where it is longer, 408 where it does not come, 400 where it is not UTF-8."""
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and (len(declared) > 15 or int(declared) > most):
        raise _too_large(most)
    parts: list[bytes] = []

    async def read() -> None:
        size = 0
        async for part in request.stream():
            size += len(part)
            if size > most:
                raise _too_large(most)
            parts.append(part)

    try:
        await asyncio.wait_for(read(), seconds)
        return b"".join(parts).decode("utf-8-sig")
    except asyncio.TimeoutError:
        raise RequestFault.of(408, f"the body did not come within {seconds:g} seconds") from None
    except UnicodeDecodeError as error:
        raise RequestFault.of(400, f"the body is not UTF-8: byte 0x{error.object[error.start]:02x} at offset {error.start}") from None
    except ClientDisconnect:
        raise RequestFault.of(400, "the connection ended within the body") from None


def _too_large(most: int) -> RequestFault:
    return RequestFault.of(413, f"the body is larger than {most:,} bytes", code="limit")


async def read_object(request: Request, limits: ServeLimits, *, required: tuple[str, ...] = (), **kinds: Any) -> dict[str, Any]:
    """Return a body that is a JSON object. ``kinds``: its members and their classes; null is as if a member were not there."""
    media_type(request, JSON)
    members = parse_json(await read_body(request, limits.text, limits.body_seconds))
    if not isinstance(members, dict):
        raise RequestFault.of(400, "a JSON object is expected")
    for name in members:
        if name not in kinds:
            raise RequestFault.of(400, f"there is no member '{name[:100]}'", f"members: {', '.join(kinds)}")
    values = {name: value for name, value in members.items() if value is not None}
    for name in required:
        if name not in values:
            raise RequestFault.of(400, f"the member '{name}' is missing")
    for name, value in values.items():
        if not isinstance(value, kinds[name]) or (isinstance(value, bool) and kinds[name] is not bool):
            raise RequestFault.of(400, f"the member '{name}' is of another kind")
    return values


def parse_json(text: str, line: int | None = None) -> Any:
    """Return what JSON text holds; raise Fault 400 with the place. ``line``: its number among lines."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        fault = fault_json("syntax", f"not JSON: {error.msg}")
        fault["line"], fault["column"] = line or error.lineno, error.colno
        raise RequestFault(400, fault) from None
    except (ValueError, RecursionError) as error:
        fault = fault_json("syntax", f"not JSON: {'nested too deeply' if isinstance(error, RecursionError) else error}")
        fault["line"] = line
        raise RequestFault(400, fault) from None


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON value")


def read_items(form: str, text: str) -> Iterator[tuple[int, Any]]:
    """Yield (number of the line or item from 1, value) of JSON lines, of a JSON array, or of the one value."""
    if form == LINES:
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield number, parse_json(line, number)
        return
    value = parse_json(text)
    yield from enumerate(value if isinstance(value, list) else [value], 1)


__all__ = ["EPL", "JSON", "LINES", "Json", "RequestFault", "media_type", "parse_json", "read_body", "read_items", "read_object"]
