"""A release has one version, its notes are those of the changelog, and the links of its page lead somewhere."""
from __future__ import annotations

import configparser
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
URL = "https://example.org/team/epl-spark"

CHANGELOG = """# Changelog

## [7.1.0] - 2030-01-31

### Added

- A word.

## [7.0.0] - 2029-01-31

- Another.
"""


@pytest.fixture
def checkout(tmp_path: pathlib.Path) -> pathlib.Path:
    for name in ("setup.cfg", "README.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    setup = (tmp_path / "setup.cfg").read_text(encoding="utf-8")
    (tmp_path / "setup.cfg").write_text(re.sub(r"^version = .*$", "version = 7.1.0", setup, count=1, flags=re.MULTILINE))
    return tmp_path


def release(checkout: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / ".ci" / "release"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=checkout, check=False)


def test_tag_version_and_changelog_are_one(checkout: pathlib.Path) -> None:
    assert release(checkout, "check", "v7.1.0").returncode == 0
    assert release(checkout, "check", "v7.1.1").stderr == "the tag v7.1.1 is not v7.1.0, the version in setup.cfg\n"


@pytest.mark.parametrize(("heading", "message"), [
    ("## [Unreleased]", "CHANGELOG.md begins with '## [Unreleased]', not with '## [7.1.0] - ' and a date"),
    ("## [7.1.0]", "CHANGELOG.md begins with '## [7.1.0]', not with '## [7.1.0] - ' and a date"),
    ("## [7.0.9] - 2030-01-31", "CHANGELOG.md begins with '## [7.0.9] - 2030-01-31', not with '## [7.1.0] - ' and a date"),
])
def test_no_release_without_its_entry(checkout: pathlib.Path, heading: str, message: str) -> None:
    text = (checkout / "CHANGELOG.md").read_text()
    (checkout / "CHANGELOG.md").write_text(text.replace("## [7.1.0] - 2030-01-31", heading))
    done = release(checkout, "check", "v7.1.0")
    assert (done.returncode, done.stderr) == (1, f"{message}\n")


def test_notes_are_the_section_of_the_version(checkout: pathlib.Path) -> None:
    assert release(checkout, "notes").stdout == "### Added\n\n- A word.\n"


def test_links_lead_to_the_repository(checkout: pathlib.Path) -> None:
    before = (checkout / "README.md").read_text(encoding="utf-8")
    assert release(checkout, "links", f"{URL}/").returncode == 0
    setup = configparser.ConfigParser(interpolation=None)
    setup.read(checkout / "setup.cfg", encoding="utf-8")
    assert setup["metadata"]["name"] == "epl-spark"
    pages = dict(line.split(" = ") for line in setup["metadata"]["project_urls"].split("\n") if line)
    assert pages["Source"] == URL
    assert pages["Changelog"] == f"{URL}/blob/v7.1.0/CHANGELOG.md"
    after = (checkout / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)]*)\)", after)
    assert len(targets) == len(re.findall(r"\]\(([^)]*)\)", before))
    assert all(target.startswith(("https://", "#")) for target in targets)
    for target in targets:
        if target.startswith(f"{URL}/blob/v7.1.0/"):
            assert (ROOT / target.removeprefix(f"{URL}/blob/v7.1.0/").partition("#")[0]).exists()


def test_workflow_publishes_what_it_has_tested_without_a_password() -> None:
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    steps = (".ci/release check", "make lint", "make test", ".ci/release links", "make package", "gh-action-pypi-publish")
    order = [workflow.index(step) for step in steps]
    assert order == sorted(order)
    assert "id-token: write" in workflow
    assert "password" not in workflow.replace("no password is kept", "")


def test_everything_for_applications_is_one_extra() -> None:
    setup = configparser.ConfigParser(interpolation=None)
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = setup["options.extras_require"]
    (together,) = [line for line in extras["all"].split("\n") if line]
    assert together == f"epl-spark[{','.join(sorted(set(extras) - {'all', 'dev', 'docs'}))}]"
