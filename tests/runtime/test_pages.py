"""State in pages: the changes since a mark bring a store of pages to what the runtime is now, and hold little more than what changed."""
import subprocess
import sys
from pathlib import Path

import msgpack
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from runtime import EplRuntimeError, Runtime
from runtime.api.statement import internal_output
from runtime.state.key_pages import ITEMS_A_PAGE, LongPages, page_number
from runtime.state.seal import seal_payload, unseal_payload
from tests.runtime.listening import listen
from windows.paging import Long

STATEMENTS = [
    "select irstream k, sum(x) as t, count(*) as c from E#length(5) group by k",
    "select k, j, sum(x) as t from E#time(9 sec) group by rollup(k, j)",
    "select k, sum(x) as t, count(*, group_by: (j)) as c from E#keepall group by k",
    "@Hint('reclaim_group_aged=5,reclaim_group_freq=2') select k, sum(x) as t from E group by k",
    "select irstream * from E#groupwin(k)#length(2)",
    "select irstream * from E#groupwin(k)#time(4 sec)",
    "select irstream * from E#groupwin(k)#length(size)",
    "select irstream k, count(*) as c from E#groupwin(k)#time_batch(3 sec) group by k",
    "select * from E#unique(k)",
    "select irstream * from E#unique(k, j)#length(4)",
    "select * from E#firstunique(k, j)",
    "select * from E#rank(k, 3, x desc)",
    "select k, x from E#time(6 sec)",
    "select k, prior(2, x) as p, prev(1, x) as q from E#length(4)",
    "select irstream * from E#length_batch(3)",
    "select * from E match_recognize (partition by k measures A.x as a, last(B.x) as b, C.x as c pattern (A B* C) "
    "define B as B.x > A.x, C as C.x < A.x)",
    "select * from E#time(8 sec) match_recognize (partition by k, j measures A.x as a, B.x as b pattern (A B) define B as B.x > prev(B.x))",
    "select * from E match_recognize (measures A.k as k, count(B.x) as n pattern (A B*) interval 4 sec define A as A.x > 5)",
    "select k, sum(x) as t from E group by k output first every 3 events",
    "select k, sum(x) as t from E group by k output first every 4 sec",
    "select irstream k, sum(x) as t from E#length(4) group by k output all every 3 events",
    "select irstream k, sum(x) as t from E#length(4) group by k output last every 3 events",
    "select k, x, sum(x) as t from E#length(4) group by k output all every 3 events",
    "select k, x, sum(x) as t from E group by k output last every 3 events",
    "select k, sum(x) as t from E group by k output snapshot every 3 sec",
    "@IterableUnbound select k, sum(x) as t from E group by k",
    "@IterableUnbound @Hint('reclaim_group_aged=2,reclaim_group_freq=1') select k, sum(x) as t from E group by k",
    "@Hint('reclaim_group_aged=2,reclaim_group_freq=1') select k, sum(x) as t from E group by k output snapshot every 3 events",
    "insert into F select k, x from E(x > low)",
    "select irstream k, avg(x) as a from F#length(3) group by k",
]
SCHEMA = "create schema E(k string, j int, x double); create schema F(k string, x double); create variable int low = 2; " \
         "create variable int size = 2;"

step = st.one_of(
    st.tuples(st.just("event"), st.sampled_from("ABCDEFG"), st.integers(0, 2), st.integers(0, 9)),
    st.tuples(st.just("event"), st.sampled_from("ABCDEFG"), st.integers(0, 2), st.integers(0, 9)),
    st.tuples(st.just("time"), st.integers(0, 7_000), st.just(0), st.just(0)),
    st.tuples(st.just("set"), st.sampled_from(["low", "size"]), st.integers(1, 4), st.just(0)),
)
chosen = st.lists(st.sampled_from(range(len(STATEMENTS))), min_size=1, max_size=6, unique=True)


def fresh(numbers):
    rt = Runtime()
    rt.deploy(SCHEMA, name="types")
    for number in sorted(numbers):
        rt.deploy(f"@name('s{number}') {STATEMENTS[number]}", name=f"d/{number}")
    return rt


def run(rt, given_step):
    kind, one, two, three = given_step
    if kind == "event":
        rt.send("E", {"k": one, "j": two, "x": float(three)})
    elif kind == "time":
        rt.advance_time(rt.now + one)
    else:
        rt.set_variable(one, two)


