"""A shard's engine and its state, whatever worker has it and whatever happened there: by hand, with Spark's state store in a dict."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import attrs
import pyarrow as pa
import pytest
from pyspark.sql import types as spark

from epl.errors import EplRuntimeError
from epl.settings import Settings
from runtime.clock.late_rows import LatePolicy, read_table
from runtime.spark.distributed_host import shard_host
from runtime.spark.distributed_host.packing import BLOB, NEWEST
from runtime.spark.distributed_host.results import Result
from runtime.spark.distributed_host.shard_host import ShardProcessor
from runtime.spark.feed import FeedRules
from runtime.spark.heartbeat import Beat
from runtime.spark.sources import Sources
from runtime.spark.task import Task

pytestmark = pytest.mark.spark

SCHEMA = spark.StructType([spark.StructField(name, each()) for name, each in (
    ("k", spark.StringType), ("v", spark.IntegerType), ("n", spark.LongType), ("ts", spark.LongType))])
ARROW = pa.schema([("k", pa.string()), ("v", pa.int32()), ("n", pa.int64()), ("ts", pa.int64())])
ROWS = [{"k": "ab"[n % 2], "v": n, "n": n, "ts": 10 * n} for n in range(12)]
EPL = "@name('s') select k, ts, sum(v) as s, current_timestamp() as at from T#time(25 msec) group by k"
OUTPUT = pa.schema([("k", pa.string()), ("ts", pa.int64()), ("s", pa.int32()), ("at", pa.int64())])
TASK = Task(EPL, "s", ("T",), {"T": SCHEMA}, Settings(), {}, "ts", "n", FeedRules())


@attrs.define
class Store:
    """One shard's state, as Spark keeps it, and the timers that it has set."""

    values: dict[str, Any] = attrs.field(factory=dict)
    timers: list[int] = attrs.field(factory=list)

    def getValueState(self, name: str, *_: str) -> Any:
        return Value(self.values, name)

    getListState = getMapState = getValueState

    def registerTimer(self, at: int) -> None:
        self.timers.append(at)


@attrs.frozen
class Value:
    values: dict[str, Any]
    name: str

    def get(self) -> Any:
        return self.values.get(self.name)

    def update(self, value: Any) -> None:
        self.values[self.name] = value

    put = update

    def clear(self) -> None:
        self.values.pop(self.name, None)

    def getValue(self, key: Any) -> Any:
        return self.values.get(self.name, {}).get(key)

    def updateValue(self, key: Any, value: Any) -> None:
        self.values.setdefault(self.name, {})[key] = value

    def removeKey(self, key: Any) -> None:
        del self.values[self.name][key]


class Timers:
    def getCurrentProcessingTimeInMs(self) -> int:
        return 0


def packed(rows: list[dict[str, Any]], task: Task = TASK) -> Iterator[dict[str, Any]]:
    with task.runtime(0) as runtime:
        merged = Sources.of((runtime.event_type("T"),), task.time, task.sequence).merge_tables({"T": pa.Table.from_pylist(rows, ARROW)})
    yield {BLOB: shard_host.ipc(merged), NEWEST: None}
    yield {BLOB: None, NEWEST: max((row["ts"] for row in rows), default=None) if task.time else None}


def processor(
    store: Store, task: Task = TASK, *, shards: tuple[int, ...] = (3, 5), name: str = "q", beat: Beat | None = None
) -> ShardProcessor:
    made = ShardProcessor(task, Result(OUTPUT, beside=False), shards, None, name, beat)
    made.init(store)  # type: ignore[arg-type]
    return made


def outputs(rows: Iterator[Any]) -> list[dict[str, Any]]:
    return [each for row in rows if row[BLOB] is not None for each in read_table(row[BLOB]).to_pylist()]


