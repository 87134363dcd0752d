"""The registry as a whole: keys, texts, copies; functions of Python; date-time methods on events and in microseconds."""
from __future__ import annotations

import datetime
import types
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from epl.event_types import EventOf, EventType, Property
from epl.functions.library import builtin_functions
from epl.functions.registry import NOT_CONSTANT, TIME_PERIOD, FunctionSpec
from epl.functions.user import add_class, function_spec, import_python
from epl.settings import Settings
from epl.value_types import BOXED_INT, BOXED_LONG, CALENDAR, DATE, INT, LONG, STRING, Scalar, ValueType
from windows.event import event_class


def all_specs() -> dict[int, FunctionSpec]:
    registry = builtin_functions()
    listed = [*registry.single_row.values(), *registry.static.values(), *(s for found in registry.methods.values() for s in found)]
    return {id(s): s for s in listed}


def test_every_key_names_one_function() -> None:
    keys = [s.key for s in all_specs().values()]
    assert len(keys) == len(set(keys))
    registry = builtin_functions()
    assert all(registry.by_key[k].key == k for k in keys)  # type: ignore[union-attr]


def test_every_function_says_what_it_does() -> None:
    for spec in all_specs().values():
        assert spec.signature and spec.summary.endswith("."), spec.key
    for method in builtin_functions().enumeration.values():
        assert method.signature.startswith("collection.") and method.summary.endswith("."), method.name


def test_copies_do_not_share_what_users_add() -> None:
    one, other = builtin_functions(), builtin_functions()
    one.add_single_row("mine", function_spec("mine", lambda x: x))
    assert "mine" in one.single_row and "mine" not in other.single_row and "user.mine" not in other.by_key


def test_all_31_enumeration_methods_are_there() -> None:
    assert sorted(builtin_functions().enumeration) == sorted(
        ["aggregate", "allof", "anyof", "arrayof", "average", "countof", "distinctof", "except", "firstof", "groupby", "intersect",
            "lastof", "leastfrequent", "max", "maxby", "min", "minby", "mostfrequent", "orderby", "orderbydesc", "reverse", "selectfrom",
                "sequenceequal", "sumof", "take", "takelast", "takewhile", "takewhilelast", "tomap", "union", "where"])


# ------------------------------------------------------------------ functions of Python


def invoke(spec: FunctionSpec, argument_types: Sequence[ValueType], *arguments: Any) -> tuple[str, Any] | None:
    bound = spec.bind(argument_types, [NOT_CONSTANT] * len(argument_types))
    return None if bound is None else (str(bound.type), spec.make(*bound.constants)(*arguments))


def rate(price: float, name: str | None = None, *rest: int) -> Decimal:
    """The rate of a price.

    Not shown.
    """
    assert isinstance(price, float)
    return Decimal(str(price)) + len(name or "") + sum(rest)


def test_hints_give_types_and_conversions() -> None:
    spec = function_spec("rate", rate)
    assert (spec.key, spec.summary) == ("user.rate", "The rate of a price.")
    assert invoke(spec, [INT], 2) == ("BigDecimal", Decimal("2.0"))
    assert invoke(spec, [BOXED_INT, STRING, INT, LONG], 2, "ab", 1, 1) == ("BigDecimal", Decimal("6.0"))
    assert invoke(spec, [STRING], "a") is None
    assert invoke(spec, []) is None


def test_functions_without_hints_take_anything() -> None:
    assert invoke(function_spec("pair", lambda a, b: (a, b)), [STRING, DATE], "a", None) == ("Object", ["a", None])
    assert invoke(function_spec("largest", max), [INT, INT], 1, 2) == ("Object", 2)


