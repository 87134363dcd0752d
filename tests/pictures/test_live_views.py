"""Live views of statements, and the dashboard of metrics; without a notebook, a terminal or a network."""
from __future__ import annotations

import http.server
import json
import pathlib
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator

import pyarrow as pa
import pytest
from rich.console import Console

from runtime import Runtime
from runtime.api.statement import internal_output
from runtime.cli import main
from runtime.live.dashboard import dashboard, rates, reading
from runtime.live.job_view import LiveJobView

TEXT = """# HELP epl_rows_total rows that came
# TYPE epl_rows_total counter
epl_rows_total 1000.0
# HELP epl_engine_time engine time, in engine units
# TYPE epl_engine_time gauge
epl_engine_time 120000.0
# HELP epl_stored_rows rows of named windows and tables
# TYPE epl_stored_rows gauge
epl_stored_rows{name="[red]W[/red]"} 7.0
epl_stored_rows{name="Small\\u001b[2J"} 3.0
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 5.0
"""


def test_a_live_view_gets_rows_as_texts() -> None:
    with Runtime(tier="row") as runtime:
        statement = runtime.deploy("create schema A(id string, x int); @name('s') select irstream id, x from A#length(1)")["s"]
        view = statement.live(rows=3)
        assert view.widget.name == "s" and view.widget.columns == ["id", "x"]
        for number, name in enumerate(["a", "<b>", None]):
            runtime.send("A", {"id": name, "x": number})
        runtime.advance_time(1500)
        view.flush()
        assert view.widget.rows == [["0", "-", "<b>", "1"], ["0", "+", "", "2"], ["0", "-", "a", "0"]]
        assert view.widget.facts["rows"] == "3 in, 2 out"
        assert "textContent" in view.widget._esm and "innerHTML" not in view.widget._esm
        view.close()
        runtime.send("A", {"id": "z", "x": 9})
        assert not statement.listeners and not view.widget.is_open and view.new == 3


