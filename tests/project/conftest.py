"""The wheel, built and installed once for all tests of what is installed."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Callable

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ("epl", "windows", "runtime")
MODULES = ("epl_spark_pygments.py", "epl_spark_pytest.py")
FILES = ("setup.cfg", "pyproject.toml", "MANIFEST.in", "LICENSE", "README.md", "CHANGELOG.md")
Run = Callable[..., subprocess.CompletedProcess[str]]
"""Called as ``(folder, command, *arguments)``: run a command of the installed environment in a folder."""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The wheel, built from a copy so that nothing is left in the tree; tests and examples lie beside the packages there, too."""
    source = tmp_path_factory.mktemp("source")
    for name in (*PACKAGES, "tests", "examples", "benchmarks"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in (*FILES, *MODULES):
        shutil.copy(ROOT / name, source / name)
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", str(out), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = out.glob("epl_spark-*.whl")
    return made


@pytest.fixture(scope="session")
def installed(wheel: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A fresh virtual environment with the wheel; the dependencies are those of the environment that runs the tests."""
    venv = tmp_path_factory.mktemp("fresh") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    python = venv / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", str(wheel)]
    # not in the tree, whose metadata pip would take for an installation
    done = subprocess.run(install, cwd=venv, env=_without_paths(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (site,) = venv.glob("lib/python*/site-packages")
    # a path line adds the folder, not what editable installs in it hook into: the project itself can only come from the wheel
    (site / "dependencies.pth").write_text("".join(f"{path}\n" for path in sys.path if path.endswith("site-packages")))
    return venv


@pytest.fixture(scope="session")
def run(installed: pathlib.Path) -> Run:
    """Run a command of the environment in a folder."""

    def call(folder: pathlib.Path, command: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        words, env = [str(installed / "bin" / command), *arguments], {**_without_paths(), **variables}
        return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)

    return call


def _without_paths() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
