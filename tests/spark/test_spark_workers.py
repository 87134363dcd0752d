"""Archives on a worker's path: read again only when they have changed. The collector: sees what is new, and all from time to time."""
from __future__ import annotations

import gc
import importlib
import os
import sys
import weakref
import zipfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from zipimport import zipimporter

import pytest

from runtime.spark.distributed_host import workers
from runtime.spark.distributed_host.workers import SteadyArchive, look_again, settle, steady_archives


def write(path: Path, **modules: str) -> None:
    made = path.with_suffix(".new")
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in modules.items():
            archive.writestr(f"{name}.py", text)
    made.replace(path)


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Path]:
    """An archive on the path, with a finder of Python's own."""
    path = tmp_path / "some.zip"
    write(path, epl_in_archive="value = 1")
    before = dict(sys.path_importer_cache)
    sys.path.append(str(path))
    importlib.import_module("epl_in_archive")
    assert type(sys.path_importer_cache[str(path)]) is zipimporter
    yield path
    sys.path.remove(str(path))
    sys.path_importer_cache.clear()
    sys.path_importer_cache.update(before)
    for name in [name for name in sys.modules if name.startswith("epl_in_archive")]:
        del sys.modules[name]


def test_an_archive_is_read_again_only_when_it_has_changed(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steady_archives()
    finder = sys.path_importer_cache[str(archive)]
    assert type(finder) is SteadyArchive
    read: list[str] = []
    plain = zipimporter.invalidate_caches
    monkeypatch.setattr(zipimporter, "invalidate_caches", lambda self: (read.append(self.archive), plain(self))[1])
    importlib.invalidate_caches()
    assert str(archive) not in read
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("epl_in_archive_later")
    write(archive, epl_in_archive="value = 1", epl_in_archive_later="value = 2")
    importlib.invalidate_caches()
    assert read.count(str(archive)) == 1
    assert importlib.import_module("epl_in_archive_later").value == 2
    importlib.invalidate_caches()
    assert read.count(str(archive)) == 1


def test_an_archive_that_is_gone_has_nothing(archive: Path) -> None:
    steady_archives()
    os.remove(archive)
    importlib.invalidate_caches()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("epl_in_archive_later")


def test_twice_is_once(archive: Path) -> None:
    steady_archives()
    finder = sys.path_importer_cache[str(archive)]
    steady_archives()
    assert sys.path_importer_cache[str(archive)] is finder


class Ring:
    """Holds itself, so that only the collector can end it."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture
def in_a_task(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a worker of Spark's, at its first task."""
    monkeypatch.setattr(workers.TaskContext, "get", lambda: object())
    monkeypatch.setattr(workers, "_tasks", count())
    monkeypatch.setattr(workers, "LOOK_AGAIN", 4)
    yield
    gc.freeze()  # tests/conftest.py keeps what was collected out of the collector's sight


def dropped_ring() -> weakref.ref[Ring]:
    """A ring that a task found alive, and that died since."""
    ring = Ring()
    settle()
    return weakref.ref(ring)


def test_outside_of_workers_the_collector_stays_as_it_is() -> None:
    frozen = gc.get_freeze_count()
    settle()
    assert gc.get_freeze_count() == frozen


def test_what_was_there_before_a_task_is_left_out_until_something_large_was_dropped(in_a_task: None) -> None:
    ring = dropped_ring()
    gc.collect()
    assert ring() is not None
    look_again()
    gc.collect()
    assert ring() is None


def test_the_collector_sees_everything_from_time_to_time(in_a_task: None) -> None:
    ring = dropped_ring()
    for _ in range(workers.LOOK_AGAIN - 1):
        assert gc.get_freeze_count() > 0
        settle()
    assert gc.get_freeze_count() == 0
    gc.collect()
    assert ring() is None
    settle()
    assert gc.get_freeze_count() > 0
