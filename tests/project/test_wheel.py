"""What is installed: a wheel with three typed packages and nothing else."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ("epl", "windows", "runtime")
FILES = ("setup.cfg", "pyproject.toml", "MANIFEST.in", "LICENSE", "README.md", "CHANGELOG.md")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The wheel, built from a copy so that nothing is left in the tree; tests and examples lie beside the packages there, too."""
    source = tmp_path_factory.mktemp("source")
    for name in (*PACKAGES, "tests", "examples", "benchmarks"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
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
    (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return venv


def run(venv: pathlib.Path, folder: pathlib.Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(venv / "bin" / command[0]), *command[1:]], cwd=folder, env=_without_paths(), capture_output=True, text=True, check=False
    )


def _without_paths() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}


def test_wheel_holds_three_packages_and_nothing_else(wheel: pathlib.Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {n.split("/")[0] for n in names if ".dist-info/" not in n} == set(PACKAGES)
    for package in PACKAGES:
        assert f"{package}/py.typed" in names
    for path in (p for package in PACKAGES for p in (ROOT / package).rglob("*.py")):
        assert str(path.relative_to(ROOT)) in names


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The source distribution, built from a copy."""
    source = tmp_path_factory.mktemp("sdist_source")
    for name in (*PACKAGES, "tests", "docs"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, source / name)
    out = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(out), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (archive,) = out.glob("epl_spark-*.tar.gz")
    return archive


def test_sdist_holds_what_a_build_needs(sdist: pathlib.Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert set(FILES) <= names
    assert {f"{package}/__init__.py" for package in PACKAGES} <= names
    assert not [name for name in names if name.startswith(("tests", "docs"))]


def test_package_index_accepts_both(wheel: pathlib.Path, sdist: pathlib.Path) -> None:
    pytest.importorskip("twine")
    command = [sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_version_is_one(installed: pathlib.Path, wheel: pathlib.Path, tmp_path: pathlib.Path) -> None:
    version = wheel.name.split("-")[1]
    assert run(installed, tmp_path, "python", "-c", "import runtime; print(runtime.__version__)").stdout.split() == [version]
    assert version in run(installed, tmp_path, "epl", "--version").stdout
    headings = [line for line in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines() if line.startswith("## ")]
    assert headings[0] == "## [Unreleased]" or headings[0].startswith(f"## [{version}] - ")


def test_wheel_says_its_licence(wheel: pathlib.Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
    text = archive.read(metadata).decode()
    assert "Name: epl-spark" in text
    assert "Apache-2.0" in text
    assert "Requires-Python: >=3.10" in text
    assert any(n.endswith("LICENSE") for n in archive.namelist())


def test_packages_import_from_an_empty_folder(installed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    code = "import epl, windows, runtime; print(epl.__file__, windows.__file__, runtime.__file__, sep='\\n')"
    done = run(installed, tmp_path, "python", "-c", code)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.split():
        assert pathlib.Path(line).is_relative_to(installed)


def test_console_script(installed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    module = tmp_path / "m.epl"
    module.write_text("create schema T(a int); select a from T;")
    done = run(installed, tmp_path, "epl", "check", str(module))
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 statements, 2 accepted" in done.stdout


def test_extras_are_declared(wheel: pathlib.Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
    text = archive.read(metadata).decode()
    for extra in ("spark", "fast", "dev"):
        assert f"Provides-Extra: {extra}" in text
    required = [line for line in text.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    names = sorted(line.split()[1].split(">")[0] for line in required)
    assert names == ["attrs", "google-re2", "msgpack", "pandas", "pyarrow", "pyparsing"]
