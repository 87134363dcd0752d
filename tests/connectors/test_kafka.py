"""Pipelines over a real broker of Kafka."""
from __future__ import annotations

import json
import os
import signal
import sqlite3
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from epl.errors import EplRuntimeError
from runtime import Runtime
from runtime.connectors import KafkaSink, KafkaSource, Pipeline, RowSource
from tests.connectors.kafka_worker import MODULE, ROWS
from tests.spark.kafka.broker import Broker
from tests.spark.kafka.jars import NotToBeHad, jars

confluent_kafka = pytest.importorskip("confluent_kafka")
SYMBOLS = ("A", "B", "C")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        resolved = jars()
    except NotToBeHad as error:
        pytest.skip(str(error))
    with Broker(resolved, tmp_path_factory.mktemp("kafka")) as broker:
        yield broker.servers


def produce(servers: str, topic: str, values: list[bytes | None], partition: int = -1, timestamp: int = 0) -> None:
    # one request at a time: of several, one that is sent again, while the topic is being created, comes after the others
    producer = confluent_kafka.Producer({"bootstrap.servers": servers, "max.in.flight.requests.per.connection": 1})
    for number, value in enumerate(values):
        producer.produce(topic, value, str(number), partition=partition, timestamp=timestamp + number if timestamp else 0)
        producer.poll(0)
    assert producer.flush(60) == 0


def consumed(servers: str, topic: str, isolation: str = "read_committed") -> list[Any]:
    """All records of a topic that are there."""
    consumer = confluent_kafka.Consumer({
        "bootstrap.servers": servers, "group.id": f"test-{time.time()}", "isolation.level": isolation, "enable.partition.eof": "true",
        "auto.offset.reset": "earliest", "enable.auto.commit": "false",
    })
    partitions = consumer.list_topics(topic, 30).topics[topic].partitions
    consumer.assign([confluent_kafka.TopicPartition(topic, partition, 0) for partition in partitions])
    records, ended = [], set()
    while len(ended) < len(partitions):
        record = consumer.poll(30)
        assert record is not None
        if record.error() is None:
            records.append(record)
        else:
            assert record.error().code() == confluent_kafka.KafkaError._PARTITION_EOF
            ended.add(record.partition())
    consumer.close()
    return records


def started() -> Runtime:
    runtime = Runtime()
    runtime.deploy(MODULE)
    return runtime


