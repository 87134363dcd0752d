"""A pattern as Flink and Alibaba read it → states with edges.

An edge has guards: variables whose condition has to hold (or not) for the row at hand. *take* maps the row to the state's variable,
*ignore* skips it, *proceed* goes on to another state with the same row, *stop* ends the run. A greedy loop takes rows away from what
follows it: the edges of the next state then have its negated condition as a guard, so a row that it could take is never given back.
"""
from __future__ import annotations

import attrs

from epl.dialects.errors import DialectUnsupported
from epl.dialects.syntax import tree as t

TAKE, IGNORE, PROCEED, STOP = "take", "ignore", "proceed", "stop"
MOST_STATES = 10_000
Guard = tuple[str, bool]


@attrs.define(eq=False)
class AutomatonEdge:
    """``kind``, ``target`` and guards: (variable, whether its condition has to hold)."""

    kind: str
    target: State
    guards: list[Guard] = attrs.field(factory=list)


@attrs.define(eq=False)
class State:
    """``label``: the variable that a take maps rows to. ``waits``: the state is left by a row only, not in the same moment as it
    is entered. ``pending``: the match is complete when the time of WITHIN is over."""

    label: str | None = None
    edges: list[AutomatonEdge] = attrs.field(factory=list)
    is_final: bool = False
    waits: bool = False
    pending: bool = False

    def to(self, kind: str, target: State, *guards: Guard) -> None:
        """Add an edge."""
        self.edges.append(AutomatonEdge(kind, target, list(guards)))


@attrs.frozen
class Item:
    """An element of a sequence. ``after``: strict, loose or any: how its first row follows what is before; ``inside``: strict or loose: how
    its repetitions follow one another. ``absent``: next or later: the variable must not be there."""

    label: str | None
    group: tuple[Item, ...] = ()
    least: int = 1
    most: int | None = 1
    greedy: bool = False
    after: str = "strict"
    inside: str = "strict"
    until: str | None = None
    absent: str | None = None


def items(pattern: t.SqlPattern) -> list[Item]:
    """Return the elements of a pattern; anchors have no effect, as in Flink. Fillers between ``{-`` and ``-}`` say how the next element
    follows."""
    parts = pattern.parts if isinstance(pattern, t.Sequence) else (pattern,)
    listed: list[Item] = []
    after = "strict"
    for part in parts:
        if isinstance(part, t.Anchor):
            continue
        if isinstance(part, t.Exclusion):
            after = _contiguity(part)
            continue
        if isinstance(part, t.PatternGroup):
            inner = _group(part)
            inner[0] = attrs.evolve(inner[0], after=after)
            listed.extend(inner)
        else:
            listed.append(_item(part, after))
        after = "strict"
    if after != "strict":
        raise DialectUnsupported("a pattern does not end in {- -}", pattern.at)
    return listed


def _group(part: t.PatternGroup) -> list[Item]:
    inner = items(part.pattern)
    if not inner:
        raise DialectUnsupported("a group without a variable is not supported", part.at)
    return inner


def _contiguity(part: t.Exclusion) -> str:
    inner = part.pattern
    if isinstance(inner, t.QuantifiedPattern) and isinstance(inner.pattern, t.PatternVariable) and (inner.least, inner.most) == (0, None):
        return "any" if inner.marks == 0 else "loose"
    raise DialectUnsupported("between {- and -} stands one variable that is not defined, with * or *?", part.at)


def _item(part: t.SqlPattern, after: str) -> Item:
    if isinstance(part, t.NotNext):
        return Item(part.name.canonical, absent="next" if after == "strict" else "later", after=after)
    if isinstance(part, t.PatternVariable):
        return Item(part.name.canonical, after=after)
    if not isinstance(part, t.QuantifiedPattern):
        raise DialectUnsupported("this pattern is not supported", part.at)
    inside = "loose" if part.marks >= 2 else "strict"
    is_optional = (part.least, part.most) == (0, 1)
    greedy = part.marks in (0, 2) and not is_optional and part.least != part.most
    until = None if part.until is None else part.until.canonical
    inner = part.pattern
    if not isinstance(inner, (t.PatternVariable, t.PatternGroup)):
        raise DialectUnsupported("quantifiers of anchors and of {- -} are not supported", part.at)
    if isinstance(inner, t.PatternVariable):
        return Item(inner.name.canonical, (), part.least, part.most, greedy, after, inside, until)
    return Item(None, tuple(_group(inner)), part.least, part.most, greedy, after, inside, until)


