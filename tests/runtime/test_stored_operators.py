"""State of each kind of operator that was written when all properties of the types in a plan counted in a statement's fingerprint goes on.

``python -m tests.runtime.test_stored_operators FOLDER`` writes the file with the epl-spark in a folder: add a kind of operator here, and
write it with the last revision, before anything about its state or its plan changes.
"""
from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path
from random import Random
from typing import Any

import pytest

from epl.errors import EplDeploymentError
from epl.plan.fingerprints import keeps_state
from runtime import Runtime
from runtime.api.adoption import adopt

STORED = Path(__file__).parent / "stored" / "operators.zip"
SCHEMA = """
@public @buseventtype create schema Item(code string, size int);
@public @buseventtype create schema Base(id string, at_time long);
@public @buseventtype create schema T(k string, x int, price double, note string, items Item[], item Item) inherits Base;
@public @buseventtype create schema U(k string, y int, text string);
"""
STATEMENTS = {
    "length": "select irstream k, x from T#length(4)",
    "time": "select k, sum(x) as s from T#time(6 sec) group by k",
    "keepall": "select max(price) as p from T#keepall having max(price) > 3",
    "unique": "select irstream k, price from T#unique(k)",
    "first unique": "select k from T#firstunique(k)",
    "group": "select k, prev(1, x) as b from T#groupwin(k)#length(2)",
    "sort": "select irstream x from T#sort(3, x desc, k)",
    "rank": "select irstream k, x from T#rank(k, 2, x desc)",
    "ext": "select k, count(*) as c from T#ext_timed(at_time, 5 sec)",
    "ext batch": "select k, sum(x) as c from T#ext_timed_batch(at_time, 5 sec) group by k",
    "length batch": "select rstream k from T#length_batch(4)",
    "time batch": "select irstream k, x from T#time_batch(5 sec)",
    "accum": "select rstream x from T#time_accum(1 sec)",
    "expr": "select irstream x from T#expr(current_count < 4 and oldest_event.x < 9)",
    "last": "select * from T#lastevent",
    "derived": "select size, k from T#length(4)#size(k)",
    "uni": "select average from T#length(5)#uni(price)",
    "prior": "select prior(3, x) as before from T",
    "union": "select irstream x from T#length(2)#unique(k) retain-union",
    "events": "select window(*) as w, first(*) as f, k from T#length(3)",
    "sorted": "select sorted(x).firstEvent().k as low, maxby(price).x as high from T#length(4)",
    "every": "select k, x from T output every 3 events",
    "first": "select k, x from T group by k output first every 4 seconds",
    "all": "select k, sum(x) as s from T#length(5) group by k output all every 4 seconds",
    "snapshot": "select k, x from T#length(3) output snapshot every 4 seconds",
    "rollup": "select k, note, sum(x) as s from T#length(5) group by rollup(k, note)",
    "join": "select T.k as k, x, y from T#length(4), U#length(4) where T.k = U.k",
    "outer": "select T.k as k, y from T#unique(k) left outer join U#unique(k) on T.k = U.k",
    "pattern": "select a.x as x, b.y as y from pattern [every a=T(x > 3) -> b=U(k = a.k)]",
    "whole pattern": "select * from pattern [every (a=T(x > 5) -> U)]",
    "until": "select a[0].x as x, b.y as y from pattern [every ([2] a=T -> b=U)]",
    "rows": "select * from T match_recognize (partition by k measures A.x as a, last(B.x) as b pattern (A B+ C) "
            "define B as B.x > prev(B.x), C as C.x < 3)",
    "interval": "select * from T match_recognize (partition by k measures A.x as a, count(B.x) as n pattern (A B*) interval 3 sec "
                "define A as A.x > 4)",
    "sub-query": "select k, (select sum(y) from U#length(3) as u where u.k = T.k) as s from T",
    "exists": "select k from T where exists (select * from U#length(2) as u where u.k = T.k)",
    "nested": "select item.size as size, items.countOf() as n from T#length(2)",
    "contained": "select code from T[items]",
    "window": "create window W#length(5) as T",
    "fill": "insert into W select * from T",
    "columns": "create window V#unique(k) (k string, x int)",
    "fill columns": "insert into V select k, x from T",
    "consumer": "select k, sum(x) as s from W group by k",
    "delete": "on U as u delete from W where W.k = u.k and u.y > 6",
    "merge": "on U as u merge V where V.k = u.k when matched then update set x = x + u.y when not matched then insert select k, y as x",
    "table": "create table R(k string primary key, total sum(int), latest window(*) @type(T))",
    "into": "into table R select sum(x) as total, window(*) as latest from T#length(4) group by k",
    "reader": "select R[k].total as total from U",
    "variable": "on T set v = x",
    "inserted": "insert into S select k, x from T(x > 2)",
    "stream": "select irstream * from S#length(3)",
    "forwarded": "insert into F select * from T(x > 4)",
    "forwarded stream": "select k, price from F#length(3)",
    "segmented": "context ByKey select k, sum(x) as s from T#length(3)",
    "initiated": "context Begun select context.t.x as begun, sum(x) as s from T",
}
DECLARED = (
    "create variable int v = 0; create context ByKey partition by k from T; "
    "create context Begun initiated by T(x > 7) as t terminated after 4 sec;\n"
)