def test_what_a_function_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        invoke(function_spec("broken", lambda: 1 // 0), [])


class Tools:
    LIMIT = 7

    @staticmethod
    def twice(x: int) -> int:
        return 2 * x

    def instance(self) -> int:
        return 1


def test_classes_and_modules_give_static_functions() -> None:
    registry = builtin_functions()
    add_class(registry, "acme.Tools", Tools)
    assert invoke(registry.static["Tools", "twice"], [INT], 4) == ("Long", 8) == invoke(registry.static["acme.Tools", "twice"], [INT], 4)
    assert registry.constants["Tools.LIMIT"] == (BOXED_LONG, 7)
    assert ("Tools", "instance") not in registry.static
    module = types.ModuleType("m")
    module.f = lambda: "x"  # type: ignore[attr-defined]
    add_class(registry, "m", module)
    assert invoke(registry.static["m", "f"], []) == ("Object", "x")


def test_python_modules_are_found_by_name() -> None:
    registry = builtin_functions()
    assert import_python(registry, "string.Formatter") and import_python(registry, "fnmatch")
    assert invoke(registry.static["fnmatch", "fnmatch"], [STRING, STRING], "abc", "a*") == ("Object", True)
    assert not import_python(registry, "no_such_module.at_all") and not import_python(registry, "string.no_such_member")


# ------------------------------------------------------------------ dates in context


def method(settings: Settings, name: str, argument_types: Sequence[ValueType], *arguments: Any, constants: Sequence[Any] = ()) -> Any:
    for spec in builtin_functions(settings).methods[name]:
        bound = spec.bind(argument_types, [*constants, *[NOT_CONSTANT] * (len(argument_types) - len(constants))])
        if bound is not None:
            return spec.make(*bound.constants)(*arguments)
    raise AssertionError(name)


MICRO, BERLIN = Settings(time_unit="microseconds"), Settings(time_zone="Europe/Berlin")


def test_microseconds() -> None:
    assert method(MICRO, "withTime", [LONG, INT, INT, INT, INT], 1022749506007123, 1, 2, 3, 4) == 1022720523004123
    assert method(MICRO, "minus", [LONG, INT], 1022749506007000, 1) == 1022749506006000
    calendar = method(MICRO, "toCalendar", [LONG], 1022749506007123)
    assert calendar == datetime.datetime(2002, 5, 30, 9, 5, 6, 7000, tzinfo=datetime.timezone.utc)


def test_limits_are_engine_time_and_rounding_keeps_what_is_below_the_millisecond() -> None:
    assert [method(MICRO, "before", [LONG, LONG, INT], 1_000_000, 1_000_500, n) for n in (1, 500, 501)] == [True, True, False]
    assert method(MICRO, "before", [LONG, LONG, TIME_PERIOD], 1_000_000, 1_000_500, ("millisecond", 1)) is False
    assert method(MICRO, "roundFloor", [LONG, STRING], 1_000_500, "sec", constants=(NOT_CONSTANT, "sec")) == 1_000_500
    assert method(MICRO, "plus", [LONG, TIME_PERIOD], 1_000_000, ("second", 1.5, "microsecond", 7)) == 2_000_000


def test_the_engines_zone_is_that_of_long_and_date() -> None:
    noon = datetime.datetime(2024, 7, 1, 10, tzinfo=datetime.timezone.utc)
    assert method(BERLIN, "getHourOfDay", [DATE], noon) == 12
    assert method(BERLIN, "getHourOfDay", [CALENDAR], noon) == 10
    assert method(BERLIN, "withTime", [DATE, INT, INT, INT, INT], noon, 0, 0, 0, 0) == datetime.datetime(
        2024, 6, 30, 22, tzinfo=datetime.timezone.utc)


def test_a_day_across_the_change_of_clocks() -> None:
    before = 1711796400000  # 2024-03-30T12:00 in Berlin
    assert method(BERLIN, "plus", [LONG, TIME_PERIOD], before, ("day", 1)) - before == 23 * 3_600_000
    assert method(BERLIN, "plus", [LONG, TIME_PERIOD], before, ("hour", 24)) - before == 24 * 3_600_000


TIMED = EventType("A", "map", {"s": Property("s", BOXED_LONG), "e": Property("e", BOXED_LONG)}, start_timestamp="s", end_timestamp="e")
EVENT = EventOf(TIMED)
MAKE = event_class(TIMED)


def test_events_are_intervals() -> None:
    settings = Settings()
    a, b = MAKE(100, 200), MAKE(300, 400)
    assert method(settings, "before", [EVENT, EVENT], a, b) is True
    assert method(settings, "after", [EVENT, EVENT], a, b) is False
    assert method(settings, "before", [EVENT, LONG], a, 201) is True
    assert method(settings, "includes", [EVENT, LONG], a, 150) is True
    assert method(settings, "before", [EVENT, EVENT], MAKE(None, 1), b) is None
    assert method(settings, "before", [EVENT, EVENT], None, b) is None
    assert method(settings, "get", [EVENT, STRING], a, "msec", constants=(NOT_CONSTANT, "msec")) == 100


def test_a_changed_start_keeps_the_intervals_length() -> None:
    settings = Settings()
    moved = method(settings, "plus", [EVENT, INT], MAKE(100, 200), 1000)
    assert moved == 1100
    assert method(settings, "before", [LONG, LONG], moved, 1150) is False
    assert method(settings, "before", [LONG, LONG], 1100, 1150) is True
    again = method(settings, "set", [LONG, STRING, INT], moved, "sec", 2, constants=(NOT_CONSTANT, "sec"))
    assert again == 2100 and method(settings, "before", [LONG, LONG], again, 2150) is False


def test_events_without_timestamps_have_no_date_methods() -> None:
    plain = EventOf(EventType("B", "map", {"s": Property("s", BOXED_LONG)}))
    assert all(s.bind([plain], [NOT_CONSTANT]) is None for s in builtin_functions().methods["toDate"])
    with pytest.raises(ValueError, match="is event type 'B', however no timestamp property has been defined for this event type"):
        builtin_functions().methods["before"][0].bind([EVENT, plain], [NOT_CONSTANT] * 2)


def test_dates_are_kept_by_kind() -> None:
    assert isinstance(builtin_functions().methods["plus"][0].bind([DATE, INT], [NOT_CONSTANT] * 2).type, Scalar)  # type: ignore[union-attr]
