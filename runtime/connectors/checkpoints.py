"""Checkpoints of a pipeline: the runtime's snapshot, how far the sources were read, and the rows that sinks may not have yet."""
from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from epl.errors import EplRuntimeError
from runtime.connectors.locations import write_whole
from runtime.connectors.output import OutputRow
from runtime.state.codec import Decoder, Encoder, as_list, as_map
from runtime.state.seal import seal_payload, unseal_payload
from windows.protocol import Damaged

NAME = "pipeline.checkpoint"


@attrs.frozen
class Checkpoint:
    """A saved state at one moment. ``identity``: of the state, the same in all its checkpoints; ``number``: from 1; ``label``: what the
    application says that the state is of; ``positions``: by source; ``outbox``: by sink, the rows since the checkpoint before it."""

    identity: str
    number: int
    label: str
    snapshot: bytes
    positions: Mapping[str, Any]
    outbox: Mapping[str, Sequence[OutputRow]]


class CheckpointFolder:
    """A folder that holds the last checkpoint. One pipeline has it at a time."""

    def __init__(self, folder: Path, key: bytes | None = None) -> None:
        self.folder, self._key = folder, key
        self._lock: Any = None

    def acquire(self) -> None:
        """Take the folder; raise EplRuntimeError where another process has it, or it cannot be written to."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / "lock").open("wb")
        except OSError as error:
            raise EplRuntimeError(f"the state in {self.folder} cannot be written: {error.strerror or error}") from error
        try:
            _lock(self._lock)
        except OSError:
            self.release()
            message = f"the state in {self.folder} is in use by another pipeline"
            raise EplRuntimeError(message, hint="each needs a folder of its own") from None

    def release(self) -> None:
        """Let others have the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def read(self) -> Checkpoint | None:
        """Return the last checkpoint, None where there is none; raise EplRuntimeError where it is damaged."""
        path = self.folder / NAME
        if not path.exists():
            return None
        payload = unseal_payload(path.read_bytes(), NAME, self._key)
        try:
            return _decode(payload)
        except (Damaged, ValueError, TypeError, KeyError) as error:
            raise EplRuntimeError(f"{path} is damaged: {error}") from None

    def write(self, checkpoint: Checkpoint) -> None:
        """Replace the checkpoint; it is durable when this returns. Raise EplRuntimeError where that fails; the one before is there then."""
        outbox = {sink: [[r.statement, r.time, r.is_new, dict(r.values)] for r in rows] for sink, rows in checkpoint.outbox.items()}
        fields = [checkpoint.identity, checkpoint.number, checkpoint.label, checkpoint.snapshot, dict(checkpoint.positions), outbox]
        try:
            write_whole(os.fspath(self.folder / NAME), seal_payload(Encoder().encode(fields), NAME, self._key))
        except OSError as error:
            raise EplRuntimeError(
                f"the state in {self.folder} cannot be written: {error.strerror or error}",
                hint="the next start goes on from the last checkpoint that was written",
            ) from error


def _lock(file: Any) -> None:
    """Lock a file until it is closed; raise OSError where another process has locked it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _decode(payload: bytes) -> Checkpoint:
    identity, number, label, snapshot, positions, outbox = as_list(Decoder(lambda _: None).decode(payload), 6)
    if not isinstance(identity, str) or type(number) is not int or not isinstance(label, str) or not isinstance(snapshot, bytes):
        raise Damaged("a checkpoint has an identity, a number, a label and a snapshot")
    rows = {sink: [_row(*as_list(fields, 4)) for fields in as_list(listed)] for sink, listed in as_map(outbox).items()}
    return Checkpoint(identity, number, label, snapshot, as_map(positions), rows)


def _row(statement: Any, time: Any, is_new: Any, values: Any) -> OutputRow:
    if not isinstance(statement, str) or type(time) is not int or type(is_new) is not bool:
        raise Damaged("a row has a statement, a time and a stream")
    return OutputRow(statement, time, is_new, as_map(values))


__all__ = ["Checkpoint", "CheckpointFolder"]
