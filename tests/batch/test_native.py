"""Kernels compiled by runtime.batch.compiler.llvm: what plain Python says, and nothing left to another compiler."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.batch.available import is_available
from runtime.batch.compiler import kernels
from runtime.batch.compiler.kernels import interpret_kernel
from tests.batch.test_group_kernels import STATEMENTS as GROUPED
from tests.batch.test_rate_kernels import STATEMENTS as LIMITED
from tests.batch.two_tiers import assert_same, batches_of

pytestmark = pytest.mark.skipif(not is_available(), reason="numba is not installed")

INTEGERS = """\
def kernel(a, b, out):
    for i in range(len(a)):
        x, y = a[i], b[i]
        out[0, i] = x // 7
        out[1, i] = x % 7
        out[2, i] = (x & 255) - (y | 3) + (x ^ y)
        out[3, i] = x >> 5
        out[4, i] = max(x, y, 3) - min(x, y)
        out[5, i] = int_divide(x, y)
        out[6, i] = int_remainder(x, y)
        out[7, i] = wrap_int(x + y)
        out[8, i] = mix(x)
        out[9, i] = -1 if x < y and y != 0 else 1 if x == y else 2
        out[10, i] = x // y if y > 0 else (-x) // 3
        out[11, i] = 0 <= x < y
        out[12, i] = np.int64(x < y) + np.int64(x > 0)
        out[13, i] = np.int64(np.uint32(x))
        out[14, i] = a[-1 - i]
    return 7
"""
DOUBLES = """\
def kernel(a, b, out):
    for i in range(len(a)):
        x, y = a[i], b[i]
        out[0, i] = x + y * 2 - 1
        out[1, i] = x / y
        out[2, i] = same_double(x, y)
        out[3, i] = np.floor(x) + np.ceil(y)
        out[4, i] = abs(x)
        out[5, i] = word_double(double_word(x))
        out[6, i] = np.float32(x)
        out[7, i] = not (x < y) or x != x
        out[8, i] = np.fmod(x, y)
        out[9, i] = np.sqrt(x)
        out[10, i] = -x
        out[11, i] = x if x > y else 0
    return 7
"""
LOOPS = """\
def kernel(keys, values, out):
    count = len(keys)
    sort_pairs(keys, values, count)
    i = 0
    found = False
    while True:
        i += 1
        if i > count:
            break
        if keys[i - 1] % 2:
            continue
        for j in range(i, 0, -1):
            if values[j - 1] == i:
                found = True
                break
            out[j - 1] += j
        for j in range(0, count, 2):
            if j == 4:
                break
            out[j] -= i
    out[0] = found
    return i
