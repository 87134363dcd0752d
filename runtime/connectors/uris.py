"""Sources and sinks by URI, as ``epl run`` takes them.

``kafka://host:9092/topic?group=rules&start=latest&time=record``, ``kafka://host:9092/alerts?key=symbol&transactional_id=rules``,
``sqlite:///alerts.db?table=alerts&key=symbol``, a file's path or URI, ``-`` for standard input and output.
"""
from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from epl.errors import EplRuntimeError
from runtime.connectors.databases import DatabaseSink
from runtime.connectors.files import FileSink, FileSource, StreamSink
from runtime.connectors.input import Source
from runtime.connectors.kafka import KafkaSink, KafkaSource
from runtime.connectors.output import Sink

EXAMPLE = "such as kafka://localhost:9092/trades?group=rules"


def open_source(uri: str, **options: Any) -> Source:
    """Return the source at a URI or path.

    Args:
        uri: Of a topic, a file, or ``-``.
        options: ``type``, ``type_column``, ``time`` and ``missing``, as of the sources; ``input``, ``delimiter``, ``rate`` and ``loop`` of
            files.

    Raises:
        EplRuntimeError: The URI lacks something, or has a parameter that there is not.
    """
    if not uri.startswith("kafka://"):
        return FileSource(uri, **options)
    servers, topic, query = _parts(uri, ("group", "start", "time"))
    if options.get("rate") is not None or options.get("loop", 1) != 1:
        raise EplRuntimeError(f"{uri}: rate and loop are for files")
    of_file = {"input", "delimiter", "rate", "loop"}
    common: dict[str, Any] = {name: value for name, value in options.items() if name not in of_file}
    if query.get("time") == "record":
        common.update(time=None, record_time=True)
    elif "time" in query:
        common["time"] = query["time"]
    of_group: dict[str, Any] = {name: query[name] for name in ("group", "start") if name in query}
    try:
        return KafkaSource(topic, servers, options=_options(query), **of_group, **common)
    except ValueError as error:
        raise EplRuntimeError(f"{uri}: {error}") from None


def open_sink(uri: str, *, format: str | None = None) -> Sink:
    """Return the sink at a URI or path; raise EplRuntimeError as ``open_source`` does."""
    if uri == "-":
        return StreamSink()
    try:
        if uri.startswith("kafka://"):
            servers, topic, query = _parts(uri, ("key", "transactional_id", "stream"))
            key = [each for each in query.get("key", "").split(",") if each]
            return KafkaSink(
                topic, servers, key=key[0] if len(key) == 1 else key, transactional_id=query.get("transactional_id"),
                stream=query.get("stream", "new"), options=_options(query))
        if uri.startswith("sqlite://"):
            return _sqlite(uri)
        return FileSink(uri, format=format)
    except ValueError as error:
        raise EplRuntimeError(f"{uri}: {error}") from None


def _sqlite(uri: str) -> Sink:
    parts = urlsplit(uri)
    query = _query(uri, parts.query, ("table", "key", "stream"), ())
    path = unquote(parts.path)[1:]
    if parts.netloc or not path or "table" not in query:
        raise EplRuntimeError(f"{uri}: a file and a table are expected", hint="such as sqlite:///alerts.db?table=alerts&key=symbol")
    key = [each for each in query.get("key", "").split(",") if each]
    return DatabaseSink(lambda: sqlite3.connect(path), table=query["table"], key=key, stream=query.get("stream", "new"), name=uri)


def _parts(uri: str, known: Collection[str]) -> tuple[str, str, dict[str, str]]:
    """Return servers, topic and parameters."""
    parts = urlsplit(uri)
    topic = unquote(parts.path).strip("/")
    if not parts.netloc or not topic or "/" in topic:
        raise EplRuntimeError(f"{uri}: a broker and a topic are expected", hint=EXAMPLE)
    if "@" in parts.netloc:
        raise EplRuntimeError("a URI of Kafka holds no password, which process lists would show", hint="sasl.* parameters come from Python")
    return parts.netloc, topic, _query(uri, parts.query, known, (".",))


def _query(uri: str, query: str, known: Collection[str], other: Collection[str]) -> dict[str, str]:
    """Return the parameters; ``other``: signs in the names of those that are handed on."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query), max_num_fields=100)
    except ValueError as error:
        raise EplRuntimeError(f"{uri}: {error}", hint="parameters are written name=value, with & between them") from None
    for name, _ in pairs:
        if name not in known and not any(sign in name for sign in other):
            more = ", and settings of librdkafka such as security.protocol" if other else ""
            raise EplRuntimeError(f"{uri}: there is no parameter '{name}'", hint=f"there are {', '.join(known)}{more}")
    return dict(pairs)


def _options(query: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in query.items() if "." in name}


__all__ = ["open_sink", "open_source"]