def test_kills_lose_and_double_nothing(servers: str, tmp_path: Path) -> None:
    trades = [{"symbol": SYMBOLS[n % 3], "n": n} for n in range(ROWS)]
    produce(servers, "trades", [json.dumps(trade).encode() for trade in trades])
    with sqlite3.connect(tmp_path / "rows.db") as database:
        database.execute("create table totals(symbol text, c int, total int)")
    for point, checkpoint in (("written", 2), ("delivered", 3), ("done", 4), ("never", 0)):
        worker = subprocess.run(
            [sys.executable, "-m", "tests.connectors.kafka_worker", servers, str(tmp_path), point, str(checkpoint)], cwd=ROOT,
            capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert worker.returncode == (0 if point == "never" else -signal.SIGKILL), worker.stderr
    expected = {symbol: [trade["n"] for trade in trades if trade["symbol"] == symbol] for symbol in SYMBOLS}
    check_totals([json.loads(record.value()) for record in consumed(servers, "totals")], expected)
    parts = sorted(tmp_path.glob("parts/part-*.jsonl"))
    check_totals([json.loads(line) for part in parts for line in part.read_text().splitlines()], expected)
    rows = database.execute("select * from totals").fetchall()
    check_totals([dict(zip(("symbol", "c", "total"), row, strict=True)) for row in rows], expected)
    group = confluent_kafka.Consumer({"bootstrap.servers": servers, "group.id": "totals"})
    committed = group.committed([confluent_kafka.TopicPartition("trades", n) for n in range(2)], 30)
    group.close()
    assert sum(each.offset for each in committed) == ROWS, "tools see that nothing lags"


def check_totals(rows: list[dict[str, Any]], expected: dict[str, list[int]]) -> None:
    """Every record has its effect once: counts of each symbol have no gap and nothing twice, and the last sum is that of all records."""
    assert len(rows) == ROWS
    for symbol, numbers in expected.items():
        mine = [row for row in rows if row["symbol"] == symbol]
        assert [row["c"] for row in mine] == list(range(1, len(numbers) + 1))
        assert mine[-1]["total"] == sum(numbers)


def test_a_group_goes_on_where_it_was_without_state(servers: str) -> None:
    produce(servers, "plain", [b'{"symbol": "A", "n": %d}' % n for n in range(10)], partition=0)
    seen: list[int] = []
    run_until(servers, "plain", seen, 10)
    produce(servers, "plain", [b'{"symbol": "A", "n": %d}' % n for n in range(10, 15)], partition=1)
    run_until(servers, "plain", seen, 15)
    assert sorted(seen) == list(range(15))


def run_until(servers: str, topic: str, seen: list[int], count: int, **options: Any) -> Pipeline:
    runtime = started()
    runtime.deploy("@name('each') select n from Trade", listeners={"each": lambda new, *_: seen.extend(row["n"] for row in new)})
    pipeline = Pipeline(runtime, [KafkaSource(topic, servers, group=f"of-{topic}", **options)], {}, on_bad="skip")
    thread = threading.Thread(target=pipeline.run)
    thread.start()
    until = time.monotonic() + 120
    while len(seen) < count and thread.is_alive() and time.monotonic() < until:
        time.sleep(0.05)
    pipeline.stop()
    thread.join(60)
    assert not thread.is_alive()
    return pipeline


def test_bad_records_end_it_with_their_place_or_are_counted(servers: str) -> None:
    produce(servers, "bad", [b'{"symbol": "A", "n": 1}', b"{", None, b'{"symbol": "A", "n": "x"}', b'{"symbol": "A", "n": 2}'], partition=0)
    seen: list[int] = []
    assert run_until(servers, "bad", seen, 2).skipped == 3
    assert seen == [1, 2]
    with pytest.raises(EplRuntimeError, match="partition 0 offset 1: not JSON"):
        Pipeline(started(), [KafkaSource("bad", servers, group="strict")], {}).run()


def test_the_timestamp_of_records_is_engine_time(servers: str) -> None:
    produce(servers, "timed", [b'{"symbol": "A", "n": %d}' % n for n in range(3)], partition=0, timestamp=1_700_000_000_000)
    seen: list[int] = []
    pipeline = run_until(servers, "timed", seen, 3, record_time=True)
    assert pipeline.runtime is not None and pipeline.runtime.now == 1_700_000_000_002


def test_keys_are_columns(servers: str) -> None:
    sink = KafkaSink("keyed", servers, key="symbol")
    Pipeline(started(), [RowSource([{"symbol": "A", "n": 1}, {"symbol": "B", "n": 2}])], {"totals": sink}).run()
    assert {(record.key(), record.value()) for record in consumed(servers, "keyed")} == {
        (b"A", b'{"symbol": "A", "c": 1, "total": 1}'), (b"B", b'{"symbol": "B", "c": 1, "total": 2}')}
    with pytest.raises(EplRuntimeError, match="sink 'keyed' of statement 'totals': key: there is no column 'k'"):
        Pipeline(started(), [], {"totals": KafkaSink("keyed", servers, key="k")}).run()


def test_what_is_not_there_is_named(servers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.connectors.kafka.PATIENCE", 2.0)
    with pytest.raises(EplRuntimeError, match=r"source 'trades': the broker 127\.0\.0\.1:1 does not answer"):
        Pipeline(started(), [KafkaSource("trades", "127.0.0.1:1")], {}).run()
    with pytest.raises(EplRuntimeError, match="records were not accepted within 2 seconds"):
        Pipeline(started(), [RowSource([{"symbol": "A", "n": 1}])], {"totals": KafkaSink("out", "127.0.0.1:1")}).run()
    with pytest.raises(EplRuntimeError, match="no topic 'never-made'"):
        Pipeline(started(), [KafkaSource("never-made", servers, options={"allow.auto.create.topics": "false"})], {}).run()


def test_records_that_are_gone_are_not_passed_over(servers: str, tmp_path: Path) -> None:
    from confluent_kafka.admin import AdminClient

    produce(servers, "short", [b'{"symbol": "A", "n": 1}'] * 5, partition=0)
    state = tmp_path / "state"
    pipeline = Pipeline(started, [KafkaSource("short", servers)], {}, state=state)
    pipeline.stop()  # begins, writes the first checkpoint, ends
    pipeline.run()
    admin = AdminClient({"bootstrap.servers": servers})
    admin.delete_records([confluent_kafka.TopicPartition("short", 0, 3)])[confluent_kafka.TopicPartition("short", 0, 3)].result(30)
    with pytest.raises(EplRuntimeError, match="partition 0 has no record at offset 0 any more"):
        Pipeline(started, [KafkaSource("short", servers)], {}, state=state).run()


def test_the_command_goes_from_topic_to_topic_and_on_after_a_signal(servers: str, tmp_path: Path) -> None:
    (tmp_path / "r.epl").write_text(MODULE)
    produce(servers, "orders", [b'{"symbol": "A", "n": %d}' % n for n in range(20)], partition=0)
    command = [
        sys.executable, "-m", "runtime.cli", "run", str(tmp_path / "r.epl"), "--from", f"kafka://{servers}/orders?group=cli", "--to",
        f"totals=kafka://{servers}/sums?key=symbol&transactional_id=cli", "--to", f"all={tmp_path}/all", "--state", str(tmp_path / "state"),
        "--every", "100 milliseconds",
    ]
    for expected in (20, 25):
        with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}) as process:
            try:
                until = time.monotonic() + 120
                while counted(tmp_path) < expected and process.poll() is None and time.monotonic() < until:
                    time.sleep(0.1)
                process.terminate()
                assert process.wait(60) == 0, process.stderr and process.stderr.read()
            finally:
                process.kill()
        produce(servers, "orders", [b'{"symbol": "B", "n": %d}' % n for n in range(5)], partition=1)
    rows = [json.loads(record.value()) for record in consumed(servers, "sums")]
    assert [row["c"] for row in rows if row["symbol"] == "A"] == list(range(1, 21)) and counted(tmp_path) >= 25