def batch(made: ShardProcessor, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return outputs(made.handleInputRows((3,), packed(rows, made.task), Timers()))


@pytest.fixture(autouse=True)
def _no_engine_is_kept() -> None:
    shard_host._kept.clear()


@pytest.fixture
def expected() -> list[dict[str, Any]]:
    shard_host._kept.clear()
    made = processor(Store())
    return [row for at in range(0, 12, 3) for row in batch(made, ROWS[at : at + 3])]


@pytest.mark.parametrize("due", [True, False])
def test_tasks_that_are_tried_again_or_lose_leave_nothing_behind(expected: Any, monkeypatch: pytest.MonkeyPatch, due: bool) -> None:
    """Each batch runs three times from the same state, one time in another worker; the second one's state is what Spark commits."""
    monkeypatch.setattr(shard_host, "_is_due", lambda head: due)
    store, found = Store(), []
    for at in range(0, 12, 3):
        lost, elsewhere = copy.deepcopy(store), copy.deepcopy(store)
        once = batch(processor(lost), ROWS[at : at + 3])
        again = batch(processor(store), ROWS[at : at + 3])
        other = batch(processor(elsewhere, name="another worker"), ROWS[at : at + 3])
        assert once == again == other
        found += again
    assert found == expected


KEY = b"a key of any length"


@pytest.mark.parametrize("key", [None, KEY])
@pytest.mark.parametrize("part", ["head", "snapshot", "log"])
def test_damaged_state_is_refused_by_name(expected: Any, monkeypatch: pytest.MonkeyPatch, part: str, key: bytes | None) -> None:
    """Of another shard too, which without a key is damage as well: the checksum is over the name."""
    monkeypatch.setattr(shard_host, "_is_due", lambda head: head.step == 2)
    task, store = attrs.evolve(TASK, key=key), Store()
    found = [row for at in (0, 3, 6) for row in batch(processor(store, task), ROWS[at : at + 3])]
    whole, value = copy.deepcopy(store), store.values[part]
    reason = "damaged: its checksum is another one" if key is None else "not sealed with this snapshot_key"
    name = {"head": "head", "snapshot": "snapshot", "log": "step 3 of the log"}[part]
    for at in (0, 30, -1):
        damaged = copy.deepcopy(whole)
        place = (3,) if part == "log" else 0
        (stored,) = value[place] if part != "head" else value
        broken = bytearray(stored)
        broken[at] ^= 1
        put = [(bytes(broken),)] if part == "snapshot" else (bytes(broken),)
        damaged.values[part] = {**value, place: put} if part == "log" else put
        shard_host._kept.clear()
        with pytest.raises(EplRuntimeError, match=f"shard 3: {name} of shard 3 is (not an epl-spark snapshot|{reason})"):
            batch(processor(damaged, task), ROWS[9:])
    shard_host._kept.clear()
    with pytest.raises(EplRuntimeError, match="shard 5: head of shard 5 is "):
        outputs(processor(copy.deepcopy(whole), task).handleInputRows((5,), packed(ROWS[9:], task), Timers()))
    assert found + batch(processor(whole, task), ROWS[9:]) == expected


def test_a_sealed_shard_needs_its_key(expected: Any) -> None:
    store = Store()
    batch(processor(store, attrs.evolve(TASK, key=KEY)), ROWS[:3])
    for other, message in ((None, "is sealed with a key that is not given"), (b"another", "is not sealed with this snapshot_key")):
        with pytest.raises(EplRuntimeError, match=f"head of shard 3 {message}"):
            batch(processor(copy.deepcopy(store), attrs.evolve(TASK, key=other)), ROWS[3:])
    sealed = attrs.evolve(TASK, key=KEY)
    assert sealed.digests() == TASK.digests() and KEY.decode() not in repr(sealed)


def test_a_kept_engine_catches_up_by_the_log_and_an_older_one_is_dropped(expected: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_host, "_is_due", lambda head: head.step == 4)
    store, found = Store(), []
    for number in range(12):
        found += batch(processor(store, name=f"worker {'01101110011'[number % 11]}"), [ROWS[number]])
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


def test_an_engine_from_before_the_last_snapshot_catches_up_and_one_from_before_that_is_made_anew(
    expected: Any, monkeypatch: pytest.MonkeyPatch,
) -> None:
    made_anew: list[int] = []
    restored = Task.restore_feed

    def counted(task: Task, *parts: Any) -> Any:
        made_anew.append(number)
        return restored(task, *parts)

    monkeypatch.setattr(Task, "restore_feed", counted)
    monkeypatch.setattr(shard_host, "_is_due", lambda head: head.step in (4, 7, 9))
    store, found = Store(), []
    #          step   123456789012; snapshots behind 1, 4, 7 and 9
    workers = "000110000120"
    for number, worker in enumerate(workers, 1):
        found += batch(processor(store, name=f"worker {worker}"), [ROWS[number - 1]])
        first = {1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 4, 8: 4}.get(number, 7)
        assert sorted(step for step, in store.values.get("log", {})) == list(range(first + 1, number + 1))
    assert made_anew == [4, 10, 11], "0 goes on from 3 over the snapshot behind 4; 1 has 5, and the log begins behind 7; 2 has nothing"
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


def test_another_bound_for_late_rows_changes_nothing_that_was_put_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_host, "_is_due", lambda head: False)
    store = Store()
    found = [row for at in range(3) for row in batch(processor(store), ROWS[2 * at : 2 * at + 2])]
    waiting = attrs.evolve(TASK, rules=FeedRules(LatePolicy(1000)))
    shard_host._kept.clear()
    with pytest.raises(EplRuntimeError, match="below the watermark 50"):
        batch(processor(store, waiting), [ROWS[4]])
    for rows in (ROWS[9:], ROWS[6:9]):
        found += batch(processor(store, waiting), rows)
        shard_host._kept.clear()
    found += batch(processor(store, attrs.evolve(TASK, rules=FeedRules(LatePolicy(0)))), [{**ROWS[0], "ts": 5000}])
    new = [row["ts"] for row in found if row["at"] == row["ts"]]
    assert new == [row["ts"] for row in ROWS]


