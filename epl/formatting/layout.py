"""Pieces of one statement → its layout: clauses on lines of their own, lists and conditions that break where they do not fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from epl.formatting.documents import BLANK, HARD, LINE, NOTHING, SOFT, SPACE, Characters, Document, group, indent, many
from epl.formatting.pieces import Comment, Piece
from epl.formatting.spacing import CLOSING, OPENING, ends_operand, is_space_needed

LIST_CLAUSES = frozenset({"select", "from", "set", "by", "measures", "define", "values"})
"""Words before a list whose items go on lines of their own if they do not fit on one."""
CLAUSES = frozenset({"select", "insert", "from", "where", "group", "having", "output", "order", "limit", "match_recognize", "join", "for"})
MATCH_CLAUSES = frozenset({"partition", "measures", "all", "after", "pattern", "interval", "define"})
CONTEXT_CLAUSES = frozenset({"partition", "start", "end", "initiated", "terminated", "coalesce", "group", "context"})
ON_CLAUSES = CLAUSES | {"delete", "update", "set", "merge"}
MANY = 8
"""From how many commas on single words share lines."""


def leading_comments(comments: Sequence[Comment], separator: Document, blank_lines: bool = False) -> list[Document]:
    """Return the comments before a piece, and what separates it from the piece before: the separator, unless comments end the line."""
    result: list[Document] = []
    own_line = must_end = False
    for comment in comments:
        if comment.own_line or must_end:
            result += [BLANK if blank_lines and comment.after_blank else HARD, Characters(comment.text)]
            own_line = True
        else:
            is_line = comment.text.startswith("//")
            result += [Characters(f"  {comment.text}" if is_line else f" {comment.text}", free=is_line)]
        must_end = comment.text.startswith("//") or (own_line and comment.ends_line)
    if must_end:
        return [*result, HARD]
    if not result:
        return [separator]
    return [*result, SPACE if own_line or separator is NOTHING else separator]


class StatementLayout:
    """The layout of the pieces of one statement."""

    def __init__(self, pieces: list[Piece]) -> None:
        self.pieces = pieces
        self.closing = _closings(pieces)

    def before(self, index: int, separator: Document) -> list[Document]:
        return leading_comments(self.pieces[index].comments, separator)

    def between(self, index: int) -> list[Document]:
        """Return what separates a piece from the one before it on one line."""
        previous = self.pieces[index - 2] if index > 1 else None
        return self.before(index, SPACE if is_space_needed(self.pieces[index - 1], self.pieces[index], previous) else NOTHING)

    # ------------------------------------------------------------------ statements and clauses

    def statement(self, heads: list[int], kind: str) -> Document:
        """Return the statement: what is before its body, a line each, from the indexes in ``heads``; the last one is the body."""
        parts: list[Document] = []
        for start, end in zip(heads, [*heads[1:], len(self.pieces)], strict=True):
            if start:
                parts += self.before(start, HARD)
            parts.append(self.body(start, end, kind) if start == heads[-1] else self.run(start, end))
        return many(parts)

    def body(self, start: int, end: int, kind: str) -> Document:
        if kind == "context":
            return self.context(start, end)
        starts = [start, *self.clause_starts(start + 1, end, kind)]
        insert = self.pieces[start].key in ("insert", "into") and len(starts) > 1
        if kind == "create":
            return self.clauses(starts, end, hard=False, inside=True)
        return self.clauses(starts, end, hard=len(starts) - insert > 2, first_hard=insert)

    def clauses(self, starts: list[int], end: int, hard: bool, first_hard: bool = False, inside: bool = False) -> Document:
        """Clauses below each other: always if ``hard``, else if they do not fit on one line."""
        parts: list[Document] = [self.clause(starts[0], starts[1] if len(starts) > 1 else end)]
        rest: list[Document] = []
        for number, (start, stop) in enumerate(zip(starts[1:], [*starts[2:], end], strict=False)):
            separator = HARD if hard or (first_hard and not number) else LINE
            if number == 0 and first_hard:
                parts += [*self.before(start, HARD), self.clause(start, stop)]
                continue
            clause = self.clause(start, stop)
            deeper = self.pieces[start].key in ("then",)
            rest += [indent(*self.before(start, separator), clause)] if deeper else [*self.before(start, separator), clause]
        return group(*parts, indent(*rest) if inside else many(rest))

    def clause(self, start: int, end: int) -> Document:
        """Lay out a clause: its words, then its list or expression."""
        words = self.clause_words(start, end)
        head = self.flat(start, words)
        if words >= end:
            return head
        commas = self.separators(words, end, (",",))
        if commas and LIST_CLAUSES & {self.pieces[start].key, self.pieces[words - 1].key}:
            return group(head, indent(*self.comma_list(words, end, commas, self.before(words, LINE))))
        rest = self.flat(words, end) if self.pieces[start].key == "create" else self.run(words, end, deeper=True)
        return many([head, *self.between(words), rest])

    def clause_words(self, start: int, end: int) -> int:
        """Return the index after the keywords that begin a clause."""
        index = start + 1
        first = self.pieces[start].key
        if first == "partition" and index < end and self.pieces[index].key == "by":
            return index + 1
        if first in ("group", "order") and index < end and self.pieces[index].key == "by":
            return index + 1
        if first == "select":
            while index < end - 1 and self.pieces[index].key in ("distinct", "istream", "rstream", "irstream"):
                if self.pieces[index + 1].key == "(":
                    break
                index += 1
            if index > start + 1:
                return index
        return index

    def clause_starts(self, start: int, end: int, kind: str) -> Iterator[int]:
        """Yield where clauses begin, outside of brackets."""
        clauses = {"select": CLAUSES, "on": ON_CLAUSES, "merge": ON_CLAUSES | {"when", "then"}, "match": MATCH_CLAUSES}.get(kind, CLAUSES)
        if kind == "create":
            clauses = frozenset({"select", "from", "insert", "where"})
        index = start
        while index < end:
            piece = self.pieces[index]
            if piece.key in clauses and self._begins_clause(index, end, kind):
                if kind == "merge" and piece.key == "when":
                    clauses = frozenset({"when", "then"})
                first = index
                while kind != "match" and piece.key == "join" and self.pieces[first - 1].key in ("inner", "outer", "left", "right", "full"):
                    first -= 1
                yield first
            index = self.closing.get(index, index) + 1

    def _begins_clause(self, index: int, end: int, kind: str) -> bool:
        """Tell clauses from names and from other uses of their words."""
        key = self.pieces[index].key
        before = self.pieces[index - 1].key
        after = self.pieces[index + 1].key if index + 1 < end else ""
        if before in (".", "as", "@", "#") or after in (".", "=", "#"):
            return False
        if kind == "merge" and key in ("when", "then"):
            return True
        if not ends_operand(self.pieces[index - 1]) and (kind, before) != ("match", "terminated"):
            return False
        if key in ("group", "order"):
            return after == "by"
        if key == "join":
            return True
        if kind == "match":
            return after in {"partition": ("by",), "all": ("matches",), "after": ("match",), "pattern": ("(",)}.get(key, (after,))
        return key not in ("where", "for") or after not in ("", ",", "from")

    # ------------------------------------------------------------------ expressions

    def run(self, start: int, end: int, deeper: bool = False) -> Document:
        """Pieces in a row: split at the loosest separators that occur outside of brackets. ``deeper``: further lines are indented."""
        commas = self.separators(start, end, (",",))
        if commas:
            return group(*self.comma_list(start, end, commas, [NOTHING]))
        for keys in (("->", "-["), ("or",), ("and",), ("||", "+", "-")):
            operators = self.separators(start, end, keys)
            if operators:
                return self.operators(start, end, operators, deeper)
        return self.flat(start, end)

    def operators(self, start: int, end: int, operators: list[int], deeper: bool) -> Document:
        """Operands with an operator at the beginning of each further line."""
        parts: list[Document] = []
        for operator, stop in zip(operators, [*operators[1:], end], strict=True):
            parts += [*self.before(operator, LINE), self.operator_run(operator, stop)]
        return group(self.run(start, operators[0]), indent(*parts) if deeper else many(parts))

    def operator_run(self, operator: int, end: int) -> Document:
        """Return an operator and its operand."""
        after = self.closing.get(operator, operator) + 1
        if self.pieces[operator].key == "-[" and after < end and self.pieces[after].key == ">":
            after += 1
        head = self.flat(operator, after)
        return many([head, *self.between(after), self.run(after, end, deeper=True)]) if after < end else head

    def comma_list(self, start: int, end: int, commas: list[int], lead: list[Document]) -> list[Document]:
        """Items with the commas after them; ``lead``: what is before the first one."""
        parts: list[Document] = []
        bounds = [start, *(comma + 1 for comma in commas)]
        for first, stop in zip(bounds, [*commas, end], strict=True):
            if first == stop:
                if stop < end:
                    parts += [*self.between(stop), Characters(",")]
                continue
            parts += lead if first == start else self.before(first, LINE)
            parts.append(self.run(first, stop, deeper=True))
            if stop < end:
                parts += [*self.between(stop), Characters(",")]
        return parts

    def values(self, start: int, end: int, commas: list[int]) -> Document:
        """Return what a bracket holds: an item a line if they do not fit; many single words (``in (1, 2, …)``) as many on a line as fit."""
        bounds = [start, *(comma + 1 for comma in commas)]
        is_short = all(stop == first + 1 for first, stop in zip(bounds, [*commas, end], strict=True))
        if not is_short or len(commas) < MANY:
            return many(self.comma_list(start, end, commas, [NOTHING]))
        parts: list[Document] = []
        for first, stop in zip(bounds, [*commas, end], strict=True):
            item = [Characters(self.pieces[first].text), *([*self.between(stop), Characters(",")] if stop < end else [])]
            parts.append(group(*([] if first == start else self.before(first, LINE)), *item))
        return many(parts)

    def flat(self, start: int, end: int) -> Document:
        """Pieces one after the other, with the brackets among them."""
        parts: list[Document] = []
        index = start
        while index < end:
            if index > start:
                parts += self.between(index)
            close = self.closing.get(index)
            if close is not None and close < end:
                parts.append(self.bracket(index, close))
                index = close + 1
            else:
                parts.append(Characters(self.pieces[index].text))
                index += 1
        return many(parts)

    def separators(self, start: int, end: int, keys: tuple[str, ...]) -> list[int]:
        """Return where these occur outside of brackets, between two operands."""
        result = []
        index = start
        betweens = 0
        while index < end:
            piece = self.pieces[index]
            if piece.key == "between" and index > start and ends_operand(self.pieces[index - 1]):
                betweens += 1
            elif piece.key == "and" and betweens:
                betweens -= 1
            elif piece.key in keys and not piece.rows and (piece.key == "," or (index > start and ends_operand(self.pieces[index - 1]))):
                result.append(index)
            index = self.closing.get(index, index) + 1
        return result

    # ------------------------------------------------------------------ brackets

    def bracket(self, start: int, end: int) -> Document:
        """Return a bracket with its contents, on one line or with the contents indented below."""
        opening, closing = Characters(self.pieces[start].text), Characters(self.pieces[end].text)
        if self.pieces[start].key == "case":
            return self.case(start, end)
        if start + 1 == end:
            return many([opening, *self.between(end), closing])
        padding = LINE if self.pieces[start].role == "block" else SOFT
        before = self.pieces[start - 1].key if start else ""
        if before == "match_recognize":
            starts = [start + 1, *self.clause_starts(start + 2, end, "match")]
            inner = self.clauses(starts, end, hard=True)
            return many([opening, indent(*self.before(start + 1, HARD), inner), *self.before(end, HARD), closing])
        if self.pieces[start + 1].key == "select":
            starts = [start + 1, *self.clause_starts(start + 2, end, "select")]
            inner = self.clauses(starts, end, hard=False)
        else:
            commas = self.separators(start + 1, end, (",",))
            inner = self.values(start + 1, end, commas) if commas else self.run(start + 1, end)
        return group(opening, indent(*self.before(start + 1, padding), inner), *self.before(end, padding), closing)

    def case(self, start: int, end: int) -> Document:
        """``case``, its branches indented, ``end``."""
        starts = []
        index = start + 1
        while index < end:
            if self.pieces[index].key in ("when", "else"):
                starts.append(index)
            index = self.closing.get(index, index) + 1
        parts: list[Document] = [Characters(self.pieces[start].text)]
        if starts and starts[0] > start + 1:
            parts += [*self.between(start + 1), self.run(start + 1, starts[0])]
        for first, stop in zip(starts, [*starts[1:], end], strict=True):
            parts.append(indent(*self.before(first, LINE), self.branch(first, stop)))
        return group(*parts, *self.before(end, LINE), Characters(self.pieces[end].text))

    def branch(self, start: int, end: int) -> Document:
        """Lay out ``when … then …`` or ``else …``."""
        parts: list[Document] = [Characters(self.pieces[start].text)]
        then = next(iter(self.separators(start + 1, end, ("then",))), end)
        parts += [*self.between(start + 1), self.run(start + 1, then, deeper=True)]
        if then < end:
            parts += [*self.between(then), Characters(self.pieces[then].text), *self.between(then + 1),
                self.run(then + 1, end, deeper=True)]
        return many(parts)

    # ------------------------------------------------------------------ contexts

    def context(self, start: int, end: int) -> Document:
        """``create context Name``, then its parts; nested contexts are always below each other."""
        starts = []
        index = start + 2
        nested = False
        while index < end:
            piece = self.pieces[index]
            if piece.key in CONTEXT_CLAUSES and self.pieces[index - 1].key not in (".", "as", "by", "from") and index > start + 2:
                nested = nested or piece.key == "context"
                if not nested or piece.key == "context":
                    starts.append(index)
            index = self.closing.get(index, index) + 1
        parts: list[Document] = [self.run(start, starts[0] if starts else end)]
        for first, stop in zip(starts, [*starts[1:], end], strict=False):
            parts.append(indent(*self.before(first, HARD if nested else LINE), self.run(first, stop, deeper=True)))
        return group(*parts)


def _closings(pieces: list[Piece]) -> dict[int, int]:
    """Return by index of an opening bracket or ``case`` the index of what closes it."""
    result = {}
    waiting: list[int] = []
    for index, piece in enumerate(pieces):
        if piece.key in OPENING or (piece.key == "case" and (not index or pieces[index - 1].key != ".")):
            waiting.append(index)
        elif waiting and (piece.key == "end" if pieces[waiting[-1]].key == "case" else piece.key in CLOSING):
            result[waiting.pop()] = index
    return result
