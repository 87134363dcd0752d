"""What the caret of a refusal points at."""

from __future__ import annotations

import pytest

from epl import errors
from runtime import Runtime


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
