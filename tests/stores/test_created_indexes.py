"""Indexes of ``create index``: what they refuse changes nothing; look-ups by them agree with a scan; they come and go."""
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.errors import EplDeploymentError, EplUnsupportedError
from runtime import Runtime
from runtime.api.statement import internal_output

SCHEMA = "@public create schema Item(shop string, sku int); @public create schema Ask(shop string, sku int); "
WINDOW = SCHEMA + "@name('w') @public create window Stock{} as Item; insert into Stock select * from Item; "
CONSUMERS = "@name('c') select irstream shop, sku from Stock; @name('sum') select sum(sku) as s from Stock; "
STATEMENTS = """@name('u') on Ask(shop > 'm') update Stock set sku = Ask.sku where Stock.shop = 'a';
    @name('d') on Ask(shop = 'd') delete from Stock where Stock.sku = Ask.sku;
    @name('m') on Ask(shop = 'm') as x merge Stock as w where w.sku = x.sku when matched and w.sku = 3 then delete
        when matched then update set sku = 5 when not matched then insert select 'new' as shop, x.sku as sku"""
UNIQUE = "@name('i') @public create unique index ByNumber on Stock(sku)"


class Shop:
    """A runtime with a window, what its consumers have emitted, and the messages of errors."""

    def __init__(self, *modules: str) -> None:
        self.errors: list[tuple[str, str]] = []
        self.calls: list[Any] = []
        self.runtime = Runtime(start_time=0, on_error=self.note)
        for module in modules:
            self.runtime.deploy(module)
        self.listen()

    def note(self, error: BaseException, statement: str, event: Any) -> None:
        self.errors.append((statement, str(error).partition("\n")[0]))

    def listen(self) -> None:
        self.runtime.statement("c").add_listener(
            lambda new, old, s, _: self.calls.append(([tuple(r.values()) for r in new], [tuple(r.values()) for r in old])))

    def put(self, shop: str | None, sku: int | None) -> None:
        self.runtime.send("Item", {"shop": shop, "sku": sku})

    def ask(self, shop: str | None, sku: int | None) -> None:
        self.runtime.send("Ask", {"shop": shop, "sku": sku})

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for row in self.runtime.statement("w")]


def violation(key: object) -> str:
    return f"Unique index violation, index 'ByNumber' is a unique index and key '{key}' already exists"


@pytest.mark.parametrize("window", [
    "#keepall", "#time(10)", "#length(9)", "#keepall#unique(shop, sku)", "#expr(true)", "#groupwin(shop)#keepall"])
def test_a_row_that_is_refused_changes_nothing(window: str) -> None:
    shop = Shop(WINDOW.format(window) + CONSUMERS, UNIQUE, STATEMENTS)
    shop.put("a", 1)
    shop.put("b", 2)
    shop.put(None, None)
    calls, rows = list(shop.calls), shop.rows
    shop.put("c", 2)
    shop.put("c", None)
    shop.ask("z", 2)  # a's number becomes that of b
    assert shop.errors == [("w", violation(2)), ("w", violation("null")), ("u", violation(2))]
    assert (shop.calls, sorted(shop.rows, key=str)) == (calls, sorted(rows, key=str))
    assert [dict(row) for row in shop.runtime.statement("sum")] == [{"s": 3}]
    shop.ask("z", 4)
    shop.put("c", 1)
    assert len(shop.errors) == 3 and {("a", 4), ("b", 2), ("c", 1)} < set(shop.rows)


def test_rows_that_wait_for_their_batch_have_keys_too() -> None:
    shop = Shop(WINDOW.format("#length_batch(2)") + CONSUMERS, UNIQUE)
    shop.put("a", 1)
    shop.put("b", 1)
    shop.put("b", 2)
    assert shop.errors == [("w", violation(1))] and shop.calls == [([("a", 1), ("b", 2)], [])]


def test_what_a_refused_row_has_evicted_is_gone() -> None:
    shop = Shop(WINDOW.format("#length(2)") + CONSUMERS, UNIQUE)
    for name, sku in (("a", 1), ("b", 2), ("c", 2), ("d", 3)):
        shop.put(name, sku)
    assert shop.errors == [("w", violation(2))]
    assert shop.calls == [([("a", 1)], []), ([("b", 2)], []), ([], [("a", 1)]), ([("d", 3)], [])]
    assert shop.rows == [("b", 2), ("d", 3)]


