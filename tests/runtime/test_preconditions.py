"""Compiled modules that are deployed later, names of properties without regard to case, types of unknown properties."""
import pytest

from epl.errors import EplDeploymentError, EplError
from epl.event_types import EventType, Property
from epl.settings import Settings
from epl.value_types import INT, STRING
from runtime import Runtime


def test_a_plan_whose_event_type_is_gone_is_refused():
    with Runtime() as rt:
        first = rt.deploy("create schema S(a int)")
        plan = rt.compile("@name('s') select a from S")
        first.undeploy()
        with pytest.raises(EplDeploymentError, match="A precondition is not satisfied: Required dependency event type 'S' cannot be found"):
            rt.deploy(plan)
        rt.deploy("create schema S(a int)")
        with pytest.raises(EplDeploymentError, match="Required dependency event type 'S'"):
            rt.deploy(plan)


def test_a_plan_whose_variable_is_gone_is_refused():
    with Runtime() as rt:
        rt.deploy("create schema S(a int)")
        first = rt.deploy("create variable int v = 1")
        plan = rt.compile("select a + v as b from S")
        first.undeploy()
        with pytest.raises(EplDeploymentError, match="Required dependency variable 'v' cannot be found"):
            rt.deploy(plan)


def test_a_plan_whose_names_are_taken_is_refused_and_the_same_plan_is_not():
    with Runtime() as rt:
        plan = rt.compile("create schema S(a int)")
        rt.deploy("create schema S(b int)")
        with pytest.raises(EplDeploymentError, match="An event type by name 'S' has already been created for module"):
            rt.deploy(plan)
    with Runtime() as rt:
        plan = rt.compile("create schema S(a int); @name('s') select a from S")
        assert rt.deploy(plan).id != rt.deploy(plan).id


def bean() -> EventType:
    return EventType("B", "bean", {"myText": Property("myText", STRING), "MYTEXT": Property("MYTEXT", STRING), "n": Property("n", INT)})


@pytest.mark.parametrize(("style", "expected"), [("case_insensitive", "x"), ("distinct_case_insensitive", None), ("case_sensitive", None)])
def test_names_of_class_properties_are_compared_by_the_setting(style, expected):
    rows = []
    with Runtime(settings=Settings(property_resolution=style)) as rt:
        rt.register_type(bean())
        if style != "case_sensitive":
            rt.deploy("@name('n') select N as k from B", listeners={"n": lambda new, *_: rows.extend(new)})
            rt.send("B", {"n": 5})
            assert [row.k for row in rows] == [5]
        if expected is None:
            words = "Unable to determine which property" if style.startswith("distinct") else "Failed to validate select-clause"
            with pytest.raises(EplError, match=words):
                rt.deploy("select mytext from B")
        else:
            rt.deploy("@name('s') select mytext as t from B", listeners={"s": lambda new, *_: rows.extend(new)})
            rt.send("B", {"myText": "x", "n": 1})
            assert rows[-1].t == expected


def test_settings_stay_over_a_restart():
    with Runtime(settings=Settings(property_resolution="case_insensitive", imports=("com.acme.Mine",))) as rt:
        rt.register_type(bean())
        rt.deploy("@Mine @name('s') select N as k from B")
        again = Runtime.restore(rt.snapshot())
    assert again.settings.imports == ("com.acme.Mine",)
    again.deploy("@Mine select N as k from B")
