"""Real servers on free ports, and clients that speak HTTP to them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import attrs
import httpx
import pytest

from runtime.tools.serve.options import ServeLimits, ServeOptions
from runtime.tools.serve.server import prepare_runtime

MODULE = """create schema Trade(symbol string, price double);
@name('Large') select symbol, price from Trade(price >= 100);
@name('Totals') select symbol, sum(price) as total from Trade#keepall group by symbol;
@name('Book') create window Book#keepall as Trade;
insert into Book select * from Trade;
"""


@contextlib.contextmanager
def serving(**options: Any) -> Iterator[str]:
    """Yield the address of a server with these options that runs in a thread."""
    with prepare_runtime(ServeOptions(port=0, **options)) as (server, listening):
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive()


LIMITS = ServeLimits(body=100_000, text=20_000, body_seconds=1, run_seconds=15, run_memory=200 << 20, run_rows=300, run_events=400,
                buffer_messages=50, query_rows=20, streams=5)  # fmt: skip


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """A server without a token, with small limits; of time none that a busy machine reaches."""
    with serving(limits=LIMITS) as url:
        yield url


@pytest.fixture(scope="session")
def hurried() -> Iterator[str]:
    """A server whose runs have little time."""
    with serving(limits=attrs.evolve(LIMITS, run_seconds=3), rules=False) as url:
        yield url


@pytest.fixture
def http(address: str) -> Iterator[httpx.Client]:
    """A client of that server, whose runtime has ``MODULE`` deployed and nothing else."""
    with httpx.Client(base_url=address, timeout=20) as client:
        for deployment in reversed(client.get("/api/v1/deployments").json()["deployments"]):
            assert client.delete(f"/api/v1/deployments/{deployment['id']}").status_code == 204
        assert client.post("/api/v1/deployments", json={"epl": MODULE, "name": "m"}).status_code == 201
        yield client
