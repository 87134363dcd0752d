"""What is installed: a wheel with three typed packages, the modules of the plugins, and nothing else."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

from tests.project.conftest import FILES, MODULES, PACKAGES, ROOT, Run

pytestmark = pytest.mark.xdist_group("wheel")


def test_wheel_holds_three_packages_two_modules_and_nothing_else(wheel: pathlib.Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {n.split("/")[0] for n in names if ".dist-info/" not in n} == {*PACKAGES, *MODULES}
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
    for name in (*FILES, *MODULES):
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
    assert {*FILES, *MODULES} <= names
    assert {f"{package}/__init__.py" for package in PACKAGES} <= names
    assert not [name for name in names if name.startswith(("tests", "docs"))]


def test_package_index_accepts_both(wheel: pathlib.Path, sdist: pathlib.Path) -> None:
    pytest.importorskip("twine")
    command = [sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_version_is_one(run: Run, wheel: pathlib.Path, tmp_path: pathlib.Path) -> None:
    version = wheel.name.split("-")[1]
    assert run(tmp_path, "python", "-c", "import runtime; print(runtime.__version__)").stdout.split() == [version]
    assert version in run(tmp_path, "epl", "--version").stdout
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


def test_packages_import_from_an_empty_folder(run: Run, installed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    code = "import epl, windows, runtime; print(epl.__file__, windows.__file__, runtime.__file__, sep='\\n')"
    done = run(tmp_path, "python", "-c", code)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.split():
        assert pathlib.Path(line).is_relative_to(installed)


@pytest.mark.parametrize("command", ["epl", "epl-spark"])
def test_console_script(run: Run, tmp_path: pathlib.Path, command: str) -> None:
    module = tmp_path / "m.epl"
    module.write_text("create schema T(a int); select a from T;")
    done = run(tmp_path, command, "check", str(module))
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 statements, 2 accepted" in done.stdout


def test_traces_are_replayed_in_a_checkout_only(run: Run, tmp_path: pathlib.Path) -> None:
    (tmp_path / "traces.json").write_text("[]", encoding="utf-8")
    done = run(tmp_path, "epl", "replay", "traces.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "epl: replay: the player of recorded traces is part of the project's source and not of the installed package; "
        "run it in a checkout (docs/cli.md)\n"
    )


def test_extras_are_declared(wheel: pathlib.Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
    text = archive.read(metadata).decode()
    for extra in ("spark", "fast", "dev"):
        assert f"Provides-Extra: {extra}" in text
    required = [line for line in text.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    names = sorted(line.split()[1].split(">")[0] for line in required)
    assert names == ["attrs", "google-re2", "msgpack", "pandas", "pyarrow", "pyparsing"]