def test_a_window_of_unique_keys_replaces_rows() -> None:
    shop = Shop(WINDOW.format("#unique(sku)") + CONSUMERS, UNIQUE, STATEMENTS)
    for name, sku in (("a", 1), ("b", 1), ("a", 2)):
        shop.put(name, sku)
    shop.ask("z", 1)
    assert not shop.errors and shop.rows == [("a", 1)]


def test_an_index_that_is_refused_is_not_there() -> None:
    shop = Shop(WINDOW.format("#keepall") + CONSUMERS)
    shop.put("a", 1)
    shop.put("b", 1)
    with pytest.raises(EplDeploymentError, match=f"^Failed to deploy: {violation(1)}"):
        shop.runtime.deploy(UNIQUE)
    shop.put("c", 1)
    assert not shop.errors and len(shop.rows) == 3
    shop.runtime.deploy("create index ByNumber on Stock(sku)")


events = st.tuples(st.sampled_from(["put", "ask", "ask m", "ask d"]), st.sampled_from("abz"), st.integers(0, 5))


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(["#keepall", "#length(3)", "#unique(shop)", "#time(10)"]), st.lists(events, max_size=20), st.integers(0, 20))
def test_keys_stay_unique_and_restores_agree(window: str, steps: list[tuple[str, str, int]], cut: int) -> None:
    modules = (WINDOW.format(window) + CONSUMERS, UNIQUE, STATEMENTS)
    whole, other = Shop(*modules), Shop(*modules)
    for number, (kind, shop, sku) in enumerate(steps):
        if number == cut:
            other.runtime = Runtime.restore(other.runtime.snapshot(), on_error=other.note)
            other.listen()
        for each in (whole, other):
            if kind == "put":
                each.put(shop, sku)
            else:
                each.ask(kind[4:] or shop, sku)
        keys = [sku for _, sku in whole.rows]
        assert len(keys) == len(set(keys))
        assert [dict(row) for row in whole.runtime.statement("sum")] == [{"s": sum(keys) if keys else None}]
    assert (whole.calls, whole.errors, whole.rows) == (other.calls, other.errors, other.rows)


conditions = st.lists(st.sampled_from([
    "w.shop = x.shop", "w.sku = x.sku", "w.sku >= x.sku", "w.sku < x.sku", "w.shop in ('a', 'b')", "w.sku between 1 and x.sku",
    "w.sku != 2",
]), min_size=1, max_size=3, unique=True)
indexes = st.lists(
    st.sampled_from(["shop", "sku", "sku btree", "shop, sku", "sku, shop", "shop, sku btree", "shop btree"]), unique=True, max_size=4)
items = st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.none() | st.integers(0, 4)), max_size=10)


@settings(max_examples=40, deadline=None)
@given(conditions, indexes, items, st.integers(0, 10))
def test_look_ups_agree_with_those_without_indexes(where: list[str], keys: list[str], items: list[Any], late: int) -> None:
    select = f"@name('s') on Ask as x select w.shop as shop, w.sku as sku from Stock as w where {' and '.join(where)}"
    plain, indexed = (Shop(WINDOW.format("#length(6)") + CONSUMERS) for _ in range(2))
    created = [f"create index I{n} on Stock({key})" for n, key in enumerate(keys)]
    for module in created[: late % 3]:
        indexed.runtime.deploy(module)
    answers: tuple[list[Any], list[Any]] = ([], [])
    for item in items:
        plain.put(*item)
        indexed.put(*item)
    for module in created[late % 3 :]:
        indexed.runtime.deploy(module)
    for shop, answer in zip((plain, indexed), answers):
        shop.runtime.deploy(select)
        shop.runtime.statement("s").add_listener(lambda new, old, s, _, answer=answer: answer.append(sorted(str(dict(r)) for r in new)))
        for item in [*items, ("b", 3)]:
            shop.put(*item)
            shop.ask(*item)
    assert answers[0] == answers[1] and not indexed.errors


