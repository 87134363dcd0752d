"""Random programs of queries on two named windows and a table.

``EPL_ORACLE=…/record.py python -m tests.queries.drawn`` draws them and stores what Esper does with them. Each is recorded twice: one whose
rows come in another order the second time is dropped, and so is one in which Esper fails.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

STORED = Path(__file__).with_name("stored") / "queries.json.gz"
COUNT = 320
WINDOWS = ("#keepall", "#length(6)", "#unique({0})", "#sort(20, {1} desc)", "#unique({0}, {1})", "#lastevent", "#time(100 sec)")
INDEXES = ("", "", "", "create index I on W(k); ", "create index I on W(v btree); ", "create index I on W(k, v); ")
SCHEMA = (
    "create schema E(k string, v int, d double); create schema F(id string, w int); create variable int least = 2; "
    "create window W{0} as E; insert into W select * from E; create window V{1} as F; insert into V select * from F; "
    "create table T(k string primary key, n int, s sum(int), c count(*)); "
    "into table T select sum(v) as s, count(*) as c from E group by k; {2}"
    "@name('groups') select irstream k, sum(v) as t from W group by k; @name('rows') select irstream * from V; "
    "@name('asked') on F as f select f.id as i, count(*) as n from W where W.k = f.id;"
)
SOURCES = (("W", "k", "v"), ("V", "id", "w"), ("T", "k", "s"))
ASKED = (
    "(select max(w) from V as b where b.id = a.k)", "(select w from V as b where b.id = a.k)", "(select count(*) from V)",
    "(select s from T where T.k = a.k)", "exists (select * from V as b where b.id = a.k and b.w > a.v)", "a.k in (select id from V)",
    "a.v > all (select w from V as b where b.id = a.k)", "(select sum(w) from V as b where b.w > 1)",
    "(select w from V as b where b.id = a.k and b.w = a.v)", "(select sum(s) from T)",
)


class Program:
    """One program, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(f"queries {seed}")
        first, second = self.random.choice(WINDOWS), self.random.choice(WINDOWS)
        self.nulls = self.random.random() < 0.3
        epl = SCHEMA.format(first.format("k", "v"), second.format("id", "w"), self.random.choice(INDEXES))
        self.steps: list[dict[str, Any]] = [{"op": "deploy", "epl": epl}]
        self.steps += [self.event() for _ in range(self.random.randint(4, 12))]
        self.steps += [self.step() for _ in range(self.random.randint(8, 16))]
        self.name = f"queries {seed}"

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def number(self) -> int:
        return self.random.randint(0, 5)

    def key(self) -> str:
        return self.one("'a'", "'b'", "'c'", "'zz'")

    def event(self) -> dict[str, Any]:
        key = None if self.nulls and self.random.random() < 0.15 else self.one("a", "b", "c", "d")
        if self.random.random() < 0.6:
            return {"op": "event", "type": "E", "props": {"k": key, "v": self.number(), "d": self.random.choice((0.5, 1.5, 2.5))}}
        return {"op": "event", "type": "F", "props": {"id": key, "w": self.number()}}

    def step(self) -> dict[str, Any]:
        kind = self.random.random()
        if kind < 0.85:
            return {"op": "faf", "epl": self.select() if kind < 0.62 else self.change()}
        return self.event() if kind < 0.95 else {"op": "iterate", "statement": self.one("groups", "rows")}

    def condition(self, of: str, key: str, value: str) -> str:
        key, value = of + key, of + value
        conditions = (
            f"{key} = {self.key()}", f"{value} = {self.number()}", f"{value} > {self.number()}", f"{value} between 1 and 3",
            f"{key} is not null", f"{value} >= least", f"({key} = {self.key()} or {value} = 2)", f"{key} is null", f"{value} + 1 = 3",
            f"not {value} = 2", f"{key} > 'a'",
        )
        return " and ".join(self.random.sample(conditions, self.random.choice((1, 1, 2))))

    def where(self, of: str, key: str, value: str) -> str:
        return f" where {self.condition(of, key, value)}" if self.random.random() < 0.67 else ""

    def select(self) -> str:
        source, key, value = self.random.choice(SOURCES)
        where = self.where("", key, value)
        order = self.one(f" order by {value}, {key} limit {self.random.randint(1, 4)}", f" order by {value} desc, {key}")
        kinds = (
            f"select * from {source}{where}", f"select {key}, {value} + 1 as x from {source}{where}{order}",
            f"select {key}, count(*) as c, sum({value}) as s, max({value}) as m from {source}{where} group by {key}"
            + self.one(" having count(*) > 1", "", f" order by {key}"),
            f"select {key}, {value}, sum({value}) as s from {source}{where}{self.one(f' group by {key}', '')}",
            f"select distinct {key} from {source}{where}", f"select {key}, sum({value}) as s from {source}{where} group by rollup({key})",
            self.join(), self.join(),
            f"select a.k as k, a.v as v, {self.random.choice(ASKED)} as q from W as a{self.where('a.', 'k', 'v')}",
        )
        return self.random.choice(kinds)

    def join(self) -> str:
        columns = "select a.k as k, a.v as v, b.id as id, b.w as w"
        on = self.one("a.k = b.id", "a.v = b.w")
        more = self.one("", "", f" and {self.condition('a.', 'k', 'v')}", f" and {self.condition('b.', 'id', 'w')}", " and a.v < b.w")
        return self.one(
            f"{columns} from W as a, V as b where {on}{more}", f"{columns} from W as a, V as b where a.k = b.id and a.v = b.w",
            f"{columns} from W as a {self.one('left outer', 'right outer', 'full outer', 'inner')} join V as b on {on}",
            "select a.k as k, b.w as w, t.s as s from W as a, V as b, T as t where a.k = b.id and t.k = a.k",
            f"select a.k as k, t.s as s from {self.one('T as t, W as a', 'W as a, T as t')} where a.k = t.k",
        )

    def change(self) -> str:
        return self.one(
            f"insert into W(k, v, d) values ({self.key()}, {self.number()}, 1.5)", f"insert into W select {self.key()} as k, least as v",
            f"insert into V values ({self.key()}, {self.number()}), ({self.key()}, {self.number()})",
            f"update W set v = v + {self.number()}{self.where('', 'k', 'v')}",
            f"update V as w set w = w.w + initial.w, id = {self.key()}{self.where('w.', 'id', 'w')}",
            f"update W as a set v = (select max(w) from V as b where b.id = a.k){self.where('a.', 'k', 'v')}",
            f"delete from W{self.where('', 'k', 'v')}",
            "delete from V as b where exists (select * from W as a where a.k = b.id and a.v = b.w)",
            f"update T set n = {self.number()}{self.where('', 'k', 's')}", f"delete from T{self.where('', 'k', 's')}",
        )


def recorded(programs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The programs with what Esper does, in order."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "programs.json"
        path.write_text(json.dumps(programs), encoding="utf-8")
        subprocess.run([os.environ["EPL_ORACLE"], str(path)], check=True)
        recordings: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        return recordings


def main() -> int:
    programs = [{"name": each.name, "steps": each.steps} for each in map(Program, range(COUNT * 5 // 4))]
    pairs = zip(recorded(programs), recorded(programs))
    kept = [one for one, other in pairs if one == other and not any("exception" in step for step in one["steps"])][:COUNT]
    STORED.parent.mkdir(exist_ok=True)
    with gzip.GzipFile(STORED, "wb", mtime=0) as file:
        file.write(json.dumps(kept, ensure_ascii=False).encode())
    print(f"{len(kept)} programs stored")
    return 0


if __name__ == "__main__":
    sys.exit(main())
