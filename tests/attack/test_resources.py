"""Small texts and few events that ask for much time or memory. They run one after another in a process of their own, of limited memory.

Verdict: each ends, before SECONDS of processor time and in MEGABYTES of new memory, in rows, or in an EplError where it is one of
REFUSED; then the runtime processes an event as ever.
"""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pytest

from epl.errors import EplError
from runtime import Runtime, Settings
from runtime.replay.epl_online import parse_script
from runtime.tools.rule_tests.files import BadCaseFile, read_cases

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60
"""After which one is stopped: what is bounded takes less than one on a slow machine, what is not, minutes or more."""
MEGABYTES = 400
ADDRESSES = 6 << 30
pytestmark = pytest.mark.slow

SCHEMA = "create schema A(k string, n int, v double); create schema Plain(n int); @name('plain') select n from Plain#keepall;\n"
WINDOW = "create window W#keepall as (k string, n int); insert into W select k, n from A; "


@attrs.frozen
class Small:
    """A module, how many events of type A it gets, and by how many ms time advances afterwards."""

    text: str
    events: int = 3
    span: int = 0


def pattern(text: str, events: int = 3, span: int = 0) -> Small:
    return Small(f"select * from pattern [{text}]", events, span)


def nested(body: str, levels: int) -> Small:
    return Small(f"create expression d {{ x => {body} }}; select {'d(' * levels}n{')' * levels} as c from A")


CATEGORIES = ", ".join(f"context C{c} " + ", ".join(f"group n > {g} as g{g}" for g in range(30)) + " from A" for c in range(4))
HASHES = ", ".join(f"context C{c} coalesce by consistent_hash_crc32(k) from A granularity 100 preallocate" for c in range(4))
ALIASES = "create expression e0 alias for { n + n };" + "".join(
    f"create expression e{i} alias for {{ e{i - 1} + e{i - 1} }};" for i in range(1, 28))
MODULES = {
    "matches until, billions": pattern("[1000000000:2000000000] a=A until A(n < 0)", 2000),
    "repeat billions": pattern("[2000000000] a=A", 2000),
    "at most billions": pattern("every a=A -[1000000000]> every b=A(n < 0)", 2000),
    "a timer of zero": pattern("every timer:interval(0)", span=10),
    "months to the end": pattern("timer:schedule(iso: 'R/1970-01-01T00:00:00Z/P1M')", span=2**55),
    "a day that never comes": pattern("every timer:at(*, *, 30, 2, *)"),
    "billions of no time": pattern("every timer:schedule(period: 0 sec, repetitions: 1000000000)", span=10),
    "every, nested": pattern("every (" * 90 + "a=A" + ")" * 90),
    "sums nested": nested("x + x", 20), "arguments nested": nested("coalesce(x, x, x)", 20), "strings nested": nested("x || x", 20),
    "aliases nested": Small(ALIASES + "select e27 from A"),
    "collections nested": Small(f"create expression d {{ x => x.union(x) }}; select {'d(' * 25}window(n){')' * 25} from A#keepall"),
    "categories": Small(f"create context C {CATEGORIES}; context C select count(*) from A"),
    "hashes": Small(f"create context C {HASHES}; context C select count(*) from A"),
    "a window updates itself": Small(WINDOW + "on W as e update W as w set n = w.n + 1"),
    "a window inserts into itself": Small(
        WINDOW + "on W as e merge W as w where w.n < 0 when not matched then insert select e.k as k, e.n as n"),
    "a type feeds itself": Small("insert into A select k, n + 1 as n, v from A"),
    "a context without duration": Small("create context C start @now end after 0 sec; context C select count(*) from A", span=10),
    "a string doubles": Small("create variable string s = 'x'; on A set s = s || s", 60),
    "a number squares": Small("create variable biginteger b = 3; on A set b = b * b", 60),
    "a decimal squares": Small("create variable bigdecimal b = 3.3; on A set b = b * b", 60),
    "a sketch": Small("create table T(c countMinSketch({epsOfTotalCount: 1e-10, confidence: 0.999999999999, topk: 2000000000}))"),
    "a deep index": Small(
        "create window W#keepall as (x double, y double);"
        "create index i on W((x, y) pointregionquadtree(0, 0, 1e300, 1e300, 1, 2000000000));"
        "insert into W select v as x, v as y from A", 500),
    "stars nested": Small(
        "select * from A match_recognize (measures count(X.n) as c all matches pattern ((((X*)*)*)* Y) define Y as Y.n < 0)", 60),
    "alternatives nested": Small(
        "select * from A match_recognize (measures count(X.n) as c pattern ((X | Y | X Y | Y X)* Z) define Z as Z.n < 0)", 40),
    "greedy in flink": Small(
        "@Dialect('flink') select m.* from A match_recognize (ORDER BY n MEASURES LAST(D.n) AS d AFTER MATCH SKIP TO NEXT ROW "
        "PATTERN (X+ Y+ Z+ D) DEFINE X AS X.v > -1, Y AS Y.v > -1, Z AS Z.v > -1, D AS D.v < -1) as m", 1000),
    "a regular expression": Small("select k regexp '(a+)+$' as c from A(k regexp '(a|aa)+$')"),
    "a like": Small(f"select k like '{'%a' * 30}%b' as c from A"),
    "cubes": Small("select count(*) from A group by cube(k, n, v), cube(k, n, v), cube(k, n)"),
    "a window for each row": Small("select window(*) as w from A#keepall", 3000),
    "a window in a table": Small("create table T(w window(*) @type(A)); into table T select window(*) as w from A", 3000),
    "equal hashes": Small(f"select v * {2**61 - 1}.0 as h, count(*) from A group by v * {2**61 - 1}.0", 3000),
}  # fmt: skip
TABLE = pa.table({"k": ["a"] * 200, "n": range(200), "v": [float(n % 7) for n in range(200)]})
CHAIN = ", ".join(f"a{i + 1} as (select x.n from a{i} x join a{i} y on x.n = y.n)" for i in range(25))