def test_explain_shows_the_index() -> None:
    shop = Shop(WINDOW.format("#keepall") + CONSUMERS, UNIQUE, "create index ByShop on Stock(shop, sku btree)")
    shop.runtime.deploy("@name('q') on Ask as x select * from Stock as w where w.shop = x.shop and w.sku > x.sku; @name('r') on Ask as x "
                        "delete from Stock as w where w.sku = x.sku and w.shop like 'a%'")
    assert "lookup: ByShop: hash (shop) sorted (sku) by" in shop.runtime.statement("q").explain()
    assert "lookup: ByNumber: unique (sku) by" in shop.runtime.statement("r").explain()
    assert "index: ByNumber on Stock, unique (sku)" in shop.runtime.statement("i").explain()


def test_a_plan_is_refused_once_its_index_is_gone() -> None:
    runtime = Runtime(start_time=0)
    runtime.deploy(WINDOW.format("#keepall"))
    index = runtime.deploy(UNIQUE)
    plan = runtime.compile("on Ask as x delete from Stock as w where w.sku = x.sku")
    again = runtime.compile("@public create index Other on Stock(shop)")
    runtime.deploy("@public create index Other on Stock(shop)")
    with pytest.raises(EplDeploymentError, match=r"An index by name 'Other' has already been created for module '\(unnamed\)'"):
        runtime.deploy(again)
    index.undeploy()
    with pytest.raises(EplDeploymentError, match="Required dependency index 'ByNumber' cannot be found"):
        runtime.deploy(plan)


@pytest.mark.parametrize("columns", [
    "other btree", "(x + bound, x) pointregionquadtree(0, 0, 1, 1)", "(x, x) pointregionquadtree(0, 0, bound, 1)"])
def test_what_no_index_can_hold_is_refused_by_name(columns: str) -> None:
    runtime = Runtime(start_time=0)
    runtime.deploy("@public create variable double bound = 1; @public create schema Thing(x double, other Object); "
                   "@public create window Things#keepall as Thing")
    with pytest.raises(EplUnsupportedError, match="not supported"):
        runtime.deploy(f"create index I on Things({columns})")
    with pytest.raises(EplUnsupportedError, match="not supported"):
        runtime.deploy("create unique index I on Things(other)")


SHARED = WINDOW.replace("@name('w')", "@Hint('enable_window_subquery_indexshare') @name('w')").format("#length(3)")
ASKING = """@name('q') select (select shop from Stock where Stock.sku = Ask.sku) as shop, (select sum(sku) from Stock) as total,
    (select count(*) from Stock where Stock.shop = Ask.shop) as c from Ask"""


@settings(max_examples=20, deadline=None)
@given(st.lists(events, max_size=12), st.integers(0, 12))
def test_sub_queries_that_share_indexes_restore(steps: list[tuple[str, str, int]], cut: int) -> None:
    whole, other = (Shop(SHARED + CONSUMERS, "create index I on Stock(sku)", STATEMENTS + ";" + ASKING) for _ in range(2))
    answers: tuple[list[Any], list[Any]] = ([], [])

    def listen(shop: Shop, answer: list[Any]) -> None:
        shop.runtime.statement("q").add_listener(lambda new, old, s, _: answer.extend(dict(row) for row in new))

    for shop, answer in zip((whole, other), answers):
        listen(shop, answer)
    for number, (kind, name, sku) in enumerate(steps):
        if number == cut:
            other.runtime = Runtime.restore(other.runtime.snapshot(), on_error=other.note)
            listen(other, answers[1])
        for each in (whole, other):
            (each.put if kind == "put" else each.ask)(kind[4:] or name, sku)
        if answers[0] and kind != "put":
            assert answers[0][-1]["total"] == (sum(sku for _, sku in whole.rows) if whole.rows else None)
    assert answers[0] == answers[1]


def test_indexes_go_with_those_who_asked_for_them() -> None:
    shop = Shop(SHARED + CONSUMERS)
    rows = internal_output(shop.runtime.statement("w")).running.store.rows
    created = shop.runtime.deploy(UNIQUE)
    asking = shop.runtime.deploy(ASKING)
    deleting = shop.runtime.deploy("on Ask as x delete from Stock as w where w.sku = x.sku and w.shop > x.shop")
    assert [index.title for index in rows.indexes] == ["unique (sku)", "hash (shop)"]
    asking.undeploy()
    assert [index.title for index in rows.indexes] == ["unique (sku)"]
    with pytest.raises(EplDeploymentError, match="Index 'ByNumber' cannot be un-deployed as it is referenced by deployment"):
        created.undeploy()
    deleting.undeploy()
    created.undeploy()
    assert not rows.indexes and not rows.restricted


