"""Write docs/pictures/*.svg, the example of each data window along time, as docs/reference/windows.md shows it, and
docs/pictures/tutorial/*.svg, what happens in docs/tutorial.md.

    python docs/make_pictures.py

In front of a Python block of the tutorial, ``<!-- picture NAME: timeline of STATEMENT -->`` draws the statement along time while the block
runs; ``<!-- picture NAME: plan of STATEMENT -->`` and ``<!-- picture NAME: module of STATEMENT -->`` draw, after the block, its plan and
the module that it is in.

Each picture names what it was drawn from (a hash of its data), so that a test can tell whether it is current without drawing.
"""
from __future__ import annotations

import contextlib
import hashlib
import io
import json
import pathlib
import re
import sys
from collections.abc import Mapping
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parent
if str(FOLDER) not in sys.path:
    sys.path.insert(0, str(FOLDER))

import make_reference  # noqa: E402

from runtime import Runtime  # noqa: E402
from runtime.explain.graph import Graph  # noqa: E402
from runtime.explain.svg import svg  # noqa: E402
from runtime.pictures.recording import Recording  # noqa: E402
from runtime.pictures.timeline import save  # noqa: E402

PICTURES = FOLDER / "pictures"
TUTORIAL = PICTURES / "tutorial"
BLOCK = re.compile(r"^(?:<!-- picture (\S+): (timeline|plan|module) of (.+?) -->\n\n)?```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def recordings(examples: Mapping[str, Any]) -> dict[str, Recording]:
    """Return the recording of each window's example, by the window's name."""
    return {name: recorded(example, examples) for name, example in examples["pages"]["windows"].items() if "refused" not in example}


def recorded(example: Mapping[str, Any], examples: Mapping[str, Any]) -> Recording:
    """Run an example in a runtime whose clock starts at 0; time walks."""
    text = make_reference.statement(dict(example))
    with Runtime(tier="row") as runtime:
        module = ";\n".join([*make_reference.schemas(text, examples["types"]), f"@name('example') {text}"])
        statement = runtime.deploy(module)["example"]
        with runtime.record(statement) as recording:
            for step in example["steps"]:
                if "time" in step:
                    runtime.advance_time_span(step["time"])
                else:
                    runtime.send(step["send"], dict(step["event"]))
        return recording


def tutorial(text: str) -> dict[str, Recording | Graph]:
    """Run the Python blocks of the tutorial and return what its pictures are drawn from, by name."""
    names: dict[str, Any] = {"__name__": "tutorial"}
    drawn: dict[str, Recording | Graph] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for name, what, statement, code in BLOCK.findall(text):
            program = compile(code, "tutorial", "exec")
            with contextlib.ExitStack() as recorded_here:
                if what == "timeline":
                    drawn[name] = recorded_here.enter_context(names["runtime"].record(statement))
                exec(program, names)  # noqa: S102 - the project's own page
            if what == "plan":
                drawn[name] = names["runtime"].statement(statement).graph()
            elif what == "module":
                drawn[name] = next(each for each in names["runtime"].deployments.values()
                                   if any(one.name == statement for one in each)).graph()
    return drawn


def identifier(picture: Recording | Graph) -> str:
    """Return what stands in the picture of a recording or graph."""
    return "epl:" + hashlib.sha256(json.dumps(picture.to_dict(), sort_keys=True).encode()).hexdigest()[:32]


def write(picture: Recording | Graph, path: pathlib.Path) -> None:
    """Draw a picture."""
    if isinstance(picture, Recording):
        save(picture.plot(), path, identifier(picture))
    else:
        path.write_text(f"{svg(picture).replace('<title>', f'<!-- {identifier(picture)} --><title>', 1)}\n", encoding="utf-8")


def write_all(folder: pathlib.Path, pictures: Mapping[str, Recording | Graph]) -> None:
    """Write these pictures of a folder, and remove others."""
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.svg"):
        if path.stem not in pictures:
            path.unlink()
    for name, picture in pictures.items():
        write(picture, folder / f"{name}.svg")


def main() -> None:
    write_all(PICTURES, recordings(make_reference.read_examples()))
    write_all(TUTORIAL, tutorial((FOLDER / "tutorial.md").read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
