"""Tables as rows: random changes against a dictionary, restores at any event, violations and raising expressions that change nothing."""
from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import Runtime
from runtime.api.runtime import internal_engine

SCHEMA = """
@public create schema Put(k string, v int); @public create schema Tally(k string, n int); @public create schema Ask(k string, v int);
@public create schema Change(k string, v int); @public create schema Add(k string, v int); @public create schema Del(v int);
@public create schema Move(k string, v int);
"""
MODULE = SCHEMA + """
@name('table') @public create table T(k string primary key, v int, total sum(int), c count(*));
insert into T select k, v from Put;
into table T select sum(n) as total, count(*) as c from Tally group by k;
on Change as e update T as t set v = e.v where t.k = e.k;
on Move as e update T as t set k = e.k where t.v = e.v;
on Add as e merge T as t where t.k = e.k when matched then update set v = v + e.v when not matched then insert select k, v;
on Del as e delete from T as t where t.v < e.v;
@name('joined') select a.k as asked, t.k as k, t.v as v, t.total as total from Ask as a unidirectional, T as t where t.v = a.v;
@name('found') select (select v from T where k = a.k) as v, exists(select * from T where v > a.v) as more, T[k].total as total,
  (select sum(total) from T) as s from Ask as a;
@name('selected') on Ask as a select t.k as k, t.c as c from T as t where t.k = a.k;
"""
READ = ("joined", "found", "selected")


@attrs.define
class Row:
    k: str
    v: int | None = None
    total: int | None = None
    c: int = 0