def module(schema: str = SCHEMA) -> str:
    return schema + DECLARED + "".join(f"@name('{name}') {text};\n" for name, text in STATEMENTS.items())


def events(count: int = 120) -> list[tuple[int, str, dict[str, Any]]]:
    """(time in ms, type, event)."""
    draw, listed = Random(7), []
    for n in range(count):
        k = draw.choice("ab")
        if draw.random() < 0.3:
            listed.append((n * 400, "U", {"k": k, "y": draw.randrange(9), "text": draw.choice("xy")}))
            continue
        items = [{"code": f"c{n}{m}", "size": m} for m in range(draw.randrange(3))]
        listed.append((n * 400, "T", {
            "id": f"e{n}", "at_time": n * 400, "k": k, "x": draw.randrange(10), "price": draw.randrange(40) / 4,
            "note": draw.choice(["m", "n", None]), "items": items, "item": {"code": "i", "size": n},
        }))
    return listed


def sent(runtime: Runtime, part: list[tuple[int, str, dict[str, Any]]]) -> None:
    for time, name, event in part:
        runtime.advance_time_span(time)
        runtime.send(name, event)


def heard(runtime: Runtime, part: list[tuple[int, str, dict[str, Any]]]) -> list[Any]:
    """What listeners get while the events come, by statement: states of that form do not say in which order contexts began partitions."""
    calls: list[Any] = []
    for deployment in runtime.deployments.values():
        for statement in deployment:
            if statement.name in STATEMENTS and statement.plan.kind in ("select", "on select"):
                statement.add_listener(lambda new, old, of, at: calls.append((of.name, at.now, str(new), str(old))))
    sent(runtime, part)
    runtime.advance_time_span(part[-1][0] + 20_000)
    return sorted(calls, key=lambda call: str(call[0]))


def begun(schema: str = SCHEMA) -> Runtime:
    runtime = Runtime(tier="row")
    runtime.deploy(module(schema))
    sent(runtime, events()[:60])
    return runtime


def stored() -> bytes:
    with zipfile.ZipFile(STORED) as archive:
        return archive.read("snapshot")


def test_state_of_every_operator_goes_on() -> None:
    restored, whole = Runtime.restore(stored(), tier="row"), begun()
    expected = heard(whole, events()[60:])
    silent = {name for name in STATEMENTS if whole.statement(name).plan.kind == "select"} - {name for name, *_ in expected}
    assert silent == {"derived", "first unique"}  # they have emitted all that they will
    assert heard(restored, events()[60:]) == expected


def adopted(schema: str, forget: tuple[str, ...] = ()) -> Runtime:
    """A runtime over another schema, with the state that was written."""
    before = Runtime.restore(stored(), tier="row")
    runtime = Runtime(tier="row", start_time=before.now)
    runtime.deploy(module(schema))
    adopt(runtime, before, forget)
    return runtime


def test_properties_at_the_end_are_null_in_old_state() -> None:
    schema = SCHEMA.replace("item Item)", "item Item, extra int, other Item)").replace("text string)", "text string, more double)")
    assert heard(adopted(schema), events()[60:]) == heard(begun(schema), events()[60:])


WHOLE = (
    "last", "events", "sorted", "rollup", "whole pattern", "until", "contained", "window", "fill", "consumer", "delete", "table", "into",
    "forwarded", "initiated",
)
"""Statements that read, keep or pass on whole events, or read the property that changes below."""


def test_properties_that_are_not_read_may_change() -> None:
    """One in front, one of another type: statements that read whole events are recognised as changed, and the others keep their state."""
    schema = SCHEMA.replace("T(k string,", "T(extra int, k string,").replace("note string", "note java.lang.Object")
    with pytest.raises(EplDeploymentError, match="is not the one whose state was kept"):
        adopted(schema)
    runtime = adopted(schema, (*WHOLE, "stmt-6"))  # the context that an event begins
    old = Runtime.restore(stored(), tier="row")
    assert {name for name in STATEMENTS if not keeps_state(old.statement(name).plan, runtime.statement(name).plan)} == {*WHOLE}
    apart = {*WHOLE, "reader", "forwarded stream"}
    later = [[call for call in heard(each, events()[60:]) if call[0] not in apart] for each in (runtime, begun(schema))]
    assert later[0] == later[1]


def write(folder: str) -> None:
    import runtime

    assert Path(runtime.__file__).is_relative_to(folder), f"{runtime.__file__} is not in {folder}"
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("snapshot", begun().snapshot())
    STORED.write_bytes(data.getvalue())


if __name__ == "__main__":
    write(sys.argv[1])
