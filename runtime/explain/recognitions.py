"""Row patterns of the SQL dialects as automata: the programs that the engine runs."""
from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from epl.dialects.errors import DialectUnsupported, QueryFailed
from epl.dialects.plans import RecognitionPlan
from epl.dialects.syntax.lexis import DIALECTS, SqlToken, tokens
from epl.plan.patterns.recognition_streams import RecognitionStreamPlan
from runtime.dialects.automaton import IGNORE, PROCEED, STOP, TAKE, Automaton, AutomatonEdge, State
from runtime.dialects.program import DONE, END, JUMP, MATCH, SPLIT, START, PatternProgram, compile_pattern
from runtime.explain.graph import Drawing, NodeKind

MOST_STATES = 60
"""States of a picture that a person can still read."""
BETWEEN = {"PARTITION", "ORDER", "MEASURES", "ONE", "ALL", "AFTER", "PATTERN", "WITHIN", "SUBSET", "DEFINE"}
"""What may follow an expression of DEFINE, PARTITION BY or ORDER BY."""


def draw_recognition(drawing: Drawing, plan: RecognitionStreamPlan, here: str) -> str:
    """Draw a clause over the rows of the node ``here``, and its automaton in a group; return the clause's node."""
    clause = plan.clause
    words = _Words(plan)
    pattern = words.bracket("PATTERN")
    node = drawing.node(
        "match", f"match_recognize ({clause.dialect})", f"pattern ({pattern})", words.clause_text("PARTITION"), words.clause_text("ORDER"),
        pattern=pattern, dialect=clause.dialect)
    drawing.edge(here, node)
    group = drawing.group(f"row pattern {pattern}")
    try:
        first = _flink(drawing, clause, group) if clause.dialect in ("flink", "alibaba") else _sql(drawing, clause, group)
    except (QueryFailed, DialectUnsupported):  # what the engine refuses where it begins to run: its own message says why
        first = drawing.node("note", "the pattern is too large", group=group)
    drawing.node("note", *words.defines(), *_rules(clause), group=group)
    drawing.edge(first, node, "part")
    return node


def _rules(clause: RecognitionPlan) -> Iterator[str]:
    skip = clause.skip
    yield f"after a match: skip {skip.kind}{f' {skip.name}' if skip.name else ''}"
    yield f"rows per match: {'all' if clause.all_rows else 'one'}"
    if clause.within is not None:
        yield f"within {clause.within} ms"


# ------------------------------------------------------------------ what is written


class _Words:
    """The words of a clause, to show its parts as they are written."""

    def __init__(self, plan: RecognitionStreamPlan) -> None:
        self.text = plan.text
        self.tokens = tokens(plan.text, DIALECTS[plan.clause.dialect])

    def bracket(self, word: str) -> str:
        """Return what is in the bracket after a word."""
        place = self._place(word) + 2
        return self._source_text(self.tokens[place : self._end(place)])

    def clause_text(self, word: str) -> str:
        """Return ``PARTITION BY …`` or ``ORDER BY …``; nothing where it is not written."""
        place = self._place(word)
        if place < 0:
            return ""
        return f"{word.lower()} by {self._source_text(self.tokens[place + 2 : self._end(place + 2, BETWEEN)])}"

    def defines(self) -> list[str]:
        """Return each definition."""
        place = self._place("DEFINE")
        lines = []
        while place >= 0 and self.tokens[place].word not in (")", ""):
            end = self._end(place + 1, {","})
            name, condition = self.tokens[place + 1], self.tokens[place + 3 : end]
            lines.append(f"{name.text}: {self._source_text(condition)}")
            place = end
        return lines

    def _place(self, word: str) -> int:
        """Return where a word begins a part of the clause; -1 where none does."""
        depth = 0
        for place, token in enumerate(self.tokens):
            depth += _depth(token)
            if depth == 1 and token.kind == "name" and token.word == word:
                return place
        return -1

    def _end(self, place: int, ends: Container[str] = ()) -> int:
        """Return where, outside of brackets that begin at or after the place, one of these words or a closing bracket is."""
        depth = 0
        for number in range(place, len(self.tokens)):
            token = self.tokens[number]
            if depth == 0 and token.kind in ("name", "sign") and (token.word in ends or token.word == ")"):
                return number
            depth += _depth(token)
        return len(self.tokens) - 1

    def _source_text(self, taken: Sequence[SqlToken]) -> str:
        return " ".join(self.text[taken[0].at : taken[-1].end].split()) if taken else ""


