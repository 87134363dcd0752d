"""A module run undisturbed, and run with restarts in between: what listeners got, what iterators give, and the faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Literal

import attrs
import pyarrow as pa

from epl.errors import EplError
from runtime import Runtime
from tests.restarts.drawn_modules import SCHEMA, Step

Way = Literal["blob", "pages", "changes"]
"""How a restart goes: over a blob; over pages (those changed since the last mark where there is one); ``changes`` takes pages only."""

Restarts = Mapping[int, tuple[Way, str]]
"""After which steps: the way, the tier to restore into."""

ROWS = pa.schema(
    [
        ("k", pa.string()),
        ("g", pa.int32()),
        ("v", pa.float64()),
        ("n", pa.int64()),
        ("b", pa.bool_()),
        ("ts", pa.int64()),
        ("at", pa.int64()),
    ]
)


class Refused(Exception):
    """The module is refused at deploy."""


@attrs.define
class Seen:
    """Everything a user sees of a runtime."""

    calls: list[Any] = attrs.field(factory=list)
    contents: list[Any] = attrs.field(factory=list)
    faults: list[str] = attrs.field(factory=list)


def plain(value: Any) -> Any:
    """Comparable: NaN equals NaN, -0.0 is not 0.0."""
    if isinstance(value, float):
        return "NaN" if value != value else repr(value)
    if isinstance(value, dict) or hasattr(value, "keys"):
        return tuple((key, plain(value[key])) for key in value)
    if isinstance(value, (list, tuple)):
        return tuple(map(plain, value))
    return value


def run(texts: Sequence[str], steps: Sequence[Step], tier: str, restarts: Restarts | None = None) -> Seen:
    """Raise Refused where the module is refused at deploy, and EplError for what goes wrong later."""
    seen = Seen()
    runtime = Runtime(tier=tier, on_error=_noting(seen))
    try:
        runtime.deploy(SCHEMA + "".join(texts))
    except EplError as error:
        raise Refused(error.message) from error
    _listen(runtime, seen)
    store: dict[str, bytes] = {}
    mark = None
    for number, step in enumerate(steps):
        take(runtime, step)
        way, restored_tier = (restarts or {}).get(number, (None, tier))
        if way is None:
            continue
        if way == "blob":
            runtime = Runtime.restore(runtime.snapshot(), tier=restored_tier, on_error=_noting(seen))
            mark = None
        else:
            pages = runtime.pages() if mark is None else runtime.pages(since=mark)
            store, mark = pages.apply_to({} if mark is None else store), pages.mark
            if way == "changes":
                continue
            runtime, mark = Runtime.restore(dict(store), tier=restored_tier, on_error=_noting(seen)), None
        _listen(runtime, seen)
    seen.contents = [_contents(statement) for deployment in runtime.deployments.values() for statement in deployment]
    return seen


def take(runtime: Runtime, step: Step) -> None:
    if step[0] == "send":
        runtime.send(step[1], step[2])
    elif step[0] == "span":
        runtime.advance_time_span(step[1])
    elif step[0] == "jump":
        runtime.advance_time(step[1])
    else:
        runtime.send_batch("E", pa.Table.from_pylist(step[1], schema=ROWS), time="at")


def _noting(seen: Seen) -> Any:
    return lambda error, statement, event: seen.faults.append(
        f"{getattr(statement, 'name', statement)}: {type(error).__name__} {error}"[:300]
    )


def _listen(runtime: Runtime, seen: Seen) -> None:
    for deployment in runtime.deployments.values():
        for statement in deployment:
            statement.add_listener(lambda new, old, s, r: seen.calls.append((r.cause.time, s.name, plain(list(new)), plain(list(old)))))


def _contents(statement: Any) -> Any:
    try:
        return statement.name, plain(list(statement))
    except EplError as error:
        return statement.name, error.message


# ------------------------------------------------------------------ differences


def restarts_at(of: Random, count: int, tiers: Sequence[str]) -> dict[int, tuple[Way, str]]:
    ways: tuple[Way, ...] = ("blob", "pages", "changes")
    return {place: (of.choice(ways), of.choice(tiers)) for place in of.sample(range(count), min(count, of.randint(1, 5)))}


def difference(texts: Sequence[str], steps: Sequence[Step], tier: str, restarts: Restarts) -> str | None:
    """The first thing that the restarts change; None where they change nothing. An error is a difference. Raise Refused as ``run`` does."""
    try:
        one = run(texts, steps, tier)
    except EplError as error:
        return f"undisturbed: {type(error).__name__} {error}"
    try:
        two = run(texts, steps, tier, restarts)
    except EplError as error:
        return f"restarted: {type(error).__name__} {error}"
    for what in ("calls", "contents", "faults"):
        left, right = getattr(one, what), getattr(two, what)
        if left != right:
            first = next((a, b) for a, b in zip([*left, None], [*right, None]) if a != b)
            return f"{what}\n  undisturbed: {first[0]}\n  restarted:   {first[1]}"
    return None


def reduced(texts: Sequence[str], steps: Sequence[Step], tier: str, restarts: Restarts) -> str:
    """A difference in few words: texts, restarts and steps that it does not need are omitted."""
    texts, steps = list(texts), list(steps)
    restarts = next((r for r in ({p: w} for p, w in restarts.items()) if _differs(texts, steps, tier, r)), dict(restarts))
    for text in list(texts):
        rest = [t for t in texts if t is not text]
        if rest and _differs(rest, steps, tier, restarts):
            texts = rest
    for number in range(len(steps) - 1, -1, -1):
        rest_of_steps = steps[:number] + steps[number + 1 :]
        moved = {(p - 1 if p >= number else p): way for p, way in restarts.items()}
        if -1 not in moved and len(moved) == len(restarts) and _differs(texts, rest_of_steps, tier, moved):
            steps, restarts = rest_of_steps, moved
    listed = "\n".join(map(repr, steps))
    return f"{''.join(texts)}\nrestarts after {restarts}\n{listed}\n{difference(texts, steps, tier, restarts)}"


def _differs(texts: Sequence[str], steps: Sequence[Step], tier: str, restarts: Restarts) -> bool:
    try:
        return difference(texts, steps, tier, restarts) is not None
    except Refused:
        return False
