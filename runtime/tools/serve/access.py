"""Who may ask: the Host header, the token, and what browsers say of the page that asks.

Browsers send requests for any page that they show, also to servers on the machine that they run on. Three things keep such pages out: a
page of another site has another origin, which the browser names; it does not know the page token, which only the playground's own page
holds; and a page whose name was made to point to this machine (DNS rebinding) sends its own name as Host.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping

import attrs
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runtime.tools.serve.answers import encode_json, fault_json

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
OPEN_PATHS = frozenset({"/health", "/ready"})
"""The paths that need no token: they say nothing but whether the server runs."""
PAGE_TOKEN = "x-epl-page"
"""The header in which the playground's page sends back the token that it was delivered with."""
READING = frozenset({"GET", "HEAD", "OPTIONS"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


def is_loopback(host: str) -> bool:
    """
    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, True, False, False)
    """
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def host_name(header: str) -> str | None:
    """Return the name of a Host header without its port, None where it is none.

    >>> host_name("Example.org:80"), host_name("[::1]:8420"), host_name("::1"), host_name("a@b"), host_name("")
    ('example.org', '::1', None, None, None)
    """
    name, bracket, rest = header[1:].partition("]") if header.startswith("[") else (header.partition(":")[0], "", header.partition(":")[2])
    port = rest.removeprefix(":") if bracket else rest
    if (port and not (port.isascii() and port.isdigit())) or not name or (":" in name) != bool(bracket):
        return None
    return name.lower() if bracket or all(c.isalnum() or c in "-._" for c in name) else None


@attrs.frozen
class Refusal:
    status: int
    message: str
    hint: str | None = None


@attrs.frozen
class Policy:
    """``names``: hosts that the server answers for. ``any_address``: whether it does so for every IP address as well: where it listens
    beyond loopback, under addresses that it need not know. ``token``: what every request carries as ``Authorization: Bearer …``."""

    token: str | None = None
    names: frozenset[str] = LOOPBACK_NAMES
    any_address: bool = False
    page_token: str = attrs.field(factory=lambda: secrets.token_urlsafe(32))

    @classmethod
    def of(cls, host: str, token: str | None, names: tuple[str, ...]) -> Policy:
        """Return the policy of a server that listens at ``host``."""
        return cls(token, LOOPBACK_NAMES | {host.lower()} | {n.lower() for n in names}, any_address=not is_loopback(host))

    def refusal(self, method: str, path: str, headers: Mapping[str, str]) -> Refusal | None:
        """Return why a request is not answered; None where it is. ``headers``: names in lower case."""
        host = host_name(headers.get("host", ""))
        if host is None or not (host in self.names or (self.any_address and _is_address(host))):
            return Refusal(421, "this server does not answer for that host", "start it with --name HOST if the name is its own")
        return self._foreign(method, path, headers) or self._without_token(method, path, headers)

    def _foreign(self, method: str, path: str, headers: Mapping[str, str]) -> Refusal | None:
        """Return a request for a page of another site, by the browser's own words."""
        is_own_page = path == "/" and method in READING and headers.get("sec-fetch-mode", "navigate") == "navigate"
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site not in (None, "same-origin", "none") and not is_own_page:
            return Refusal(403, "a page of another site asks")
        if origin is not None and origin.lower() not in {f"{scheme}://{headers['host'].lower()}" for scheme in ("http", "https")}:
            return Refusal(403, "a page of another origin asks")
        return None

    def _without_token(self, method: str, path: str, headers: Mapping[str, str]) -> Refusal | None:
        if self.token is not None:
            if path == "/" or path.startswith("/static/") or path in OPEN_PATHS:
                return None  # the page is the same for all, and holds nothing
            scheme, _, token = headers.get("authorization", "").partition(" ")
            if scheme.lower() == "bearer" and _same(token.strip(), self.token):
                return None
            return Refusal(401, "a token is needed", "send the header Authorization: Bearer TOKEN")
        is_browser = "origin" in headers or "sec-fetch-site" in headers
        if method not in READING and is_browser and not _same(headers.get(PAGE_TOKEN, ""), self.page_token):
            return Refusal(403, "the page's token is missing or of an earlier start of the server", "reload the page")
        return None


def _same(one: str, other: str) -> bool:
    """Compare in a time that does not depend on how much is equal."""
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


class RequestGuard:
    """ASGI middleware: refuses what the policy refuses, and adds the headers that keep browsers from doing more than the page needs."""

    def __init__(self, app: ASGIApp, policy: Policy) -> None:
        self.app = app
        self.policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # no websockets
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            await self.app(scope, receive, send_with_headers)
            return
        body = encode_json({"error": fault_json("refused", refusal.message, refusal.hint)})
        more = [(b"www-authenticate", b"Bearer")] if refusal.status == 401 else []
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *more]
        await send_with_headers({"type": "http.response.start", "status": refusal.status, "headers": headers})
        await send_with_headers({"type": "http.response.body", "body": body})

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        if len(headers.getlist("host")) != 1:
            return Refusal(400, "a request has one Host header")
        return self.policy.refusal(scope["method"], scope["path"], {name.lower(): value for name, value in headers.items()})


__all__ = ["HEADERS", "LOOPBACK_NAMES", "PAGE_TOKEN", "Policy", "Refusal", "RequestGuard", "host_name", "is_loopback"]
