"""Run the Python blocks of pages, and compare what they print with the output block that follows each.

    python docs/run_pages.py docs/tutorial.md            list what differs
    python docs/run_pages.py --write docs/tutorial.md    write the output blocks

The blocks of a page are one program, in order. An output block is a block of type ``text`` right after a Python block; one that prints
nothing has none. Blocks of type ``py`` are not run. An error that a block is meant to show is printed by the block.
"""
from __future__ import annotations

import contextlib
import io
import pathlib
import re
import sys
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def executed(text: str, name: str, names: dict[str, Any] | None = None) -> str:
    """Return a page with the output blocks that its Python blocks give; ``names`` are variables that the first block sees."""
    variables: dict[str, Any] = {"__name__": "page", **(names or {})}

    def run(block: re.Match[str]) -> str:
        printed = io.StringIO()
        # padded, so that a traceback has the page's line numbers
        code = "\n" * text[: block.start("code")].count("\n") + block["code"]
        with contextlib.redirect_stdout(printed):
            exec(compile(code, name, "exec"), variables)  # noqa: S102 - the project's own pages
        output = printed.getvalue()
        return f"```python\n{block['code']}```\n" + (f"\n```text\n{output}```\n" if output else "")

    return BLOCK.sub(run, text)


def main(arguments: list[str]) -> int:
    """Run the pages named; return how many differ."""
    write, differing = "--write" in arguments, 0
    for path in (pathlib.Path(each) for each in arguments if each != "--write"):
        text = path.read_text(encoding="utf-8")
        now = executed(text, str(path))
        if now != text:
            differing += 1
            print(f"{path} {'written' if write else 'prints something else; --write writes it'}")
            if write:
                path.write_text(now, encoding="utf-8")
    return 0 if write else differing


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
