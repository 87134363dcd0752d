"""``async for`` over a statement, and Arrow streams of statements and query rows."""
from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import pyarrow as pa
import pytest

from runtime import EplRuntimeError, Runtime, Statement
from runtime.api.statement import internal_output

MODULE = "@public @buseventtype create schema A(x int); @name('s') select irstream x from A#length(2)"


def deployed() -> tuple[Runtime, Statement]:
    runtime = Runtime()
    return runtime, runtime.deploy(MODULE)["s"]


def plain(call: Any) -> Any:
    return [dict(row) for row in call[0]], [dict(row) for row in call[1]]


def test_calls_of_another_thread_come_in_order() -> None:
    runtime, statement = deployed()

    async def read() -> list[Any]:
        calls = []
        async with statement.stream() as stream:
            sender = threading.Thread(target=lambda: [runtime.send("A", {"x": x}) for x in range(2_000)])
            sender.start()
            async for call in stream:
                calls.append(plain(call))
                if len(calls) == 2_000:
                    break
            sender.join()
        return calls

    calls = asyncio.run(read())
    assert calls[:3] == [([{"x": 0}], []), ([{"x": 1}], []), ([{"x": 2}], [{"x": 0}])]
    assert [call[0][0]["x"] for call in calls] == list(range(2_000))
    runtime.send("A", {"x": 1})


def test_the_stream_ends_with_its_statement_and_gives_what_waits() -> None:
    runtime, statement = deployed()

    async def read() -> list[Any]:
        stream = statement.stream()
        runtime.send("A", {"x": 1})
        runtime.undeploy(statement.deployment_id)
        return [plain(call) async for call in stream]

    assert asyncio.run(read()) == [([{"x": 1}], [])]


def test_a_reader_that_waits_is_woken_by_the_end() -> None:
    runtime, statement = deployed()

    async def read() -> list[Any]:
        async def collect() -> list[Any]:
            return [plain(call) async for call in stream]

        stream = statement.stream()
        reading = asyncio.create_task(collect())
        await asyncio.sleep(0)
        runtime.undeploy_all()
        return await asyncio.wait_for(reading, 5)

    assert asyncio.run(read()) == []


def test_a_reader_that_is_too_slow_gets_an_error_and_holds_nobody_up() -> None:
    runtime, statement = deployed()

    async def read() -> None:
        stream = statement.stream(limit=2)
        for x in range(5):
            runtime.send("A", {"x": x})
        assert plain(await anext(stream)) == ([{"x": 0}], [])
        assert plain(await anext(stream)) == ([{"x": 1}], [])
        with pytest.raises(EplRuntimeError, match="statement 's': the stream was read too slowly, more than 2 calls waited"):
            await anext(stream)

    asyncio.run(read())
    assert not statement.listeners and not internal_output(statement).at_end


def test_a_loop_that_has_ended_lets_the_listener_go() -> None:
    runtime, statement = deployed()

    async def leave() -> None:
        statement.stream()

    asyncio.run(leave())
    runtime.send("A", {"x": 1})
    gc.collect()
    assert not statement.listeners and not internal_output(statement).at_end


def test_wrong_use() -> None:
    _, statement = deployed()
    with pytest.raises(RuntimeError, match="no running event loop"):
        statement.stream()

    async def nothing_may_wait() -> None:
        statement.stream(limit=0)

    with pytest.raises(ValueError, match="limit: at least 1"):
        asyncio.run(nothing_may_wait())
    assert not statement.listeners


def test_arrow_streams() -> None:
    runtime, statement = deployed()
    empty = pa.table(statement)
    assert empty.num_rows == 0 and empty.column_names == ["x"]
    for x in (1, 2, 3):
        runtime.send("A", {"x": x})
    assert pa.table(statement).to_pydict() == {"x": [2, 3]}
    rows = pa.RecordBatchReader.from_stream(runtime.query("select 1 + 1 as two"))
    assert rows.read_all().to_pydict() == {"two": [2]}
