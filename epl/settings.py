"""Settings that change the meaning of all statements of a runtime."""
from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

import attrs

from epl.durations import duration_units
from epl.errors import EplRuntimeError
from epl.java import ROUNDINGS
from epl.zones import zone_named

Validator = Callable[[Any, "attrs.Attribute[Any]", Any], None]


def _refuse(setting: attrs.Attribute[Any], value: Any, expected: str, hint: str = "") -> None:
    raise ValueError(f"Settings({setting.name}={value!r}): expected {expected}{hint}")


def _word_check(*words: str) -> Validator:
    expected = ", ".join(map(repr, words[:-1])) + f" or {words[-1]!r}"

    def check(_: Any, setting: attrs.Attribute[Any], value: Any) -> None:
        if not isinstance(value, str) or value not in words:
            close = get_close_matches(str(value), words, 1)
            _refuse(setting, value, expected, f" (did you mean {close[0]!r}?)" if close else "")

    return check


def _flag(_: Any, setting: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, bool):
        _refuse(setting, value, "True or False")


def _count(*, optional: bool) -> Validator:
    def check(_: Any, setting: attrs.Attribute[Any], value: Any) -> None:
        if optional and value is None:
            return
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            _refuse(setting, value, "a whole number of at least 1" + (", or None for no limit" if optional else ""))

    return check


def _names(value: Iterable[str] | str) -> tuple[Any, ...]:
    """Take any sequence of names; leave a lone string to the validator, which refuses it."""
    return value if isinstance(value, (str, tuple)) else tuple(value)  # type: ignore[return-value]


def _all_texts(_: Any, setting: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, tuple) or not all(isinstance(name, str) for name in value):
        _refuse(setting, value, "a sequence of names", f": write ({value!r},)" if isinstance(value, str) else "")


def _normalise_names(value: Iterable[str] | str) -> str | tuple[str, ...]:
    """``keep``, ``refuse``, or the names in order, so that equal settings are equal."""
    return value if isinstance(value, str) else tuple(sorted(value, key=str))


def _keeping(_: Any, setting: attrs.Attribute[Any], value: Any) -> None:
    if isinstance(value, str):
        _word_check("keep", "refuse")(None, setting, value)
    else:
        _all_texts(None, setting, value)


def _check_zone(_: Any, setting: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, str) or zone_named(value) is None:
        _refuse(setting, value, "a time zone of the IANA database such as 'Europe/Berlin'")


def _rounding(_: Any, setting: attrs.Attribute[Any], value: Any) -> None:
    if value is None:
        return
    fits = isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], int) and value[0] >= 0 and value[1] in ROUNDINGS
    if not fits:
        _refuse(setting, value, f"(precision, rounding) with one of {', '.join(ROUNDINGS)}, or None")


def _length(_: Any, setting: attrs.Attribute[Any], value: Any) -> None:
    if value is not None:
        try:
            duration_units(setting.name, value, 1_000_000)
        except EplRuntimeError:
            _refuse(setting, value, "a length of time such as '5 seconds', or None")


def _plain_length(value: Any) -> Any:
    """Write a timedelta as text, so that settings are plain values."""
    return f"{value // datetime.timedelta(microseconds=1)} microseconds" if isinstance(value, datetime.timedelta) else value


def _duration() -> Any:
    return attrs.field(default=None, converter=_plain_length, validator=_length)


def _choice(default: str, *others: str) -> Any:
    return attrs.field(default=default, validator=_word_check(default, *others))


def _switch(default: bool) -> Any:
    return attrs.field(default=default, validator=_flag)


def _limit(default: int | None = None) -> Any:
    return attrs.field(default=default, validator=_count(optional=True))


