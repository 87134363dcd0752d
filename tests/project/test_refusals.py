"""Every refusal that the recorded cases know: a public class of error, with line and column."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

from epl import errors
from runtime import Runtime

CASES = pathlib.Path(__file__).resolve().parents[1] / "cases"


def _refused() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Cases that only deploy, up to a refusal."""
    for path in sorted(CASES.glob("*/*.json")):
        for case in json.loads(path.read_text(encoding="utf-8")):
            steps = case["steps"]
            if any(s["op"] == "compile_error" for s in steps):
                yield f"{path.parent.name}/{path.stem}/{case['name']}", steps


def test_refusals_are_public_errors_with_a_position() -> None:
    wrong, seen = [], 0
    for name, steps in _refused():
        with Runtime() as runtime:
            for step in steps:
                if step["op"] not in ("deploy", "compile_error"):
                    continue
                try:
                    runtime.deploy(step["epl"])
                except errors.EplDeploymentError:
                    continue  # values that only the runtime knows, such as a crontab's
                except errors.EplError as error:
                    seen += 1
                    if type(error).__module__ != errors.__name__ or error.position is None or "^" not in str(error):
                        wrong.append(f"{name}: {type(error).__qualname__}: {error}")
    assert seen > 150
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("having", "column", "width"),
    [("px < avg(c)", 58, 2), ("c < avg(px)", 58, 1), ("avg(c) > 1 and (px) < avg(c)", 74, 2), ("t = first(*)", 58, 1)],
)
def test_the_caret_of_having_points_at_the_property(having: str, column: int, width: int) -> None:
    with Runtime() as runtime:
        runtime.deploy("create schema T(f string, c long, px double)")
        with pytest.raises(errors.EplValidationError, match="in the HAVING clause must occur in the group-by clause") as caught:
            runtime.deploy(f"select f, avg(c) from T#length(9) as t group by f having {having}")
    assert type(caught.value) is errors.EplValidationError
    assert caught.value.position == (1, column)
    assert caught.value.span is not None and caught.value.span.end - caught.value.span.start == width
