"""Apache Kafka as source and sink, by confluent-kafka (the extra ``kafka``)."""
from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from runtime.arguments import check_arguments
from runtime.connectors.event_files import json_object
from runtime.connectors.input import Input
from runtime.connectors.output import OutputRow, check_stream
from runtime.connectors.row_reader import RowOptions, RowReader
from runtime.conversion.rows import jsonable
from runtime.extras import MissingPackage, install

REACHABLE = "is it running, and reachable from here?"
log = logging.getLogger("epl")
T = TypeVar("T")

AT_ONCE = 500
"""Records of one poll."""
QUIET_FOR = 60.0
"""Seconds from one line about an outage to the next."""
PATIENCE = 30.0
"""Seconds that a broker may take to answer."""
ADDED = 10.0
"""Seconds between two looks for partitions that were added."""
OFFSET_BEGINNING, OFFSET_END = -2, -1


def _client() -> Any:
    try:
        import confluent_kafka
    except ImportError:
        raise MissingPackage("Kafka needs confluent-kafka", hint=install("kafka")) from None
    return confluent_kafka


def _passes(kafka: Any, error: Any) -> bool:
    """Return whether an error goes away by itself: a broker that is away or begins, a coordinator that moves."""
    kinds = kafka.KafkaError
    return bool(error.retriable()) or error.code() in (
        kinds._TRANSPORT, kinds._ALL_BROKERS_DOWN, kinds._TIMED_OUT, kinds._WAIT_COORD, kinds.NOT_COORDINATOR,
        kinds.COORDINATOR_NOT_AVAILABLE, kinds.COORDINATOR_LOAD_IN_PROGRESS, kinds.LEADER_NOT_AVAILABLE, kinds.NOT_LEADER_FOR_PARTITION,
    )


