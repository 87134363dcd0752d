"""Making the runtime and running the server."""

from __future__ import annotations

import contextlib
import logging
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import uvicorn

from epl.errors import EplError
from epl.settings import Settings
from runtime.api.runtime import Runtime
from runtime.tools.serve.access import Policy, is_loopback
from runtime.tools.serve.app import Application
from runtime.tools.serve.engine import ServedEngine
from runtime.tools.serve.options import ServeOptions
from runtime.tools.serve.stored_state import FILE, StateFault, StoredState
from runtime.tools.setup import registering

SHORTEST_TOKEN = 16


class ServeFault(Exception):
    """The server cannot start as asked for."""


def check(options: ServeOptions) -> None:
    """Raise ServeFault for options that would let others in."""
    if options.token is None and not is_loopback(options.host):
        raise ServeFault(f"--host {options.host} is reached from other machines and needs a token: --token auto, or --token-file FILE")
    if options.token is None and options.names:
        raise ServeFault("--name lets others in through a proxy and needs a token: --token auto, or --token-file FILE")
    token = options.token
    if token is not None and not (len(token) >= SHORTEST_TOKEN and token.isascii() and token.isprintable()):
        raise ServeFault(f"a token has at least {SHORTEST_TOKEN} characters, all of them printable ASCII: --token auto makes one")
    if not options.playground and not options.rules:
        raise ServeFault("neither playground nor rules: nothing is left to serve")


class Server(uvicorn.Server):
    """Ends the clients' streams first: they would keep the server from ending."""

    application: Application

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.application.close_streams()
        await super().shutdown(sockets)


def serve(options: ServeOptions, announce: Callable[[int], None]) -> None:
    """Run the server until a signal ends it. ``announce(port)`` is called once it accepts connections. Raise as ``prepare_runtime``."""
    with prepare_runtime(options) as (server, listening):
        announce(listening.getsockname()[1])
        server.run(sockets=[listening])
    if server.application.not_saved is not None:
        raise StateFault(server.application.not_saved)


@contextlib.contextmanager
def prepare_runtime(options: ServeOptions) -> Iterator[tuple[Server, socket.socket]]:
    """Yield the server and the socket that it is to run on. Raise ServeFault, SetupFault, StateFault, EplError."""
    check(options)
    register = registering(options.allowed.setup)
    with contextlib.ExitStack() as stack:
        state = None
        if options.state is not None and options.rules:
            state = StoredState(options.state)
            stack.callback(state.close)
        engine = None
        if options.rules:
            engine = ServedEngine(lambda on_error: _runtime(options, register, state, on_error), options.limits,
                            follows_clock=options.clock == "system")
            stack.callback(engine.close)
            if options.measure:
                engine.runtime.measure()
            _deploy(engine, options.modules)
        yield _server(options, engine, state), stack.enter_context(_socket(options))


def _server(options: ServeOptions, engine: ServedEngine | None, state: StoredState | None) -> Server:
    policy = Policy.of(options.host, options.token, options.names)
    application = Application(options, policy, engine, state)
    config = uvicorn.Config(
        application.asgi, http="h11", ws="none", lifespan="on", log_level=logging.WARNING, access_log=False, server_header=False,
        proxy_headers=False, timeout_keep_alive=10, timeout_graceful_shutdown=5, h11_max_incomplete_event_size=64 * 1024,
        limit_concurrency=options.limits.streams + 200,
        ssl_certfile=options.certificate, ssl_keyfile=options.key,
    )  # fmt: skip
    server = Server(config)
    server.application = application
    return server


def _socket(options: ServeOptions) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    # asyncio sends small answers at once (TCP_NODELAY) only where the protocol is named
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":  # there it would let another process take the port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((options.host, options.port))
        listening.listen(128)
    except (OSError, OverflowError) as error:  # OverflowError: a port beyond 65535
        listening.close()
        raise ServeFault(f"cannot listen at {options.host} port {options.port}: {getattr(error, 'strerror', None) or error}") from error
    return listening


def _runtime(
    options: ServeOptions, register: Callable[[Runtime], None], state: StoredState | None, on_error: Callable[..., None]
) -> Runtime:
    """Return a new runtime, or the one of the last snapshot."""
    snapshot = None if state is None else state.read()
    imports = options.allowed.imports
    if snapshot is not None and state is not None:
        try:
            return Runtime.restore(snapshot, on_error=on_error, python_imports=imports, register=register)
        except EplError as error:
            raise StateFault(f"{state.folder / FILE}: {error.message}" + (f" ({error.hint})" if error.hint else "")) from error
    runtime = Runtime(start_time=options.start_time, settings=Settings(python_imports=imports), on_error=on_error)
    register(runtime)
    return runtime


def _deploy(engine: ServedEngine, modules: tuple[Path, ...]) -> None:
    """Deploy the files; one that a snapshot holds with the same text goes on as it is, one with another text is deployed again."""
    runtime = engine.runtime
    for path in modules:
        name = path.name
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ServeFault(f"cannot read {path}: {error}") from error
        deployed = runtime.deployments.get(name)
        if deployed is not None and deployed.plan.text == text:
            continue
        if deployed is not None:
            runtime.undeploy(name)
        try:
            runtime.deploy(text, name=name)
        except EplError as error:
            raise ServeFault(f"{path}: {error.within(text)}") from error
        engine.changes += 1


__all__ = ["ServeFault", "Server", "check", "prepare_runtime", "serve"]
