"""``epl shell [MODULE…]``: an interactive runtime (docs/tools.md)."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from runtime.cli import UsageError
from runtime.cli.texts import build_runtime
from runtime.extras import install
from runtime.tools.session import Session
from runtime.tools.shell import Shell, main


def run(options: argparse.Namespace) -> int:
    """Run the shell on standard input."""
    if sys.stdin.isatty() and not (find_spec("prompt_toolkit") and find_spec("pygments")):
        raise UsageError(f"epl shell in a terminal needs prompt_toolkit and pygments: {install('shell')}")
    for path in options.modules:
        if not path.exists():
            raise UsageError(f"cannot read {path}: no such file or folder")
    history = options.history or Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "epl-spark" / "history"
    return main(Session(build_runtime(options)), None if options.no_history else history, options.modules, interactive=_interactive)


def _interactive(shell: Shell, history: Path | None) -> None:
    from runtime.tools.terminal import interactive  # needs prompt_toolkit

    interactive(shell, history)
