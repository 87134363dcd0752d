"""What the names of a module stand for: where each is declared, where it is used, and the same text with another name.

Names are resolved by the words around them, as completion does, so that it works while a statement is being written. Renaming is checked
afterwards by compiling the new text (`Document.rename`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import attrs

from epl.catalog import Catalog
from epl.event_types import EventType
from epl.spans import Span
from runtime.tools.completion import BEFORE_TYPES, statement_aliases
from runtime.tools.language_server.declarations import TYPES, DeclaredName, column, of_module, of_statement
from runtime.tools.language_server.words import Words, lower, split_statements

IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
TYPE_PLACES = BEFORE_TYPES | {"->", "(", "[", "=", ",", "window", "schema", "delete", "merge", "pattern", "unidirectional"}
"""Words that a type may follow; a name that is no type is looked up as any other."""


@attrs.frozen
class NamePlace:
    """The position of a declaration. ``module``: the number of the module, 0 for the text itself, else that of a module deployed first."""

    module: int
    span: Span


class DocumentNames:
    """The names of a text. ``first``: the texts that are deployed before it."""

    def __init__(self, text: str, catalog: Catalog, first: Sequence[str] = ()) -> None:
        self.text = text
        self.catalog = catalog
        self.statements = split_statements(text)
        self._first = [split_statements(each) for each in first]

    @cached_property
    def declared(self) -> dict[str, list[tuple[int, DeclaredName]]]:
        """By name, what modules declare: those of the text before those of the modules that are deployed first."""
        declared: dict[str, list[tuple[int, DeclaredName]]] = {}
        for module, statements in enumerate([self.statements, *self._first]):
            for number, words in enumerate(statements):
                for each in of_module(words, number):
                    declared.setdefault(each.name, []).append((module, each))
        return declared

    @cached_property
    def types(self) -> frozenset[str]:
        """The names that streams are read by, declared or registered."""
        own = (name for name, each in self.declared.items() if any(declaration.kind in TYPES for _, declaration in each))
        return frozenset((*own, *self.catalog.event_types, *self.catalog.tables))

    def definition(self, offset: int) -> list[NamePlace]:
        """Return where the name at the offset is declared; several places where several statements insert into a stream."""
        at = self._at(offset)
        return [] if at is None else self._resolve(*at)

    def references(self, offset: int) -> list[Span]:
        """Return all places in the text that mean the same as the name at the offset, its declaration among them."""
        places = self.definition(offset)
        return sorted({*self._uses(places)}, key=lambda span: span.start) if places else []

    def rename_spans(self, offset: int, name: str) -> list[Span]:
        """Return what is to be replaced; raise ValueError where it cannot be."""
        if not IDENTIFIER.fullmatch(name):
            raise ValueError(f"'{name}' is not a name")
        places = self.definition(offset)
        if not places:
            raise ValueError("no declaration of this name is known")
        if any(place.module for place in places):
            raise ValueError("the name is declared in another module")
        return self.references(offset)

    def _uses(self, places: Sequence[NamePlace]) -> Iterator[Span]:
        own = [place.span for place in places if not place.module]
        yield from own
        names = {self.text[span.start:span.end].strip("`") for span in own} or {self._place_word(place) for place in places}
        for number, words in enumerate(self.statements):
            for index, word in enumerate(words):
                if word.kind == "name" and word.name in names and self._resolve(number, index) == places:
                    yield word.span

    def _place_word(self, place: NamePlace) -> str:
        for words in self._first[place.module - 1]:
            for word in words:
                if word.start == place.span.start:
                    return word.name
        return ""

    def _at(self, offset: int) -> tuple[int, int] | None:
        """Return the number of the statement and of the word there."""
        for number, words in enumerate(self.statements):
            for index, word in enumerate(words):
                if word.start <= offset <= word.span.end and word.kind != "sign":
                    return number, index
        return None

    # ------------------------------------------------------------------ what a word means

    def _resolve(self, number: int, index: int) -> list[NamePlace]:
        words = self.statements[number]
        word = words[index]
        local = list(of_statement(words, number, self.types))
        for each in (*(d for of_name in self.declared.values() for module, d in of_name if not module and d.statement == number), *local):
            if each.span.start in (word.start, word.start + 1) and each.span.end in (word.span.end, word.span.end - 1):
                return self._module(each.name) if each.is_of_module and each.kind != "statement" else [NamePlace(0, each.span)]
        if word.kind == "string":
            return []
        if lower(words, index - 1) == ".":
            return self._property_of_chain(number, index)
        return self._bare(number, index, local)

    def _bare(self, number: int, index: int, local: Iterable[DeclaredName]) -> list[NamePlace]:
        words = self.statements[number]
        name, before = words[index].name, lower(words, index - 1)
        if before == "context":
            return self._module(name, "context")
        if before in TYPE_PLACES and name in self.types and name in self.declared and lower(words, index + 1) != "=":
            return self._module(name)
        for kinds in (("stream", "tag", "row variable"), None, ("column",)):
            if kinds is None:
                places = self._property(name, statement_aliases(self._text(words), self.catalog).values())
            else:
                places = [NamePlace(0, each.span) for each in local if each.name == name and each.kind in kinds][:1]
            if places:
                return places
        return self._module(name)

    def _module(self, name: str, *kinds: str) -> list[NamePlace]:
        """Return where modules declare it: in so many words, else by the statements that insert into it."""
        declared = [(module, each) for module, each in self.declared.get(name, ()) if each.kind != "statement"]
        known = [(module, each) for module, each in declared if not kinds or each.kind in kinds]
        written = [(module, each) for module, each in known if each.written]
        return [NamePlace(module, each.span) for module, each in written[:1] or known]

    def _property_of_chain(self, number: int, index: int) -> list[NamePlace]:
        words = self.statements[number]
        names = [words[index].name]
        while lower(words, index - 1) == "." and index > 1 and words[index - 2].kind == "name":
            index -= 2
            names.insert(0, words[index].name)
        if len(names) != 2:
            return []
        event_type = statement_aliases(self._text(words), self.catalog).get(names[0])
        if event_type is not None:
            return self._property(names[1], [event_type])
        variables = {each.name for each in of_statement(words, number, self.types) if each.kind == "row variable"}
        return self._property(names[1], statement_aliases(self._text(words), self.catalog).values()) if names[0] in variables else []

    def _property(self, name: str, event_types: Iterable[EventType]) -> list[NamePlace]:
        """Return where the first of the types that has the property declares it."""
        for event_type in event_types:
            if name not in event_type.properties:
                continue
            for module, declaration in self.declared.get(event_type.name, ()):
                words = (self._first[module - 1] if module else self.statements)[declaration.statement]
                span = column(words, name) if declaration.kind in TYPES else None
                if span is not None:
                    return [NamePlace(module, span)]
        return []

    def _text(self, words: Words) -> str:
        return " ".join(word.name for word in words if word.kind != "string")


__all__ = ["DocumentNames", "NamePlace"]
