"""What users see of events: mappings that equal dicts."""
from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from epl.attribute_text import MOST_KEPT, name_class_attributes
from epl.errors import EplRuntimeError
from epl.generated_code import field_name
from epl.java import integer_text
from epl.reprs import brief, safe_repr, safe_str
from runtime.conversion.property_paths import property_of
from windows.event import Event


class Row(Mapping[str, Any]):
    """One row, a mapping: it equals a dict with the same content. Its order is that of the event type's properties; undeclared properties
    of open types come last.

    ``row["count(*)"]`` always works, ``row.price`` for every property whose name is not a method of a mapping; ``row["a.b"]``,
    ``row["a[0].b"]``, ``row["m('key')"]`` and ``row["a?.b"]`` look into a property.

    Examples:
        >>> from runtime import Runtime
        >>> runtime = Runtime()
        >>> event_type = runtime.register("Trade", {"symbol": str, "price": float})
        >>> last = runtime.deploy("select * from Trade#lastevent")[0]
        >>> runtime.send("Trade", {"symbol": "A", "price": 5.0})
        >>> row = last.rows()[0]
        >>> row["symbol"], row.price, row == {"symbol": "A", "price": 5.0}, row.event.type.name
        ('A', 5.0, True, 'Trade')
        >>> row.to_dict(), row.to_json()
        ({'symbol': 'A', 'price': 5.0}, '{"symbol": "A", "price": 5.0}')
    """

    __slots__ = ()
    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any: ...

    @property
    def event(self) -> Event:
        """The event of the row."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[str]:
        event = self.event
        yield from event.type.properties
        yield from event.extra or ()

    def __len__(self) -> int:
        event = self.event
        return len(event.type.properties) + len(event.extra or ())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and dict(self) == dict(other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dict; nested rows become dicts too."""
        return {name: _plain(value) for name, value in self.items()}

    def to_json(self) -> str:
        """Return JSON text: nested rows as objects, dates as ISO text, decimals as numbers (those of more than 4,300 digits as text); NaN
        and infinities, which JSON does not have, as null.

        Raises:
            EplRuntimeError: A value has no JSON form.
        """
        try:
            return json.dumps(jsonable(self.to_dict()), ensure_ascii=False)
        except Exception as error:
            raise EplRuntimeError(f"the row {brief(self)} cannot be written as JSON: {error}") from error

    def __repr__(self) -> str:
        return safe_repr(dict(self))

    def _repr_html_(self) -> str:
        return table_html([self])


class EventRow(Row):
    """A row that shows an event, with its undeclared properties."""

    __slots__ = ("_event",)
    _event: Event
    """Set by the code that makes a row (``to_row``): a class without ``__init__`` is made twice as fast."""

    @property
    def event(self) -> Event:
        return self._event

    def __getitem__(self, name: str) -> Any:
        try:
            value = getattr(self._event, FIELDS[name])
        except AttributeError:
            value = property_of(self._event, name)  # undeclared, of a variant stream's event, or a property expression
        return value if value.__class__ in SCALARS else visible(value)

    def __getattr__(self, name: str) -> Any:
        if may_be_attribute(name) and self.event.has(name):
            return self[name]
        raise AttributeError(f"row of type {self.event.type.name!r} has no property {name!r}; it has {', '.join(self)}")


def may_be_attribute(name: str) -> bool:
    """Return whether a property can be an attribute of rows: names with two underscores in front are Python's own, such as ``__bool__``."""
    return not name.startswith("__")


SCALARS = frozenset((int, float, str, bool, type(None)))
"""Classes of values that show themselves."""


@lru_cache(maxsize=MOST_KEPT)
def row_lines(row: str, event: str) -> Sequence[str]:
    """Return ``to_row`` as source lines, over ``EventRow``: the row in one variable of the event in another."""
    return f"{row} = EventRow()", f"{name_class_attributes(row, EventRow)._event} = {event}"


def to_row(event: Event) -> Row:
    """Return the event as a row."""
    row = EventRow()
    row._event = event
    return row


class _FieldNames(dict[str, str]):
    """``field_name`` with a memory of bounded size, as a dict: looking up is faster than a call."""

    def __missing__(self, name: str) -> str:
        field = field_name(name)
        if len(self) < 4096:
            self[name] = field
        return field


