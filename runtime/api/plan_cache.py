"""Plans and event types by their source: restoring again what was restored before parses, analyses and compiles nothing.

A plan holds event types by identity, and so does a restore: both come from here. Two deployments of a runtime never share a plan,
since a plan is known by its deployment's id too.
"""
from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import msgpack

from epl.analysis.statements.modules import analyse_module
from epl.catalog import Catalog
from epl.dialects.front_door import annotate_module
from epl.errors import EplError
from epl.event_types import EventType
from epl.parse import parse_module, parse_query
from epl.plan.statements import ModulePlan
from epl.settings import Settings
from epl.syntax import Module, Statement
from runtime.state.described_types import Same, read_types


@contextmanager
def in_dialect(text: str, dialect: str | None, settings: Settings) -> Iterator[str]:
    """Give the module's text with the dialect in it, which is given beside it or by the settings; errors point into the text as it was
    written."""
    written = annotate_module(text, settings.dialect if dialect is None else dialect)
    try:
        yield written.text
    except EplError as error:
        written.locate_error(error)
        raise


@lru_cache(maxsize=1024)
def parse_text(text: str) -> Module:
    """Return the syntax tree of a module; kept by text, so that deploying or restoring the same text again parses nothing."""
    return parse_module(text)


@lru_cache(maxsize=1024)
def parse_query_text(text: str) -> Statement:
    """Return the syntax tree of a fire-and-forget query; kept by text."""
    return parse_query(text)


def find_types(described: list[dict[str, Any]]) -> tuple[EventType, ...]:
    """Return the registered ones of types as ``describe_types`` writes them: the same ones for the same description."""
    return _unpack_types(msgpack.packb(described, use_bin_type=True))


@lru_cache(maxsize=128)
def _unpack_types(packed: bytes) -> tuple[EventType, ...]:
    return tuple(read_types(msgpack.unpackb(packed, raw=False)))


class _Question:
    """A module, and all that its analysis depends on as ``seen``; the catalog takes no part in equality."""

    __slots__ = ("text", "seen", "catalog")

    def __init__(self, deployment_id: str, text: str, catalog: Catalog, user_functions: Mapping[str, Any]) -> None:
        self.text = text
        self.catalog = catalog
        self.seen: Hashable = (
            deployment_id, text, catalog.settings, catalog.imports, _items(catalog.event_types), _items(catalog.declarations),
            tuple((name, Same(v.type), repr(v.type), v.constant, repr(v.value)) for name, v in catalog.variables.items()),
            _items(user_functions), _items(catalog.functions.aggregations), _items(catalog.window_configs),
            repr(sorted(catalog.functions.constants)), _items(catalog.methods), _items(catalog.static_tables),
            _items(catalog.tables),
            _items(catalog.contexts),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Question) and other.seen == self.seen

    def __hash__(self) -> int:
        return hash(self.seen)


def _items(named: Mapping[str, Any]) -> Hashable:
    return tuple((name, Same(value)) for name, value in named.items())


@lru_cache(maxsize=512)
def _plan(question: _Question) -> ModulePlan:
    return analyse_module(parse_text(question.text), question.catalog)


def plan_text(catalog: Catalog, user_functions: Mapping[str, Callable[..., Any]], deployment_id: str, text: str) -> ModulePlan:
    """Return the plan of a module that is deployed under that id, where ``catalog`` is what it sees. ``user_functions``: the
    application's. What databases answer may differ each time: a module that may ask them is analysed again.
    """
    if catalog.databases:
        return analyse_module(parse_text(text), catalog)
    return _plan(_Question(deployment_id, text, catalog, user_functions))


__all__ = ["find_types", "parse_query_text", "parse_text", "plan_text"]
