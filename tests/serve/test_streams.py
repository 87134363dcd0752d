"""Output as Server-Sent Events: order, what slow clients miss, going on after a break."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from runtime import Runtime
from runtime.tools.serve.options import ServeLimits
from runtime.tools.serve.streams import OutputStreams
from tests.serve.test_rules import post

Message = dict[str, Any]


class Listening:
    """A connection to the stream, and the events that come over it."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self._lines = answer.iter_lines()

    def next(self) -> Message:
        """Return the next event; ``data`` is parsed."""
        message: Message = {"id": None}
        for line in self._lines:
            if not line and "data" in message:
                return message
            name, _, value = line.partition(": ")
            if name:
                message[name] = json.loads(value) if name == "data" else value
        raise EOFError


@contextlib.contextmanager
def listening(http: httpx.Client, *statements: str, last_id: str | None = None) -> Iterator[Listening]:
    headers = {} if last_id is None else {"last-event-id": last_id}
    with http.stream("GET", "/api/v1/stream", params={"statement": statements}, headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield Listening(answer)


def send(http: httpx.Client, *prices: float) -> None:
    post(http, "/events/Trade", [{"symbol": "A", "price": price} for price in prices])


def prices(message: Message) -> list[float]:
    return [row["price"] for row in message["data"]["new"]]


def test_rows_come_in_order(http: httpx.Client) -> None:
    with listening(http, "Large", "Totals") as client:
        opened = client.next()
        assert (opened["event"], opened["data"]) == ("open", {"statements": ["Large", "Totals"], "resumed": False})
        send(http, 100, 50, 200)
        messages = [client.next() for _ in range(5)]
    assert [m["data"]["statement"] for m in messages] == ["Large", "Totals", "Totals", "Large", "Totals"]
    assert messages[0]["data"]["new"] == [{"symbol": "A", "price": 100.0}]
    assert messages[0]["data"]["deployment"] == "m"
    numbers = [int(m["id"].partition("-")[2]) for m in messages]
    assert numbers == sorted(set(numbers))


def test_remove_stream_comes_as_old_rows(http: httpx.Client) -> None:
    post(http, "/deployments", {"epl": "@name('Last') select irstream price from Trade#length(1)"}, 201)
    with listening(http, "Last") as client:
        client.next()
        send(http, 1, 2)
        client.next()
        assert client.next()["data"]["old"] == [{"price": 1.0}]


def test_client_goes_on_after_a_break(http: httpx.Client) -> None:
    with listening(http, "Large") as client:
        client.next()
        send(http, 101, 102)
        assert prices(client.next()) == [101]
        last_id = client.next()["id"]
    send(http, 103, 104)
    with listening(http, "Large", last_id=last_id) as client:
        assert client.next()["data"]["resumed"] is True
        assert [prices(client.next()) for _ in range(2)] == [[103], [104]]
        send(http, 105)
        assert prices(client.next()) == [105]


def test_break_without_output_loses_nothing(http: httpx.Client) -> None:
    with listening(http, "Large") as client:
        last_id = client.next()["id"]
    send(http, 106)
    with listening(http, "Large", last_id=last_id) as client:
        assert client.next()["event"] == "open"
        assert prices(client.next()) == [106]


def test_what_is_no_longer_kept_is_reported(http: httpx.Client) -> None:
    with listening(http, "Large") as client:
        client.next()
        send(http, 100)
        last_id = client.next()["id"]
    send(http, *range(1000, 1080))
    with listening(http, "Large", last_id=last_id) as client:
        client.next()
        dropped = client.next()
        assert (dropped["event"], dropped["data"]["statement"], dropped["id"]) == ("dropped", "Large", None)
        assert prices(client.next()) == [1030]


@pytest.mark.parametrize("last_id", ["00000000-3", "nonsense", "-", "x-y"])
def test_id_of_an_earlier_start_is_reported(http: httpx.Client, last_id: str) -> None:
    with listening(http, "Large", last_id=last_id) as client:
        assert client.next()["data"]["resumed"] is False
        assert client.next()["event"] == "dropped"
        send(http, 107)
        assert prices(client.next()) == [107]


def test_statement_that_is_deployed_again_goes_on(http: httpx.Client) -> None:
    module = {"epl": "@name('Again') select price from Trade", "name": "again"}
    post(http, "/deployments", module, 201)
    with listening(http, "Again") as client:
        client.next()
        http.delete("/api/v1/deployments/again")
        post(http, "/deployments", module, 201)
        send(http, 5)
        assert prices(client.next()) == [5]


def test_unknown_statements_and_too_many_clients(http: httpx.Client) -> None:
    assert http.get("/api/v1/stream", params={"statement": "Nothing"}).status_code == 404
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(listening(http, "Large")) for _ in range(5)]
        assert [client.next()["event"] for client in clients] == ["open"] * 5
        assert http.get("/api/v1/stream", params={"statement": "Large"}).status_code == 503


def test_slow_client_is_notified_of_the_rows_it_has_missed() -> None:
    async def scenario() -> list[bytes]:
        with Runtime(tier="row") as runtime:
            runtime.deploy("create schema T(a int); @name('s') select a from T")
            streams = OutputStreams(runtime, ServeLimits(buffer_messages=10))
            streams.listen(["s"])
            messages = streams.messages(["s"], None)
            received = [await anext_of(messages)]
            for number in range(25):
                runtime.send("T", {"a": number})
            received.append(await anext_of(messages))
            streams.close()
            return received

    _, after = asyncio.run(scenario())
    dropped, *kept = after.decode().strip().split("\n\n")
    assert '"rows": 15' in dropped
    assert [json.loads(each.partition("data: ")[2])["new"][0]["a"] for each in kept] == list(range(15, 25))


def test_log_holds_no_more_bytes_than_allowed() -> None:
    with Runtime(tier="row") as runtime:
        runtime.deploy("create schema T(s string); @name('s') select s from T")
        streams = OutputStreams(runtime, ServeLimits(buffer_bytes=10_000))
        streams.listen(["s"])
        for _ in range(50):
            runtime.send("T", {"s": "x" * 1_000})
        (log,) = streams._logs.values()
        assert log.size == sum(len(call.data) for call in log.calls) <= 10_000
        assert len(log.calls) == 9
        streams.listen([])
        runtime.undeploy_all()
        streams.attach()
        assert streams._logs == {}


async def anext_of(messages: Any) -> bytes:
    return await asyncio.wait_for(messages.__anext__(), 5)  # type: ignore[no-any-return]