def counted(folder: Path) -> int:
    counts = [json.loads(line)["c"] for part in folder.glob("all/part-*.jsonl") for line in part.read_text().splitlines()]
    assert sorted(counts) == list(range(1, len(counts) + 1)), "each once"
    return len(counts)


def test_other_records_than_json(servers: str) -> None:
    produce(servers, "packed", [struct.pack(">ci", b"A", n) for n in range(3)] + [b"?"], partition=0)
    seen: list[int] = []

    def decode(value: bytes) -> dict[str, Any]:
        symbol, n = struct.unpack(">ci", value)
        return {"symbol": symbol.decode(), "n": n}

    assert run_until(servers, "packed", seen, 3, decode=decode).skipped == 1 and seen == [0, 1, 2]
    sink = KafkaSink("packed-out", servers, encode=lambda values: struct.pack(">ci", values["symbol"].encode(), values["c"]))
    Pipeline(started(), [RowSource([{"symbol": "B", "n": 1}])], {"totals": sink}).run()
    assert [record.value() for record in consumed(servers, "packed-out")] == [struct.pack(">ci", b"B", 1)]
    with pytest.raises(EplRuntimeError, match="partition 0 offset 3: cannot be decoded: error: unpack requires"):
        Pipeline(started(), [KafkaSource("packed", servers, group="strict", decode=decode)], {}).run()


def test_a_full_queue_makes_the_source_wait(servers: str) -> None:
    sink = KafkaSink("many", servers, options={"queue.buffering.max.messages": "10"})
    Pipeline(started(), [RowSource({"symbol": "A", "n": n} for n in range(3000))], {"totals": sink}).run()
    assert [json.loads(record.value())["c"] for record in consumed(servers, "many")].count(3000) == 1
    assert len(consumed(servers, "many")) == 3000