def contents(rt):
    return {s.name: [r.to_dict() for r in s] for d in rt.deployments.values() for s in d}


@settings(max_examples=60, deadline=None, phases=[p for p in Phase if p is not Phase.shrink])
@given(
    chosen, st.lists(st.tuples(step, st.sampled_from(["no", "mark", "old mark", "base", "deploy"])), max_size=25),
    st.lists(step, max_size=15)
)
@example(list(range(len(STATEMENTS))), [(("event", "AB"[n % 2], n % 3, n % 7), "mark") for n in range(25)], [])
def test_a_base_and_its_changes_restore_exactly(numbers, steps, more):
    rt = fresh(numbers)
    base = rt.pages()
    store, mark = base.apply_to({}), base.mark
    older, older_mark = dict(store), mark
    for number, (one, then) in enumerate(steps):
        run(rt, one)
        if then == "deploy":
            text = f"select k, count(*) as c from E#length(3) group by k; @name('more{number}') select * from E#unique(k)"
            rt.deploy(text, name=f"m{number}")
        if then in ("mark", "deploy"):
            older, older_mark = dict(store), mark
            changes = rt.pages(since=mark)
            store, mark = changes.apply_to(store), changes.mark
        elif then == "old mark":
            changes = rt.pages(since=older_mark)
            store, mark = changes.apply_to(dict(older)), changes.mark
            older_mark, older = mark, dict(store)
        elif then == "base":
            base = rt.pages()
            store, mark = base.apply_to({}), base.mark
            older, older_mark = dict(store), mark
    store = rt.pages(since=mark).apply_to(store)
    back = Runtime.restore(store)
    assert back.snapshot() == rt.snapshot()
    assert contents(back) == contents(rt)
    log, restarted_log = [], []
    listen(rt, log)
    listen(back, restarted_log)
    for one in more:
        run(rt, one)
        run(back, one)
    assert restarted_log == log


def grouped(count):
    rt = Runtime()
    rt.deploy("create schema E(k int, x double); @name('s') select k, sum(x) as t from E group by k; @name('u') select * from E#unique(k);")
    for k in range(count):
        rt.send("E", {"k": k, "x": 1.0})
    return rt


def test_changes_are_as_small_as_what_changed():
    rt = grouped(5_000)
    base = rt.pages()
    assert len(base.changed) > 150
    rt.send("E", {"k": 17, "x": 1.0})
    changes = rt.pages(since=base.mark)
    assert len(changes.changed) <= 8 and not changes.complete
    assert sum(map(len, changes.changed.values())) < sum(map(len, base.changed.values())) / 30
    assert rt.pages(since=changes.mark).changed == {}


def test_a_statement_that_was_told_nothing_is_not_asked():
    rt = grouped(10)
    rt.deploy("create schema Other(x int); @name('o') select sum(x) as t from Other#keepall")
    mark = rt.pages().mark
    internal_output(rt.statement("o")).running.state = None
    rt.send("E", {"k": 1, "x": 1.0})
    assert rt.pages(since=mark).changed


def test_pages_grow_one_by_one():
    rt = grouped(1)
    first = rt.pages()
    store, mark = first.apply_to({}), first.mark
    for k in range(2_000):
        rt.send("E", {"k": k, "x": 1.0})
        if k % 100 == 0:
            changes = rt.pages(since=mark)
            store, mark = changes.apply_to(store), changes.mark
    store = rt.pages(since=mark).apply_to(store)
    assert 20 < sum("/k0/" in key for key in store) / 2 < 64
    assert Runtime.restore(store).snapshot() == rt.snapshot()
    for count in range(1, 70):
        moved = [h for h in range(1000) if page_number(h, count) != page_number(h, count + 1)]
        assert {page_number(h, count + 1) for h in moved} <= {count}


def test_a_deployment_that_came_and_went_is_counted():
    """Deploy and undeploy between two marks: the restored runtime gives the next deployment the id that the first one gives it."""
    runtime = Runtime()
    runtime.deploy("create schema E(x int)")
    base = runtime.pages()
    runtime.deploy("select * from E").undeploy()
    store = runtime.pages(since=base.mark).apply_to(base.apply_to({}))
    restored = Runtime.restore(store)
    assert restored.deploy("select x from E").id == runtime.deploy("select x from E").id == "d2"


