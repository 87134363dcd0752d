"""Compiled code comes from folders and files that nobody else can have written."""
from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from runtime.batch.available import is_available
from runtime.batch.compiler import kernels, private_files
from runtime.batch.compiler.llvm.object_files import keep, read_object
from runtime.batch.compiler.private_files import KEY, folder_fault, others_may_write, read_private, sign, verify, write_private

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes and owners are those of POSIX")
ADD, SUBTRACT = (f"def kernel(R, n):\n    return R[0] {sign} 3\n" for sign in "+-")
TEN = np.array([10])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "cache"
    monkeypatch.setenv("EPL_CACHE_DIR", str(made))
    monkeypatch.setattr(private_files, "_warned", set())
    return made


def run(source: str) -> int:
    kernels.compile_kernel.cache_clear()
    return kernels.compile_kernel(source)(TEN, 1)


needs_compiler = pytest.mark.skipif(not is_available(), reason="numba is not installed")


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_the_folder_and_its_files_are_the_users_alone(folder: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        assert kernels.cache_folder() == folder
        keep(folder / "a.o", b"code")
        assert read_object(folder / "a.o") == b"code"
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()} == {"a.o": 0o600, KEY: 0o600}


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o702, 0o720])
def test_a_folder_that_others_may_write_to_is_not_used(folder: Path, mode: int) -> None:
    folder.mkdir()
    folder.chmod(mode)
    with pytest.warns(RuntimeWarning, match=f"compiled code in {folder} is not used: others may write to it .mode {mode:o}."):
        assert kernels.cache_folder() != folder
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is said once
        assert kernels.cache_folder() != folder
    folder.chmod(0o755)
    assert kernels.cache_folder() == folder


def test_a_folder_of_another_user_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert kernels.cache_folder() != folder


@contextmanager
def entered_by_all(folder: Path) -> Iterator[None]:
    """The folders of a test are closed to others, who cannot get to what is in them; open them meanwhile.

    Tests in other processes share some of these folders: they wait, as one that closes them again would close them for all."""
    import fcntl

    shared = os.open(tempfile.gettempdir(), os.O_RDONLY)
    try:
        fcntl.flock(shared, fcntl.LOCK_EX)
        closed = {each: each.stat().st_mode & 0o7777 for each in (folder, *folder.parents) if not each.stat().st_mode & 0o011}
        for each in closed:
            each.chmod(0o755)
        try:
            yield
        finally:
            for each, mode in closed.items():
                each.chmod(mode)
    finally:
        os.close(shared)  # which lets go of it


def test_folders_above(tmp_path: Path) -> None:
    """One that others may write to lets them put another folder in the place of ours, unless it is sticky or they cannot get there."""
    above, folder = tmp_path / "above", tmp_path / "above" / "cache"
    folder.mkdir(parents=True, mode=0o755)
    tmp_path.chmod(0o700)
    above.chmod(0o777)
    assert not others_may_write(folder)
    with entered_by_all(tmp_path):
        assert others_may_write(folder) and folder_fault(folder) == "others may write to a folder that it is in"
        above.chmod(0o1777)
        assert not others_may_write(folder) and folder_fault(folder) is None


def test_a_closed_folder_can_still_be_exchanged_from_above(tmp_path: Path) -> None:
    """No other user gets to what is in it, but one who may write above puts another one in its place."""
    above, folder = tmp_path / "above", tmp_path / "above" / "cache"
    folder.mkdir(parents=True)
    folder.chmod(0o700)
    above.chmod(0o777)
    tmp_path.chmod(0o755)
    with entered_by_all(tmp_path):
        assert others_may_write(folder) and folder_fault(folder) == "others may write to a folder that it is in"
    above.chmod(0o700)
    tmp_path.chmod(0o777)
    with entered_by_all(tmp_path.parent):
        assert others_may_write(folder)


