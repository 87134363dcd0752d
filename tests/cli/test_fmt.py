"""``epl fmt``."""

from __future__ import annotations

import io
import pathlib

import pytest

from runtime.cli import main

UGLY, PRETTY = "SELECT a  FROM T where b>1;// why\n", "select a\nfrom T\nwhere b > 1;  // why\n"


@pytest.fixture
def rules(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    (tmp_path / "rules").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "rules"


def test_files_are_rewritten_and_others_are_reported(rules: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rules / "a.epl").write_text(UGLY)
    (rules / "b.epl").write_text(PRETTY)
    (rules / "c.epl").write_text("select 1 fro x")
    (rules / "d.epl").write_bytes(b"select '\xe9' from T")
    (rules / "e.epl").write_bytes(b"\xef\xbb\xbfselect a from T\r\n")
    assert main(["fmt", "--check", "rules"]) == 1
    assert capsys.readouterr().err.count("would change rules/") == 2
    assert (rules / "a.epl").read_text() == UGLY
    assert main(["fmt", "--diff", "rules/a.epl"]) == 0
    assert "-SELECT a  FROM T where b>1;// why\n+select a\n" in capsys.readouterr().out
    assert main(["fmt", "rules", "gone"]) == 2
    done = capsys.readouterr()
    assert done.out == ""
    assert "rules/c.epl:1:14: error: Incorrect syntax near 'x' [syntax]" in done.err
    assert "rules/d.epl: error: not UTF-8: byte 0xe9 at offset 8" in done.err
    assert done.err.endswith("2 formatted, 1 unchanged, 2 refused\n")
    assert (rules / "a.epl").read_text() == PRETTY
    assert (rules / "e.epl").read_bytes() == b"select a from T\n"
    assert main(["fmt", "--check", "rules/a.epl", "rules/b.epl"]) == 0


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(UGLY.encode())))
    assert main(["fmt", "-"]) == 0
    assert capsys.readouterr() == (PRETTY, "")


def test_examples_are_formatted() -> None:
    root = pathlib.Path(__file__).resolve().parents[2]
    assert main(["fmt", "--check", str(root / "examples")]) == 0


def test_tools_whose_packages_are_missing_name_their_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("runtime.cli.lsp.find_spec", lambda name: None)
    monkeypatch.setattr("runtime.cli.shell.find_spec", lambda name: None)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    assert (main(["lsp"]), main(["shell"])) == (2, 2)
    assert capsys.readouterr().err == (
        "epl: epl lsp needs pygls: pip install 'pygls>=2.1'\n"
        "epl: epl shell in a terminal needs prompt_toolkit and pygments: pip install 'prompt_toolkit>=3.0.36' 'pygments>=2.15'\n"
    )
