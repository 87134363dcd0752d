"""Without numba everything runs in the row tier and says so. In a process of its own, in which numba cannot be imported."""
from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

WITHOUT = "import sys\nsys.modules['numba'] = None\n"


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", WITHOUT + textwrap.dedent(code)], capture_output=True, text=True, check=False, timeout=300)


def test_auto_is_the_row_tier() -> None:
    done = run("""
        import pyarrow as pa
        from runtime import Runtime
        runtime = Runtime()
        statement = runtime.deploy("create schema T(n int); @name('s0') select sum(n) as s from T")["s0"]
        heard = []
        statement.add_batch_listener(lambda new, *_: heard.append(new.num_rows))
        runtime.send_batch("T", pa.table({"n": pa.array(range(50_000), pa.int32())}))
        print(heard, statement.tier, list(statement)[0]["s"], statement.explain().splitlines()[-1].strip(), sep="|")
    """)
    assert done.stdout.strip() == "[50000]|row|1249975000|tier: row (numba is not installed)", done.stderr


def test_batch_is_refused() -> None:
    done = run("from runtime import Runtime\nRuntime(tier='batch')")
    assert "EplUnsupportedError: The batch tier needs numba" in done.stderr


def test_numba_that_cannot_be_imported_is_as_none(tmp_path: Path) -> None:
    """As one that refuses a newer numpy."""
    (tmp_path / "numba.py").write_text("raise ImportError('Numba needs NumPy 1.0 or less')")
    done = run(f"""
        del sys.modules["numba"]
        sys.path.insert(0, {str(tmp_path)!r})
        import pyarrow as pa
        from runtime import Runtime
        runtime = Runtime()
        statement = runtime.deploy("create schema T(n int); @name('s0') select sum(n) as s from T")["s0"]
        for _ in range(2):
            runtime.send_batch("T", pa.table({{"n": pa.array(range(50_000), pa.int32())}}))
        print(statement.tier, list(statement)[0]["s"], statement.explain().splitlines()[-1].strip(), sep="|")
        Runtime(tier="batch")
    """)
    assert done.stdout.strip() == "row|-1795017296|tier: row (numba cannot be imported: Numba needs NumPy 1.0 or less)", done.stderr
    assert "EplUnsupportedError: The batch tier needs numba: numba cannot be imported" in done.stderr


def test_batches_run_as_ever() -> None:
    """The tests of send_batch, in a process without numba."""
    code = "import pytest\nsys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '-p', 'no:xdist', 'tests/batches/test_send_batch.py']))"
    done = run(code)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
