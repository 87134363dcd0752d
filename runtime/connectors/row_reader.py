"""Rows of event files → events: which type they are, when they happen, whether the file has the columns that the type declares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import attrs

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from epl.plan.statements import InsertPlan
from epl.plan.streams import types_read
from epl.plan.walk import walk_plan
from epl.reprs import brief
from epl.value_types import ValueType
from runtime.api.runtime import Runtime, internal_engine
from runtime.clock.instants import to_instant
from runtime.connectors.cells import cell_value, may_be_time, milliseconds, plain_value
from runtime.connectors.column_rows import ColumnRow
from runtime.connectors.event_files import Chunk, FileFault
from runtime.replay.epl_online import At, Instruction, Send

LOOKED_AT = 1000
"""How many JSON rows are looked at for the names that they have."""

Warn = Callable[[str], None]


@attrs.frozen
class RowOptions:
    """What rows are: ``type``, else what the column ``type_column`` says; ``time``: the column of engine time; ``missing``: ``refuse`` or
    ``null``, what becomes of properties without a column; ``unknown``: ``ignore``, ``warn`` or ``refuse``, what becomes of columns that no
    property has."""

    type: str | None = None
    type_column: str = "type"
    time: str | None = None
    missing: str = "refuse"
    unknown: str = "warn"


@attrs.frozen(eq=False)
class Taken:
    """What becomes of the columns of a type's rows while statements read the properties ``read``. ``skipped``: the columns that make no
    difference; ``beside_type``: with the one that says the type; ``types``: those of the declared properties; ``times``: of those that may
    be given as times."""

    read: frozenset[str]
    skipped: frozenset[str]
    beside_type: frozenset[str]
    types: Mapping[str, ValueType]
    times: Mapping[str, ValueType]


def only_type(runtime: Runtime) -> str | None:
    """Return the one event type that statements read and no statement fills; None where there are none or several."""
    bodies = [s.plan.body for d in runtime.deployments.values() for s in d]
    read = {each.name for body in bodies for each in types_read(body)}
    filled = {part.target.name for body in bodies for part in walk_plan(body) if isinstance(part, InsertPlan)}
    candidates = read - filled
    return candidates.pop() if len(candidates) == 1 else None


class RowReader:
    """Turns rows of one source into instructions.

    The type of a row is ``--type``, else what its column ``--type-column`` says, else the only type that statements read. A file must have
    a column for every declared property, unless ``--missing null``; a column that no property belongs to is warned of once.
    """

    def __init__(
        self, runtime: Runtime, options: RowOptions, warn: Warn, names: list[str] | None = None, *, has_header: bool = True
    ) -> None:
        """``names``: the columns of all rows, None where each row has its own; ``has_header``: whether line 1 says them."""
        self.runtime = runtime
        self.names = names
        self._has_header = has_header
        self.type_name: str | None = options.type
        self.type_column: str = options.type_column
        self.time_column: str | None = options.time
        self._only_type = only_type(runtime)
        self._read = internal_engine(runtime).properties_read
        self._lenient = options.missing == "null"
        self._unknown = options.unknown
        self._warn = warn
        self._types: dict[str, EventType] = {}
        """The types that have been met, by name."""
        self._dropped: dict[str, frozenset[str]] = {}
        """By type: columns that its events are not given."""
        self._taken: dict[str, Taken] = {}
        """By type."""

    # ------------------------------------------------------------------ the columns of a file

    def check_file(self) -> None:
        """Raise EplRuntimeError where the file has not the column of ``--time``, FileFault where it has not those of the type of all of
        its rows; JSON rows each have columns of their own."""
        if self.names is None:
            return
        names = [name.strip() for name in self.names]
        if self.time_column is not None:
            self._check_time(names)
        name = self.type_name or (None if self.type_column in names else self._only_type)
        if name is not None:
            self._meet(name, names)

    def check_first(self, chunk: Chunk, skips: bool = False) -> None:
        """Look at the names that the first rows of a JSON file have. ``skips``: rows that cannot be events are dropped: what holds only for
        rows that name their type themselves is an error of each of them."""
        names: dict[str, dict[str, None]] = {}
        for _, (_, row) in zip(range(LOOKED_AT), chunk.rows()):
            if isinstance(row, dict):
                name = self.row_type_name(row)
                if name is not None:
                    names.setdefault(name, {}).update(dict.fromkeys(row))
        for name, columns in names.items():
            try:
                if self.time_column is not None:
                    self._check_time(columns)
                self._meet(name, columns)
            except (EplRuntimeError, FileFault):
                if not skips or name in (self.type_name, self._only_type):
                    raise

    def _check_time(self, names: Iterable[str]) -> None:
        if str(self.time_column) not in names:
            raise EplRuntimeError(f"there is no column '{self.time_column}' for --time", hint=_offer(str(self.time_column), names))

    def row_type(self, name: str) -> EventType:
        """Return a row's type; the first time its columns are compared with those of the file."""
        event_type = self._types.get(name)
        return event_type if event_type is not None else self._meet(name, [n.strip() for n in self.names or ()])

    def _meet(self, name: str, names: Iterable[str]) -> EventType:
        declared = self.runtime.event_type(name)
        known = [n for n in names if n not in (self.time_column, self.type_column) or n in declared.properties]
        missing = [p for p in declared.properties if p not in known]
        other = [n for n in known if n not in declared.properties]
        if names and missing and not self._lenient:
            self._refuse_missing(name, missing, other, names)
        others = self._properties_of_others(name) if self.type_name is None and self.type_column in names else set()
        strange = sorted(set(other) - others)
        if strange and self._unknown != "ignore":
            text = f"{_columns(strange)} {'is' if len(strange) == 1 else 'are'} not declared by event type '{name}'"
            if self._unknown == "refuse":
                raise FileFault(1 if self._has_header else None, EplRuntimeError(text + _meant(strange, missing)))
            self._warn(f"{text}: {'kept as undeclared properties' if declared.open else 'dropped'}{_meant(strange, missing)}")
        self._dropped[name] = frozenset(others - set(declared.properties) if declared.open else (*other, *others))
        self._types[name] = declared
        return declared

    def _properties_of_others(self, name: str) -> set[str]:
        return {p for other, each in internal_engine(self.runtime).catalog().event_types.items() if other != name for p in each.properties}

    def _refuse_missing(self, name: str, missing: list[str], other: list[str], names: Iterable[str]) -> None:
        if self.names is None:  # JSON omits what is null, unless a name is misspelt
            near = [m for m in missing if _near(m, other)]
            if not near:
                first = "row has" if len(missing) == 1 else "rows have"
                self._warn(f"none of the first {first} {_columns(missing, 'property')} of event type '{name}': null until one has")
                return
            missing = near
        there = _offer(missing[0], other, names)
        error = EplRuntimeError(
            f"there is no column {_quote_names(missing)}, which event type '{name}' declares",
            hint=f"{there}; --missing null reads events without it",
        )
        raise FileFault(1 if self._has_header else None, error)

    def columns_read(self) -> frozenset[str] | None:
        """Return the columns of the file that rows need, while no statement is deployed; None: all of them."""
        if self.names is None:
            return None
        names = [name.strip() for name in self.names]
        name = self.type_name or (None if self.type_column in names else self._only_type)
        types = internal_engine(self.runtime).catalog().event_types.values() if name is None else (self.runtime.event_type(name),)
        if any(each.open for each in types):
            return None
        return frozenset(names).intersection({self.time_column, self.type_column}.union(*(self._read.of(each) for each in types)))

    # ------------------------------------------------------------------ rows one by one

    def row_type_name(self, row: Mapping[str, Any]) -> str | None:
        """Return the name of a row's event type; None where nothing says it."""
        if self.type_name is not None:
            return self.type_name
        said = row.get(self.type_column)
        return said if isinstance(said, str) and said else self._only_type

    def instructions(self, row: Mapping[str, Any], is_text: bool) -> list[Instruction]:
        """Return at most a time step, then the event. Raise EplRuntimeError for rows that cannot be events, whatever it is that their
        values make Python raise: one row ends no run that skips such rows."""
        try:
            return list(self._instructions(row, is_text))
        except EplRuntimeError:
            raise
        except FileFault as fault:  # of the type that the row says
            raise fault.error from None
        except Exception as error:
            raise EplRuntimeError(f"the row cannot be read: {type(error).__name__}: {error}") from error

    def _instructions(self, row: Mapping[str, Any], is_text: bool) -> Iterator[Instruction]:
        said = None if self.type_name is not None else row.get(self.type_column)
        name = self.type_name or (said if isinstance(said, str) and said else self._only_type)
        if name is None:
            raise EplRuntimeError(
                f"the row has no column '{self.type_column}' that says its event type",
                hint="name the type with --type, or the column with --type-column",
            )
        declared = self.row_type(name)
        if self.time_column is not None:
            yield At(self._time(row))
        read = self._read.of(declared)
        taken = self._taken.get(name)
        if taken is None or taken.read is not read:
            taken = self._taken[name] = self._columns_to_take(declared, read)
        skipped = taken.beside_type if isinstance(said, str) else taken.skipped
        pairs = row.without(skipped) if type(row) is ColumnRow else row.items()
        if is_text:
            type_of = taken.types.get
            yield Send(name, {k: cell_value(v, type_of(k)) for k, v in pairs if k not in skipped})
        else:
            times = taken.times
            yield Send(name, {k: plain_value(v, times[k]) if k in times else v for k, v in pairs if k not in skipped})

    def _columns_to_take(self, declared: EventType, read: frozenset[str]) -> Taken:
        skipped = {*self._dropped[declared.name], *(declared.properties.keys() - read)}
        if self.time_column is not None and declared.property(self.time_column) is None:
            skipped.add(self.time_column)
        types = {prop.name: prop.type for prop in declared.properties.values()}
        times = {name: each for name, each in types.items() if may_be_time(each)}
        return Taken(read, frozenset(skipped), frozenset({*skipped, self.type_column}), types, times)

    def _time(self, row: Mapping[str, Any]) -> int:
        column = str(self.time_column)
        value = row.get(column)
        time = milliseconds(value)
        if time is None:
            raise EplRuntimeError(f"time column '{column}' holds {brief(value)}, expecting ms since 1970 or an ISO 8601 time")
        return to_instant(f"time column '{column}'", time, 1000)

    def keeps_more(self, name: str, names: Iterable[str]) -> bool:
        """Return whether an event of the type keeps values of columns that the type does not declare."""
        declared = self.row_type(name)
        beside = {self.time_column, self.type_column if self.type_name is None else None}
        return declared.open and any(n not in declared.properties and n not in beside and n not in self._dropped[name] for n in names)


def _quote_names(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _columns(names: list[str], what: str = "column") -> str:
    return f"{what if len(names) == 1 else 'properties' if what == 'property' else what + 's'} {_quote_names(names)}"


def _near(name: str, names: Iterable[str]) -> str | None:
    by_lower = {each.strip().lower(): each for each in names}
    near = get_close_matches(name.lower(), by_lower, 1, 0.75)
    return by_lower[near[0]] if near else None


def _offer(name: str, candidates: Iterable[str], names: Iterable[str] | None = None) -> str:
    """Return what there is instead of a column."""
    near = _near(name, candidates)
    has = ", ".join(candidates if names is None else names) or "no columns"
    return f"it has {has}" + (f"; did you mean '{near}'?" if near else "")


def _meant(names: list[str], missing: list[str]) -> str:
    near = next((near_name for name in names if (near_name := _near(name, missing))), None)
    return f" (did you mean '{near}'?)" if near else ""


__all__ = ["RowOptions", "RowReader", "only_type"]