def rows(row_pattern: str, define: str) -> str:
    return f"select * from t match_recognize (order by n measures count(*) as c pattern ({row_pattern}) define {define}) as m"


QUERIES = {
    "a product": "with b as (select a.n from t a, t c) select count(*) from b, b c",
    "with, again and again": f"with a0 as (select n from t), {CHAIN} select count(*) from a25",
    "stars in stars": rows("((A*)*)* Z", "A as v > -1, Z as v > 100"), "a million": rows("A{1,1000000}", "A as v > -1"),
    "hundreds of hundreds": rows("((A{1,100}){1,100}){1,100}", "A as v > -1"),
    "permutations": rows("PERMUTE(A, B, C, D, E, F, G, H, I, J, K, L)", "A as v = 1, L as v = 100"),
    "a sequence": "select sequence(1, 1000000000) from t", "a repetition": "select repeat(k, 1000000000) from t",
    "padding": "select rpad('x', 2000000000, 'y') from t", "nesting": f"select {'(' * 3000}1{')' * 3000} from t",
    "negation": f"select {'not ' * 5000}true from t", "cases": f"select {'case when n > 1 then ' * 500}1{' end' * 500} from t",
    "queries in queries": "select * from " + "(select * from " * 400 + "t" + ")" * 400,
    "a power of a power": "select power(power(n + 10, 10000), 10000) from t",
    "lambdas": "select reduce(sequence(1, 60), '', (s, x) -> s || s || 'x', s -> length(s)) from t",
}  # fmt: skip
SCRIPTS = {
    "digits": "T={a=" + "9" * 20_000 + "}", "braces": "T={a=" * 3000, "brackets": "T=" + "[" * 5000,
    "an exponent": "t=t.plus(1e308 seconds)",
    "a string": "T={a='" + "x" * 50_000 + "'}",
}  # fmt: skip
FILES = {
    "brackets.test.yaml": "[" * 4000, "keys.test.yaml": "a: " * 4000, "items.test.yaml": "- " * 4000, "deep.test.json": "[" * 100_000,
    "digits.test.json": '{"start_time": ' + "9" * 5000 + ', "cases": []}', "date.test.yaml": "start_time: 2024-13-45\ncases: []",
    "control.test.yaml": "cases: []\n\x07",
}  # fmt: skip
REFUSED = {
    *(f"module: {name}" for name in ("every, nested", "strings nested", "aliases nested", "categories", "hashes", "a sketch")),
    *(f"query: {name}" for name in QUERIES.keys() - {"with, again and again", "stars in stars", "a power of a power"}),
    *(f"script: {name}" for name in SCRIPTS.keys() - {"a string"}), *(f"file: {name}" for name in FILES),
}  # fmt: skip


def run_module(small: Small) -> None:
    errors: set[type[BaseException]] = set()
    runtime = Runtime(settings=Settings(max_routed=1000), on_error=lambda error, *_: errors.add(type(error)))
    runtime.deploy(SCHEMA)
    try:
        runtime.deploy(small.text)
        for number in range(small.events):
            runtime.send("A", {"k": "a" * 40 + "!", "n": number, "v": float(number)})
        runtime.advance_time(small.span)
    finally:
        runtime.send("Plain", {"n": 1})
        assert [row["n"] for row in runtime.statement("plain")] == [1]
    assert all(issubclass(error, EplError) for error in errors), errors


def run_file(name: str, folder: Path) -> None:
    (folder / name).write_text(FILES[name])
    read_cases(folder / name)


def cases(folder: Path) -> dict[str, Any]:
    """Return the calls by name."""
    return {
        **{f"module: {name}": lambda small=small: run_module(small) for name, small in MODULES.items()},
        **{f"query: {name}": lambda text=text: Runtime.sql(text, {"t": TABLE}) for name, text in QUERIES.items()},
        **{f"script: {name}": lambda text=text: list(parse_script(text)) for name, text in SCRIPTS.items()},
        **{f"file: {name}": lambda name=name: run_file(name, folder) for name in FILES},
    }


class TooLong(BaseException):
    """The processor time is used up."""


def _stop(*_: object) -> None:
    raise TooLong


def main(folder: Path) -> None:
    """Run all cases, and print the outcome of each as a line of JSON."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    signal.signal(signal.SIGPROF, _stop)
    for name, call in cases(folder).items():
        outcome, most = "ended", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            call()
        except (EplError, BadCaseFile):
            outcome = "refused"
        except BaseException as error:  # noqa: BLE001 - all are shown
            outcome = f"{type(error).__name__}: {str(error)[:200]}"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most) // 1024
        print(json.dumps([name, outcome, grown]), flush=True)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, int]]:
    folder = tmp_path_factory.mktemp("files")
    code = f"import pathlib; from tests.attack.test_resources import main; main(pathlib.Path({str(folder)!r}))"
    process = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=600)
    lines = [json.loads(line) for line in process.stdout.splitlines()]
    assert process.returncode == 0, (lines[-1:], process.stderr[-1000:])
    return {name: (outcome, grown) for name, outcome, grown in lines}


@pytest.mark.skipif(sys.platform == "win32", reason="limits and timers of POSIX")
@pytest.mark.parametrize("name", cases(Path()))
def test_it_ends_in_time_and_memory(name: str, outcomes: dict[str, tuple[str, int]]) -> None:
    outcome, grown = outcomes[name]
    assert outcome == ("refused" if name in REFUSED else "ended")
    assert grown < MEGABYTES
