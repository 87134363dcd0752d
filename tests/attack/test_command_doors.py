"""Paths and files that the command is not made for: folders, links in circles, devices, names with signs, files of other kinds.

Verdict: exit code 0, 1 or 2, and no traceback.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from runtime.cli import main

FILES: dict[str, bytes] = {
    "e.epl": b"create schema E(a int); @name('s') select * from E", "lat.epl": b"select \xff from X",
    "new\nline.epl": b"select x from Y", "nul.epl": b"\x00" * 50,
    "deep.epl": b"select " + b"(" * 20_000, "e.test.json": b'[{"name": "n", "steps": []}]', "x.test.yaml": b"[" * 5000, "bad.json": b"{",
    "deep.json": b"[" * 100_000,
    "bin.json": b"\x00\xff", "x.csv": b'a\n1\n"2\n', "y.csv": b"a,a\n1,2\n", "z.jsonl": b'{"a": 1}\n{"a": 1e400}\n',
    "nan.jsonl": b'{"a": NaN}\n',
    "deepv.jsonl": b'{"a": ' + b"[" * 100_000 + b"\n", "big.csv": b"a\n" + b"9" * 5000 + b"\n", "long.csv": b"a\n" + b"x" * 200_000 + b"\n",
    "bad.parquet": b"PAR1xxxxPAR1", "bad.csv.gz": b"\x1f\x8b\x08\x00garbage", "bad.csv.zst": b"\x28\xb5\x2f\xfdgarbage",
    "s.txt": b"E={a=1}\nt=t.plus(99999999999 weeks)\n",
    "bool.jsonl": b"true\n", "cfg.xml": b"<esper-configuration><x", "-x.epl": b"select 1 from A", "none.csv": b"",
}  # fmt: skip
COMMANDS = [
    ("check",), ("fmt", "--check"), ("explain",), ("test",), ("replay", "--out", "out"), ("run", "e.epl", "--type", "E", "--events"),
    ("run", "e.epl", "--type", "E", "--skip-bad-rows", "--events"), ("run", "e.epl", "--type", "E", "--to", "s=made/out.jsonl", "--events"),
    ("run", "e.epl", "--type", "E", "--to", "s=made/parts", "--state", "made/state", "--append", "--events"), ("run", "--events",
    "z.jsonl"),
    ("run", "e.epl", "--events", "z.jsonl", "--config"), ("top", "--once"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.json").write_text(json.dumps([{"id": "../../evil", "name": "../x", "class": "../x", "steps": []}]))
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "around").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="links and devices of POSIX")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_any_path(command: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    others = ["sub", "link", "loop", "none", "/dev/null", "/proc/self/mem", "", "x" * 300, "none/none.csv", "e.epl/x",
    "bad.json/x.csv"]
    for path in [*FILES, *others]:
        if path.startswith("-") or (path == "around" and command[0] == "run"):
            path = f"./{path}"
        try:
            code = main([*command, path])
        except SystemExit as end:  # argparse
            code = end.code
        said = capsys.readouterr()
        assert code in (0, 1, 2), (path, code)
        assert "Traceback" not in said.err and "internal error" not in said.err + said.out, (path, said.err[-500:])
    assert not os.path.exists(folder.parent / "evil") and not os.path.exists(folder.parent.parent / "evil")