class Model:
    """A dictionary of rows. What an event brings to the statements that read; ``None`` where it violates the primary key."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}

    def send(self, name: str, k: str, v: int) -> list[Any] | None:
        rows = self.rows
        if name == "Put":
            if k in rows:
                return None
            rows[k] = Row(k, v)
        elif name == "Tally":
            row = rows.setdefault(k, Row(k))
            row.total, row.c = (row.total or 0) + v, row.c + 1
        elif name == "Change" and k in rows:
            rows[k].v = v
        elif name == "Move":
            moved = [row for row in rows.values() if row.v == v]
            if len(moved) > 1 or (moved and k in rows and moved[0].k != k):
                return None
            for row in moved:
                del rows[row.k]
                rows[k], row.k = row, k
        elif name == "Add":
            row = rows.setdefault(k, Row(k, 0))
            row.v = None if row.v is None else row.v + v
        elif name == "Del":
            self.rows = {key: row for key, row in rows.items() if row.v is None or row.v >= v}
        return self._answers(k, v) if name == "Ask" else []

    def _answers(self, k: str, v: int) -> list[Any]:
        rows = list(self.rows.values())
        row, totals = self.rows.get(k), [each.total for each in rows if each.total is not None]
        joined = [{"asked": k, "k": each.k, "v": each.v, "total": each.total} for each in rows if each.v == v]
        answers: list[Any] = [("joined", joined)] if joined else []
        answers.append(("found", [{
            "v": row and row.v, "more": any(each.v is not None and each.v > v for each in rows), "total": row and row.total,
            "s": sum(totals) if totals else None}]))
        return answers + ([("selected", [{"k": k, "c": row.c}])] if row else [])


def _listen(runtime: Runtime) -> list[Any]:
    calls: list[Any] = []
    for deployment in runtime.deployments.values():
        for statement in deployment:
            if statement.name in READ:
                statement.add_listener(lambda new, old, s, _: calls.append((s.name, [dict(row) for row in new])))
    return calls


def _of(runtime: Runtime) -> Any:
    return next(s for deployment in runtime.deployments.values() for s in deployment if s.name == "table")


def _by_k(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: str(row.get("k")))


EVENTS = st.tuples(
    st.sampled_from(["Put", "Tally", "Change", "Move", "Add", "Del", "Ask", "Ask"]), st.sampled_from("ABCD"), st.integers(0, 3))


@settings(max_examples=100, deadline=None)
@given(st.lists(EVENTS, max_size=25), st.integers(0, 25))
def test_a_table_is_a_dictionary(events: list[tuple[str, str, int]], cut: int) -> None:
    """Whatever writes it, whatever reads it, and restored at any event; a violation is an error that changes nothing."""
    errors: list[str] = []

    def note(error: Exception, statement: str, event: Any) -> None:
        errors.append(str(error))

    runtime, model = Runtime(start_time=0, on_error=note), Model()
    runtime.deploy(MODULE)
    calls = _listen(runtime)
    for number, (name, k, v) in enumerate(events):
        if number == cut:
            runtime = Runtime.restore(runtime.snapshot(), on_error=note)
            calls = _listen(runtime)
        calls.clear()
        errors.clear()
        answers = model.send(name, k, v)
        runtime.send(name, {"v": v} if name == "Del" else {"k": k, "n" if name == "Tally" else "v": v})
        if answers is None:
            assert len(errors) == 1 and "Unique index violation, index 'T' is a unique index and key" in errors[0]
        else:
            assert not errors
            assert [(each, _by_k(rows)) for each, rows in calls] == [(each, _by_k(rows)) for each, rows in answers]
        assert _by_k([dict(row) for row in _of(runtime)]) == _by_k([attrs.asdict(row) for row in model.rows.values()])


def _check(v: int) -> int:
    if v == 2:
        raise ValueError("two")
    return v


@pytest.mark.parametrize("statement", [
    "on Change as e update T as t set v = cast(check(t.v), int)",
    "on Change as e merge T as t where t.v >= 0 when matched then update set v = cast(check(t.v), int)",
    "on Change as e delete from T as t where check(t.v) >= 0",
    "on Change as e select and delete check(t.v) as x from T as t",
    "insert into T select k, cast(check(v), int) as v from Change",
])
def test_what_raises_changes_nothing(statement: str) -> None:
    errors: list[str] = []
    runtime = Runtime(start_time=0, on_error=lambda error, statement, event: errors.append(str(error)))
    runtime.register_function("check", _check)
    runtime.deploy(MODULE)
    runtime.deploy(statement)
    calls = _listen(runtime)
    for number in range(4):
        runtime.send("Put", {"k": f"k{number}", "v": number})
    before = [dict(row) for row in _of(runtime)]
    runtime.send("Change", {"k": "new", "v": 2})
    assert len(errors) == 1 and "two" in errors[0]
    assert [dict(row) for row in _of(runtime)] == before
    for number in range(4):
        runtime.send("Ask", {"k": "", "v": number})
    assert [rows[0]["k"] for name, rows in calls if name == "joined"] == [f"k{number}" for number in range(4)]


def test_rows_that_are_emitted_do_not_change() -> None:
    runtime = Runtime(start_time=0)
    runtime.deploy(MODULE + "@name('rows') on Ask as a select t.*, t as row from T as t")
    emitted: list[Any] = []
    next(s for d in runtime.deployments.values() for s in d if s.name == "rows").add_listener(lambda new, old, s, _: emitted.extend(new))
    for n in (1, 2):
        runtime.send("Tally", {"k": "A", "n": n})
        runtime.send("Ask", {"k": "A", "v": 0})
    assert [(row["total"], row["row"]["total"]) for row in emitted] == [(1, 1), (3, 3)]


def test_stored_rows_are_counted() -> None:
    runtime = Runtime(start_time=0)
    runtime.deploy(SCHEMA + """create window W#length(2) as Put; insert into W select * from Put;
        create table T(k string primary key, v int); insert into T select k, v from Put; on Del as d delete from T as t where t.v < d.v""")
    for number in range(3):
        runtime.send("Put", {"k": f"k{number}", "v": number})
    assert runtime.stored_rows == {"W": 2, "T": 3}
    runtime.send("Del", {"v": 2})
    assert Runtime.restore(runtime.snapshot()).stored_rows == runtime.stored_rows == {"W": 2, "T": 1}


def test_indexes_of_a_table_go_with_the_last_statement_that_asks() -> None:
    runtime = Runtime(start_time=0)
    runtime.deploy(SCHEMA + "@public create table T(k string primary key, v int); insert into T select k, v from Put")
    store = next(iter(internal_engine(runtime).deployer.tables.values()))
    texts = (
        "select * from Ask as a unidirectional, T as t where t.v = a.v", "select (select k from T where v = a.v) as k from Ask as a",
        "on Del as d delete from T as t where t.v = d.v")
    deployed = [runtime.deploy(text) for text in texts]
    assert [index.title for index in store.rows.indexes] == ["hash (v)"]
    for deployment in deployed:
        assert store.rows.indexes
        runtime.undeploy(deployment.id)
    assert store.rows.indexes == ()