def _patiently(kafka: Any, work: Callable[[], T]) -> T:
    """Do it again while its error goes away by itself; raise KafkaException for another one, and after a while."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return work()
        except kafka.KafkaException as error:
            if not _passes(kafka, error.args[0]) or time.monotonic() > until:
                raise
        time.sleep(0.2)


def _check(options: Mapping[str, str] | None) -> dict[str, str]:
    for name, value in (options or {}).items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise ValueError(f"options: names and values of librdkafka are text, not {name!r}: {value!r}")
    return dict(options or {})


class KafkaSource:
    """The records of a topic: values that are JSON objects.

    All partitions of the topic are read by this pipeline. With a state, positions are those of the checkpoint, from which a restart goes
    on; the group's offsets follow for tools that show how far it is. Without a state, the group's offsets are the positions, committed
    when the rows have been processed and delivered.

    Args:
        topic: The topic.
        servers: ``host:port``, several with commas.
        group: The consumer group.
        type: The event type of all records (default: what ``type_column`` says, else the only one that statements read).
        time: The value's field that is engine time, ms or ISO 8601; ``record_time=True`` takes the record's timestamp instead.
        start: ``"earliest"`` or ``"latest"``: where a group begins that has no position.
        decode: Makes a mapping of a record's value, such as one of Avro (default: JSON objects). What it raises is an error of the record.
        options: Further settings of librdkafka, such as ``{"security.protocol": "SASL_SSL", …}``.
        name: Names the source in checkpoints and errors (default: the topic).

    Raises:
        EplRuntimeError: From a pipeline: the broker does not answer, there is no such topic, or records after the position are gone.

    Examples:
        >>> source = KafkaSource("trades", "localhost:9092", group="rules", time="ts")
        >>> source.name
        'trades'
    """

    @check_arguments
    def __init__(
        self, topic: str, servers: str, *, group: str = "epl", type: str | None = None, type_column: str = "type", time: str | None = None,
        record_time: bool = False, missing: str = "refuse", start: str = "earliest",
        decode: Callable[[bytes], Mapping[str, Any]] | None = None,
        options: Mapping[str, str] | None = None, name: str | None = None,
    ) -> None:
        if start not in ("earliest", "latest"):
            raise ValueError(f"start: 'earliest' or 'latest' is expected, not {start!r}")
        if record_time and time is not None:
            raise ValueError("time: the value's field or the record's timestamp, not both")
        self.topic, self.name = topic, name or topic
        self._options = RowOptions(type, type_column, time, missing)
        self._begin = OFFSET_BEGINNING if start == "earliest" else OFFSET_END
        self._record_time, self._decode = record_time, decode
        self._settings = {**_check(options), "bootstrap.servers": servers, "group.id": group, "enable.auto.commit": "false",
                          "auto.offset.reset": "error", "enable.partition.eof": "false"}
        self._outages = _Outages(topic)
        self._kafka: Any = None
        self._consumer: Any = None
        self._offsets: dict[int, int] = {}
        """By partition: the offset of the next record."""
        self._looked = 0.0

    def open(self, position: Any) -> None:
        """See Source."""
        self._kafka = _client()
        self._consumer = self._kafka.Consumer({**self._settings, "error_cb": self._outages}, logger=_quiet())
        known = {int(partition): int(offset) for partition, offset in (position or {}).items()}
        partitions = self._partitions()
        committed = {} if position is not None else self._partition_offsets(partitions)
        for partition in partitions:
            self._offsets[partition] = known.get(partition, committed.get(partition, -1))
            if self._offsets[partition] < 0:
                self._offsets[partition] = self._edge(partition, OFFSET_BEGINNING if position is not None else self._begin)
        self._assign()

    def _partitions(self) -> list[int]:
        """Return the topic's partitions; a topic without any is made by brokers that make topics."""
        self._looked = time.monotonic()
        try:
            topic = _patiently(self._kafka, lambda: self._consumer.list_topics(self.topic, PATIENCE)).topics[self.topic]
        except self._kafka.KafkaException as error:
            raise EplRuntimeError(
                f"the broker {self._settings['bootstrap.servers']} does not answer: {error.args[0].str()}", hint=REACHABLE
            ) from None
        if topic.error is not None or not topic.partitions:
            raise EplRuntimeError(f"there is no topic '{self.topic}'", hint="create it, or give another name")
        return sorted(topic.partitions)

    def _partition_offsets(self, partitions: Sequence[int]) -> dict[int, int]:
        asked = [self._kafka.TopicPartition(self.topic, partition) for partition in partitions]
        committed = _patiently(self._kafka, lambda: self._consumer.committed(asked, PATIENCE))
        return {each.partition: each.offset for each in committed if each.offset >= 0}

    def _edge(self, partition: int, which: int) -> int:
        place = self._kafka.TopicPartition(self.topic, partition)
        low, high = _patiently(self._kafka, lambda: self._consumer.get_watermark_offsets(place, PATIENCE))
        return int(low if which == OFFSET_BEGINNING else high)

    def _assign(self) -> None:
        self._consumer.assign([self._kafka.TopicPartition(self.topic, partition, offset) for partition, offset in self._offsets.items()])

    def reader(self, runtime: Any) -> RowReader:
        """See Source."""
        return RowReader(runtime, self._options, logging.getLogger("epl.kafka").info)

    def poll(self, seconds: float) -> Sequence[Input] | None:
        """See Source."""
        if time.monotonic() - self._looked > ADDED:
            self._add_partitions()
        rows = []
        for record in self._consumer.consume(AT_ONCE, seconds):
            error = record.error()
            if error is not None:
                self._refuse(error, record)
                continue
            self._offsets[record.partition()] = record.offset() + 1
            rows.append(self._input(record))
        return rows

    def _add_partitions(self) -> None:
        added = [partition for partition in self._partitions() if partition not in self._offsets]
        if added:
            self._offsets.update({partition: self._edge(partition, OFFSET_BEGINNING) for partition in added})
            self._assign()

    def _refuse(self, error: Any, record: Any) -> None:
        """Raise EplRuntimeError for an error that does not pass by itself."""
        if error.code() == self._kafka.KafkaError._AUTO_OFFSET_RESET:
            raise EplRuntimeError(
                f"partition {record.partition()} has no record at offset {record.offset()} any more: {error.str()}",
                hint="the topic keeps records for too short a time; to go on without them, begin with another state or group",
            )
        if not _passes(self._kafka, error):
            raise EplRuntimeError(error.str())

    def _input(self, record: Any) -> Input:
        where = f"partition {record.partition()} offset {record.offset()}"
        value = record.value()
        row = EplRuntimeError("the record has no value") if value is None else self._row(value)
        kind, timestamp = record.timestamp()
        return Input(where, row, time=timestamp if self._record_time and kind != self._kafka.TIMESTAMP_NOT_AVAILABLE else None)

    def _row(self, value: bytes) -> dict[str, Any] | EplRuntimeError:
        if self._decode is None:
            return json_object(value)
        try:
            return dict(self._decode(value))
        except Exception as error:  # noqa: BLE001 - of the record: refused or skipped as others are
            return EplRuntimeError(f"cannot be decoded: {type(error).__name__}: {error}")

    def position(self) -> dict[str, int]:
        """See Source."""
        return {str(partition): offset for partition, offset in self._offsets.items()}

    def committed(self) -> None:
        """See Source."""
        offsets = [self._kafka.TopicPartition(self.topic, partition, offset) for partition, offset in self._offsets.items()]
        try:
            self._consumer.commit(offsets=offsets, asynchronous=False)
        except self._kafka.KafkaException as error:
            reason = error.args[0]
            if not _passes(self._kafka, reason):
                raise EplRuntimeError(f"offsets of group '{self._settings['group.id']}': {reason.str()}") from None
            log.warning("Kafka, topic '%s': the offsets are committed later: %s", self.topic, reason.str())

    def close(self) -> None:
        """See Source."""
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            consumer.close()