RENDER = """
class Node {
  constructor(tag) { this.tag = tag; this.style = {}; this.children = []; this.attributes = {}; }
  appendChild(child) { this.children.push(child); return child; }
  replaceChildren() { this.children = []; }
  setAttribute(name, value) { this.attributes[name] = value; }
}
globalThis.document = { createElement: (tag) => new Node(tag) };
const { script, ...traits } = JSON.parse(process.argv[1]);
const { default: widget } = await import("data:text/javascript," + encodeURIComponent(script));
const el = new Node("div"), changes = {};
const model = { get: (name) => traits[name], on: (name, draw) => { changes[name] = draw; } };
widget.render({ model, el });
traits.rows.push(["2", "+", "b", "8"]);
changes["change:rows"]();
console.log(JSON.stringify(el));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_header_of_a_live_view_is_above_its_columns() -> None:
    with Runtime(tier="row") as runtime:
        view = runtime.deploy("create schema A(id string, x int); @name('s') select irstream id, x from A#length(1)")["s"].live()
        runtime.send("A", {"id": "a", "x": 1})
        view.close()
    names = ("name", "columns", "rows", "facts", "is_open")
    traits = {"script": view.widget._esm, **{name: getattr(view.widget, name) for name in names}}
    drawn = subprocess.run(["node", "--input-type=module", "-e", RENDER, json.dumps(traits)], capture_output=True, text=True, check=True)
    table = next(each for each in json.loads(drawn.stdout)["children"] if each["tag"] == "table")
    (head,), body = (part["children"] for part in table["children"])
    assert table["attributes"]["aria-label"] == "latest rows of s"
    assert [(cell["textContent"], cell["scope"]) for cell in head["children"]] == [(name, "col") for name in ("time", "", "id", "x")]
    assert [[cell["textContent"] for cell in row["children"]] for row in body] == [["0", "+", "a", "1"], ["2", "+", "b", "8"]]
    styles = {cell["style"]["cssText"] for row in (head, *body) for cell in row["children"]}
    assert len(styles) == 1 and "text-align:left" in styles.pop()


def test_a_live_view_is_updated_now_and_then() -> None:
    with Runtime(tier="row") as runtime:
        statement = runtime.deploy("create schema A(x int); @name('s') select x from A")[1]
        view = statement.live()
        updates: list[object] = []
        view.widget.observe(lambda change: updates.append(change), names="rows")
        for number in range(500):
            runtime.send("A", {"x": number})
        view.close()
        assert len(updates) <= 5 and view.widget.rows[0][2] == "499" and len(view.widget.rows) == 20


def test_without_anywidget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "anywidget", None)
    with Runtime(tier="row") as runtime:
        statement = runtime.deploy("create schema A(x int); @name('s') select x from A")[1]
        with pytest.raises(ImportError, match=r"pip install 'anywidget>="):
            statement.live()
        assert not statement.listeners


def test_a_live_view_of_a_job_ends_with_it() -> None:
    facts = {"status": "running", "engine time": "0", "rows": "0 in"}
    with Runtime(tier="batch") as runtime:
        statement = runtime.deploy("create schema A(x int, y string); @name('s') select irstream * from A#length(1)")["s"]
        view = LiveJobView([statement], lambda: dict(facts), shown=2, every=0.01)
        assert view.widget.columns == ["statement", "row"] and view.widget.facts == facts
        facts["engine time"] = "5"
        runtime.send_batch("A", pa.table({"x": pa.array([1, 2], pa.int32()), "y": ["<b>", None]}))
        assert statement.tier == "batch"
        facts["status"] = "failed"
        for _ in range(500):
            if not view.widget.is_open:
                break
            time.sleep(0.01)
        assert view.widget.rows == [["5", "-", "s", "x=1, y=<b>"], ["5", "+", "s", "x=2, y=null"]]
        assert view.widget.facts["status"] == "failed" and not view.widget.is_open and not internal_output(statement).batch_listeners
        view.close()


# ---------------------------------------------------------------------- epl top


def shown(text: str, before: str | None = None, seconds: float = 0.0) -> str:
    console = Console(record=True, width=100, file=open("/dev/null", "w"))  # noqa: SIM115 - nothing is written
    console.print(dashboard(reading(text), None if before is None else reading(before), seconds))
    return console.export_text()


def test_the_dashboard() -> None:
    text = shown(TEXT, TEXT.replace("1000.0", "400.0"), 2.0)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "rows 1,000 300 rows that came" in lines
    assert "engine_time 120,000 engine time, in engine units" in lines
    assert "[red]W[/red] 7" in lines and "process_cpu" not in text and "\x1b" not in text


def test_rates() -> None:
    now, before = reading(TEXT), reading(TEXT.replace("1000.0", "4000.0"))
    assert rates(now, None, 1.0) == {} and rates(now, before, 0.0) == {}
    assert rates(now, before, 1.0) == {}  # the counter began again
    assert rates(before, now, 2.0) == {("epl_rows", ()): 1500.0}


@pytest.fixture
def server() -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/metrics" else 404)
            self.end_headers()
            self.wfile.write(TEXT.encode())

        def log_message(self, *_: object) -> None:
            pass

    httpd = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield f"127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def test_epl_top(server: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "metrics.txt"
    file.write_text(TEXT, encoding="utf-8")
    for source in (str(file), server, f"http://{server}/metrics"):
        assert main(["top", source, "--once"]) == 0
        assert "120,000" in capsys.readouterr().out
    file.write_text("{no prometheus", encoding="utf-8")
    for source, words in [(str(tmp_path / "none"), "there is no file"), (f"http://{server}/x", "cannot read"),
                          ("file:///etc/passwd", "an address begins with http"), (str(file), "gives no Prometheus text")]:
        assert main(["top", source, "--once"]) == 2
        assert words in capsys.readouterr().err


@pytest.mark.parametrize("answer", [
    b"", b"garbage\r\n", b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 300 + b"\r\n",
    b"HTTP/1.1 999999999999 \xff\r\n\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"HTTP/1.1 200 OK\r\n\r\nepl_rows_total{a=\"b 1\n", b"HTTP/1.1 200 OK\r\n\r\nepl_rows NaNaN\n",
    b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n",
])  # fmt: skip
def test_epl_top_of_a_strange_server(answer: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        assert main(["top", f"http://127.0.0.1:{listening.getsockname()[1]}/metrics", "--once"]) == 2
        thread.join(5)
    assert capsys.readouterr().err.startswith("epl: ")


@pytest.mark.parametrize("address", ["http://[", "http://a b/", "http://a\nb:1", "http://a:99999/", "http://:1", "a:x"])
def test_epl_top_of_what_is_no_address(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top", address, "--once"]) == 2
    assert capsys.readouterr().err.startswith("epl: ")


def test_metrics_of_a_job_are_read() -> None:
    from runtime.spark.progress import Progress

    assert "steps" in shown(Progress().prometheus())
