"""What a job's snapshot holds."""
from __future__ import annotations

from typing import Any

import attrs
import msgpack

from epl.errors import EplRuntimeError
from runtime.spark.feed import parts_of


@attrs.frozen
class JobState:
    """As ``Job.state`` gave it. ``layout``: type names, time columns, sequence columns of the sources; ``dynamic``: ids of the deployments
    that came while the job ran; ``snapshot`` of the runtime; ``waiting`` rows."""

    step: int
    last: int | None
    layout: list[Any]
    dynamic: list[str]
    snapshot: bytes
    waiting: bytes | None

    @classmethod
    def decode(cls, data: bytes) -> JobState:
        """Raises EplRuntimeError for another version."""
        version, step, last, layout, dynamic, feed = msgpack.unpackb(data)
        if version != 1:
            raise EplRuntimeError(f"job state version {version} is not known here; this is version 1")
        return cls(step, last, layout, dynamic, *parts_of(feed))


__all__ = ["JobState"]
