"""Partial matches that share everything: which steps took which row, and what matches that holds.

Where no condition looks at the rows that a match took before, two partial matches at one step have the same future. Then it is enough
to know of each row *which steps took it* (a layer); a match is any way through neighbouring layers along the program's links. A row costs
work by the number of steps, however many matches run through it, and matches are written out only when one ends.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal as Choice

from epl.plan.patterns.match_recognize import Program
from runtime.match_recognize.ranking import Match, PathNode, Ranking
from windows.event import Event

Layer = tuple[Event, int, int]
"""(row, its number, the steps that took it as bits)."""

Layers = deque[Layer]
"""Neighbouring rows of one partition, each taken by at least one step."""

LARGEST_CHOICE = 10_000
"""Of so many matches with the same first row the preferred one is looked for, where that takes writing them out; the others count as not
found."""

Preferment = Choice["first", "count", "last", "scan"]


def preferment(program: Program) -> Preferment:
    """Return how the preferred of the matches with the same first and last row is found without writing them out.

    ``first``: the one found first (no counted steps); ``count``: the one whose only counted step took most rows, found first among equals;
    ``last``: the one found last: all take the same number of rows at counted steps, and no two the same numbers at each, so that in
    Esper's scan (``Ranking``) each takes the lead from the one before; ``scan``: only by the scan.

    >>> from epl.plan.patterns.match_recognize import Step
    >>> preferment(Program((Step(0, "A*", (1, 0), counted=True), Step(1, "B", accepts=True)), (1, 0)))
    'count'
    """
    counted = sum(step.counted for step in program.steps)
    if counted < 2:
        return "count" if counted else "first"
    return "last" if _runs_once(program) and _uncounted_on_every_way(program) else "scan"


def _runs_once(program: Program) -> bool:
    """Return whether no step comes again once another one has taken a row."""
    done: set[int] = set()
    steps = program.steps
    while len(done) < len(steps):
        free = {n for n, step in enumerate(steps) if n not in done and all(t == n or t in done for t in step.then)}
        if not free:
            return False
        done |= free
    return True


def _uncounted_on_every_way(program: Program) -> bool:
    """Return whether every way through the program passes every step that is not counted, exactly once."""
    steps = program.steps
    passed: dict[int, int] = {}
    waiting = [(n, 0) for n in program.start]
    while waiting:
        number, before = waiting.pop()
        now = before + (not steps[number].counted)
        if number in passed:
            if passed[number] != now:
                return False
            continue
        passed[number] = now
        waiting += [(t, now) for t in steps[number].then]
    places = [count for number, count in passed.items() if not steps[number].counted]
    ends = {passed[n] for n in passed if steps[n].accepts}
    return len(set(places)) == len(places) and ends == {len(places)}


class Lattice:
    """Reads matches from layers. ``since``: matches that end after that row; ``horizon``: and begin after that one."""

    def __init__(self, program: Program, ranking: Ranking, *, past_last: bool) -> None:
        steps = program.steps
        self.start = program.start
        self.then = tuple(step.then for step in steps)
        self._last_start, self._last_then = self.start[::-1], tuple(step.then[::-1] for step in steps)
        self.counted = tuple(step.counted for step in steps)
        self.accepts = bits(n for n, step in enumerate(steps) if step.accepts)
        self.starts = bits(program.start)
        self.goes_on = bits(n for n, step in enumerate(steps) if step.then)
        self.preferment = preferment(program)
        self.visited = 0
        """Layers looked at, for tests: work, not time."""
        self._ranking = ranking
        self._past_last = past_last
        self._before = tuple(bits(s for s, step in enumerate(steps) if t in step.then) for t in range(len(steps)))
        self._known: dict[int, int] = {0: 0}

    # ------------------------------------------------------------------ going backwards

    def before(self, targets: int) -> int:
        """Return the steps that lead to any of ``targets``."""
        steps = self._known.get(targets)
        if steps is None:
            steps = 0
            for step in mask_steps(targets):
                steps |= self._before[step]
            if len(self._known) > 10_000:
                self._known = {0: 0}
            self._known[targets] = steps
        return steps

    def layers_needed(self, layers: Layers, alive: int, since: int) -> int:
        """Return how many of the last layers a match may still need: one going on at the steps ``alive``, or one that ended after
        ``since``."""
        count = needed = 0
        reached = alive
        for _, row, taken in reversed(layers):
            if count:
                reached = self.before(reached) & taken
            if row > since:
                reached |= taken & self.accepts
            elif not reached:
                break
            count += 1
            if reached & self.starts:
                needed = count
        self.visited += count
        return needed

    def _leading(self, layers: Sequence[Layer], since: int) -> list[int]:
        """Layer by layer the steps from which a requested end is reached."""
        leading = [0] * len(layers)
        reached = 0
        for index in range(len(layers) - 1, -1, -1):
            _, row, taken = layers[index]
            reached = self.before(reached) & taken
            if row > since:
                reached |= taken & self.accepts
            elif not reached:
                break
            leading[index] = reached
        self.visited += len(layers)
        return leading

    # ------------------------------------------------------------------ the preferred

    def choose_matches(self, layers: Layers, since: int, horizon: int) -> list[Match]:
        """Return one match for each first row that the skip clause leaves, by first rows."""
        rows = list(layers)
        if self.preferment == "scan" or (self.preferment == "last" and len(rows) > 1 and rows[-2][1] > since):
            return self._scan(rows, since, horizon)
        if self.preferment == "last":
            return self._at_the_end(rows, since, horizon, self._last_start, self._last_then)
        if self.preferment == "first" and (len(rows) < 2 or rows[-2][1] <= since):
            return self._at_the_end(rows, since, horizon, self.start, self.then)
        return self._rank_matches(rows, since, horizon)

    def _rank_matches(self, rows: Sequence[Layer], since: int, horizon: int) -> list[Match]:
        """Rank matches by a value of each step at each layer: rows taken from there on by the counted step, then the last layer; the
        larger the better."""
        values = self._values(rows, since)
        most = len(rows)
        matches: list[Match] = []
        last_end = -1
        for index, (_, row, taken) in enumerate(rows):
            if row <= horizon or row <= last_end or not taken & self.starts:
                continue
            at = values[index]
            begins = [(at[s], -place, s) for place, s in enumerate(self.start) if s in at]
            if not begins:
                continue
            value, _, step = max(begins)
            match = self._along(rows, values, index, step, value, most)
            matches.append(match)
            if self._past_last:
                last_end = match.end
        return matches

    def _values(self, rows: Sequence[Layer], since: int) -> list[dict[int, int]]:
        leading = self._leading(rows, since)
        most = len(rows)
        values: list[dict[int, int]] = [{}] * most
        following: dict[int, int] = {}
        for index in range(most - 1, -1, -1):
            reached = leading[index]
            if not reached:
                following = {}
                continue
            ends = self.accepts if rows[index][1] > since else 0
            here: dict[int, int] = {}
            for step in mask_steps(reached):
                best = index if ends >> step & 1 else -1
                for target in self.then[step]:
                    value = following.get(target, -1)
                    if value > best:
                        best = value
                here[step] = best + most if self.counted[step] else best
            values[index] = following = here
        return values

    def _along(self, rows: Sequence[Layer], values: Sequence[dict[int, int]], index: int, step: int, value: int, most: int) -> Match:
        """Return the match found first of those with that value."""
        begin = rows[index][1]
        path: PathNode | None = None
        while True:
            event, row, _ = rows[index]
            path = (path, event, step)
            if self.counted[step]:
                value -= most
            if value == index:
                return Match(begin, row, path)
            index += 1
            following = values[index]
            step = next(t for t in self.then[step] if following.get(t) == value)

    def _at_the_end(
        self, rows: Sequence[Layer], since: int, horizon: int, start: Sequence[int], then: Sequence[Sequence[int]]
    ) -> list[Match]:
        """Return where all matches end at the last layer: for each first row the one found first by these links."""
        leading = self._leading(rows, since)
        matches: list[Match] = []
        for index, (_, begin, _) in enumerate(rows):
            if begin <= horizon or not leading[index] & self.starts:
                continue
            reached = leading[index]
            for step in start:
                if reached >> step & 1:
                    break
            path: PathNode = (None, rows[index][0], step)
            for later in range(index + 1, len(rows)):
                reached = leading[later]
                for step in then[step]:  # noqa: B020 - the next step is one of those after this one
                    if reached >> step & 1:
                        break
                path = (path, rows[later][0], step)
            matches.append(Match(begin, rows[-1][1], path))
            if self._past_last:
                break
        return matches

    @property
    def follows_links(self) -> bool:
        """Whether ``rows_at_the_end`` finds the preferred match of those that end at the last layer, and no other one is emitted."""
        return self._past_last and self.preferment in ("first", "last")

    def rows_at_the_end(self, layers: Layers, horizon: int, variables: Sequence[int], count: int) -> list[list[Event]]:
        """Do as ``choose_matches`` where ``follows_links`` and all layers but the last were there before the delivery: the match's rows by
        variable.

        ``variables``: the variable of each step.
        """
        known, starts = self._known, self.starts
        leading: list[tuple[Event, int]] = []
        begin = 0
        reached = self.accepts
        for event, row, taken in reversed(layers):
            reached &= taken
            if not reached or row <= horizon:
                break
            leading.append((event, reached))
            if reached & starts:
                begin = len(leading)
            reached = known[reached] if reached in known else self.before(reached)
        self.visited += len(leading)
        assert begin, "a row that ends a match has one after it"
        follow, then = (self._last_start, self._last_then) if self.preferment == "last" else (self.start, self.then)
        rows: list[list[Event]] = [[] for _ in range(count)]
        for index in range(begin - 1, -1, -1):
            event, reached = leading[index]
            for step in follow:
                if reached >> step & 1:
                    break
            rows[variables[step]].append(event)
            follow = then[step]
        return rows

    def _scan(self, rows: Sequence[Layer], since: int, horizon: int) -> list[Match]:
        leading = self._leading(rows, since)
        matches: list[Match] = []
        last_end = -1
        for index, (_, row, _) in enumerate(rows):
            if row <= horizon or row <= last_end or not leading[index] & self.starts:
                continue
            candidates = [match for match, _ in zip(self._ways(rows, leading, index, since), range(LARGEST_CHOICE))]
            best = self._ranking.best(candidates)
            matches.append(best)
            if self._past_last:
                last_end = best.end
        return matches

    # ------------------------------------------------------------------ all

    def all_at_the_end(self, layers: Layers, horizon: int) -> Iterator[Match]:
        """Yield all matches that end at the last layer, by first rows, those of one first row in the order in which they are found."""
        rows = list(layers)
        since = rows[-1][1] - 1
        leading = self._leading(rows, since)
        for index, (_, row, _) in enumerate(rows):
            if row > horizon and leading[index] & self.starts:
                yield from self._ways(rows, leading, index, since)

    def _ways(self, rows: Sequence[Layer], leading: Sequence[int], index: int, since: int) -> Iterator[Match]:
        """Yield all matches that begin at a layer, in the order of the program's links."""
        begin = rows[index][1]
        waiting: list[tuple[PathNode | None, int, int]] = [(None, index, s) for s in reversed(self.start) if leading[index] >> s & 1]
        while waiting:
            before, at, step = waiting.pop()
            event, row, _ = rows[at]
            path: PathNode = (before, event, step)
            if row > since and self.accepts >> step & 1:
                yield Match(begin, row, path)
            if at + 1 < len(rows):
                reached = leading[at + 1]
                waiting += [(path, at + 1, t) for t in reversed(self.then[step]) if reached >> t & 1]


def bits(numbers: Iterable[int]) -> int:
    """
    >>> bits([0, 3])
    9
    """
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask


def mask_steps(mask: int) -> Iterator[int]:
    """
    >>> list(mask_steps(9))
    [0, 3]
    """
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
