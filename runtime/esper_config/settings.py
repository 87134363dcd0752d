"""Elements of ``esper.cfg.xml`` that are settings here, and those that have no meaning here."""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from epl.errors import EplDeploymentError
from runtime.esper_config.elements import XmlElement, element_error

Read = Callable[[str, XmlElement, str], Any]
OFFSET = re.compile(r"GMT([+-])(\d{1,2})(?::?00)?", re.IGNORECASE)


def _flag(file: str, element: XmlElement, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise element_error(file, element, f"true or false is expected, not {value!r}")
    return value.lower() == "true"


def _count(file: str, element: XmlElement, value: str) -> int:
    if not value.isascii() or not value.isdigit():
        raise element_error(file, element, f"a whole number is expected, not {value!r}")
    return int(value)


def _word(file: str, element: XmlElement, value: str) -> str:
    return value.lower()


def _zone(file: str, element: XmlElement, value: str) -> str:
    """``GMT-4:00`` is ``Etc/GMT+4`` in the database of zones, whose signs are the other way round."""
    match = OFFSET.fullmatch(value)
    return value if match is None else f"Etc/GMT{'-' if match[1] == '+' else '+'}{int(match[2])}"


SETTINGS: Mapping[tuple[str, str], tuple[str, Read]] = {
    ("common/event-meta/class-property-resolution", "style"): ("property_resolution", _word),
    ("common/event-meta/event-representation", "type"): ("default_event_representation", _word),
    ("common/time-source/time-unit", "value"): ("time_unit", _word),
    ("compiler/view-resources/iterable-unbound", "enabled"): ("iterable_unbound", _flag),
    ("compiler/view-resources/outputlimitopt", "enabled"): ("output_limit_opt", _flag),
    ("compiler/stream-selection/stream-selector", "value"): ("default_stream_selector", _word),
    ("compiler/language", "sort-using-collator"): ("sort_using_collator", _flag),
    ("compiler/expression", "integer-division"): ("integer_division", _flag),
    ("compiler/expression", "division-by-zero-is-null"): ("division_by_zero_returns_null", _flag),
    ("compiler/expression", "udf-cache"): ("udf_cache", _flag),
    ("compiler/execution", "filter-index-planning"): ("filter_index_planning", _word),
    ("compiler/scripts", "enabled"): ("scripts_enabled", _flag),
    ("runtime/expression", "self-subselect-preeval"): ("self_subselect_preeval", _flag),
    ("runtime/expression", "time-zone"): ("time_zone", _zone),
    ("runtime/execution", "prioritized"): ("prioritized", _flag),
    ("runtime/execution", "precedence-enabled"): ("precedence", _flag),
    ("runtime/match-recognize/max-state", "value"): ("max_states", _count),
    ("runtime/match-recognize/max-state", "prevent-start"): ("max_states_prevent_start", _flag),
    ("runtime/patterns/max-subexpression", "value"): ("max_subexpressions", _count),
    ("runtime/patterns/max-subexpression", "prevent-start"): ("max_subexpressions_prevent_start", _flag),
}
"""(path, attribute) → the setting, and how its value is read."""

CONTAINERS = {path.rpartition("/")[0] for path, _ in SETTINGS} | {path for path, _ in SETTINGS} | {"common", "compiler", "runtime"}
"""Elements whose children and attributes are looked at."""

WITHOUT_MEANING = (
    "common/logging", "compiler/logging", "runtime/logging", "runtime/threading", "runtime/metrics-reporting", "runtime/variables",
    "runtime/time-source", "compiler/serde-provider-factory", "common/event-type-auto-name",
)
"""What does not change the rows that are emitted: logs, threads, metrics, look-ups of Java classes by name."""

ATTRIBUTES_WITHOUT_MEANING = {
    ("common/event-meta/class-property-resolution", "accessor-style"), ("compiler/execution", "filter-service-max-filter-width"),
    ("compiler/execution", "enabled-declared-expr-value-cache"), ("runtime/execution", "fairlock"),
    ("runtime/execution", "disable-locking"), ("runtime/execution", "filter-service-profile"),
    ("runtime/execution", "declared-expr-value-cache-size"), ("compiler/scripts", "default-dialect"),
}

NOT_HERE: Mapping[str, str] = {
    "common/database-reference": "Runtime.register_database gives a database by its name",
    "common/method-reference": "Runtime.register_method gives a function with its cache",
    "compiler/plugin-aggregation-multifunction": "Runtime.register_aggregation gives an aggregation by its name",
    "compiler/plugin-view": "Runtime.register_window gives a data window",
    "compiler/plugin-virtualdw": "register_table or a named window gives the rows",
    "compiler/plugin-pattern-guard": "write the condition in the pattern",
    "compiler/plugin-pattern-observer": "write the observer in the pattern",
    "compiler/plugin-method-datetime": "Runtime.register_function gives a function by its name",
    "compiler/plugin-method-enum": "Runtime.register_function gives a function by its name",
    "compiler/bytecode": "names are public by default here: Settings(default_access='private') is Esper's default",
    "runtime/plugin-loader": "a Python program makes what the loader makes",
    "runtime/conditionHandling": "Runtime.on_condition is called with conditions",
    "runtime/exceptionHandling": "Runtime(on_error=…) is called with exceptions",
    "compiler/serde": "state is kept by snapshots",
}
"""Elements of Esper that have no equal in a file: path → what to do."""


PLUGINS: Mapping[str, tuple[str, str]] = {
    "compiler/plugin-singlerow-function": (
        "functions", "Runtime.register_function gives a Python function that name; on the command line, in a module of --setup",
    ),
    "compiler/plugin-aggregation-function": (
        "aggregations", "Runtime.register_aggregation gives a Python class that name; on the command line, in a module of --setup",
    ),
}
"""Elements that give code of Java's a name: path → what it is, and what gives the name to Python's."""


def read_setting(file: str, path: str, element: XmlElement, attribute: str) -> tuple[str, Any] | None:
    """Return a setting with its value, None where the attribute is none; raise EplDeploymentError for a value that cannot be."""
    entry = SETTINGS.get((path, attribute))
    if entry is None:
        return None
    name, read = entry
    return name, read(file, element, element.attributes[attribute].strip())


def setting_error(file: str, element: XmlElement, error: ValueError) -> EplDeploymentError:
    """Return what ``Settings`` says of a value, at its place in the file."""
    return element_error(file, element, str(error))


__all__ = [
    "ATTRIBUTES_WITHOUT_MEANING",
    "CONTAINERS",
    "NOT_HERE",
    "PLUGINS",
    "SETTINGS",
    "WITHOUT_MEANING",
    "read_setting",
    "setting_error",
]