@attrs.frozen
class Settings:
    """Settings that change the meaning of all statements of a runtime; docs/settings.md lists each with Esper's name and default. Names
    follow Esper's.

    Attributes:
        default_access: Of names without @public, @protected or @private: ``"public"`` (every later deployment sees them, event types take
            events from outside) or ``"private"`` (Esper's default: only their own module sees them).
        unknown_properties: What ``Runtime.send`` does with a property that the type does not declare: ``"ignore"`` (as with Esper's maps),
            ``"warn"`` (once for each type and name) or ``"refuse"``.
        imports: What every module imports without saying so.
        python_imports: Python modules (with all below them) whose functions and classes EPL text may ``import``. Importing runs their code,
            therefore text alone never decides it.
        dialect: Of which dialect the ``match_recognize`` of statements without ``@Dialect`` is (docs/sql.md).
        order_late: How long the rows of ``match_recognize`` of a SQL dialect wait for earlier ones, in their own time: ``"5 seconds"``.
            None: each is processed when it comes. ``@RowOrder(late=…)`` of a statement says otherwise; so for the next three.
        order_on_late: What happens to rows that come later still: ``"drop"``, ``"refuse"``, ``"side"`` or ``"keep"``.
        order_ahead: Drop rows whose time is further than this beyond the engine's.
        order_max_buffered: The most rows of one clause that wait; beyond it the oldest are processed.
        annotations: What happens to annotations that are not Esper's: ``"keep"`` them as metadata with a warning, ``"refuse"`` them as
            Esper does, or the names of those to keep.

    Raises:
        ValueError: A setting cannot have the value; the message names the valid ones.

    Examples:
        >>> Settings(time_zone="Europe/Paris", integer_division=True).time_unit
        'milliseconds'
        >>> Settings(time_unit="seconds")
        Traceback (most recent call last):
          ...
        ValueError: Settings(time_unit='seconds'): expected 'milliseconds' or 'microseconds' (did you mean 'milliseconds'?)
    """

    time_unit: str = _choice("milliseconds", "microseconds")
    time_zone: str = attrs.field(default="UTC", validator=_check_zone)
    integer_division: bool = _switch(False)
    division_by_zero_returns_null: bool = _switch(False)
    default_stream_selector: str = _choice("istream", "rstream", "irstream")
    iterable_unbound: bool = _switch(False)
    prioritized: bool = _switch(False)
    precedence: bool = _switch(False)
    max_states: int | None = _limit()
    max_states_prevent_start: bool = _switch(True)
    max_routed: int | None = _limit(100_000)
    max_subexpressions: int | None = _limit()
    max_statement_subexpressions: int | None = _limit()
    max_subexpressions_prevent_start: bool = _switch(True)
    max_partitions: int | None = _limit()
    math_context: tuple[int, str] | None = attrs.field(default=None, validator=_rounding)
    sort_using_collator: bool = _switch(False)
    self_subselect_preeval: bool = _switch(True)
    udf_cache: bool = _switch(True)
    output_limit_opt: bool = _switch(True)
    filter_index_planning: str = _choice("advanced", "basic", "none")
    scripts_enabled: bool = _switch(True)
    property_resolution: str = _choice("case_sensitive", "case_insensitive", "distinct_case_insensitive")
    default_event_representation: str = _choice("map", "objectarray", "json")
    default_access: str = _choice("public", "private")
    unknown_properties: str = _choice("ignore", "warn", "refuse")
    imports: tuple[str, ...] = attrs.field(default=(), converter=_names, validator=_all_texts)
    python_imports: tuple[str, ...] = attrs.field(default=(), converter=_names, validator=_all_texts)
    dialect: str = _choice("epl", "sql", "flink", "alibaba", "ydb")
    order_late: str | int | None = _duration()
    order_on_late: str = _choice("drop", "refuse", "side", "keep")
    order_ahead: str | int | None = _duration()
    order_max_buffered: int = attrs.field(default=1_000_000, validator=_count(optional=False))
    annotations: str | tuple[str, ...] = attrs.field(default="keep", converter=_normalise_names, validator=_keeping)

    @property
    def units_per_second(self) -> int:
        return 1_000_000 if self.time_unit == "microseconds" else 1_000


__all__ = ["Settings"]
