"""``epl lsp``: the language server, for editors (docs/tools.md)."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path

from runtime.cli import UsageError
from runtime.cli.texts import read_text
from runtime.extras import install


def run(options: argparse.Namespace) -> int:
    """Serve on standard input and output."""
    if find_spec("pygls") is None:
        raise UsageError(f"epl lsp needs pygls: {install('lsp')}")
    from runtime.tools.language_server.server import serve

    serve({Path(path).resolve().as_uri(): read_text(path) for path in options.with_files}, options.imports)
    return 0
