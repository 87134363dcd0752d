"""Kernels run wherever they cannot be kept, or what was kept is damaged; and by any numba whose insides are not the known ones."""
from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.batch.available import is_available
from runtime.batch.compiler import kernels

pytestmark = pytest.mark.skipif(not is_available(), reason="numba is not installed")

SOURCE = "def part0(p0):\n    return p0 + 1\n\ndef kernel(R, n):\n    n = part0(n)\n    return n + wrap_int(1 << 31)\n"
EXPECTED = 42 - 2**31


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path))
    kernels.compile_kernel.cache_clear()
    yield tmp_path
    kernels.compile_kernel.cache_clear()


def run_kernel() -> int:
    kernels.compile_kernel.cache_clear()
    return kernels.compile_kernel(SOURCE)(None, 41)


def test_compiled_code_is_kept_and_loaded(folder: Path) -> None:
    assert run_kernel() == EXPECTED
    kept = {path: path.stat().st_mtime_ns for path in folder.rglob("*.*") if path.is_file()}
    assert {path.suffix for path in kept} == {".py", ".nbi", ".nbc"}
    assert run_kernel() == EXPECTED
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.*") if path.is_file()} == kept


@pytest.mark.parametrize("size", [0, 40])
@pytest.mark.parametrize("suffix", ["py", "nbi", "nbc"])
def test_file_that_was_cut_off_is_written_anew(folder: Path, suffix: str, size: int, recwarn: pytest.WarningsRecorder) -> None:
    assert run_kernel() == EXPECTED
    path, = folder.rglob(f"*.{suffix}")
    os.truncate(path, size)
    assert run_kernel() == EXPECTED
    messages = [str(warning.message) for warning in recwarn if "compiled again" in str(warning.message)]
    assert len(messages) == (suffix != "py"), messages
    # Code compiled again has other names inside, of other lengths: that it can be read shows that it is whole, not its size.
    kept = {path: path.stat().st_mtime_ns for path in folder.rglob("*.*") if path.is_file()}
    recwarn.clear()
    assert run_kernel() == EXPECTED
    assert not [warning for warning in recwarn if "compiled again" in str(warning.message)]
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.*") if path.is_file()} == kept


def test_folder_that_cannot_be_made(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path / "file" / "folder"))
    assert run_kernel() == EXPECTED


def test_file_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = kernels._store

    def full(path: Path, text: str) -> Path:
        if folder in path.parents:
            raise OSError(28, "No space left on device")
        return stored(path, text)

    monkeypatch.setattr(kernels, "_store", full)
    assert run_kernel() == EXPECTED
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("EPL_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", none)
    assert kernels.cache_folder().is_dir()


def in_a_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_numba_without_a_folder_to_write_to(folder: Path) -> None:
    """Neither the package's, nor the user's, nor that of the kernels."""
    code = f"""
        from numba.core import caching
        for locator in (caching.InTreeCacheLocator, caching.UserWideCacheLocator):
            locator.from_function = classmethod(lambda *_: None)
        from runtime.batch.compiler.kernels import compile_kernel
        print(compile_kernel({SOURCE!r})(None, 41))
    """
    assert in_a_process(code) == str(EXPECTED)


def test_processes_that_begin_at_once(folder: Path) -> None:
    code = f"from runtime.batch.compiler.kernels import compile_kernel\nprint(compile_kernel({SOURCE!r})(None, 41))"
    begun = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=300)[0].strip() for process in begun] == [str(EXPECTED)] * 3
