"""JSON text into events: values by declared type, faults of the text."""
import json
import re

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epl.errors import EplError, EplRuntimeError
from runtime import Runtime
from runtime.conversion.json_text import find_fault


def sent(columns: str, text: str):
    rows = []
    with Runtime() as rt:
        rt.deploy(f"create json schema J({columns}); @name('s') select * from J", listeners={"s": lambda new, *_: rows.extend(new)})
        rt.send("J", text)
    return rows[0].to_dict()


@pytest.mark.parametrize(("text", "words"), [
    ("", "Unexpected end of input at 1:1"),
    ('{"c"}', "Expected ':' at 1:5"),
    ("{c:1}", "Expected name at 1:2"),
    ('{"c":1,}', "Expected name at 1:8"),
    ('{"c":01}', "Expected ',' or '}' at 1:7"),
    ('{"c":1} x', "Unexpected character at 1:9"),
    ('{"c":tru}', "Expected 'e' at 1:9"),
    ('{"c":"a\\q"}', "Expected valid escape sequence at 1:9"),
    ('{"c":1.}', "Expected digit at 1:8"),
    ('{"c":NaN}', "Expected value at 1:6"),
    ('{"c":\n x}', "Expected value at 2:2"),
])
def test_a_fault_is_told_as_esper_does(text, words):
    with pytest.raises(EplRuntimeError) as refused:
        sent("c int", text)
    assert refused.value.message == f"Failed to parse Json: {words}"


@pytest.mark.parametrize("text", ["[]", "null", "1", '"x"', "{}", '{"d":[1,{"e":2}]}'])
def test_a_text_without_declared_members_gives_nulls(text):
    assert sent("c int, t string", text) == {"c": None, "t": None}


def test_the_declared_type_reads_what_stands_there():
    text = '{"i":"7","s":1e2,"b":"true","c":"xyz","a":[1,"2",null],"m":{"k":[1]},"o":99999999999}'
    read = sent("i int, s string, b bool, c char, a int[], m Map, o Object", text)
    assert read == {"i": 7, "s": "1e2", "b": True, "c": "x", "a": [1, 2, None], "m": {"k": [1]}, "o": 99999999999.0}
    assert isinstance(read["o"], float)


def test_a_value_that_does_not_fit_is_refused_with_its_member():
    with pytest.raises(EplRuntimeError, match="Failed to parse json member name 'c' as a Byte-type from value '128'"):
        sent("c byte", '{"c":128}')
    with pytest.raises(EplRuntimeError, match="as a UUID-type from value 'x': Invalid UUID string: x"):
        sent("c java.util.UUID", '{"c":"x"}')


@given(st.text(alphabet='{}[]",:0123456789.-+eEtruefalsn \n\\', max_size=14))
def test_a_text_has_a_fault_exactly_when_python_refuses_it(text):
    def refuse(constant):
        raise ValueError(constant)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        assert find_fault(text) is not None
    else:
        assert find_fault(text) is None


def test_a_row_as_json():
    rows = []
    with Runtime() as rt:
        rt.deploy(
            "create schema N(x double); create schema S(n N, d java.time.LocalDate, b BigDecimal, a int[]);"
            "@name('s') select *, 'ü' as t from S",
            listeners={"s": lambda new, *_: rows.extend(new)},
        )
        rt.send("S", {"n": {"x": float("nan")}, "d": "2024-02-29", "b": 2, "a": [1, None]})
    assert rows[0].to_json() == '{"n": {"x": null}, "d": "2024-02-29", "b": 2, "a": [1, null], "t": "ü"}'


def test_control_characters_are_told():
    with Runtime() as rt, pytest.raises(EplError, match="Unrecognized control characters found in text"):
        rt.compile("select \x13 from S")


@attrs.define
class Point:
    x: int = 0
    label: str = ""


def of_class(written: str, event: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    with Runtime() as rt:
        rt.register("com.acme.Point", Point)
        rt.deploy(written + "; @name('s') select *, label.length() as n from P",
                  listeners={"s": lambda new, *_: rows.extend(dict(r) for r in new)})
        rt.send("P", event)
    return rows


def test_json_events_of_a_registered_class_have_its_properties():
    annotated = "@JsonSchema(className='com.acme.Point') create json schema P"
    for columns in ("()", "(x long)", "(label string, x Long)"):
        assert of_class(annotated + columns, '{"x": 3, "label": "ab", "other": 1}') == [{"x": 3, "label": "ab", "n": 2}]


@pytest.mark.parametrize(("written", "refusal"), [
    ("@JsonSchema(className='com.acme.Point') create json schema P(z int)", "Failed to find public field 'z' on class 'com.acme.Point'"),
    ("@JsonSchema(className='com.acme.Point') create json schema P(x string)",
     "Public field 'x' of class 'com.acme.Point' declared as type 'Long' cannot receive a value of type 'String'"),
    ("@JsonSchema(className='com.acme.Point', dynamic=true) create json schema P()",
     "The dynamic flag is not supported when used with a provided JSON event class"),
    ("create json schema B(z int); @JsonSchema(className='com.acme.Point') create json schema P() inherits B",
     "Specifying a supertype is not supported with a provided JSON event class"),
    ("@JsonSchema(className='java.awt.Point') create json schema P()", "JSON events of Java's class java.awt.Point are not supported"),
])
def test_json_events_of_a_class_are_refused_as_by_esper(written, refusal):
    with pytest.raises(EplError, match=re.escape(refusal)):
        of_class(written, "{}")