"""
SMALL = st.integers(-10, 10)
LONGS = st.one_of(SMALL, st.integers(-(2**31), 2**31), st.integers(-(2**62), 2**62))
FLOATS = st.one_of(st.floats(allow_nan=True), st.sampled_from([0.0, -0.0, 1.0, 2.5]))


def otherwise() -> Callable[..., int]:
    raise AssertionError("the source says what this compiler does not know")


def native(source: str, folder: Path) -> Callable[..., int]:
    from runtime.batch.compiler.llvm.compiler import NativeKernel

    return NativeKernel(source, lambda: folder, otherwise)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


def both(source: str, folder: Path, *arguments: np.ndarray[Any, Any]) -> None:
    """Plain Python and the compiled function do the same to copies of the arrays."""
    given_to = [[array.copy() for array in arguments] for _ in range(2)]
    with np.errstate(all="ignore"):
        results = [interpret_kernel(source)(*given_to[0]), native(source, folder)(*given_to[1])]
    assert results[0] == results[1]
    for one, other in zip(*given_to):
        np.testing.assert_array_equal(one, other)


@settings(max_examples=100, deadline=None)
@given(pairs=st.lists(st.tuples(LONGS, LONGS), max_size=8))
def test_integers(folder: Path, pairs: list[tuple[int, int]]) -> None:
    a, b = (np.array([p[n] for p in pairs], np.int64) for n in (0, 1))
    both(INTEGERS, folder, a, b, np.zeros((15, len(pairs)), np.int64))


@settings(max_examples=100, deadline=None)
@given(pairs=st.lists(st.tuples(FLOATS, FLOATS), max_size=8))
def test_doubles(folder: Path, pairs: list[tuple[float, float]]) -> None:
    a, b = (np.array([p[n] for p in pairs], np.float64) for n in (0, 1))
    both(DOUBLES, folder, a, b, np.zeros((12, len(pairs))))


@settings(max_examples=30, deadline=None)
@given(keys=st.lists(st.integers(-30, 30), min_size=5, max_size=60))
def test_loops(folder: Path, keys: list[int]) -> None:
    both(LOOPS, folder, np.array(keys, np.int64), np.arange(len(keys)), np.zeros(len(keys), np.int64))


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint32, np.bool_])
def test_types_and_strides(folder: Path, dtype: type[np.generic]) -> None:
    """One function takes arrays of other types, and such as lie apart, in any order."""
    source = "def kernel(a, out):\n    s = 0\n    for i in range(len(a)):\n        s += a[i]\n        out[i] = a[i]\n    return s\n"
    function = native(source, folder)
    for step in (1, 3, 1, -1):
        values = np.arange(12).astype(dtype)[::step]
        for out in (np.zeros(len(values)), np.zeros((len(values), 3), np.int64)[:, 1]):
            assert function(values, out) == int(values.sum())
            assert out.tolist() == values.tolist()


def test_an_argument_that_is_no_number_raises(folder: Path) -> None:
    function = native("def kernel(a, n):\n    a[0] = n\n    return 0\n", folder)
    array = np.zeros(1, np.int64)
    assert function(array, 5) == 0 and array[0] == 5
    with pytest.raises(OverflowError):
        function(array, 2**70)
    assert array[0] == 5


@pytest.mark.parametrize("body", ["return a", "x = 1\n    x = 2.5\n    return 0", "return foo(a)", "b = a[:2]\n    return 0"])
def test_what_it_does_not_know_goes_elsewhere(folder: Path, body: str) -> None:
    from runtime.batch.compiler.llvm.compiler import NativeKernel

    function = NativeKernel(f"def kernel(a):\n    {body}\n", lambda: folder, lambda: lambda *_: 41)
    assert function(np.ones(3, np.int64)) == 41


def test_a_second_process_finds_the_object_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from runtime.batch.compiler.llvm import compiler

    source = "def kernel(a):\n    return a[0] + 1\n"
    assert native(source, tmp_path)(np.ones(1, np.int64)) == 2
    assert len(list(tmp_path.glob("epl_*.o"))) == 1
    monkeypatch.setattr(compiler, "compile_object", otherwise)
    assert native(source, tmp_path)(np.ones(1, np.int64)) == 2


@pytest.mark.parametrize("size", [0, 20, 200])
def test_a_file_that_was_cut_off_is_written_anew(size: int, tmp_path: Path) -> None:
    source = "def kernel(a):\n    return a[0] + 2\n"
    assert native(source, tmp_path)(np.ones(1, np.int64)) == 3
    (path,) = tmp_path.glob("epl_*.o")
    whole = path.read_bytes()
    path.write_bytes(whole[:size])
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert native(source, tmp_path)(np.ones(1, np.int64)) == 3
    assert len(path.read_bytes()) == len(whole)


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        assert native("def kernel(a):\n    return a[0] + 3\n", tmp_path / "none")(np.ones(1, np.int64)) == 4


@pytest.mark.parametrize("text", [GROUPED[0], GROUPED[-1], LIMITED[0], LIMITED[-1]])
def test_statements_need_no_other_compiler(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kernels, "by_numba", lambda source: otherwise())
    kernels.compile_kernel.cache_clear()
    rows = [("ab"[n % 2], float(n), n, n % 3 == 0, n, None, 1) for n in range(200)]
    assert_same(text, batches_of(rows, [70]), 300, fast=True)


ORDERED = "select irstream k, sum(x) as s, max(n) as m from T#time(4 msec) group by k output every 3 events order by k"


@pytest.mark.parametrize("text", [ORDERED, LIMITED[0]])
def test_numba_where_this_compiler_is_not_at_home(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from runtime.batch.compiler.llvm import compiler

    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiler, "is_supported", lambda: False)
    kernels.compile_kernel.cache_clear()
    rows = [("ab"[n % 2] + str(n % 40), float(n), n, n % 3 == 0, n, None, 1) for n in range(200)]
    assert_same(text, batches_of(rows, [70]), 300, fast=True)
    assert list(tmp_path.glob("epl_*.py")) and not list(tmp_path.glob("epl_*.o"))
    kernels.compile_kernel.cache_clear()


def test_intrinsics_that_the_host_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled, by numba too, and as plain Python they fill the same table."""
    from runtime.batch.compiler import hosted, intrinsics, jitted

    monkeypatch.setenv("EPL_CACHE_DIR", str(tmp_path))
    keys, live = np.arange(-20, 20).reshape(1, -1) * 7919, np.arange(40) % 3 > 0
    tables = [np.full(64, -1, np.int32) for _ in range(3)]
    with np.errstate(over="ignore"):
        for fill, table in zip((hosted.fill_table, intrinsics.fill_table, vars(jitted)["fill_table"]), tables):
            fill(table, keys, live)
    assert tables[0].tolist() == tables[1].tolist() == tables[2].tolist() and (tables[0] >= 0).sum() == live.sum()
    marks = np.zeros(6, np.bool_)
    hosted.mark_chains(np.array([4, 1]), np.array([-1, 0, 1, 2, 2, 3]), marks)
    assert marks.tolist() == [True, True, True, False, True, False]
