"""Snapshots: module texts, parameters, names of functions, types, variables, clock and state; no code, no plan, never pickle.

A snapshot is a sequence of (page key, bytes) pages: ``head``, ``clock``, those of each statement, ``variables``, ``events`` (each event
once, however many operators hold it); docs/design/state.md describes them. ``Runtime.restore`` deploys the texts again, then gives each
statement its state (runtime.api.restore).
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import attrs
import msgpack

from runtime.state.described_types import describe, describe_types
from runtime.state.pages import all_pages
from runtime.state.runtime_state import RuntimeState
from runtime.state.seal import seal_payload

NAME = "the snapshot"
"""What a snapshot that is one piece is sealed as."""

PLAIN = (bool, int, float, str)
"""Values of variables that statements may need while they are deployed."""


def snapshot(state: RuntimeState, key: bytes | None = None) -> bytes:
    """Return all pages in one piece."""
    packed: bytes = msgpack.packb(list(all_pages(state, frame(state))), use_bin_type=True)
    return seal_payload(packed, NAME, key)


def frame(state: RuntimeState) -> Mapping[str, Callable[[], Any]]:
    """Return what the pages ``head`` and ``clock`` hold."""
    return {"head": partial(_head, state), "clock": partial(_clock, state)}


def _clock(state: RuntimeState) -> dict[str, Any]:
    """``values``: of variables that statements may need while they are deployed. ``handles``: runtime.event_loop.handle_order."""
    return {
        "now": state.core.clock.now,
        "handles": [state.core.handles.of_events, state.core.handles.of_time],
        "values": {name: cell.value for name, cell in state.variables.keyed().items() if isinstance(cell.value, PLAIN)},
    }


def _head(state: RuntimeState) -> dict[str, Any]:
    return {
        "settings": attrs.asdict(state.settings),
        "types": describe_types(list(state.types.values())),
        "functions": sorted(state.functions),
        "aggregations": sorted(state.aggregations),
        "windows": sorted(state.windows),
        "variables": [
            [c.variable.name, describe(c.variable.type, {}), c.variable.constant]
            for c in state.variables.values() if c.deployment is None
        ],
        "deployments": [[d.id, d.plan.text, list(d.parameters.items())] for d in state.deployments.values()],
        "counts": [state.counts.deployments, state.counts.statements],
        "numbers": {d.id: s.number for d in state.deployments.values() for n, s in enumerate(d) if n == 0},
        "enums": [[name, list(constants)] for name, constants in state.enums.items()],
        "historical": {what: sorted(sources) for what, sources in attrs.asdict(state.historical, recurse=False).items()},
        "fingerprints": {f"{d.id}/{n}": s.plan.fingerprint for d in state.deployments.values() for n, s in enumerate(d)},
    }


__all__ = ["NAME", "frame", "snapshot"]
