"""What a trace does not say of its types, and the replay finds out."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from tests.replay.files import Job, replay_file
from tests.replay.trace_schema import types_of

ORDER = {"kind": "bean", "class": "com.acme.Purchase", "props": {"id": "String", "state": "State"}, "supertypes": []}
STATE = {"kind": "enum", "class": "com.acme.State", "constants": ["OPEN", "DONE"]}


def _trace(name: str, *texts: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "suite": "orders", "name": name, "steps": [{"op": "compile", "kind": "module", "epl": t} for t in texts], **more}


def _exceptions(folder: pathlib.Path, *traces: dict[str, Any]) -> list[str | None]:
    folder.joinpath("described.json").write_text(json.dumps([_trace("a", schema={"Purchase": ORDER, "State": STATE})]), encoding="utf-8")
    asked = folder / "asked.json"
    asked.write_text(json.dumps(traces), encoding="utf-8")
    return [step.get("exception") for trace in replay_file(Job(asked, None)).traces for step in trace["steps"]]


def test_types_come_from_traces_of_the_suite(tmp_path: pathlib.Path) -> None:
    other = {**_trace("c", "select id from Purchase"), "suite": "other"}
    exceptions = _exceptions(tmp_path, _trace("b", "select id from Purchase"), other, _trace("d", "create schema Purchase(x int)"))
    assert exceptions == [None, "Failed to resolve event type, named window or table by name 'Purchase'", None]


def test_enums_come_with_their_import(tmp_path: pathlib.Path) -> None:
    text = "select id from Purchase where state = State.OPEN"
    exceptions = _exceptions(tmp_path, _trace("b", text, config={"imports": ["com.acme.State"]}))
    assert exceptions == [None]
    # the type of a property brings the enum too, so that the constant is known
    assert _exceptions(tmp_path, _trace("b", text.replace("state = ", "id = ")))[0] is not None


def test_what_was_compiled_is_on_the_path(tmp_path: pathlib.Path) -> None:
    trace = _trace("b", "@public create variable int v;", "select v from Purchase", "select nothing from Purchase")
    assert _exceptions(tmp_path, trace) == [
        None, None, "Failed to validate select-clause expression 'nothing': Property named 'nothing' is not valid in any stream"]


def test_the_class_of_an_object_is_known_by_its_properties() -> None:
    base = {"kind": "bean", "class": "Base", "props": {"a": "String"}, "supertypes": []}
    special = {"kind": "class", "class": "Special", "props": {"a": "String"}, "supertypes": ["Base"]}
    other = {"kind": "bean", "class": "Other", "props": {"b": "int"}, "supertypes": []}
    types = types_of({"Base": base, "Special": special, "Other": other})
    special_type = types.class_of(["a"])
    assert special_type is not None and special_type.name == "Special"
    both = types.class_of(["b", "a"])
    assert both is not None and {t.name for t in both.supertypes} == {"Base", "Special", "Other"}
    assert types.class_of(["c"]) is None and types.class_of(["a", "c"]) is None
