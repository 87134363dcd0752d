"""What may be written next in an EPL text: windows after ``#``, properties after an alias, types after ``from``, else all names in reach.

The text need not be EPL yet: names are found by the words around them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import attrs

from epl.catalog import Catalog
from epl.event_types import EventOf, EventType
from runtime.tools.reference import ReferenceEntry, entries
from runtime.tools.vocabulary import vocabulary

WORD = re.compile(r"[A-Za-z_$][\w$]*(?:-[a-z]+)*")
SKIPPED = re.compile(r"//[^\n]*|/\*.*?(?:\*/|$)|'[^'\\]*(?:\\.[^'\\]*)*(?:'|$)|\"[^\"\\]*(?:\\.[^\"\\]*)*(?:\"|$)|`[^`]*`", re.DOTALL)
TOKEN = re.compile(r"[A-Za-z_$][\w$]*|->|[^\s\w]|\d+")
MOST_TYPES = 50
"""Of how many types the properties are offered where the statement names no type yet."""
BEFORE_TYPES = frozenset(["from", "join", "into", "on", "update", "every", "until", "not", "as", "inherits", "copyfrom", "and", "or"])
"""Words (and signs) that types may follow; after ``and``, ``or``, ``not`` and ``(`` they may in patterns."""


@attrs.frozen
class CompletionItem:
    """``kind``: keyword, type, property, window, function, method, annotation, variable, alias, context."""

    text: str
    kind: str
    detail: str = ""
    entry: ReferenceEntry | None = None


@attrs.frozen
class CursorPlace:
    """The text around the position where something is to be written. ``prefix``: the beginning of the word there."""

    statement: str
    before: str
    prefix: str

    @classmethod
    def of(cls, text: str, offset: int) -> CursorPlace:
        """Return the statement in which the offset is, with comments and strings blank, and what is before the word there."""
        blank = SKIPPED.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
        begin = blank.rfind(";", 0, offset) + 1
        end = blank.find(";", offset)
        head = blank[begin:offset]
        word = re.search(r"[A-Za-z_$][\w$]*(?:-[a-z]*)*$", head)
        prefix = word.group() if word else ""
        return cls(blank[begin : end if end >= 0 else len(blank)], head[: len(head) - len(prefix)].rstrip(), prefix)


def complete(text: str, offset: int, catalog: Catalog) -> list[CompletionItem]:
    """Return what may be at the offset, best first; only what begins with the letters before it, without regard to case."""
    place = CursorPlace.of(text, offset)
    prefix = place.prefix.lower()
    unique = {c.text: c for c in reversed([*_candidates(place, catalog)]) if c.text.lower().startswith(prefix)}
    return list(reversed(unique.values()))


def _candidates(place: CursorPlace, catalog: Catalog) -> Iterator[CompletionItem]:
    before = place.before
    last = TOKEN.findall(before[-200:])[-2:]
    sign = last[-1] if last else ""
    if sign == "#" or (sign == ":" and len(last) > 1 and last[0] in ("win", "std", "ext", "stat")):
        yield from _windows(catalog)
    elif sign == ":" and len(last) > 1 and last[0] == "timer":
        yield from (CompletionItem(name, "function") for name in ("interval", "at", "schedule", "within", "withinmax"))
    elif sign == "@":
        yield from (CompletionItem(name, "annotation") for name in vocabulary().annotations)
    elif sign == ".":
        yield from _members(place, catalog)
    elif sign.lower() == "context" and "create" not in before.lower():
        yield from (CompletionItem(name, "context") for name in catalog.contexts)
    else:
        event = bracket_event_type(place, catalog)
        if event is not None:
            yield from properties(event)
        if sign.lower() in BEFORE_TYPES or sign in ("=", "->", "[", "("):
            yield from _types(catalog)
        if sign.lower() not in ("from", "join", "into"):
            yield from _values(place, catalog)
        yield from _types(catalog)
        yield from (CompletionItem(word, "keyword") for word in _keywords())


@cache
def _keywords() -> dict[str, None]:
    words = vocabulary()
    return dict.fromkeys((*words.keywords, *words.operators, *words.constants))


def _windows(catalog: Catalog) -> Iterator[CompletionItem]:
    known = entries()["windows"]
    for name, config in catalog.window_configs.items():
        if ":" not in name:
            entry = known.get(config.names[0])
            yield CompletionItem(name, "window", entry.signatures if entry else "", entry)


def _types(catalog: Catalog) -> Iterator[CompletionItem]:
    for name, event_type in catalog.event_types.items():
        yield CompletionItem(name, "type", ", ".join(event_type.properties))
    yield from (CompletionItem(name, "type", "table") for name in catalog.tables)


def properties(event_type: EventType) -> Iterator[CompletionItem]:
    """Yield the properties of a type, with their types."""
    for name, each in event_type.properties.items():
        yield CompletionItem(name, "property", str(each.type))


def _values(place: CursorPlace, catalog: Catalog) -> Iterator[CompletionItem]:
    """Yield what an expression may begin with."""
    aliases = statement_aliases(place.statement, catalog)
    for event_type in dict.fromkeys(aliases.values()) or tuple(catalog.event_types.values())[-MOST_TYPES:]:
        yield from properties(event_type)
    yield from (CompletionItem(alias, "alias", event_type.name) for alias, event_type in aliases.items() if alias != event_type.name)
    yield from (CompletionItem(name, "variable", str(variable.type)) for name, variable in catalog.variables.items())
    yield from (CompletionItem(name, "function", "declared expression") for name in catalog.declarations)
    reference = entries()
    for name in vocabulary().functions:
        entry = reference["aggregations"].get(name) or reference["functions"].get(name)
        yield CompletionItem(name, "function", entry.signatures if entry else "", entry)
    yield from (CompletionItem(name, "function", "registered function") for name in catalog.functions.single_row if ":" not in name)
    yield from (CompletionItem(name, "type", "class") for name in vocabulary().classes)


def _members(place: CursorPlace, catalog: Catalog) -> Iterator[CompletionItem]:
    """Yield what may follow the dot after a chain of names: properties of what it is, then methods."""
    chain = re.search(r"[A-Za-z_$][\w$]*(?:\s*\.\s*[A-Za-z_$][\w$]*)*\s*\.$", place.before)
    names = TOKEN.findall(chain.group())[::2] if chain else []
    aliases = statement_aliases(place.statement, catalog)
    reference = entries()
    if names:
        yield from (
            CompletionItem(key.split(".")[1], "method", entry.signatures, entry)
            for key, entry in reference["functions"].items() if key.startswith(f"{names[0]}.")
        )  # fmt: skip
        event_type = aliases.get(names[0]) or catalog.event_types.get(names[0])
        if event_type is not None:
            yield from _inner_properties(event_type, names[1:])
        elif len(names) == 1:
            for each in dict.fromkeys(aliases.values()):
                yield from _inner_properties(each, names)
                yield from properties(each)  # a variable of match_recognize, a tag
    for page in ("enumeration", "date_time"):
        yield from (CompletionItem(name, "method", entry.signatures, entry) for name, entry in reference[page].items())


def _inner_properties(event_type: EventType, names: list[str]) -> Iterator[CompletionItem]:
    """Yield the properties of the event that the names lead to."""
    current: EventType | None = event_type
    for name in names:
        each = current.properties.get(name) if current is not None else None
        current = each.type.event_type if each is not None and isinstance(each.type, EventOf) else None
    if current is not None:
        yield from properties(current)


def bracket_event_type(place: CursorPlace, catalog: Catalog) -> EventType | None:
    """Return the type of ``Type = {…`` or ``Type(…`` inside of whose brackets the place is."""
    depth = 0
    tokens = TOKEN.findall(place.before)
    for index in range(len(tokens) - 1, -1, -1):
        depth += (tokens[index] in (")", "}", "]")) - (tokens[index] in ("(", "{", "["))
        if depth < 0:
            name = tokens[index - 2] if index > 1 and tokens[index - 1] == "=" else tokens[index - 1] if index else ""
            return catalog.event_types.get(name)
    return None


def statement_aliases(statement: str, catalog: Catalog) -> dict[str, EventType]:
    """Return the types that a statement names, by alias or tag, and by their own name."""
    tokens = TOKEN.findall(statement)
    known = {**{name: table.event_type for name, table in catalog.tables.items()}, **catalog.event_types}
    result: dict[str, EventType] = {}
    for index, token in enumerate(tokens):
        event_type = known.get(token)
        if event_type is None or (index and tokens[index - 1] == "."):
            continue
        result[token] = event_type
        if index > 1 and tokens[index - 1] == "=":
            result[tokens[index - 2]] = event_type
        after = _past_views(tokens, index + 1)
        if after < len(tokens) and tokens[after].lower() == "as":
            after += 1
        if after < len(tokens) and WORD.fullmatch(tokens[after]) and tokens[after].lower() not in _keywords():
            result[tokens[after]] = event_type
    return result


def _past_views(tokens: list[str], index: int) -> int:
    """Return the index after filters and views: ``(…)``, ``#name(…)``, ``.win:name(…)``."""
    depth = 0
    while index < len(tokens):
        token = tokens[index]
        depth += (token in ("(", "[")) - (token in (")", "]"))
        if depth < 0 or (not depth and token not in ("(", ")", "[", "]", "#", ".", ":") and tokens[index - 1] not in ("#", ".", ":")):
            return index
        index += 1
    return index


__all__ = ["CompletionItem", "CursorPlace", "bracket_event_type", "complete", "properties", "statement_aliases"]
