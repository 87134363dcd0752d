"""Which names an expression sees."""
from __future__ import annotations

import attrs

from epl.dialects.errors import DialectError
from epl.dialects.hints import near
from epl.dialects.syntax import tree as t
from epl.dialects.syntax.lexis import Dialect
from epl.dialects.types import ANY, SqlType

MOST_NAMED = 12
"""Columns that a hint lists."""


@attrs.frozen
class SqlColumn:
    """A column of a relation. ``name`` None: it has none; ``relation``: the alias that may stand before it, as it is compared."""

    name: str | None
    type: SqlType
    relation: str | None = None
    is_time: bool = False
    """It is a time attribute that rows arrive by."""


@attrs.define(eq=False)
class Boundary:
    """Where a query inside another one begins. ``scope``: what it sees outside; ``crossings``: references to that, or further out.
    ``is_closed``: references are refused."""

    scope: SqlScope
    is_closed: bool = False
    crossings: int = 0


@attrs.frozen
class SqlScope:
    """The columns of a from clause. ``is_open``: a table of it is not known, so any column may be there. ``outer``: around the query."""

    columns: tuple[SqlColumn, ...]
    dialect: Dialect
    is_open: bool = False
    outer: Boundary | None = None

    def fold(self, name: str) -> str:
        """Return a column's name as it is compared; SQL:2016 systems compare columns in any case, quoted or not."""
        return name.upper() if self.dialect.folds_case else name

    def places(self, name: str, relation: str | None = None) -> list[int]:
        """Return the places of the columns of this name."""
        folded = self.fold(name)
        return [
            place
            for place, column in enumerate(self.columns)
            if column.name is not None and self.fold(column.name) == folded
            and (relation is None or (column.relation is not None and self.fold(column.relation) == self.fold(relation)))
        ]  # fmt: skip

    def place(self, node: t.Name | t.Path) -> int | None:
        """Return the place of the column that a name or path means; None where the relation is not known, raises where there is none."""
        relation, name = split_column(node)
        listed = self.places(name, relation) if is_column(node) else []
        if len(listed) == 1:
            return listed[0]
        written = name if relation is None else f"{relation}.{name}"
        if len(listed) > 1:
            message = f"Column '{written.lower() if self.dialect.folds_case else written}' is ambiguous"
            raise DialectError("AMBIGUOUS_NAME", message, node.at)
        if self.is_open:
            return None
        raise self.missing(node, relation, name)

    def has(self, node: t.Name | t.Path) -> bool:
        """Return whether a name or path means a column here."""
        relation, name = split_column(node)
        return is_column(node) and bool(self.places(name, relation))

    def outside(self, node: t.Name | t.Path) -> tuple[int, int, SqlType] | None:
        """Return the column of a query around this one: how many queries further out, its place, its type; None where there is none."""
        crossed: list[Boundary] = []
        boundary = self.outer
        while boundary is not None:
            crossed.append(boundary)
            if boundary.scope.has(node):
                place = boundary.scope.place(node)
                assert place is not None
                if boundary.is_closed:
                    relation, name = split_column(node)
                    written = name if relation is None else f"{relation}.{name}"
                    message = f"Reference to column '{written.lower()}' from outer scope not allowed in this context"
                    raise DialectError("EXPRESSION_NOT_CONSTANT", message, node.at)
                for each in crossed:
                    each.crossings += 1
                return len(crossed), place, boundary.scope.column_type(place)
            boundary = boundary.scope.outer
        return None

    def missing(self, node: t.Name | t.Path, relation: str | None, name: str) -> DialectError:
        """Return the error of a column that is not there."""
        written = name if relation is None else f"{relation}.{name}"
        if self.dialect.name not in ("flink", "alibaba"):
            shown = written.lower() if self.dialect.folds_case else written
            hint = self._near(relation, name)
            if isinstance(node, t.Name) and node.quoted and self.dialect.name == "sql":
                hint = f"{hint}; a text is in single quotes: '{name}'" if hint else f"a text is in single quotes: '{name}'"
            return DialectError("COLUMN_NOT_FOUND", f"Column '{shown}' cannot be resolved", node.at, hint=hint)
        if relation is None:
            message = f"SqlValidatorException: Column '{name}' not found in any table"
            return DialectError("COLUMN_NOT_FOUND", message, node.at, hint=self._near(relation, name))
        if not any(column.relation == relation for column in self.columns):
            return DialectError("COLUMN_NOT_FOUND", f"SqlValidatorException: Table '{relation}' not found", node.at)
        message = f"SqlValidatorException: Column '{name}' not found in table '{relation}'"
        return DialectError("COLUMN_NOT_FOUND", message, node.at, hint=self._near(relation, name))

    def _near(self, relation: str | None, name: str) -> str | None:
        """Return the hint for a column that is not there: the nearest name, or else those that there are."""
        names = [column.name for column in self.columns if column.name and (relation is None or column.relation == relation)]
        hint = near(name, names or [column.name for column in self.columns])
        return hint or (f"known columns: {', '.join(names)}" if 0 < len(names) <= MOST_NAMED else None)

    def column_type(self, place: int | None) -> SqlType:
        """Return the type of a column."""
        return ANY if place is None else self.columns[place].type


def split_column(node: t.Name | t.Path) -> tuple[str | None, str]:
    """Return what stands before the last dot, and the column's name."""
    if isinstance(node, t.Name):
        return None, node.written
    base = node.base
    if isinstance(base, t.Name):
        return base.written, node.field.written
    if isinstance(base, t.Path):
        before, name = split_column(base)
        return f"{before}.{name}" if before else name, node.field.written
    return "", node.field.written


def is_column(node: t.Name | t.Path) -> bool:
    """Return whether a name, or a path of two, may mean a column; the names themselves may have dots where they are quoted."""
    return isinstance(node, t.Name) or isinstance(node.base, t.Name)


def is_path(node: t.SqlNode) -> bool:
    """Return whether an expression is a name, or names with dots."""
    return isinstance(node, t.Name) or (isinstance(node, t.Path) and is_path(node.base))


__all__ = ["Boundary", "SqlColumn", "SqlScope", "is_column", "is_path", "split_column"]
