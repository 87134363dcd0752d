"""What a job needs to go on after any death of its process: snapshots, and the entries since the last one.

    <folder>/snapshots/<number>.state      the feed's state after step <number>
    <folder>/log/<number>.entry            the input of step <number>
    <folder>/owner                         which job may write: the one that was started last
    <folder>/identity                      which query of Spark the steps' micro-batches belong to

A file is written under another name, flushed to the disk and then renamed: it is there as a whole or not at all. Steps are numbered from 1
without a gap. Snapshots and entries have the frame of ``runtime.state.seal``. ``JobCheckpoint`` takes a path of this machine or a URI that
pyarrow.fs knows (``hdfs://…``, ``s3://…``).
"""
from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator

from pyarrow import fs

from epl.errors import EplRuntimeError
from runtime.state.seal import check_key, seal_payload, unseal_payload

KEPT = 2
"""How many snapshots stay: the last, and one in front of it should the last be unreadable."""

Hook = Callable[[str], None]
"""Called with the name of each step of writing: ``snapshot.before``, ``snapshot.during``, ``snapshot.rename``, ``snapshot.after``, and so
on for ``log`` and ``sink``. Tests end the process in it."""


def no_hook(_: str) -> None:
    """Do nothing."""


class Files:
    """Whole files under one folder."""

    def __init__(self, folder: str, hook: Hook = no_hook) -> None:
        self.system, self.root = _open_folder(folder)
        self._hook = hook
        self._local = isinstance(self.system, fs.LocalFileSystem)
        self.system.create_dir(self.root, recursive=True)

    def names(self, suffix: str = "") -> list[str]:
        """Return the files that are whole, in order of their names."""
        files = self.system.get_file_info(fs.FileSelector(self.root, allow_not_found=True))
        return sorted(f.base_name for f in files if f.is_file and f.base_name.endswith(suffix) and not f.base_name.startswith((".", "_")))

    def write(self, name: str, data: bytes, what: str) -> None:
        """Put the file there, in place of one of that name. ``what`` names the steps for the hook."""
        temporary, path = f"{self.root}/_{name}.{os.getpid()}", f"{self.root}/{name}"
        self._hook(f"{what}.before")
        half = len(data) // 2
        with self.system.open_output_stream(temporary) as stream:
            stream.write(data[:half])
            stream.flush()
            self._hook(f"{what}.during")
            stream.write(data[half:])
        if self._local:
            _flush(temporary)
        self._hook(f"{what}.rename")
        self.system.move(temporary, path)
        if self._local:
            _flush(self.root)
        self._hook(f"{what}.after")

    def read(self, name: str) -> bytes:
        with self.system.open_input_stream(f"{self.root}/{name}") as stream:
            return bytes(stream.read())

    def size(self, name: str) -> int:
        """Return the size in bytes."""
        return int(self.system.get_file_info(f"{self.root}/{name}").size or 0)

    def remove(self, names: list[str]) -> None:
        for name in names:
            self.system.delete_file(f"{self.root}/{name}")

    def sweep(self) -> None:
        """Remove what a process that died has left half written."""
        files = self.system.get_file_info(fs.FileSelector(self.root, allow_not_found=True))
        self.remove([f.base_name for f in files if f.is_file and f.base_name.startswith("_")])