TABLE = SCHEMA + """@public create table Stock(sku int primary key, shop string, place int, sold count(*));
    @name('w') @public create index ByShop on Stock(shop); @name('in') insert into Stock select sku, shop, sku as place from Item;
    @name('into') into table Stock select count(*) as sold from Ask#keepall group by sku;
    @name('u') on Ask(shop = 'u') as x update Stock as t set shop = 'new' || cast(x.sku, string), place = x.sku where t.shop >= 'm';
    @name('m') on Ask(shop = 'm') as x merge Stock as t where t.sku = x.sku when matched and t.place = 1 then delete
        when not matched then insert select x.sku as sku, 'm' as shop, x.sku as place"""
READING = """@name('c') on Ask select t.sku as sku, t.shop as shop, t.place as place, t.sold as sold from Stock as t order by sku;
    @name('keys') on Ask as x select t.sku as sku from Stock as t where t.place = x.sku;
    @name('shops') select t.sku as sku from Ask as x, Stock as t where t.shop = x.shop;
    @name('q') select (select count(*) from Stock as t where t.place > Ask.sku) as c from Ask"""


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["put", "ask", "ask u", "ask m"]), st.sampled_from("abz"), st.integers(0, 4)), max_size=20),
       st.integers(0, 20))
def test_unique_keys_of_tables(steps: list[tuple[str, str, int]], cut: int) -> None:
    modules = (TABLE, "@public create unique index Places on Stock(place)", "create index Sorted on Stock(place btree)", READING)
    whole, other = Shop(*modules), Shop(*modules)
    answers: tuple[list[Any], list[Any]] = ([], [])

    def listen(shop: Shop, answer: list[Any]) -> None:
        for name in ("keys", "shops", "q"):
            shop.runtime.statement(name).add_listener(lambda new, old, s, _: answer.append((s.name, sorted(str(dict(r)) for r in new))))

    for shop, answer in zip((whole, other), answers):
        listen(shop, answer)
    for number, (kind, shop, sku) in enumerate(steps):
        if number == cut:
            other.runtime = Runtime.restore(other.runtime.snapshot(), on_error=other.note)
            other.listen()
            listen(other, answers[1])
        for each in (whole, other):
            (each.put if kind == "put" else each.ask)(kind[4:] or shop, sku)
        rows = whole.calls[-1][0] if whole.calls and kind != "put" else []
        places = [place for _, _, place, _ in rows]
        assert len(set(places)) == len(places)
        if rows and answers[0][-1][0] == "q":
            assert answers[0][-1] == ("q", [str({"c": sum(place is not None and place > sku for place in places)})])
    assert (whole.calls, whole.errors, answers[0]) == (other.calls, other.errors, answers[1])


def test_what_an_index_on_a_table_refuses_changes_nothing() -> None:
    shop = Shop(TABLE, "create unique index ByNumber on Stock(place)", READING)
    shop.put("a", 1)
    shop.put("z", 2)
    shop.runtime.deploy("create schema Move(sku int); on Move update Stock as t set place = Move.sku where t.sku = 1")
    before = [dict(row) for row in shop.runtime.statement("w")]
    shop.runtime.send("Move", {"sku": 2})
    shop.ask("x", 7)
    shop.ask("x", 8)  # a second row without a place
    assert [message for _, message in shop.errors] == [violation(2), violation("null")]
    assert list(shop.calls[-1][0]) == [(1, "a", 1, 0), (2, "z", 2, 0), (7, None, None, 1)]
    assert before == [dict(row) for row in shop.runtime.statement("w")]
    shop.runtime.send("Move", {"sku": 5})
    shop.put("n", 9)
    shop.ask("x", 7)
    assert shop.calls[-1][0] == [(1, "a", 5, 0), (2, "z", 2, 0), (7, None, None, 2), (9, "n", 9, 0)] and len(shop.errors) == 2
