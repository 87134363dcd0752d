"""Integers of more digits than Python writes (sys.set_int_max_str_digits): wherever values are shown, nothing is raised."""
from __future__ import annotations

import json
from typing import Any

import pytest

from epl.errors import EplRuntimeError
from epl.reprs import safe_repr, safe_str
from runtime import Runtime

LARGE = 10**5000


class Odd:
    def __repr__(self) -> str:
        raise KeyError("odd")


@pytest.mark.parametrize(("value", "text"), [
    (1, "1"), ("a", "'a'"), (LARGE, hex(LARGE)), ([1, -LARGE], f"[1, {hex(-LARGE)}]"), ((LARGE,), f"({hex(LARGE)})"),
    ({"a": {LARGE: "b"}}, "{'a': {" + hex(LARGE) + ": 'b'}}"), ({LARGE}, "{" + hex(LARGE) + "}"), (Odd(), "<Odd>"), ([Odd()], "[<Odd>]"),
], ids=range(9))
def test_any_value_can_be_shown(value: Any, text: str) -> None:
    assert safe_repr(value) == text
    assert safe_str(value) == (value if isinstance(value, str) else text)


@pytest.mark.parametrize("tier", ["row", "auto"])
def test_rows_events_and_errors(tier: str) -> None:
    runtime = Runtime(tier=tier)
    runtime.deploy("create schema X(b BigInteger, o Object, n int); @name('s') select * from X#keepall; @name('e') select x from X as x")
    events: list[Any] = []
    runtime.statement("e").add_listener(lambda new, *_: events.extend(new))
    runtime.send("X", {"b": LARGE, "o": {"in": [LARGE, {LARGE: 1}]}})
    (row,) = runtime.statement("s")
    shown = hex(LARGE)
    assert shown in repr(row) and shown in str(events[0]) and shown in runtime.statement("s")._repr_html_()
    assert json.loads(row.to_json()).keys() == {"b", "o", "n"}
    with pytest.raises(EplRuntimeError, match=f"property 'n' is declared Integer and cannot hold {shown[:100]}"):
        runtime.send("X", {"n": LARGE})
    with pytest.raises(EplRuntimeError, match=f"cannot hold .{shown[:100]}.*list"):
        runtime.send("X", {"n": [LARGE]})
    with pytest.raises(EplRuntimeError, match="is beyond the range of engine time"):
        runtime.advance_time(LARGE)
    assert list(Runtime.restore(runtime.snapshot()).statement("s")) == [row]
