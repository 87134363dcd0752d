"""Which arguments enumeration methods take, and Esper's sentences about wrong ones."""
from __future__ import annotations

from collections.abc import Sequence

import attrs

from epl.functions.registry import LambdaShape
from epl.value_types import INT, ValueType


@attrs.frozen
class Argument:
    """One argument of a footprint: a lambda of named parameters, or a plain expression; ``role`` says what it provides."""

    role: str
    parameters: int = 0
    """Number of the lambda's parameters; 0 for a plain expression."""
    leading: tuple[str, ...] = ()
    """Names before index and size where there are several, as in (result, next, index, size)."""

    def sentence(self) -> str:
        if self.parameters == 0:
            return f"an (non-lambda) expression providing {self.role}"
        names = (*(self.leading or (self.role,)), "index", "size")[: self.parameters]
        if self.parameters == 1:
            return f"a lambda expression providing {names[0]}"
        return f"a {self.parameters}-parameter lambda expression providing ({', '.join(names)})"


Footprint = tuple[Argument, ...]

NOTHING: tuple[Footprint, ...] = ((),)


def plain(role: str) -> tuple[Footprint, ...]:
    return ((Argument(role),),)


def lambdas(*roles: str) -> tuple[Footprint, ...]:
    """Return the three forms (v), (v, i), (v, i, size) of a method with one lambda a role."""
    return tuple(tuple(Argument(role, count) for role in roles) for count in (1, 2, 3))


AGGREGATE: tuple[Footprint, ...] = tuple(
    (Argument("initialization-value"), Argument("result", count, ("result", "next"))) for count in (2, 3, 4)
)


def mismatch(name: str, footprints: Sequence[Footprint], written: Sequence[int | None]) -> str | None:
    """Return None if the arguments written fit a footprint, else the refusal."""
    counts = tuple(w or 0 for w in written)
    if any(tuple(a.parameters for a in f) == counts for f in footprints):
        return None
    start = f"Parameters mismatch for enumeration method '{name}', the method "
    nearest = next((f for f in footprints if len(f) == len(counts)), None)
    if nearest is not None:
        return f"{start}requires {_sentence(nearest)}, but receives {_parameters_text(written)}"
    if len(footprints) == 1:
        return f"{start}requires {_sentence(footprints[0])}"
    return f"{start}has multiple footprints accepting {', or '.join(map(_sentence, footprints))}, but receives {_parameters_text(written)}"


def _sentence(footprint: Footprint) -> str:
    return " and ".join(a.sentence() for a in footprint) or "no parameters"


def _parameters_text(written: Sequence[int | None]) -> str:
    return " and ".join(_lambda_text(w) for w in written) or "no parameters"


def _lambda_text(count: int | None) -> str:
    if not count:
        return "an (non-lambda) expression"
    return "a lambda expression" if count == 1 else f"a {count}-parameter lambda expression"


def shapes(footprints: Sequence[Footprint], leading: tuple[ValueType, ...], count: int) -> list[LambdaShape | None]:
    """Return for each of ``count`` arguments the widest lambda of the footprints of that length, or None for a plain expression."""
    fitting = [f for f in footprints if len(f) == count]
    if not fitting:
        return [None] * count
    return [LambdaShape((*leading, INT, INT)) if a.parameters else None for a in fitting[-1]]