class KafkaSink:
    """A record for each row: its value is the row as JSON, or what ``encode`` makes of it.

    With a state and ``transactional_id`` each checkpoint is one transaction of Kafka: consumers that read committed records
    (``isolation.level=read_committed``) get each row exactly once. Otherwise at least once: after a failure, the rows of one checkpoint may
    come a second time.

    Args:
        topic: The topic.
        servers: ``host:port``, several with commas.
        key: Columns whose values are the record's key: one name, or several, as a JSON array.
        transactional_id: Names the writer in Kafka. No other pipeline may use it; a restart must. Also the group that holds the number of
            the last checkpoint.
        encode: Makes a record's value of a row's values (default: JSON).
        stream: Which rows: ``"new"``, ``"old"`` or ``"both"``.
        options: Further settings of librdkafka.
        name: Names the sink in checkpoints and errors (default: the topic).

    Raises:
        EplRuntimeError: From a pipeline: a record was refused, or not accepted in time.

    Examples:
        >>> sink = KafkaSink("alerts", "localhost:9092", key="symbol", transactional_id="alerts-of-rules")
        >>> sink.name
        'alerts'
    """

    @check_arguments
    def __init__(
        self, topic: str, servers: str, *, key: str | Sequence[str] = (), transactional_id: str | None = None,
        encode: Callable[[Mapping[str, Any]], bytes] | None = None, stream: str = "new",
        options: Mapping[str, str] | None = None, name: str | None = None,
    ) -> None:
        self.topic, self.name, self.stream = topic, name or topic, check_stream(stream)
        self._keys = [key] if isinstance(key, str) else list(key)
        self._id, self._encode = transactional_id, encode
        self._settings = {**_check(options), "bootstrap.servers": servers, "enable.idempotence": "true", "acks": "all"}
        self._outages = _Outages(topic)
        self._kafka: Any = None
        self._producer: Any = None
        self._marker: Any = None
        self._state = ""
        self._in_transactions = False
        self._refused: Any = None
        self.holds: str | None = None
        """See Sink."""

    def open(self, event_type: EventType, state: str | None) -> int | None:
        """See Sink."""
        missing = [name for name in self._keys if event_type.property(name) is None]
        if missing:
            raise EplRuntimeError(f"key: there is no column '{missing[0]}'", hint=f"there are {', '.join(event_type.properties)}")
        self._kafka = _client()
        self._in_transactions = state is not None and self._id is not None
        if not self._in_transactions:
            self._producer = self._kafka.Producer({**self._settings, "error_cb": self._outages}, logger=_quiet())
            return None
        self._state = state or ""
        self._producer = self._kafka.Producer({**self._settings, "error_cb": self._outages, "transactional.id": self._id}, logger=_quiet())
        servers = {"bootstrap.servers": self._settings["bootstrap.servers"], "group.id": self._id, "enable.auto.commit": "false"}
        self._marker = self._kafka.Consumer({**self._settings_of_consumer(), **servers}, logger=_quiet())
        try:
            _patiently(self._kafka, lambda: self._producer.init_transactions(PATIENCE))  # ends what an earlier life has left open
        except self._kafka.KafkaException as error:
            raise EplRuntimeError(f"no transactions: {error.args[0].str()}", hint=REACHABLE) from None
        return self._last_delivery()

    def _settings_of_consumer(self) -> dict[str, str]:
        return {name: value for name, value in self._settings.items() if name not in ("acks", "enable.idempotence")}

    def _last_delivery(self) -> int | None:
        asked = [self._kafka.TopicPartition(self.topic, 0)]
        place = _patiently(self._kafka, lambda: self._marker.committed(asked, PATIENCE))[0]
        self.holds = None if place.offset < 0 or place.metadata == self._state else place.metadata or ""
        return int(place.offset) if place.offset >= 0 and self.holds is None else None

    def deliver(self, rows: Sequence[OutputRow], checkpoint: int | None) -> None:
        """See Sink."""
        self._refused = None
        if not self._in_transactions or checkpoint is None:
            self._produce(rows)
            self._flush()
            return
        self._producer.begin_transaction()
        try:
            self._produce(rows)
            self._flush()
            place = self._kafka.TopicPartition(self.topic, 0, checkpoint, self._state)
            group = self._marker.consumer_group_metadata()
            _patiently(self._kafka, lambda: self._producer.send_offsets_to_transaction([place], group, PATIENCE))
            _patiently(self._kafka, lambda: self._producer.commit_transaction(PATIENCE))
        except self._kafka.KafkaException as error:
            if error.args[0].txn_requires_abort():
                self._producer.abort_transaction(PATIENCE)
            message = f"the transaction of checkpoint {checkpoint} failed: {error.args[0].str()}"
            raise EplRuntimeError(message, hint="the next start delivers its rows") from None

    def _produce(self, rows: Sequence[OutputRow]) -> None:
        for row in rows:
            value = row.json().encode() if self._encode is None else self._encode(row.values)
            until = time.monotonic() + PATIENCE
            while True:
                try:
                    self._producer.produce(self.topic, value, self._key(row), on_delivery=self._note)
                    break
                except BufferError:  # the queue is full: wait until the broker has taken something
                    self._producer.poll(0.1)
                    if time.monotonic() > until:
                        raise EplRuntimeError(f"the broker has accepted no record for {PATIENCE:.0f} seconds") from None
            self._producer.poll(0)

    def _key(self, row: OutputRow) -> bytes | None:
        if not self._keys:
            return None
        values = [row.values.get(name) for name in self._keys]
        if len(values) > 1:
            return json.dumps(jsonable(values), ensure_ascii=False).encode()
        return None if values[0] is None else str(values[0]).encode()

    def _note(self, error: Any, record: Any) -> None:
        if error is not None and self._refused is None:
            self._refused = error

    def _flush(self) -> None:
        left = self._producer.flush(PATIENCE)
        if self._refused is not None:
            raise EplRuntimeError(f"a record was refused: {self._refused.str()}")
        if left:
            raise EplRuntimeError(f"{left} records were not accepted within {PATIENCE:.0f} seconds", hint=REACHABLE)

    def close(self) -> None:
        """See Sink."""
        producer, self._producer = self._producer, None
        marker, self._marker = self._marker, None
        if producer is not None and not self._in_transactions:
            producer.flush(PATIENCE)
        if marker is not None:
            marker.close()


def _quiet() -> logging.Logger:
    """Return the log of librdkafka's own messages: a line an attempt to connect. Applications that want them add a handler."""
    logger = logging.getLogger("epl.kafka")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
    return logger


class _Outages:
    """Logs that no broker answers: a client tries again until one does."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._at = -QUIET_FOR

    def __call__(self, error: Any) -> None:
        now = time.monotonic()
        if now - self._at >= QUIET_FOR:
            self._at = now
            log.warning("Kafka, topic '%s': %s", self._name, error.str())


__all__ = ["KafkaSink", "KafkaSource"]