def test_a_folder_above_of_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner may exchange what is in it, and open it however closed it is."""
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o755)
    real, owner = os.stat, os.geteuid() + 1000

    def stat_of(path: Path, **options: bool) -> os.stat_result:
        found = real(path, **options)
        return os.stat_result((*found[:4], owner if path == tmp_path else found.st_uid, *found[5:10]))

    for mode in (0o755, 0o1777, 0o700):
        tmp_path.chmod(mode)
        with entered_by_all(tmp_path.parent), monkeypatch.context() as patch:
            patch.setattr(os, "stat", stat_of)
            assert folder_fault(folder) == "others may write to a folder that it is in"
        with entered_by_all(tmp_path.parent):
            assert folder_fault(folder) is None


@needs_compiler
def test_a_kernel_of_another_name_or_folder_is_not_loaded(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (run(ADD), run(SUBTRACT)) == (13, 7)
    first, second = sorted(folder.glob("*.o"))
    shutil.copy(second, first)
    with pytest.warns(RuntimeWarning, match="is damaged or was written by someone else"):
        assert (run(ADD), run(SUBTRACT)) == (13, 7)
    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path / "other"))
    assert (run(ADD), run(SUBTRACT)) == (13, 7)
    shutil.copy(folder / first.name, tmp_path / "other" / first.name)
    with pytest.warns(RuntimeWarning, match="is damaged or was written by someone else"):
        assert (run(ADD), run(SUBTRACT)) == (13, 7)


@needs_compiler
def test_a_poisoned_folder_is_not_used(folder: Path) -> None:
    assert (run(ADD), run(SUBTRACT)) == (13, 7)
    first, second = sorted(folder.glob("*.o"))
    content = first.read_bytes()
    folder.chmod(0o777)
    shutil.copy(second, first)
    with pytest.warns(RuntimeWarning, match="others may write to it"):
        assert (run(ADD), run(SUBTRACT)) == (13, 7)
    assert first.read_bytes() == second.read_bytes() != content


@needs_compiler
def test_numbas_pickles_come_from_such_folders_only(folder: Path) -> None:
    """What numba keeps runs code when it is read."""
    assert kernels.by_numba(ADD)(TEN, 1) == 13
    (pickles,) = (path.parent for path in folder.rglob("*.nbi"))
    assert pickles.stat().st_mode & 0o777 == 0o700
    for path in folder.rglob("*.nb?"):
        path.write_bytes(b"no pickle")
    pickles.chmod(0o777)
    with entered_by_all(folder), pytest.warns(RuntimeWarning, match=f"compiled code in {pickles} is not used: others may write to it"):
        assert kernels.by_numba(ADD)(TEN, 1) == 13
    assert {path.read_bytes() for path in folder.rglob("*.nb?")} == {b"no pickle"}


def test_files_that_others_may_have_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(mode=0o700)
    path = folder / "a.o"
    keep(path, b"code")
    path.chmod(0o620)
    with pytest.warns(RuntimeWarning, match="others may write to it"):
        assert read_object(path) is None
    path.unlink()
    (folder / "b.o").symlink_to("/etc/hostname")
    with pytest.warns(RuntimeWarning, match="is not used"):
        assert read_private(folder / "b.o") is None
    assert read_private(folder / "none.o") is None
    write_private(path, b"x" * 5)
    with pytest.warns(RuntimeWarning, match="is damaged or was written by someone else"):
        assert read_object(path) is None


def test_digests_are_of_the_name_and_the_folders_key(folder: Path, tmp_path: Path) -> None:
    folder.mkdir(mode=0o700)
    (tmp_path / "other").mkdir(mode=0o700)
    data = sign(folder / "a.o", b"code")
    assert verify(folder / "a.o", data) == b"code" and len((folder / KEY).read_bytes()) == 32
    assert verify(folder / "b.o", data) is None and verify(tmp_path / "other" / "a.o", data) is None
    for n in range(len(data)):
        assert verify(folder / "a.o", data[:n] + bytes([data[n] ^ 1]) + data[n + 1 :]) is None
    (folder / KEY).write_bytes(b"short")
    assert verify(folder / "a.o", data) is None
    with pytest.raises(PermissionError, match="is not a key"):
        sign(folder / "a.o", b"code")
