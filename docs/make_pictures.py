"""Write docs/pictures/*.svg: the example of each data window along time, as docs/reference/windows.md shows it.

    python docs/make_pictures.py

Each picture names the recording that it was drawn from (a hash of its data), so that a test can tell whether it is current without drawing.
"""
from __future__ import annotations

import hashlib
import json
import pathlib
import sys
from collections.abc import Mapping
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parent
if str(FOLDER) not in sys.path:
    sys.path.insert(0, str(FOLDER))

import make_reference  # noqa: E402

from runtime import Runtime  # noqa: E402
from runtime.pictures.recording import Recording  # noqa: E402
from runtime.pictures.timeline import save  # noqa: E402

PICTURES = FOLDER / "pictures"


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


def identifier(recording: Recording) -> str:
    """Return what stands in the picture of the recording."""
    return "epl:" + hashlib.sha256(json.dumps(recording.to_dict(), sort_keys=True).encode()).hexdigest()[:32]


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    drawn = recordings(make_reference.read_examples())
    for path in PICTURES.glob("*.svg"):
        if path.stem not in drawn:
            path.unlink()
    for name, recording in drawn.items():
        save(recording.plot(), PICTURES / f"{name}.svg", identifier(recording))


if __name__ == "__main__":
    main()
