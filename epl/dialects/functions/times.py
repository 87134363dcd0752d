"""Functions of dates, timestamps and intervals."""
from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any

from epl.dialects import types as k
from epl.dialects import values as v
from epl.dialects.functions.scalar import Kinds, ScalarFunction, is_kind, takes, wrong_argument
from epl.dialects.types import SqlType

SECONDS = {"millisecond": 0.001, "second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
LETTERS = re.compile(r"'[^']*'|y+|M+|d+|H+|h+|m+|s+|S+|E+|a+|D+")
MONTHS = {"month": 1, "quarter": 3, "year": 12}
FORMATS = {"i": "M", "h": "I", "s": "S", "f": "f", "W": "A", "b": "b", "c": "m", "e": "d", "k": "H", "l": "I", "T": "T", "r": "r"}
"""Signs of MySQL's formats that mean another one in Python's."""


def _part(name: str) -> Callable[[Any], Any]:
    def compute(moment: Any) -> Any:
        if isinstance(moment, datetime.timedelta):
            return _part_of_span(name, moment)
        if isinstance(moment, v.Months):
            whole = abs(moment) // 12 if name == "year" else abs(moment) % 12
            return -whole if moment < 0 else whole
        if name == "quarter":
            return (moment.month + 2) // 3
        if name in ("dow", "day_of_week"):
            return moment.isoweekday()
        if name in ("doy", "day_of_year"):
            return moment.timetuple().tm_yday
        if name == "week":
            return moment.isocalendar()[1]
        if name in ("yow", "year_of_week"):
            return moment.isocalendar()[0]
        if name == "millisecond":
            return getattr(moment, "microsecond", 0) // 1000
        return getattr(moment, "day" if name == "day_of_month" else name, 0)

    return compute


def _part_of_span(name: str, span: datetime.timedelta) -> int:
    total = abs(span) // datetime.timedelta(milliseconds=1)
    size, of = {"day": (86_400_000, 1 << 62), "hour": (3_600_000, 24), "minute": (60_000, 60), "second": (1000, 60),
                "millisecond": (1, 1000)}[name]  # fmt: skip
    part = total // size % of
    return -part if span < datetime.timedelta(0) else part


def _part_rule(name: str) -> Callable[[Kinds], SqlType | None]:
    of_span = name in ("day", "hour", "minute", "second", "millisecond")

    def rule(kinds: Kinds) -> SqlType | None:
        if len(kinds) != 1:
            return None
        spans = (k.DAY_TIME.name,) if of_span else (k.YEAR_MONTH.name,) if name in ("year", "month") else ()
        of_day = ("time",) if name in ("hour", "minute", "second", "millisecond") else ()
        return k.BIGINT if is_kind(kinds[0], "moment", *spans, *of_day) else None

    return rule


def _date_trunc_rule(kinds: Kinds) -> SqlType | None:
    return kinds[1] if len(kinds) == 2 and is_kind(kinds[0], "text") and is_kind(kinds[1], "moment") else None


def _date_trunc(unit: str, moment: Any) -> Any:
    lowered = unit.lower()
    is_date = not isinstance(moment, datetime.datetime)
    names = ["year", "month", "day", "hour", "minute", "second", "millisecond"]
    if lowered == "week":
        return _date_trunc("day", moment) - datetime.timedelta(days=moment.weekday())
    if lowered == "quarter":
        return _date_trunc("month", moment).replace(month=(moment.month - 1) // 3 * 3 + 1)
    if lowered not in (names[:3] if is_date else names):
        raise wrong_argument(f"'{unit}' is not a valid {'DATE' if is_date else 'TIMESTAMP'} field")
    if lowered == "millisecond":
        return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    firsts = {"month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0, "microsecond": 0}
    later = [*names[names.index(lowered) + 1 : -1], "microsecond"]
    return moment.replace(**{name: firsts[name] for name in later if hasattr(moment, name)})


def _date_diff(unit: str, start: Any, end: Any) -> Any:
    lowered = unit.lower()
    if lowered in SECONDS:
        return int((end - start) / datetime.timedelta(seconds=SECONDS[lowered]))
    if lowered not in MONTHS:
        raise wrong_argument(f"'{unit}' is not a valid {'TIMESTAMP' if isinstance(start, datetime.datetime) else 'DATE'} field")
    months = (end.year - start.year) * 12 + end.month - start.month
    if months > 0 and v.add_months(start, months) > end:
        months -= 1
    elif months < 0 and v.add_months(start, months) < end:
        months += 1
    return int(months / MONTHS[lowered])


def _date_add(unit: str, count: int, moment: Any) -> Any:
    lowered = unit.lower()
    is_date = not isinstance(moment, datetime.datetime)
    if lowered in MONTHS:
        return v.add_months(moment, count * MONTHS[lowered])
    if lowered not in SECONDS or (is_date and lowered not in ("day", "week")):
        raise wrong_argument(f"'{unit}' is not a valid {'DATE' if is_date else 'TIMESTAMP'} field")
    return moment + datetime.timedelta(seconds=count * SECONDS[lowered])


def _date_add_rule(kinds: Kinds) -> SqlType | None:
    taken = len(kinds) == 3 and is_kind(kinds[0], "text") and is_kind(kinds[1], "integer") and is_kind(kinds[2], "moment")
    return kinds[2] if taken else None


def _unix(moment: Any) -> float:
    return float((moment - v.EPOCH).total_seconds())


def _from_unix(seconds: Any) -> datetime.datetime:
    return v.EPOCH + datetime.timedelta(seconds=float(seconds))


def _to_timestamp_ltz(value: Any, precision: int = 3) -> datetime.datetime:
    return v.EPOCH + datetime.timedelta(milliseconds=value if precision == 3 else value * 1000)


def _python_format(form: str) -> str:
    taken, here = [], 0
    while here < len(form):
        if form[here] == "%" and here + 1 < len(form):
            sign = form[here + 1]
            taken.append("%" + FORMATS.get(sign, sign))
            here += 2
        else:
            taken.append(form[here].replace("%", "%%"))
            here += 1
    return "".join(taken)


def _date_format(moment: Any, form: str) -> str:
    at_midnight = moment if isinstance(moment, datetime.datetime) else datetime.datetime(moment.year, moment.month, moment.day)
    return at_midnight.strftime(_python_format(form))


def _java_format(moment: Any, form: str) -> str:
    """Format with Java's letters: ``yyyy-MM-dd HH:mm:ss.SSS``; what stands between ``'…'`` is text."""
    whole = moment if isinstance(moment, datetime.datetime) else datetime.datetime(moment.year, moment.month, moment.day)
    return LETTERS.sub(lambda run: _java_part(whole, run.group()), form)


def _java_part(moment: datetime.datetime, run: str) -> str:
    letter, size = run[0], len(run)
    if letter == "'":
        return run[1:-1] or "'"
    if letter == "S":
        return f"{moment.microsecond:06d}".ljust(9, "0")[:size]
    if letter == "M" and size > 2:
        return moment.strftime("%b" if size == 3 else "%B")
    if letter == "E":
        return moment.strftime("%a" if size < 4 else "%A")
    if letter == "a":
        return moment.strftime("%p")
    numbers = {
        "y": moment.year % 100 if size == 2 else moment.year, "M": moment.month, "d": moment.day, "H": moment.hour, "m": moment.minute,
        "s": moment.second, "h": (moment.hour - 1) % 12 + 1, "D": moment.timetuple().tm_yday,
    }  # fmt: skip
    return f"{numbers[letter]:0{size}d}"


def _instant(moment: Any) -> Any:
    return v.parse_instant(moment) if isinstance(moment, str) else moment


def _date_parse(text: str, form: str) -> datetime.datetime:
    try:
        parsed = datetime.datetime.strptime(text, _python_format(form))
    except ValueError:
        raise wrong_argument(f'Invalid format: "{text}"') from None
    return parsed if "%Y" in form or "%y" in form else parsed.replace(year=1970)


def _last_day(moment: Any) -> datetime.date:
    first = datetime.date(moment.year, moment.month, 1)
    return v.add_months(first, 1) - datetime.timedelta(days=1)


def _iso(moment: Any) -> str:
    return moment.isoformat(timespec="milliseconds") if isinstance(moment, datetime.datetime) else str(moment)


def _span_to_seconds(span: datetime.timedelta) -> int:
    return span // datetime.timedelta(milliseconds=1)


_NAMES = (
    "year", "quarter", "month", "week", "day", "day_of_month", "day_of_week", "dow", "day_of_year", "doy", "yow", "year_of_week", "hour",
    "minute", "second", "millisecond", "week_of_year",
)  # fmt: skip
TIMES: dict[str, ScalarFunction] = {
    "date_trunc": ScalarFunction(_date_trunc_rule, _date_trunc),
    "date_add": ScalarFunction(_date_add_rule, _date_add),
    "date_diff": ScalarFunction(takes(k.BIGINT, "text", "moment", "moment"), _date_diff),
    "timestampdiff": ScalarFunction(takes(k.INTEGER, "text", "moment", "moment"), _date_diff),
    "timestampadd": ScalarFunction(_date_add_rule, _date_add),
    "date_format": ScalarFunction(takes(k.VARCHAR, "moment", "text"), _date_format),
    "format_datetime": ScalarFunction(takes(k.VARCHAR, "moment", "text"), _java_format),
    "date_parse": ScalarFunction(takes(k.TIMESTAMP, "text", "text"), _date_parse),
    "last_day_of_month": ScalarFunction(takes(k.DATE, "moment"), _last_day),
    "to_unixtime": ScalarFunction(takes(k.DOUBLE, "moment"), _unix),
    "from_unixtime": ScalarFunction(takes(k.TIMESTAMP, "number"), _from_unix),
    "to_timestamp_ltz": ScalarFunction(takes(k.TIMESTAMP, "number", "integer", least=1), _to_timestamp_ltz),
    "to_timestamp": ScalarFunction(takes(k.TIMESTAMP, "text"), v.parse_instant),
    "to_iso8601": ScalarFunction(takes(SqlType("varchar", (16,)), "moment"), _iso),
    "from_iso8601_date": ScalarFunction(takes(k.DATE, "text"), v.parse_date),
    "to_milliseconds": ScalarFunction(takes(k.BIGINT, k.DAY_TIME.name), _span_to_seconds),
    "date": ScalarFunction(takes(k.DATE, "moment|text"), lambda value: v.parse_date(value) if isinstance(value, str) else v.to_date(value)),
    **{name: ScalarFunction(_part_rule(name), _part("week" if name == "week_of_year" else name)) for name in _NAMES},
}
"""Functions of times by their names in lower case."""
OF_FLINK: dict[str, ScalarFunction] = {
    "date_format": ScalarFunction(takes(k.VARCHAR, "moment|text", "text"), lambda moment, form: _java_format(_instant(moment), form)),
}
"""Functions that are others in Flink."""

__all__ = ["OF_FLINK", "TIMES"]