def test_other_shards_and_other_columns_of_time_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store()
    batch(processor(store), ROWS[:3])
    with pytest.raises(EplRuntimeError, match="the checkpoint was made with 2 shards, and there are 3 now"):
        batch(processor(store, shards=(3, 5, 6)), ROWS[3:])
    with pytest.raises(EplRuntimeError, match="the checkpoint's shards were chosen for another number of shuffle partitions"):
        batch(processor(store, shards=(3, 6)), ROWS[3:])
    for other in (attrs.evolve(TASK, time=None), attrs.evolve(TASK, sequence="v")):
        with pytest.raises(EplRuntimeError, match="was made with another module, statement, schema, time or sequence"):
            batch(processor(store, other), ROWS[3:])


def of_schema(**changed: Any) -> Task:
    """The task over other columns: a type, or None for a column that is gone."""
    fields = {field.name: field.dataType for field in SCHEMA.fields} | changed
    kept = [spark.StructField(name, each) for name, each in fields.items() if each is not None]
    return attrs.evolve(TASK, schemas={"T": spark.StructType(kept)})


@pytest.mark.parametrize(("other", "messages"), [
    (attrs.evolve(TASK, epl=EPL.replace("25 msec", "26 msec")), ["statement 's' was ", "#time(25 msec)", "and is ", "#time(26 msec)"]),
    (attrs.evolve(TASK, epl=f"{EPL}; @name('z') select k from T"), ["statement 'z' is new"]),
    (attrs.evolve(TASK, epl=EPL.replace("'s'", "'r'"), statement="r"), ["statement 's' is gone; statement 'r' is new"]),
    (of_schema(v=spark.LongType()), ["property 'v' of 'T' was Integer and is Long"]),
    (of_schema(w=spark.LongType()), ["property 'w' of 'T' is new"]),
    (of_schema(n=None), ["property 'n' of 'T' is gone"]),
    (attrs.evolve(TASK, settings=Settings(max_routed=7)), ["the setting max_routed was 100000 and is 7"]),
    (attrs.evolve(TASK, time=None), ["its statement=, time= or sequence= was another one"]),
    (attrs.evolve(TASK, sequence="v"), ["its statement=, time= or sequence= was another one"]),
    (attrs.evolve(of_schema(v=spark.LongType()), epl=EPL.replace("25", "26")), ["statement 's' was ", "; property 'v' of 'T' was Integer"]),
])
def test_the_error_says_what_differs(other: Task, messages: list[str]) -> None:
    store = Store()
    batch(processor(store), ROWS[:3])
    made = processor(store, other)
    with pytest.raises(EplRuntimeError, match="was made with another module, statement, schema, time or sequence: ") as refused:
        outputs(made.handleInputRows((3,), iter(()), Timers()))
    at = 0
    for message in messages:
        at = refused.value.message.index(message, at)


def test_rows_without_a_time_come_at_the_wall_clock_and_windows_expire_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [5_000_000_000]
    monkeypatch.setattr(shard_host, "wall_clock", lambda _: clock[0])
    task = attrs.evolve(TASK, time=None, sequence=None, rules=FeedRules(at_wall=True))
    store, beat = Store(), Beat(1.0, None)
    found = []
    for rows in (ROWS[:1], ROWS[2:3], ROWS[4:5]):
        found += batch(processor(store, task, beat=beat), rows)
        clock[0] += 10
    assert [(row["s"], row["at"]) for row in found] == [(0, 5_000_000_000), (2, 5_000_000_010), (6, 5_000_000_020)]
    assert store.timers == [1000]
    made = processor(store, task, beat=beat)
    assert [row["time"] for row in made.handleExpiredTimer((3,), Timers(), None)] == [5_000_000_030]
    assert store.timers == [1000, 1000]
