"""``epl fmt PATH…``: write module files in one style; comments and meaning stay (docs/tools.md)."""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from epl.errors import EplError
from epl.formatting import format_module
from runtime.cli.texts import decode_text, display_name, module_files, not_utf8, print_error, read_bytes


def run(options: argparse.Namespace) -> int:
    """Return 0; 1 where a file is not EPL or, with ``--check``, would change; 2 where a path leads to no file."""
    paths, code = module_files(options.paths)
    counts = {"formatted": 0, "unchanged": 0, "refused": 0}
    for path in paths:
        counts[_file(path, options)] += 1
    if options.paths and str(options.paths[0]) != "-":
        changed = "would change" if options.check or options.diff else "formatted"
        summary = f"{counts['formatted']} {changed}, {counts['unchanged']} unchanged"
        print(summary + (f", {counts['refused']} refused" if counts["refused"] else ""), file=sys.stderr)
    return code or (1 if counts["refused"] or (options.check and counts["formatted"]) else 0)


def _file(path: Path, options: argparse.Namespace) -> str:
    """Format one file; returns what it counts as."""
    name = display_name(path)
    try:
        content = read_bytes(path)
        text = decode_text(content)
        formatted = format_module(text, options.width)
    except OSError as error:
        print(f"{name}: error: cannot read the file: {error.strerror or error} [unreadable]", file=sys.stderr)
        return "refused"
    except UnicodeDecodeError as error:
        print(f"{name}: error: {'; '.join(not_utf8(error))} [encoding]", file=sys.stderr)
        return "refused"
    except EplError as error:
        print_error(path, text, error)
        return "refused"
    changes = formatted.encode() != content
    if options.diff:
        lines = text.splitlines(keepends=True), formatted.splitlines(keepends=True)
        for line in difflib.unified_diff(*lines, f"{name}\tas it is", f"{name}\tformatted"):
            print(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n", end="")
    elif options.check:
        if changes:
            print(f"would change {name}", file=sys.stderr)
    elif str(path) == "-":
        print(formatted, end="")
    elif changes:
        try:
            path.write_bytes(formatted.encode())
        except OSError as error:
            print(f"{name}: error: cannot write the file: {error.strerror or error} [unwritable]", file=sys.stderr)
            return "refused"
        print(f"formatted {name}", file=sys.stderr)
    return "formatted" if changes else "unchanged"
