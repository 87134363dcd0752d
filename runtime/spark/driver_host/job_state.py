"""What a job's snapshot holds."""
from __future__ import annotations

from typing import Any

import attrs

from epl.errors import EplRuntimeError
from runtime.spark.feed import FeedRules, split_state
from runtime.state.codec import as_list, unpack
from runtime.state.seal import reading

VERSION = 3


@attrs.frozen
class JobState:
    """As ``Job.state`` gave it. ``layout``: of the sources (runtime.spark.sources.Sources.layout); ``rules``: by which the log
    after it is replayed; ``dynamic``: ids of the deployments that came while the job ran; ``snapshot`` of the runtime; ``waiting`` rows."""

    step: int
    last: int | None
    layout: list[Any]
    rules: FeedRules
    dynamic: list[str]
    snapshot: bytes
    waiting: bytes | None

    @classmethod
    def decode(cls, data: bytes) -> JobState:
        """Decode the state; raise EplRuntimeError for another version, and for another structure."""
        with reading("the state of the job"):
            version, *rest = as_list(unpack(data))
            if version != VERSION:
                raise EplRuntimeError(f"job state version {version} is not known here; this is version {VERSION}")
            step, last, layout, rules, dynamic, feed = rest
            return cls(step, last, layout, FeedRules.decode(rules), dynamic, *split_state(feed))


__all__ = ["VERSION", "JobState"]
