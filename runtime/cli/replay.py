"""``epl replay PATH``: find the player of recorded traces, which is part of a checkout of this project, and run it."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

import runtime
from runtime.cli import UsageError

COMMAND = Path("tests", "replay", "command.py")


def run(options: argparse.Namespace) -> int:
    """Return what tests/replay/command.py returns; raise UsageError outside a checkout."""
    checkout = _checkout()
    if checkout is None:
        raise UsageError(
            "replay: the player of recorded traces is part of the project's source and not of the installed package; "
            "run it in a checkout (docs/cli.md)"
        )
    if str(checkout) not in sys.path:
        sys.path.insert(0, str(checkout))
    result: int = import_module("tests.replay.command").run(options)
    return result


def _checkout() -> Path | None:
    """Return the folder of the project's source: the one that this package is in, or the current one where it is a checkout too."""
    beside = Path(runtime.__file__).resolve().parents[1]
    here = Path.cwd()
    return next((folder for folder in (beside, here) if (folder / COMMAND).is_file() and (folder / "runtime" / "cli").is_dir()), None)