class JobCheckpoint:
    """``written``: bytes in the log since the last snapshot. ``key``: what snapshots and entries are sealed with."""

    def __init__(self, folder: str, hook: Hook = no_hook, key: bytes | None = None) -> None:
        self.folder = str(folder)
        self._key = check_key(key)
        self._snapshots = Files(f"{self.folder}/snapshots", hook)
        self._log = Files(f"{self.folder}/log", hook)
        self._head = Files(self.folder, hook)
        for files in (self._snapshots, self._log, self._head):
            files.sweep()
        self._token: str | None = None
        last = _number(self._snapshots.names(".state")[-1]) if self._snapshots.names(".state") else 0
        self.written = sum(self._log.size(name) for name in self._log.names(".entry") if _number(name) > last)

    def claim(self) -> None:
        """Take over: from now on this one alone may write; any other one over the folder is refused at its next step."""
        self._token = uuid.uuid4().hex
        self._head.write("owner", self._token.encode(), "owner")

    @property
    def is_mine(self) -> bool:
        """Whether no other one has been started over the folder since."""
        return self._token is None or self._head.read("owner").decode() == self._token

    def _check_owner(self) -> None:
        if not self.is_mine:
            raise EplRuntimeError(
                f"another job has been started over {self.folder}: this one has ended", hint="one folder, one job: stop one of the two"
            )

    def newest(self) -> tuple[int, bytes] | None:
        """Return the last snapshot that can be read: the step after which it was taken, and the state; None where there is none. Raise
        EplRuntimeError, which says why, where none can be read."""
        reasons: list[EplRuntimeError] = []
        for name in reversed(self._snapshots.names(".state")):
            try:
                return _number(name), unseal_payload(self._snapshots.read(name), name, self._key)
            except EplRuntimeError as error:
                reasons.append(error)
        if reasons:
            messages = "; ".join(error.message for error in reasons)
            raise EplRuntimeError(f"no snapshot in {self.folder} can be read: {messages}", hint=reasons[0].hint) from reasons[0]
        return None

    def entries(self, after: int) -> Iterator[tuple[int, bytes]]:
        """Yield the log after a step, by number. Raise EplRuntimeError for a gap or a damaged entry."""
        expected = after + 1
        for name in self._log.names(".entry"):
            number = _number(name)
            if number <= after:
                continue
            if number != expected:
                raise EplRuntimeError(f"the input log in {self.folder} has no entry {expected}, but {number}")
            try:
                data = unseal_payload(self._log.read(name), name, self._key)
            except EplRuntimeError as error:
                raise EplRuntimeError(f"the input log in {self.folder} cannot be read: {error.message}", hint=error.hint) from error
            yield number, data
            expected += 1

    def log(self, number: int, entry: bytes) -> None:
        """Log that step ``number`` has processed the entry."""
        self._check_owner()
        name = f"{number:012}.entry"
        self._log.write(name, seal_payload(entry, name, self._key), "log")
        self.written += len(entry)

    def snapshot(self, number: int, state: bytes) -> None:
        """Write the state after step ``number``; what only older ones need goes."""
        self._check_owner()
        name = f"{number:012}.state"
        self._snapshots.write(name, seal_payload(state, name, self._key), "snapshot")
        self.written = 0
        names = self._snapshots.names(".state")
        self._snapshots.remove(names[:-KEPT])
        oldest = _number(names[-KEPT:][0])
        self._log.remove([name for name in self._log.names(".entry") if _number(name) <= oldest])

    @staticmethod
    def spark_metadata(folder: str) -> bytes | None:
        """Return what Spark wrote of its query into its own checkpoint folder, None where it has not begun."""
        files = Files(folder)
        return files.read("metadata") if "metadata" in files.names() else None

    @property
    def identity(self) -> str | None:
        """The query of Spark that the steps belong to."""
        return self._head.read("identity").decode() if "identity" in self._head.names() else None

    @identity.setter
    def identity(self, value: str) -> None:
        self._head.write("identity", value.encode(), "identity")


def _open_folder(folder: str) -> tuple[fs.FileSystem, str]:
    if "://" in folder:
        system, path = fs.FileSystem.from_uri(folder)
        return system, path
    return fs.LocalFileSystem(), os.path.abspath(folder)


def _flush(path: str) -> None:
    """Flush to the disk: a rename may otherwise be there before the contents are."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _number(name: str) -> int:
    return int(name.partition(".")[0])


__all__ = ["Files", "Hook", "JobCheckpoint", "no_hook"]
