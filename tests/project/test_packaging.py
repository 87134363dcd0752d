"""The image, the compose file and the CI definition: what can be checked without a daemon."""

from __future__ import annotations

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_images_are_slim_and_run_without_root() -> None:
    stages = re.split(r"^FROM ", read("Dockerfile"), flags=re.MULTILINE)[1:]
    names = [stage.split()[2] for stage in stages]
    assert names[-1] == "slim"  # the default
    for name, stage in zip(names, stages):
        assert stage.split()[0] in (*names, "python:${PYTHON}-slim-bookworm")
        if name in ("spark", "slim"):
            assert re.findall(r"^USER (.*)$", stage, re.MULTILINE) == ["10001"]
            assert 'ENTRYPOINT ["epl"]' in stage
        assert ("jre-headless" in stage) == (name == "spark")


def test_image_gets_the_sources_of_the_wheel_alone() -> None:
    context = {line[1:] for line in read(".dockerignore").splitlines() if line.startswith("!")}
    copied = {name for line in re.findall(r"^COPY (?!--from)(.*) \S+$", read("Dockerfile"), re.MULTILINE) for name in line.split()}
    assert copied == context
    assert all((ROOT / name).exists() for name in copied)


def test_compose_publishes_to_this_machine_alone() -> None:
    ports = re.findall(r'^ +- "([\d.:]+)"$', read("compose.yaml"), re.MULTILINE)
    assert len(ports) == 2
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert "EPL_SERVE_TOKEN: ${EPL_SERVE_TOKEN:?" in read("compose.yaml")


def test_ci_runs_targets_of_make() -> None:
    targets = set(re.findall(r"^(\w+):", read("Makefile"), re.MULTILINE))
    used = re.findall(r"run: make (\w+)", read(".github/workflows/ci.yml"))
    assert sorted(used) == ["docs", "lint", "package", "test"]
    assert set(used) <= targets


@pytest.mark.parametrize("name", ["SECURITY.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "LICENSE"])
def test_files_that_a_forge_looks_for(name: str) -> None:
    assert len(read(name)) > 500
