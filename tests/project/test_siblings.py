"""A folder or file of the user's that hides one of the packages is named."""
from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("package", "file"), [("windows", "windows/__init__.py"), ("windows", "windows.py"), ("epl", "epl/__init__.py")])
def test_what_hides_a_package_is_named(package: str, file: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).touch()
    # an editable installation finds its packages by a finder of its own, past sys.path
    program = (
        "import sys\n"
        "sys.meta_path[:] = [f for f in sys.meta_path if not getattr(f, '__module__', '').startswith('__editable__')]\n"
        f"sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]\n"
        "import runtime\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    where = str(tmp_path / file)
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: epl-spark's package '{package}' cannot be imported: {where} hides it: rename that"
    )
