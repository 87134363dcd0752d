"""The magics in a real IPython shell, and the example notebook."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from IPython.testing.globalipapp import start_ipython

from runtime import Runtime

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRADES = "create schema Trade(symbol string, price double);\n@name('Big') select symbol, price from Trade(price > 10)"


@pytest.fixture(scope="module")
def ipython() -> InteractiveShell:
    return start_ipython() or InteractiveShell.instance()


@pytest.fixture
def shell(ipython: InteractiveShell) -> Iterator[InteractiveShell]:
    ipython.run_line_magic("load_ext", "runtime.notebook")
    yield ipython
    ipython.run_line_magic("unload_ext", "runtime.notebook")
    ipython.reset(new_session=False)


def run(shell: InteractiveShell, cell: str) -> Any:
    result = shell.run_cell(cell)
    result.raise_error()
    return result.result


def failure(shell: InteractiveShell, cell: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What is shown of a cell that fails."""
    capsys.readouterr()
    result = shell.run_cell(cell)
    assert not result.success
    done = capsys.readouterr()
    return done.out + done.err


def test_cells_deploy_and_replace(shell: InteractiveShell) -> None:
    shown = run(shell, f"%%epl\n{TRADES}")
    assert "Big        select         symbol String, price Double" in repr(shown)
    assert isinstance(shell.user_ns["rt"], Runtime)
    run(shell, "%%epl -n all\nselect * from Trade")
    run(shell, "%%epl\nselect count(*) as n from Trade")
    run(shell, "%%epl\nselect count(*) as n from Trade")
    assert len(shell.user_ns["rt"].deployments) == 3
    shown = run(shell, "%%epl -n all\nselect symbol from Trade")
    assert len(shell.user_ns["rt"].deployments) == 3
    shown = run(shell, f"%%epl\n{TRADES.replace('price double', 'price double, <b> int').replace('<b>', '`<b>`')}")
    assert "deployed again, with empty state: select count(*) as n from Trade, all" in repr(shown)
    assert "&lt;b&gt;" in shown._repr_html_()
    assert "<b>" not in shown._repr_html_()


def test_events_show_what_statements_emit(shell: InteractiveShell) -> None:
    run(shell, f"%%epl\n{TRADES}")
    shown = run(
        shell,
        "%%events\nt = \"2024-01-01 09:00:00\"\nTrade = {symbol='A', price=20}\n\n// nothing\nt = t.plus(1 seconds)\n"
        'Trade {"symbol": "<script>", "price": 30}\nTrade={symbol=\'B\', price=1, prise=3}\n',
    )
    assert repr(shown) == (
        "At: 2024-01-01 09:00:00.000\n  Statement: Big\n    Insert\n      Big-output={symbol='A', price=20.0}\n"
        "At: 2024-01-01 09:00:01.000\n  Statement: Big\n    Insert\n      Big-output={symbol='<script>', price=30.0}\n"
        "warning: Trade has no property 'prise' (did you mean 'price'?)"
    )
    assert "<td>&lt;script&gt;</td>" in shown._repr_html_()
    assert repr(run(shell, "%%events\nTrade={price=1}")) == "1 event, no output"


def test_a_runtime_of_the_notebook_is_used(shell: InteractiveShell) -> None:
    run(shell, "from runtime import Runtime\nmine = Runtime()\nmine.register('Tick', {'n': int})")
    run(shell, "%%epl -r mine\n@name('s') select n from Tick")
    assert "s-output={n=3}" in repr(run(shell, "%%events -r mine\nTick={n=3}"))
    assert "n         Long" in repr(run(shell, "%epl -r mine types Tick"))
    assert "rt" not in shell.user_ns


def test_commands(shell: InteractiveShell) -> None:
    run(shell, f"%%epl\ncreate window W#keepall(a int);\non W select * from W;\n{TRADES}")
    assert "explain NAME [FORMAT]" in repr(run(shell, "%epl"))
    shown = run(shell, "%epl explain Big")
    assert repr(shown).startswith("Big: select")
    assert "<svg" in shown._repr_html_()
    assert repr(run(shell, "%epl explain Big mermaid")).startswith("flowchart")
    assert repr(run(shell, "%epl explain Big text")) == repr(shown)
    assert "symbol    String" in repr(run(shell, "%epl types Trade"))
    assert "@name('Big')" in repr(run(shell, "%epl statements"))
    run(shell, "%epl query insert into W(a) values (5)")
    assert repr(run(shell, "%epl query select a from W")) == "a\n-\n5"
    assert repr(run(shell, "%epl time +1 min")) == "1970-01-01 00:01:00.000"
    assert repr(run(shell, "%epl undeploy Big")).startswith("undeployed")


def test_errors_have_a_caret_and_no_traceback(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    shown = failure(shell, "%%epl\ncreate schema A(id string);\nselect idd from A", capsys)
    assert "Property named 'idd' is not valid in any stream (did you mean 'id'?)" in shown
    assert "  at line 2 column 8\n    select idd from A\n           ^^^" in shown
    assert "Traceback" not in shown
    run(shell, f"%%epl\n{TRADES}")
    assert "at line 2 column 1\n    Trade={price='x'}" in failure(shell, "%%events\n\nTrade={price='x'}", capsys)
    for cell, words in (
        ("%epl explain Bigg", "no statement named 'Bigg'; there are: stmt-0, Big"),
        ("%epl statement", "did you mean 'statements'?"),
        ("%epl time tomorrow", "'tomorrow' is not a time"),
        ("%epl query select", "Unexpected end-of-input"),
        ("%epl undeploy nope", "Deployment id 'nope' cannot be found"),
        ("%epl -r 1", "'1' is not the name of a variable"),
        ("%%epl -x\nselect 1", "'-x' is not an option"),
        ("%%epl -n\nselect 1", "'-n' needs a value"),
        ("%%events -n a\nT={}", "'-n' is not an option"),
        ("x = 1\nget_ipython().run_cell_magic('epl', '-r x', 'select 1')", "the variable 'x' holds no Runtime but int"),
    ):
        shown = failure(shell, cell, capsys)
        assert words in shown
        assert "deployer.py" not in shown


def test_words_are_completed_in_cells(shell: InteractiveShell) -> None:
    run(shell, f"%%epl\n{TRADES}")

    def completions(cell: str) -> list[str]:
        with provisionalcompleter():
            return [each.text for each in shell.Completer.completions(cell.replace("|", ""), cell.index("|"))]

    assert completions("%%epl\nselect pri| from Trade")[0] == "price"
    assert completions("%%events\nTra|") == ["Trade"]
    assert completions("%%epl -n x\nselect * from Trade#timet|") == ["timetolive"]
    assert completions("%%epl\nselect t.sy| from Trade as t") == ["symbol"]
    assert "Trade" not in completions("Tra|")


def test_the_example_notebook() -> None:
    import nbclient
    import nbformat

    path = ROOT / "examples" / "magics.ipynb"
    saved = nbformat.read(path, as_version=4)
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()

    def texts(cells: Any) -> list[str]:
        shown = [output["data"]["text/plain"] for cell in cells.cells for output in cell.get("outputs", ()) if "data" in output]
        return [text for text in shown if "partitioning:" not in text]

    assert texts(notebook) == texts(saved)
    assert any("Rising-output" in text for text in texts(saved))
