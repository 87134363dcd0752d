"""Snapshots in which one value of a statement's state, or of an event, is exchanged for a hostile one; the checksum is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import msgpack

from epl.errors import EplError
from runtime import Runtime
from runtime.state.codec import DECIMAL, TUPLE
from runtime.state.seal import seal_payload, unseal_payload
from tests.restarts.drawn_modules import SCHEMA, Step
from tests.restarts.sequences import take
from tests.runtime.damage import NAME, places

Ext = msgpack.ExtType
LEAVES: tuple[Any, ...] = (
    None, True, -1, 0, 2**40, 2**63 - 1, -(2**63), 1.5, float("nan"), "x", b"x", [], {}, [1], {"x": 1}, Ext(DECIMAL, b"1.5"),
    Ext(TUPLE, b"\x90"), Ext(DECIMAL, b"1E+99999999"),
)
"""What is put in the place of any value."""


@attrs.frozen
class Change:
    """The edit ``how`` ("leaf", "longer", "shorter" or "gone") of the value at the ``place``-th place of the page ``key``."""

    key: str
    place: int
    how: str
    value: Any = None


def snapshot_of(texts: Sequence[str], steps: Sequence[Step], tier: str) -> bytes:
    """Raises EplError where the module is refused."""
    runtime = Runtime(tier=tier, on_error=lambda *_: None)
    runtime.deploy(SCHEMA + "".join(texts))
    for step in steps:
        take(runtime, step)
    return runtime.snapshot()


def pages_of(blob: bytes) -> dict[str, bytes]:
    return dict(msgpack.unpackb(unseal_payload(blob, NAME)))


def _decoded(page: bytes) -> list[Any]:
    found: list[Any] = msgpack.unpackb(page, strict_map_key=False)
    return found


def changes(pages: dict[str, bytes]) -> Iterator[Change]:
    """Every edit of the pages of statements and events."""
    for key, page in pages.items():
        if not key.startswith(("state/", "events/")):
            continue
        for place, (holder, at, _) in enumerate(places(_decoded(page)[2:], lambda made: None)):
            for value in LEAVES:
                if value is None and key.startswith("events/"):  # which an event may bring, too
                    continue
                if type(value) is not type(holder[at]) or value != holder[at]:
                    yield Change(key, place, "leaf", value)
            yield Change(key, place, "gone")
            if isinstance(holder[at], list) and holder[at]:
                yield Change(key, place, "longer")
                yield Change(key, place, "shorter")


def changed(pages: dict[str, bytes], change: Change) -> tuple[bytes, str]:
    """The snapshot with the edit, and what the edit is, for people."""
    kind, version, *tree = _decoded(pages[change.key])
    holder, at, done = next(found for place, found in enumerate(places(tree, lambda made: None)) if place == change.place)
    shown = f"{change.key}, [{at!r}] of {str(holder)[:120]}: {change.how} {change.value!r}"
    if change.how == "leaf":
        holder[at] = change.value
    elif change.how == "gone":
        del holder[at]
    else:
        holder[at] = [*holder[at], *holder[at]] if change.how == "longer" else holder[at][:-1]
    done(holder)
    edited = {**pages, change.key: msgpack.packb([kind, version, *tree])}
    return seal_payload(msgpack.packb(list(edited.items())), NAME), shown


def outcome(blob: bytes, steps: Sequence[Step], tier: str) -> tuple[str, str]:
    """("refused" | "ran" | "raw", why): raw is any error that is not an EplError, raised or handed to the error handler."""
    faults: list[BaseException] = []
    try:
        runtime = Runtime.restore(blob, tier=tier, on_error=lambda error, statement, event: faults.append(error))
    except EplError as error:
        return "refused", error.message
    except Exception as error:  # noqa: BLE001 - what this looks for
        return "raw", f"on restore {type(error).__name__}: {error}"
    try:
        for step in steps:
            take(runtime, step)
        for deployment in runtime.deployments.values():
            for statement in deployment:
                list(statement)
        runtime.snapshot()
        runtime.close()
    except EplError as error:
        faults.append(error)
    except Exception as error:  # noqa: BLE001 - what this looks for
        return "raw", f"on use {type(error).__name__}: {error}"
    for fault in faults:
        cause = fault.__cause__ if isinstance(fault, EplError) else fault
        if cause is not None and not isinstance(cause, EplError):
            return "raw", f"to the handler {type(cause).__name__}: {cause}"
    return "ran", ""


__all__ = ["Change", "changed", "changes", "outcome", "pages_of", "snapshot_of"]