class Automaton:
    """The states of a pattern. ``start``: where runs begin."""

    def __init__(self, pattern: t.SqlPattern) -> None:
        self.count = 0
        self._tested: dict[State, frozenset[str]] = {}
        self.final = State(is_final=True)
        self.start = self.sequence(items(pattern), self.final)

    def condition_variables(self, state: State) -> frozenset[str]:
        """Return the variables whose conditions decide where a row leads from a state, and whether a match is complete by it."""
        known = self._tested.get(state)
        if known is None:
            labels: set[str] = set()
            stack, seen = [state], {state}
            while stack:
                for edge in stack.pop().edges:
                    labels.update(label for label, _ in edge.guards)
                    # after a row that is taken the same row decides where the match may be complete
                    if edge.kind in (PROCEED, TAKE) and edge.target not in seen:
                        seen.add(edge.target)
                        stack.append(edge.target)
            known = self._tested[state] = frozenset(labels)
        return known

    def state(self, label: str | None = None) -> State:
        """Return a new state."""
        self.count += 1
        if self.count > MOST_STATES:
            raise DialectUnsupported(f"the row pattern needs more than {MOST_STATES} states", 0)
        return State(label)

    def sequence(self, listed: list[Item], sink: State) -> State:
        """Return the first state of elements that lead to ``sink``; from the last to the first one."""
        place = len(listed) - 1
        while place >= 0:
            item = listed[place]
            if item.absent is not None:
                sink = self.absent(item, sink)
            else:
                sink = self.item(item, sink)
            place -= 1
        return sink

    def absent(self, item: Item, sink: State) -> State:
        """Return the state in which a row of the variable ends the run."""
        assert item.label is not None
        state = self.state()
        state.to(STOP, self.final, (item.label, True))
        state.waits = True
        if item.absent == "next":
            state.to(PROCEED, sink, (item.label, False))
            return state
        if sink.is_final:
            state.to(IGNORE, state, (item.label, False))
            state.pending = True
            return state
        sink.edges.insert(0, AutomatonEdge(STOP, self.final, [(item.label, True)]))
        for edge in sink.edges:
            if edge.kind == IGNORE and edge.target is not sink:
                edge.target.edges.insert(0, AutomatonEdge(STOP, self.final, [(item.label, True)]))
        return sink

    # elements

    def item(self, item: Item, sink: State) -> State:
        """Return the first state of an element."""
        if item.most is None:
            loop, leave = self.loop(item, sink)
            first = self.copies(item, max(1, item.least), loop)
            if item.least == 0:
                first.to(PROCEED, leave)
            return first
        if item.greedy:
            self.guard(sink, item)
        optional = item.most - max(1, item.least)
        state = sink
        for _ in range(optional):
            state = self.once(item, state, item.inside)
            state.to(PROCEED, sink)
        first = self.copies(item, max(1, item.least), state)
        if item.least == 0:
            first.to(PROCEED, sink)
        return first

    def copies(self, item: Item, count: int, sink: State) -> State:
        """Return the first of so many repetitions, which follows what is before as the element does."""
        state = sink
        for left in range(count):
            state = self.once(item, state, item.after if left == count - 1 else item.inside)
        return state

    def once(self, item: Item, sink: State, after: str) -> State:
        """Return the state that takes one repetition."""
        if item.label is None:
            group = [attrs.evolve(item.group[0], after=after), *item.group[1:]]
            return self.sequence(group, sink)
        state = self.state(item.label)
        self.taking(state, item, sink)
        if after == "strict":
            return state
        ignoring = self.state(item.label) if item.least == 0 else state
        if ignoring is not state:
            self.taking(ignoring, item, sink)
            ignoring.to(IGNORE, ignoring, *self.skipping(item, after))
        state.to(IGNORE, ignoring, *self.skipping(item, after))
        return state

    def taking(self, state: State, item: Item, sink: State) -> None:
        """Let a state take a row of the element."""
        assert item.label is not None
        ends = () if item.until is None else ((item.until, False),)
        state.to(TAKE, sink, (item.label, True), *ends)

    @staticmethod
    def skipping(item: Item, after: str) -> list[Guard]:
        """Return the guards of skipping a row."""
        assert item.label is not None
        guards: list[Guard] = [] if after == "any" else [(item.label, False)]
        if item.until is not None:
            guards.append((item.until, False))
        return guards

    def loop(self, item: Item, sink: State) -> tuple[State, State]:
        """Return the state of an unbounded repetition, and the state that follows it."""
        if item.label is None:
            loop = self.state()
            loop.to(PROCEED, sink)
            loop.to(PROCEED, self.once(item, loop, item.inside))
            return loop, sink
        loop = self.state(item.label)
        if item.greedy and item.until is not None:
            free = self.copy(sink)
            loop.to(PROCEED, free, (item.until, True))
            loop.to(PROCEED, sink, (item.until, False))
        else:
            loop.to(PROCEED, sink)
        if item.greedy:
            self.guard(sink, item)
        self.taking(loop, item, loop)
        if item.inside == "loose":  # a loop that skips rows is not left before it has taken another one
            skipping = self.state(item.label)
            self.taking(skipping, item, loop)
            skipping.to(IGNORE, skipping, *self.skipping(item, "loose"))
            loop.to(IGNORE, skipping, *self.skipping(item, "loose"))
        return loop, sink

    def guard(self, sink: State, item: Item) -> None:
        """Let a greedy element take its rows away from what follows."""
        assert item.label is not None
        for edge in sink.edges:
            edge.guards.append((item.label, False))

    def copy(self, state: State) -> State:
        """Return a copy of a state; its edges to itself lead to the copy."""
        if state.is_final:
            return state
        twin = self.state(state.label)
        twin.waits, twin.pending = state.waits, state.pending
        twin.edges = [AutomatonEdge(edge.kind, twin if edge.target is state else edge.target, list(edge.guards)) for edge in state.edges]
        return twin


__all__ = ["IGNORE", "PROCEED", "STOP", "TAKE", "Automaton", "AutomatonEdge", "Guard", "State"]
