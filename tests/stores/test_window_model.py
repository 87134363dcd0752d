"""A named window is a list: random inserts, on-statements and queries against a model, also restored at any event."""
from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import Runtime

MODULE = """
@public create schema Put(k string, v int); @public create schema Change(k string, v int); @public create schema Add(k string, v int);
@public create schema Del(v int); @public create schema Ask(k string, v int);
@name('window') @public create window W#keepall as Put;
@public create index ByK on W(k);
insert into W select * from Put;
on Change as e update W as w set v = e.v where w.k = e.k;
on Add as e merge W as w where w.k = e.k when matched then update set v = w.v + e.v when not matched then insert select k, v;
on Del as e delete from W as w where w.v < e.v;
@name('counts') select irstream k, count(*) as c, sum(v) as s from W group by k;
@name('joined') select w.v as v from Ask as a unidirectional, W as w where w.k = a.k;
@name('asked') on Ask as a select w.k as k, w.v as v from W as w where w.v >= a.v;
"""
Row = tuple[str, int]

EVENTS = st.tuples(
    st.sampled_from(["Put", "Put", "Change", "Add", "Del", "Ask", "insert", "update", "delete", "select"]), st.sampled_from("ABC"),
    st.integers(0, 3))


class Model:
    """Rows in order of arrival; a changed row takes its place at the end, as in Esper."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def change(self, name: str, k: str, v: int) -> None:
        rows = self.rows
        mine = [row for row in rows if row[0] == k]
        if name in ("Put", "insert") or (name == "Add" and not mine):
            rows.append((k, v))
        elif name in ("Change", "Add"):
            self.rows = [row for row in rows if row[0] != k] + [(k, v if name == "Change" else row[1] + v) for row in mine]
        elif name == "update":
            self.rows = [row for row in rows if row[1] != v] + [(row[0], v + 1) for row in rows if row[1] == v]
        elif name == "Del":
            self.rows = [row for row in rows if row[1] >= v]
        elif name == "delete":
            self.rows = [row for row in rows if row != (k, v)]

    def groups(self) -> dict[str, tuple[int, int]]:
        """(count, sum) by key."""
        keys = {k for k, _ in self.rows}
        return {key: (sum(k == key for k, _ in self.rows), sum(v for k, v in self.rows if k == key)) for key in keys}


class Driven:
    """A runtime with the module, and what its statements emit."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.groups: dict[str, tuple[int, int]] = {}
        self.answers: dict[str, list[Any]] = {}
        for deployment in runtime.deployments.values():
            for statement in deployment:
                if statement.name == "counts":
                    statement.add_listener(self._count)
                elif statement.name in ("joined", "asked"):
                    statement.add_listener(self._answer)

    def _count(self, new: Any, old: Any, statement: Any, runtime: Any) -> None:
        for row in new:
            if row["c"]:
                self.groups[row["k"]] = (row["c"], row["s"])
            else:
                self.groups.pop(row["k"], None)

    def _answer(self, new: Any, old: Any, statement: Any, runtime: Any) -> None:
        self.answers.setdefault(statement.name, []).extend(tuple(row.values()) for row in new)

    def rows(self) -> list[Row]:
        window = next(s for deployment in self.runtime.deployments.values() for s in deployment if s.name == "window")
        return [(row["k"], row["v"]) for row in window]

    def do(self, name: str, k: str, v: int) -> Any:
        query = self.runtime.query
        if name == "insert":
            return query("insert into W(k, v) values (?:k:string, ?:v:int)", {"k": k, "v": v})
        if name == "update":
            return query("update W set v = v + 1 where v = ?:v:int", {"v": v})
        if name == "delete":
            return query("delete from W where k = ?:k:string and v = ?:v:int", {"k": k, "v": v})
        if name == "select":
            return query("select k, count(*) as c, sum(v) as s from W where k = ?:k:string group by k", {"k": k})
        return self.runtime.send(name, {"v": v} if name == "Del" else {"k": k, "v": v})


@settings(max_examples=80, deadline=None)
@given(st.lists(EVENTS, max_size=25), st.integers(0, 25))
def test_a_named_window_is_a_list(events: list[tuple[str, str, int]], cut: int) -> None:
    runtime, model = Runtime(start_time=0), Model()
    runtime.deploy(MODULE)
    driven = Driven(runtime)
    for number, (name, k, v) in enumerate(events):
        if number == cut:
            groups, driven = driven.groups, Driven(Runtime.restore(driven.runtime.snapshot()))
            driven.groups = groups
        driven.answers.clear()
        model.change(name, k, v)
        result = driven.do(name, k, v)
        assert sorted(driven.rows()) == sorted(model.rows)
        assert driven.groups == model.groups()
        if name == "Ask":
            assert sorted(driven.answers.get("joined", [])) == sorted((row[1],) for row in model.rows if row[0] == k)
            assert sorted(driven.answers.get("asked", [])) == sorted(row for row in model.rows if row[1] >= v)
        if name == "select":
            assert [(row["c"], row["s"]) for row in result] == [counted for key, counted in model.groups().items() if key == k]
