"""Requests that no client of good will sends to ``epl serve``: each gets an answer that is JSON and no 5xx, and the server goes on.

Verdict: no answer of 500, no answer that is not JSON, the state of what was deployed unchanged, ``/ready`` still 200.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.tools.serve.options import ServeLimits
from tests.serve.conftest import serving

MODULE = """create schema T(k string, n int, d double, t java.util.Date); @name('s') select * from T;
create window W#keepall as (k string, d double);"""
DRAWN = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    limits = ServeLimits(body=300_000, text=50_000, body_seconds=2)
    with serving(playground=False, limits=limits) as address, httpx.Client(base_url=f"{address}/api/v1", timeout=30) as client:
        assert client.post("/deployments", json={"epl": MODULE, "name": "m"}).status_code == 201
        yield client


def held(http: httpx.Client, answer: httpx.Response) -> None:
    assert answer.status_code < 500, answer.text[:500]
    if answer.content:
        json.loads(answer.text, parse_constant=_refuse)
    assert http.get(f"{str(http.base_url).removesuffix('/api/v1/')}/ready").status_code == 200
    assert "m" in [each["id"] for each in http.get("/deployments").json()["deployments"]]


def _refuse(constant: str) -> Any:
    raise AssertionError(f"{constant} is no JSON")


LEAVES = st.sampled_from(
    [None, True, -1, 0, 1.5, 2**63, -(2**70), "", "x", "\x00", "\ud800", "<script>", "a\r\nid: 5\r\n\r\n", "9999-12-31T23:59:59Z",
    "0001-01-01",
     "select * from W", "T", "s", [], {}, [[[]]], {"a": None}, 1e308, "../../x", "n" * 3000, "(" * 3000])
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("knd"), inner, max_size=3),
    max_leaves=4)
KEYS = st.sampled_from(["epl", "name", "replace", "parameters", "type", "event", "time", "to", "by", "mode", "k", "n", "d", "t", "", "x",
    "\ud800"])
ROUTES = ["/deployments", "/compile", "/events/T", "/events/None", "/events", "/time", "/query"]


@DRAWN
@given(route=st.sampled_from(ROUTES), body=st.dictionaries(KEYS, VALUES, max_size=4) | VALUES)
def test_bodies_of_json(http: httpx.Client, route: str, body: Any) -> None:
    if isinstance(body, dict):
        body.pop("replace", None)  # of the same name it would undeploy, as asked
        if route == "/time":
            body = {key: value for key, value in body.items() if key != "to" or not isinstance(value, (str, int))}
    held(http, http.post(route, content=json.dumps(body), headers={"content-type": "application/json"}))


RAW = [b"", b"{", b"\xff\xfe", b"[" * 20_000, b'{"epl":' * 5000, b"nul", b"NaN", b'{"by": 1e999}', b'{"n": ' + b"9" * 5000 + b"}",
    b"1\n2\n", b"{}\n{", b'"\\ud800"',
       b"\x00", b"k=v&k=v", b"select \xff from T", b"select " + b"(" * 5000 + b"1", b'{"type":"T","event":{"t":"2024-13-45"}}\n' * 3]
FORMS = ["application/json", "application/x-ndjson", "text/x-epl", "text/plain", "application/x-www-form-urlencoded", "",
    "x/y; charset=utf-99", "application/json; a=\"\\"]


@DRAWN
@given(route=st.sampled_from(ROUTES), body=st.sampled_from(RAW), form=st.sampled_from(FORMS))
def test_bodies_that_are_none(http: httpx.Client, route: str, body: bytes, form: str) -> None:
    held(http, http.post(route, content=body, headers={"content-type": form}))


PATHS = ["/deployments/..%2f..%2fetc", "/statements/%00", "/statements/%ff%fe", "/statements//rows", "/events/%00",
    "/events/" + "x" * 30_000, "/stream",
         "/deployments/" + "%2e%2e/" * 50, "/stream?statement=%00", "/stream?" + "statement=none&" * 2000, "/time/",
         "/statements/none/rows?limit=-1",
         "/statements/s/rows?limit=1e9", "/statements/s/plan?format=%00", "/statements/s/rows?x=" + "%20" * 5000, "/faults?from=x",
         "//time", "/%2e%2e/health"]


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PUT", "PATCH", "TRACE", "PROPFIND", "HEAD"])
def test_paths_and_methods(http: httpx.Client, method: str) -> None:
    for path in PATHS:
        with http.stream(method, path) as answer:  # a stream of rows has no end
            assert answer.status_code < 500, path
    held(http, http.get("/time"))