def _depth(token: SqlToken) -> int:
    return 0 if token.kind != "sign" else (token.word in ("(", "[", "{", "{-")) - (token.word in (")", "]", "}", "-}"))


# ------------------------------------------------------------------ SQL:2016 and YDB


def _sql(drawing: Drawing, clause: RecognitionPlan, group: str) -> str:
    """Draw the program: a state for each place of a variable in the pattern; transitions are numbered where they are tried in an order."""
    program = compile_pattern(clause.pattern, list(clause.labels))
    begin = drawing.node("start", "start", group=group)
    places = [place for place, operation in enumerate(program.operations) if operation == MATCH]
    if len(places) > MOST_STATES:
        drawing.node("note", f"{len(places)} states: too many to draw", group=group)
        return begin
    ways = {place: list(_ways(program, place + 1)) for place in places}
    states = {}
    for place in places:
        ends = next((anchors for target, anchors in ways[place] if target is None), None)
        kind: NodeKind = "state" if ends is None else "accept"
        states[place] = drawing.node(kind, f"{_name(program, place)} {ends or ''}".rstrip(), group=group,
                                     variable=program.labels[program.first[place]])
    for source, targets in [(begin, list(_ways(program, 0))), *((states[place], ways[place]) for place in places)]:
        several = len(targets) > 1
        for order, (target, anchors) in enumerate(targets, 1):
            if target is not None:
                number = f"({order})" if several else ""
                drawing.edge(source, states[target], label=" ".join(filter(None, (anchors, _name(program, target), number))))
    return begin


def _name(program: PatternProgram, place: int) -> str:
    name = program.labels[program.first[place]]
    return f"{{- {name} -}}" if program.excluded[place] else name


def _ways(program: PatternProgram, place: int) -> Iterator[tuple[int | None, str]]:
    """Yield the variables that may come next, preferred first, each with the anchors on the way; None for the end of the match."""
    seen = set()
    waiting = [(place, "")]
    while waiting:
        place, anchors = waiting.pop()
        if (place, anchors) in seen:
            continue
        seen.add((place, anchors))
        operation = program.operations[place]
        if operation == SPLIT:
            waiting += [(program.second[place], anchors), (program.first[place], anchors)]
        elif operation == JUMP:
            waiting.append((program.first[place], anchors))
        elif operation in (START, END):
            sign = "^" if operation == START else "$"
            waiting.append((place + 1, anchors if sign in anchors else anchors + sign))
        elif operation in (MATCH, DONE):
            yield (place if operation == MATCH else None), anchors


# ------------------------------------------------------------------ Flink and Alibaba


def _flink(drawing: Drawing, clause: RecognitionPlan, group: str) -> str:
    """Draw the states of Flink: a row is taken, skipped, or seen again by the next state."""
    begin = drawing.node("start", "start", group=group)
    automaton = Automaton(clause.pattern)
    if automaton.count > MOST_STATES:
        drawing.node("note", f"{automaton.count} states: too many to draw", group=group)
        return begin
    states: dict[int, str] = {}
    ended = drawing.node("accept", "match", group=group)
    waiting = [automaton.start]
    while waiting:
        state = waiting.pop(0)
        if id(state) not in states:
            states[id(state)] = ended if state.is_final else drawing.node("state", state.label or "·", group=group, variable=state.label)
            waiting += [edge.target for edge in state.edges if edge.kind != STOP]
    drawing.edge(begin, states[id(automaton.start)])
    _edges(drawing, automaton.start, states, group)
    return begin


def _edges(drawing: Drawing, start: State, states: dict[int, str], group: str) -> None:
    stopped = ""
    waiting, done = [start], set()
    while waiting:
        state = waiting.pop(0)
        if id(state) in done:
            continue
        done.add(id(state))
        for edge in state.edges:
            if edge.kind == STOP:
                stopped = stopped or drawing.node("state", "no match", group=group)
                drawing.edge(states[id(state)], stopped, label=_edge_text(edge, state))
            else:
                drawing.edge(states[id(state)], states[id(edge.target)], label=_edge_text(edge, state))
                waiting.append(edge.target)


def _edge_text(edge: AutomatonEdge, state: State) -> str:
    guards = " and ".join(name if holds else f"not {name}" for name, holds in dict.fromkeys(edge.guards))
    words = {TAKE: "", IGNORE: "skip a row", PROCEED: "go on", STOP: "stop"}[edge.kind]
    if edge.kind == TAKE:
        return guards or state.label or ""
    return f"{words} if {guards}" if guards else words


__all__ = ["draw_recognition"]