def test_events_that_are_held_no_more_are_dropped():
    rt = Runtime()
    rt.deploy("create schema E(k int); @name('s') select * from E#length(10); @name('t') select * from E#length(10)")
    pages = rt.pages()
    store, mark = pages.apply_to({}), pages.mark
    for k in range(3_000):
        rt.send("E", {"k": k})
        changes = rt.pages(since=mark)
        store, mark = changes.apply_to(store), changes.mark
    pages_of_events = [unseal_payload(data, f"page '{key}'") for key, data in store.items() if key.startswith("events/")]
    held = [len(msgpack.unpackb(page, strict_map_key=False)[2]) for page in pages_of_events]
    assert sum(held) <= 25


items = st.lists(st.integers(0, 10**9), unique=True, max_size=5 * ITEMS_A_PAGE)


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_pieces_of_a_long_list_are_the_list(random):
    pages, live, count = LongPages(), Long(), 0
    known = {}
    for _ in range(12):
        for _ in range(random.randrange(700)):
            live.append(count)
            count += 1
        del live[: random.randrange(len(live) + 1) if random.random() < 0.3 else random.randrange(300)]
        for _ in range(random.choice([0, 0, 0, 1, 50])):
            if live:
                live.pop(random.randrange(len(live)))
        changed, gone = pages.changed(Long(live))
        for number in gone:
            known.pop(number, None)
        known.update({number: list(piece) for number, piece in pages.pieces if number in changed})
        if pages.pieces:
            assert [item for number, _ in pages.pieces for item in known[number]] == live
        assert len(known) == len(pages.pieces)


def test_marks_and_pages_that_are_not_known_are_refused_by_name():
    rt = grouped(3)
    with pytest.raises(EplRuntimeError, match="mark 'x:1' are not known"):
        rt.pages(since="x:1")
    old = rt.pages().mark
    store = rt.pages().apply_to({})
    with pytest.raises(EplRuntimeError, match="are not known"):
        rt.pages(since=old)
    with pytest.raises(EplRuntimeError, match="page 'head' is missing"):
        Runtime.restore({})
    with pytest.raises(EplRuntimeError, match="page of unknown kind 'shape'"):
        Runtime.restore({**store, "clock": seal_payload(msgpack.packb(["shape", 1, None]), "page 'clock'")})
    with pytest.raises(EplRuntimeError, match="kind 'clock' in version 9"):
        Runtime.restore({**store, "clock": seal_payload(msgpack.packb(["clock", 9, None]), "page 'clock'")})
    lost = next(key for key in store if "/k0/" in key)
    with pytest.raises(EplRuntimeError, match="of 3 keys"):
        Runtime.restore({key: data for key, data in store.items() if key != lost})


COUNT = """
import sys
sys.path[:0] = sys.argv[1:]
from tests_pages import SCHEMA, STATEMENTS, Runtime, fresh, run
import epl.parse, epl.analysis.statements.modules, runtime.api.plan_cache as cache
rt = fresh(range(len(STATEMENTS)))
for n in range(12):
    run(rt, ("event", "ABC"[n % 3], n % 2, n))
blob = rt.snapshot()
counts = {}
def counting(module, name):
    inner = getattr(module, name)
    def counted(*arguments):
        counts[name] = counts.get(name, 0) + 1
        return inner(*arguments)
    setattr(module, name, counted)
counting(cache, "parse_module"); counting(cache, "analyse_module")
sys.addaudithook(lambda event, _: counts.__setitem__(event, counts.get(event, 0) + 1) if event == "compile" else None)
first = Runtime.restore(blob); first.send("E", {"k": "A", "j": 1, "x": 1.0})
assert counts.get("analyse_module"), counts
counts.clear()
second = Runtime.restore(blob); second.send("E", {"k": "A", "j": 1, "x": 1.0})
print(sorted(counts.items()))
"""


def test_a_second_restore_parses_analyses_and_compiles_nothing(tmp_path):
    (tmp_path / "tests_pages.py").write_text(Path(__file__).read_text())
    done = subprocess.run([sys.executable, "-c", COUNT, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_the_old_name_of_apply_to_warns() -> None:
    with Runtime() as runtime:
        pages = runtime.pages()
        with pytest.warns(DeprecationWarning, match=r"^Pages.onto is called Pages.apply_to now$"):
            assert pages.onto({}) == pages.apply_to({})
