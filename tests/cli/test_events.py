"""Event files of ``epl run``: what they may hold, what is said where they are wrong, and that reading in columns shows nowhere."""

from __future__ import annotations

import bz2
import datetime
import gzip
import json
import pathlib
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import runtime.cli.run_events as command
from runtime.cli import main
from runtime.clock.instants import iso_instant
from runtime.connectors.cells import milliseconds

MODULE = """create schema Trade(symbol string, price double, volume long);
@name('Out') select symbol, price, volume from Trade;
"""
ROW = '{"time": 1000, "statement": "Out", "new": [{"symbol": "A", "price": 10.5, "volume": 7}], "old": []}\n'
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """run(name of the file, its content, options…) → (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    pathlib.Path("m.epl").write_text(MODULE)

    def epl(name: str, content: str | bytes | pa.Table, *options: str, module: str = MODULE) -> tuple[int, str, str]:
        pathlib.Path("m.epl").write_text(module)
        if isinstance(content, pa.Table):
            parquet.write_table(content, name)
        else:
            pathlib.Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
        code = main(["run", "m.epl", "--events", name, "--format", "json", *options])
        done = capsys.readouterr()
        return code, done.out, done.err

    return epl


# ------------------------------------------------------------------ what may come


def table(ts: pa.Array, volume: pa.Array) -> pa.Table:
    return pa.table({"ts": ts, "symbol": ["A"], "price": [10.5], "volume": volume})


CSV = "symbol,price,volume,ts\nA,10.5,7,1000\n"


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("e.csv", CSV, ()),
        ("e.csv.gz", gzip.compress(CSV.encode(), mtime=0), ()),
        ("e.csv", gzip.compress(CSV.encode(), mtime=0), ()),
        ("e.csv.bz2", bz2.compress(CSV.encode()), ()),
        ("e.jsonl.gz", gzip.compress(b'{"symbol": "A", "price": 10.5, "volume": 7, "ts": 1000}', mtime=0), ()),
        ("e.csv", CSV.replace(",", ";"), ("--delimiter", ";")),
        ("e.tsv", CSV.replace(",", "\t"), ()),
        ("e.csv", b"\xef\xbb\xbf" + CSV.replace("\n", "\r\n").encode(), ()),
        ("e.csv", CSV.replace(",", ", "), ()),
        ("e.csv", CSV.replace("1000", "1970-01-01T00:00:01Z"), ()),
        ("e.csv", CSV.replace("1000", "1970-01-01 01:00:01.000+01:00"), ()),
        ("e.csv", CSV.replace("1000", "1970-01-01T00:00:01.0009999"), ()),
        ("e.jsonl", '\n{"symbol": "A", "price": 10.5, "volume": 7, "ts": "1970-01-01T00:00:01Z"}', ()),
        ("e.jsonl", '\ufeff{"ts": 1000.0, "symbol": "A", "price": 10.5, "volume": "1970-01-01T00:00:00.007Z"}\n\n', ()),
        ("e.csv", CSV.replace(",7,", ",1970-01-01T00:00:00.007Z,"), ()),
        ("e.parquet", table(pa.array([1000], pa.timestamp("ms", "Europe/Paris")), pa.array([7])), ()),
        ("e.parquet", table(pa.array([1000], pa.timestamp("ms")), pa.array([7], pa.timestamp("ms"))), ()),
        ("e.parquet", table(pa.array(["1970-01-01T00:00:01Z"]), pa.array([7], pa.int8())), ()),
    ],
)  # fmt: skip
def test_taken(run: Run, name: str, content: Any, options: tuple[str, ...]) -> None:
    assert run(name, content, "--time", "ts", *options) == (0, ROW, "")


def test_dates_of_properties_are_taken_as_text_and_as_ms(run: Run) -> None:
    module = "create schema E(born java.util.Date, feast java.time.LocalDate); @name('Out') select born.getTime() as ms, feast from E"
    for rows in ("1704067200000,2024-01-01", "2024-01-01T01:00:00+01:00,2024-01-01"):
        code, out, err = run("e.csv", f"born,feast\n{rows}\n", module=module)
        assert (code, err) == (0, "")
        assert json.loads(out)["new"] == [{"ms": 1704067200000, "feast": "2024-01-01"}]


def test_a_cell_may_be_long_and_a_row_may_have_many_lines(run: Run) -> None:
    code, out, err = run("e.csv", f'symbol,price,volume\n"{"x" * 200_000}\ny",1,2\nB,zz,2\n')
    assert code == 1
    assert len(json.loads(out)["new"][0]["symbol"]) == 200_002
    assert err.startswith("e.csv:4: error: Event type 'Trade': property 'price'")


def test_wide_numbers_and_decimals_keep_their_digits(run: Run) -> None:
    module = (
        "create schema E(d java.math.BigDecimal, i java.math.BigInteger);"
        "@name('Out') select d.toString() as d, i.toString() as i from E"
    )
    expected = [{"d": "1.50", "i": "123456789012345678901234567890"}]
    for name, content in (
        ("e.csv", "d,i\n1.50,123456789012345678901234567890\n"),
        ("e.parquet", pa.table({"d": [Decimal("1.50")], "i": [Decimal(123456789012345678901234567890)]})),
    ):
        code, out, err = run(name, content, module=module)
        assert (code, err) == (0, "")
        assert json.loads(out)["new"] == expected


def test_several_types_in_one_file_stay_in_order(run: Run) -> None:
    module = (
        "create schema A(x int); create schema B(y string);"
        "@name('a') select irstream * from A#length(1); @name('b') select irstream * from B#length(1)"
    )
    text = "type,ts,x,y\nA,1,1,\nB,1,,p\nA,1,2,\nB,5,,q\nA,9,3,\n"
    code, out, err = run("e.csv", text, "--time", "ts", module=module)
    assert (code, err) == (0, "")
    assert [(line["time"], line["statement"], line["new"]) for line in map(json.loads, out.splitlines())] == [
        (1, "a", [{"x": 1}]), (1, "b", [{"y": "p"}]), (1, "a", [{"x": 2}]), (5, "b", [{"y": "q"}]), (9, "a", [{"x": 3}]),
    ]  # fmt: skip


# ------------------------------------------------------------------ columns


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("e.csv", "symbol,Price,volume\nA,1,2\n",
         "e.csv:1: error: there is no column 'price', which event type 'Trade' declares [runtime]\n"
         "    hint: it has symbol, Price, volume; did you mean 'Price'?; --missing null reads events without it\n"),
        ("e.csv", "symbol\nA\n", "e.csv:1: error: there is no column 'price', 'volume', which"),
        ("e.parquet", pa.table({"symbol": ["A"], "volume": [1]}), "e.parquet:1: error: there is no column 'price'"),
        ("e.jsonl", '{"symbol": "A", "Price": 1, "volume": 2}\n', "e.jsonl:1: error: there is no column 'price'"),
    ],
)  # fmt: skip
def test_missing_columns_are_refused(run: Run, name: str, content: Any, said: str) -> None:
    code, out, err = run(name, content)
    assert (code, out) == (1, "")
    assert err.replace("e.parquet:1:", "e.parquet:").startswith(said.replace("e.parquet:1:", "e.parquet:"))
    code, out, err = run(name, content, "--missing", "null")
    assert code == 0
    assert json.loads(out)["new"][0]["price"] is None


def test_json_may_leave_out_what_is_null_but_says_so(run: Run) -> None:
    code, out, err = run("e.jsonl", '{"symbol": "A", "volume": 2}\n{"symbol": "B", "price": 1}\n')
    assert (code, err, len(out.splitlines())) == (0, "", 2)
    code, _, err = run("e.jsonl", '{"symbol": "A"}\n')
    assert (code, err) == (
        0, "e.jsonl: warning: none of the first rows have properties 'price', 'volume' of event type 'Trade': null until one has\n"
    )  # fmt: skip


@pytest.mark.parametrize("representation", ["map", "objectarray"])
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_columns_too_many_are_warned_of_once(run: Run, representation: str, suffix: str) -> None:
    module = f"create {representation} schema E(a int); @name('Out') select a{', b? as b' * (representation == 'map')} from E"
    rows = [{"a": 1, "b": 2}, {"a": 2, "b": 3}]
    content = {
        "csv": "a,b\n1,2\n2,3\n", "jsonl": "\n".join(map(json.dumps, rows)), "parquet": pa.Table.from_pylist(rows),
    }[suffix]  # fmt: skip
    code, out, err = run(f"e.{suffix}", content, module=module)
    kept = representation == "map"
    what = "kept as undeclared properties" if kept else "dropped"
    assert (code, err) == (0, f"e.{suffix}: warning: column 'b' is not declared by event type 'E': {what}\n")
    assert [set(json.loads(line)["new"][0]) for line in out.splitlines()] == [{"a", "b"} if kept else {"a"}] * 2
    code, ignored, err = run(f"e.{suffix}", content, "--unknown", "ignore", module=module)
    assert (code, ignored, err) == (0, out, "")
    code, out, err = run(f"e.{suffix}", content, "--unknown", "refuse", module=module)
    assert (code, out) == (1, "")
    assert "error: column 'b' is not declared by event type 'E'" in err


SCRIPT = "Trade={symbol='A', prise=1}\nt = t.plus(1 seconds)\nTrade={symbol='B', prise=2}\nTrade={Symbol='C'}\n"


def test_misspelt_properties_of_a_script_are_warned_of_once_each(run: Run) -> None:
    code, out, err = run("s.txt", SCRIPT)
    assert (code, len(out.splitlines())) == (0, 3)
    assert err == (
        "s.txt:1: warning: Trade has no property 'prise' (did you mean 'price'?)\n"
        "s.txt:4: warning: Trade has no property 'Symbol' (did you mean 'symbol'?)\n"
    )
    assert run("s.txt", SCRIPT, "--unknown", "ignore") == (0, out, "")
    code, out, err = run("s.txt", SCRIPT, "--unknown", "refuse")
    assert (code, out) == (1, "")
    assert err == "s.txt:1: error: Event type 'Trade' has no property 'prise' [runtime]\n    hint: did you mean 'price'?\n"


@pytest.mark.parametrize(
    ("name", "content", "options", "said"),
    [
        ("e.csv", CSV, ("--time", "tss"), ":1: error: there is no column 'tss' for --time [runtime]\n"
         "    hint: it has symbol, price, volume, ts; did you mean 'ts'?"),
        ("e.jsonl", '{"ts": 1}', ("--time", "tss"), ":1: error: there is no column 'tss' for --time"),
        ("e.csv", CSV.replace(",", ";"), (), ":1: error: there is only one column, 'symbol;price;volume;ts' [runtime]\n"
         "    hint: are cells divided by another sign? --delimiter ';'"),
        ("e.csv", "a,b,a\n", (), ":1: error: more than one column is named 'a'"),
        ("e.csv", "", (), ":1: error: the file is empty"),
        ("e.csv", CSV + "A,1\n", ("--time", "ts"), ":3: error: expected 4 columns, found 2"),
        ("e.csv", CSV + 'A,"1,2,3\n', ("--time", "ts"), ":3: error: expected 4 columns, found 2 [runtime]\n    hint: a quote has no end"),
        ("e.csv", "symbol,price,volume\nA,1,1\nB,1,\"2\nC,1,1\n", (), ":4: error: a cell holds the rest of the file [runtime]\n"
         "    hint: a quote has no end"),
        ("e.csv", 'symbol,price,"volume\nA,1,1\n', (), ":1: error: the names of the columns cannot be read: unexpected end of data"
         " [runtime]\n    hint: a quote has no end"),
        ("e.csv", CSV + "\n\nB,1,2,2000\n\nA,1,x,3000\n", ("--time", "ts"), ":7: error: Event type 'Trade': property 'volume'"),
        ("e.csv", CSV + "B,1,0x10,2000\n", ("--time", "ts"), ":3: error: Event type 'Trade': property 'volume'"),
        ("e.csv", CSV + "B,1,1_0,2000\n", ("--time", "ts"), ":3: error: Event type 'Trade': property 'volume'"),
        ("e.csv", CSV + "B,1,1,\n", ("--time", "ts"), ":3: error: time column 'ts' holds None, expecting ms since 1970 or an ISO"),
        ("e.csv", CSV + "B,1,1,soon\n", ("--time", "ts"), ":3: error: time column 'ts' holds 'soon'"),
        ("e.csv", CSV.encode() + b"\xff,1,1,2000\n", ("--time", "ts"), ":3: error: not UTF-8: byte 0xff"),
        ("e.jsonl", "[\n {}]", (), ":1: error: not JSON: "),
        ("e.jsonl", "[{}]", (), ":1: error: a JSON object a line is expected [runtime]\n    hint: jq -c '.[]' FILE makes a line of each"),
        ("e.jsonl", '{"symbol": ' + "[" * 100_000, (), ":1: error: JSON nested too deeply"),
        ("e.jsonl", '{"symbol": "A", "price": 1, "volume": 1, "z": ' + "[" * 100_000 + "]" * 100_000 + "}", (), ":1: error: JSON nested"),
        ("e.jsonl", '{"symbol": "A", "price": 1, "volume": ' + "9" * 5000 + "}", (), ":1: error: a number has too many digits"),
        ("e.csv.gz", gzip.compress(CSV.encode() * 1000, mtime=0)[:60], (), ": error: cannot be read"),
    ],
)  # fmt: skip
def test_refused(run: Run, name: str, content: Any, options: tuple[str, ...], said: str) -> None:
    code, _, err = run(name, content, *options)
    assert code in (1, 2)
    assert f"{name}{said}" in err or (name.endswith("gz") and "cannot" in err)
    assert "Traceback" not in err and len(err) < 1000


def test_bad_rows_are_skipped_and_counted(run: Run) -> None:
    rows = ["A,10.5,7,1000", "A,1", "B,x,1,9000", "B,1,1,500", "B,1,1,", "B,1,1,2,3", "C,2,3,2000"]
    code, out, err = run("e.csv", "symbol,price,volume,ts\n" + "\n".join(rows), "--time", "ts", "--skip-bad-rows")
    first, *places = err.splitlines()
    assert (code, first) == (0, "e.csv: 5 bad rows skipped")
    assert [each.split(": ")[0].strip() for each in places] == ["row 2", "row 3", "row 4", "row 5", "row 6"]
    assert places[0].endswith("expected 4 columns, found 2") and "property 'price'" in places[1] and "time goes back" in places[2]
    assert [(line["time"], line["new"][0]["symbol"]) for line in map(json.loads, out.splitlines())] == [(1000, "A"), (2000, "C")]
    code, out, err = run("e.jsonl", '{"symbol": "A"\n5\n{"symbol": "B", "price": 1, "volume": 1}\n', "--skip-bad-rows")
    first, *places = err.splitlines()
    assert (code, len(out.splitlines()), first) == (0, 1, "e.jsonl: 2 bad rows skipped")
    assert places[0].startswith("    line 1: not JSON") and places[1] == "    line 2: a JSON object a line is expected"


@pytest.mark.parametrize("names", ["symbol", "symbol,other"])
@pytest.mark.parametrize("ending", ["", "\n", "\r\n", "\n\n"])
@pytest.mark.parametrize(("cells", "taken"), [(["A"], 1), (['"A"'], 1), (['"A', "B", "C"], 0), (['"A""', "B"], 0), (['A"', "B"], 2)])
def test_a_quote_without_end_takes_no_rows_silently(run: Run, names: str, ending: str, cells: list[str], taken: int) -> None:
    others = names.count(",")
    rows = [",".join(["x"] * others + [cell]) for cell in ["first", *cells]]
    name = names.rsplit(",", 1)[-1]
    module = f"create schema E({', '.join(f'{n} string' for n in names.split(','))}); @name('Out') select {name} as s from E"
    code, out, err = run("e.csv", names + "\n" + "\n".join(rows) + ending, "--skip-bad-rows", module=module)
    shown = [row["s"] for line in map(json.loads, out.splitlines()) for row in line["new"]]
    assert shown == ["first", *(cell.strip('"') if len(cells) == 1 else cell for cell in cells[:taken])]
    assert (code, err.partition("\n")[0]) == (0, "" if taken else "e.csv: 1 bad rows skipped")


def test_faults_of_expressions_are_a_line_a_kind_and_an_exit_code(run: Run) -> None:
    module = (
        "create schema Trade(symbol string, price double, volume long);\n@name('Out') select symbol from Trade;\n"
        "@name('Cut') select symbol.charAt(10) from Trade;\n@name('Div') select symbol.substring(9) as s from Trade(volume < 9)"
    )
    code, out, err = run("e.csv", "symbol,price,volume\n" + "A,1,5\n" * 300, module=module)
    assert code == 1
    assert len(out.splitlines()) == 300
    first, second = err.splitlines()
    for line, name, where in ((first, "Cut", 3), (second, "Div", 4)):
        assert line.startswith(f"m.epl:{where}:") and f"error: statement '{name}'" in line
        assert "while processing Trade(symbol='A'" in line or "while processing " in line
        assert line.endswith("[300 times, first]")


# ------------------------------------------------------------------ columns and rows say the same


CELLS = {
    "symbol": ["A", "B", "", '"a,b"', '"two\nlines"', " c", "é"],
    "price": ["1", "2.5", "", "-0.0", "1e3", "NaN", " 4", "x"],
    "volume": ["1", "-5", "", "99999999999999999999", "0x1f", "+3", "2024-01-01T00:00:00Z", "1.0"],
    "flag": ["true", "FALSE", "", "1", "yes"],
    "number": ["3", "", "2147483648"],
    "born": ["0", "2024-01-01", "2024-01-01T00:00:00+01:00", "", "never"],
}
WIDE = (
    "create schema Trade(symbol string, price double, volume long, flag boolean, number int, born java.util.Date);\n"
    "@name('Out') select irstream * from Trade#length(2);"
    "@name('Sum') select symbol, sum(volume) as v from Trade#time(3 msec) group by symbol"
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_reading_in_columns_shows_nowhere(run: Run, data: st.DataObject) -> None:
    good = data.draw(st.booleans(), "few mistakes")
    cells = {name: values[: 3 if good else None] for name, values in CELLS.items()}
    rows, time = [], 0
    for _ in range(data.draw(st.integers(0, 12), "rows")):
        time += data.draw(st.integers(0 if good else -1, 4))
        row = {name: data.draw(st.sampled_from(values)) for name, values in cells.items()}
        rows.append([*row.values(), str(time)])
    if not good and rows and data.draw(st.booleans()):
        rows[-1] = rows[-1][:3]
    text = ",".join((*CELLS, "ts")) + "\n" + "".join(",".join(row) + "\n" for row in rows)
    as_json = "".join(json.dumps(_json_row(row)) + "\n" for row in rows if len(row) == 7)
    options = ("--time", "ts", *(["--skip-bad-rows"] if data.draw(st.booleans()) else []), "--until", str(time + 10))
    for name, content in (("e.csv", text), ("e.jsonl", as_json)):
        found = []
        for in_batches in (True, False):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(command.Batches, "feed", command.Batches.feed if in_batches else lambda *_: None)
                found.append(run(name, content, *options, module=WIDE))
        assert found[0] == found[1]
        assert "Traceback" not in found[0][2]


def _json_row(cells: list[str]) -> dict[str, Any]:
    """The cells as JSON values, where they are such."""
    found: dict[str, Any] = {}
    for name, cell in zip((*CELLS, "ts"), cells):
        try:
            found[name] = json.loads(cell)
        except ValueError:
            found[name] = cell or None
    return found


def test_chunks_show_nowhere(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "symbol,price,volume,ts\n" + "".join(f"{'AB'[n % 2]},{n % 7},{n},{n // 3}\n" for n in range(5000)) + "A,1\nB,1,1,9999\n"
    whole = run("e.csv", text, "--time", "ts", "--skip-bad-rows")
    assert (whole[0], whole[2]) == (0, "e.csv: 1 bad rows skipped\n    row 5001: expected 4 columns, found 2\n")
    monkeypatch.setattr("runtime.connectors.event_files.CHUNK_ROWS", 7)
    monkeypatch.setattr("runtime.connectors.event_files.BLOCK", 1000)
    assert run("e.csv", text, "--time", "ts", "--skip-bad-rows") == whole
    assert run("e.csv", text, "--time", "ts")[2].startswith("e.csv:5002: error: expected 4 columns, found 2")


ZONES = {"": 0, "Z": 0, "+01:30": 90, "-0800": -480, "+02": 120}


@given(st.datetimes(datetime.datetime(1, 1, 2), datetime.datetime(9999, 12, 30)), st.sampled_from(list(ZONES)), st.sampled_from("T "))
def test_iso_texts_are_the_instants_that_they_say(moment: datetime.datetime, zone: str, between: str) -> None:
    minutes = ZONES[zone]
    expected = (moment - datetime.timedelta(minutes=minutes)).replace(tzinfo=datetime.timezone.utc)
    text = moment.isoformat(between) + zone
    assert iso_instant(text) == expected
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    assert milliseconds(text) == (expected - epoch) // datetime.timedelta(milliseconds=1)


@pytest.mark.parametrize("text", ["", "now", "2024", "2024-13-01", "2024-01-01T25:00", "01.02.2024", "12:00", "2024-01-01T00:00:00[UTC]"])
def test_other_texts_are_no_instants(text: str) -> None:
    assert iso_instant(text) is None


def test_all_statements_that_select_print_their_rows(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An on-select, a split stream and a type that only an on statement reads, as recorded traces listen to them."""
    (tmp_path / "r.epl").write_text(
        "@buseventtype @public create schema M(k string, v int);\ncreate window W#keepall as (k string);\n"
        "@name('merge') on M merge W insert select k;\n@name('q') on M(v > 1) as m select w.k as k from W as w;\n"
        "@name('split') on M insert into X select k where v > 5;\n@name('delete') on M(v = 9) delete from W"
    )
    (tmp_path / "m.csv").write_text("k,v\na,1\nb,2\nc,7\n")
    assert main(["run", str(tmp_path / "r.epl"), "--events", str(tmp_path / "m.csv"), "--format", "json"]) == 0
    calls = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(call["statement"] for call in calls) == ["q", "q", "split", "split"]
    assert [call["new"] for call in calls if call["statement"] == "split"] == [[{"k": "a", "v": 1}], [{"k": "b", "v": 2}]]
