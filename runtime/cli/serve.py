"""``epl serve``: the playground in a browser, and a server for rules and events."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.cli import UsageError
from runtime.cli.run_events import moment
from runtime.extras import install

if TYPE_CHECKING:
    from runtime.tools.serve.options import Allowed, ServeOptions

VARIABLE = "EPL_SERVE_TOKEN"


def run(options: argparse.Namespace) -> int:
    """Return 0 where the server was ended; UsageError where it cannot start."""
    try:
        import prometheus_client  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise UsageError(f"epl serve needs more packages ({error}): {install('serve')}") from None
    from epl.errors import EplError
    from runtime.tools.serve.access import is_loopback
    from runtime.tools.serve.server import ServeFault, serve
    from runtime.tools.serve.stored_state import StateFault
    from runtime.tools.setup import SetupFault

    chosen = serve_options(options)

    def announce(port: int) -> None:
        host = f"[{chosen.host}]" if ":" in chosen.host else chosen.host
        scheme = "http" if chosen.certificate is None else "https"
        address = f"{scheme}://{'localhost' if host in ('0.0.0.0', '[::]') else host}:{port}/"
        print(address, flush=True)
        if options.token == "auto":
            print(f"token: {chosen.token}\nplayground: {address}#token={chosen.token}", flush=True)
        if chosen.certificate is None and not is_loopback(chosen.host):
            print("epl: without --certificate, the token is sent in the clear: use a proxy with TLS", file=sys.stderr)

    try:
        serve(chosen, announce)
    except SetupFault as fault:
        raise UsageError(f"--allow setup:{fault}") from None
    except (ServeFault, StateFault, EplError) as error:
        raise UsageError(str(error)) from None
    return 0


def serve_options(options: argparse.Namespace) -> ServeOptions:
    from runtime.tools.serve.options import MEBIBYTE, ServeLimits, ServeOptions

    if (options.certificate is None) != (options.key is None):
        raise UsageError("--certificate and --key go together")
    limits = ServeLimits(
        body=options.max_body * MEBIBYTE, run_seconds=options.run_seconds, run_memory=options.run_memory * MEBIBYTE,
        run_events=options.run_events, run_rows=options.run_rows, runs=options.runs,
    )  # fmt: skip
    for name, value in (("--run-seconds", limits.run_seconds), ("--runs", limits.runs), ("--snapshot-seconds", options.snapshot_seconds)):
        if not value > 0:
            raise UsageError(f"{name}: more than 0")
    return ServeOptions(
        host=options.host, port=options.port, token=read_token(options), names=tuple(options.name), playground=options.playground,
        rules=options.rules, modules=tuple(options.modules), clock=options.clock,
        start_time=0 if options.start is None else moment("--start", options.start), state=options.state,
        snapshot_seconds=options.snapshot_seconds, certificate=options.certificate, key=options.key, allowed=parse_allowed(options.allow),
        limits=limits, measure=options.measure, unknown=options.unknown,
    )  # fmt: skip


def read_token(options: argparse.Namespace) -> str | None:
    """Return the token of the option, a file, or the environment; None where there is none."""
    if options.token_file is not None:
        try:
            return str(Path(options.token_file).read_text(encoding="utf-8").strip())
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read {options.token_file}: {error}") from None
    if options.token == "auto":
        return secrets.token_urlsafe(32)
    return options.token or os.environ.get(VARIABLE) or None


def parse_allowed(entries: list[str]) -> Allowed:
    """Return what ``--allow`` names: ``import:MODULE``, ``setup:MODULE``."""
    from runtime.tools.serve.options import Allowed

    kinds: dict[str, list[str]] = {"import": [], "setup": []}
    for entry in entries:
        kind, _, name = entry.partition(":")
        if kind not in kinds or not name:
            raise UsageError(f"--allow: import:MODULE or setup:MODULE expected, not {entry!r}")
        kinds[kind].append(name)
    return Allowed(tuple(kinds["import"]), tuple(kinds["setup"]))


__all__ = ["run"]