FIELDS = _FieldNames()


def visible(value: Any) -> Any:
    """Return an event-typed value as a row, a list of events as rows; anything else as it is.

    An event of a variant stream that is a value of a row shows itself, with all of its properties; only as a row it shows the stream's.
    """
    if isinstance(value, Event):
        return to_row(value.origin or value)
    if isinstance(value, (list, tuple)):
        return [visible(v) for v in value]
    if isinstance(value, dict):
        return {k: visible(v) for k, v in value.items()}
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Row):
        return value.to_dict()
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return value


LONGEST_NUMBER = 4_300
"""Digits of a number in JSON text; Python reads no longer ones."""


def jsonable(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if value.bit_length() < LONGEST_NUMBER * 3 else integer_text(value)
    if isinstance(value, Decimal) and value.is_finite() and value and abs(value.adjusted()) > LONGEST_NUMBER:
        return str(value)
    if isinstance(value, (float, Decimal)):
        whole = isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value()
        return int(value) if whole else float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {safe_str(key): jsonable(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [jsonable(inner) for inner in value]
    return value.isoformat() if isinstance(value, (datetime.date, datetime.time)) else str(value)


class Rows(list["Row"]):
    """The rows of one listener call, iteration or query: a list of ``Row`` that a notebook shows as a table.

    Examples:
        >>> from runtime import Runtime
        >>> runtime = Runtime()
        >>> event_type = runtime.register("A", {"x": int})
        >>> last = runtime.deploy("select * from A#length(2)")[0]
        >>> for x in (1, 2, 3):
        ...     runtime.send("A", {"x": x})
        >>> last.rows()
        [{'x': 2}, {'x': 3}]
        >>> last.rows().to_pandas()["x"].tolist()
        [2, 3]
    """

    __slots__ = ()

    @overload
    def __getitem__(self, index: SupportsIndex) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Row | list[Row]:
        return Rows(super().__getitem__(index)) if isinstance(index, slice) else super().__getitem__(index)

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with a column per property. Integers and booleans with nulls become ``Int64`` and ``boolean``."""
        return pandas_frame(self, list(self[0]) if self else [])

    def _repr_html_(self) -> str:
        return table_html(self)


class NoRows(Rows):
    """No rows, and never any: one list for all listeners, which therefore refuses to grow."""

    __slots__ = ()

    def _refuse(self, *_: Any) -> Any:
        raise TypeError("this list of no rows is shared and cannot be changed; make a list of your own")

    append = extend = insert = __iadd__ = __setitem__ = _refuse


NO_ROWS = NoRows()


def to_rows(events: Iterable[Event]) -> Rows:
    """Return the events as rows."""
    rows = Rows()
    for event in events:  # row_of, without a call
        row = EventRow()
        row._event = event
        rows.append(row)
    return rows


def pandas_frame(rows: Iterable[Row], columns: Sequence[str]) -> Any:
    """Return the rows as a pandas DataFrame. Whole numbers and booleans with nulls among them are of pandas' types Int64 and boolean, which
    keep them as they are: NumPy has no null, and would make floats and objects of them."""
    import pandas

    cells = [row.to_dict() for row in rows]
    frame = pandas.DataFrame(cells, columns=list(columns))
    for name in columns:
        values = [each.get(name) for each in cells]
        kinds = set(map(type, values))
        if kinds == {bool, type(None)}:
            frame[name] = pandas.array(values, dtype="boolean")
        elif kinds == {int, type(None)}:
            fits = all(value is None or -(1 << 63) <= value < 1 << 63 for value in values)
            frame[name] = pandas.Series(values, dtype="Int64" if fits else object, index=frame.index)
    return frame


def table_html(rows: Iterable[Mapping[str, Any]], limit: int = 50) -> str:
    """Return rows as an HTML table for notebooks."""
    shown = list(rows)
    if not shown:
        return "<i>no rows</i>"
    names = list(dict.fromkeys(name for row in shown for name in row))
    head = "".join(f"<th>{escape(n)}</th>" for n in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(safe_str(row.get(n)))}</td>" for n in names) + "</tr>" for row in shown[:limit])
    more = f"<p>… {len(shown) - limit} more rows</p>" if len(shown) > limit else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
