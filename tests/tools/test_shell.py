"""``epl shell``: from a pipe, in a terminal of prompt_toolkit's own, and in a real one."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from epl.errors import EplError
from runtime.tools.commands import OF_STATEMENTS, Commands
from runtime.tools.session import Session
from runtime.tools.shell import Shell, run_lines
from runtime.tools.terminal import EplCompleter, interactive

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRADE = "create schema Trade(symbol string, price double);\n@name('Big') select symbol from Trade(price > 10);\n"
COMMAND = [sys.executable, "-m", "runtime.cli", "shell"]


def transcript(text: str) -> tuple[list[str], list[str], Shell]:
    """What inputs print, and the errors."""
    written: list[str] = []
    errors: list[str] = []
    shell = Shell(Session(), written.append, errors.append)
    run_lines(shell, text.splitlines(keepends=True))
    return written, errors, shell


def test_statements_events_time_and_queries() -> None:
    written, errors, _ = transcript(
        TRADE + "create window W#keepall(a int);\nTrade={symbol='A', price=11}\nt=t.plus(1 sec)\n"
        'Trade {"symbol": "\\u001b[31m", "price": 12}\nTrade={price=1}\nquery insert into W(a)\n  values (1);\nquery select a from W;\n'
        "time +1 min\n@name('Big') select price\n  from Trade;\nTrade={price=2}\n"
    )
    assert errors == []
    assert written[3:] == [
        "At: 1970-01-01 00:00:00.000\n  Statement: Big\n    Insert\n      Big-output={symbol='A'}",
        "At: 1970-01-01 00:00:01.000\n  Statement: Big\n    Insert\n      Big-output={symbol='·[31m'}",
        "a\n-\n1", "a\n-\n1", "1970-01-01 00:01:01.000",
        "statement  kind    columns\n---------  ------  ------------\nBig        select  price Double",
        "At: 1970-01-01 00:01:01.000\n  Statement: Big\n    Insert\n      Big-output={price=2.0}",
    ]  # fmt: skip


def test_output_of_watched_statements() -> None:
    written, errors, shell = transcript(
        TRADE + "@name('n') select count(*) as n from Trade;\nunwatch Big\nTrade={price=20}\n"
        "watch Big\nunwatch n\nTrade={price=20}\nunwatch\nTrade={price=20}\nwatch\nTrade={price=20}\nwatch nope\n"
    )
    assert ["Big" in each for each in written if each.startswith("At:")] == [False, True, True]
    assert ["Statement: n" in each for each in written if each.startswith("At:")] == [True, False, True]
    assert errors == ["no statement named 'nope'; there are: stmt-0, Big, n"]
    assert shell.commands.watched is None


def test_every_mistake_is_one_message_and_the_shell_goes_on(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.epl").write_text(TRADE)
    (tmp_path / "a.txt").write_text("Trade={symbol='A', price=11}\n")
    written, errors, shell = transcript(
        f"load {tmp_path}/a.epl\nplay {tmp_path}/a.txt\nplay {tmp_path}/no\nselct x from T;\nselect y from Trade;\nNope={{a=1}}\n"
        'Trade={price=}\nTrade {"price": "x"}\nTrade {"price": }\nstatement\nexplain\ntime x\nquery nothing;\nundeploy z\nload\n'
        f"select 'not ended from T;\n';\nselect `{chr(7)}` from Trade"
    )
    assert "Big-output={symbol='A'}" in written[1]
    assert len(errors) == shell.failures == 14
    assert [error for error in errors if "Traceback" in error or "\x07" in error] == []
    assert "  at line 1 column 8\n    select y from Trade" in errors[2]
    assert "did you mean 'statements'?" in errors[7]


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("", True), ("statements", True), ("select * from A", False), ("select * from A;", True), ("select * from A; // x", True),
        ("select ';'", False), ("select 1 /* ; */", False), ("// only this", True), ("@name('x')\nselect 1", False), ("A={x=1}", True),
        ('A {"x": 1}', True), ("t=t.plus(1 sec)", True), ("query select 1", False), ("query select 1;", True), ("quit", True),
        ("select {1}\nfrom A;", True), ("create schema A(x int)", False), ("module a;", True), ("/* c */ statements", True),
    ],
)  # fmt: skip
def test_when_an_input_is_whole(text: str, complete: bool) -> None:
    assert Shell(Session(), print, print).is_complete(text) is complete


def test_completion() -> None:
    _, _, shell = transcript(TRADE)
    completer = EplCompleter(shell)

    def texts(text: str) -> list[str]:
        return [each.text for each in completer.candidates(text, len(text))]

    assert texts("stat")[0] == "statements"
    assert texts("explain B") == ["Big"]
    assert texts("explain ") == ["stmt-0", "Big"]
    assert texts("Tra") == ["Trade"]
    assert texts("Trade={sy") == ["symbol"]
    assert texts("select pri")[0] == "price"
    assert texts("query select 1 from Tr") == ["Trade", "true"]
    assert texts("select * from Trade#unii") == []


def test_editing_over_several_lines_and_history(tmp_path: pathlib.Path) -> None:
    written: list[str] = []
    errors: list[str] = []
    history = tmp_path / "new" / "history"
    shell = Shell(Session(), written.append, errors.append)
    with create_pipe_input() as keys:
        keys.send_text("create schema Trade(symbol string,\r price double);\r")
        keys.send_text("select nothing;\x03")  # Ctrl-C drops it
        keys.send_text("select * from Trade#length(2);\r")
        keys.send_text("Trade={symbol='A'}\r\x04")
        interactive(shell, history, input=keys, output=DummyOutput())
    assert errors == []
    assert len(shell.session.runtime.deployments) == 2
    assert "Trade={symbol='A', price=(null)}" in written[-1]
    assert "+create schema Trade(symbol string,\n+ price double);" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0


def test_from_a_pipe() -> None:
    text = f"{TRADE}Trade={{symbol='é', price=11}}\nnope\n"
    done = subprocess.run(COMMAND, input=text, capture_output=True, text=True, cwd=ROOT, check=False)
    assert "Big-output={symbol='é'}" in done.stdout
    assert done.stderr.startswith("no command 'nope'")
    assert done.returncode == 1
    _, errors, shell = transcript("select 1 as a;\nquit\nnope\n")
    assert (errors, shell.is_over, shell.failures) == ([], True, 0)


def test_epl_is_no_command() -> None:
    for text in ("select 1 as a", "@name('s') select 1 as a", "nope"):
        with pytest.raises(EplError, match="no command") as error:
            Commands(Session()).run(text)
        assert (error.value.hint == OF_STATEMENTS) is (text != "nope")


def test_in_a_terminal(tmp_path: pathlib.Path) -> None:
    pexpect = pytest.importorskip("pexpect")
    environment = {**os.environ, "PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm"}
    arguments = [*COMMAND[1:], "--history", str(tmp_path / "h")]
    child = pexpect.spawn(COMMAND[0], arguments, cwd=str(ROOT), env=environment, timeout=60, encoding="utf-8")
    child.expect("help lists the commands")
    child.expect("epl>")
    child.send("create schema A(xylophone int);\r")
    child.expect("create schema")
    child.send("select xyl\t")
    child.expect("ophone")
    child.send(" * 2 as y from A;\r")
    child.expect("y Integer")
    child.send("A={xylophone=21}\r")
    child.expect("y=42")
    child.send("select z from A;\r")
    child.expect("Property named 'z' is not valid")
    child.send("\x04")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert "select xylophone * 2 as y from A;" in (tmp_path / "h").read_text()
