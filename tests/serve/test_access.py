"""Who is answered: hosts, origins, tokens, sizes."""

from __future__ import annotations

import http.client
import json
import socket
import urllib.parse

import httpx
import pytest

from runtime.tools.serve.access import HEADERS, PAGE_TOKEN, Policy
from runtime.tools.serve.options import ServeOptions
from runtime.tools.serve.server import ServeFault, check
from tests.serve.conftest import serving

TOKEN = "a-token-of-enough-characters"
QUERY = {"epl": "select 1 as one"}


def page_token(address: str) -> str:
    return httpx.get(f"{address}/").text.partition('name="epl-page" content="')[2].partition('"')[0]


def query(address: str, **headers: str) -> httpx.Response:
    return httpx.post(f"{address}/api/v1/query", json=QUERY, headers=headers)


# ------------------------------------------------------------------ hosts


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "", "a b", "[::1", "0.0.0.0", "10.0.0.1"]
)
def test_other_hosts_are_not_answered(address: str, host: str) -> None:
    assert httpx.get(f"{address}/api/v1/deployments", headers={"host": host}).status_code in (400, 421)
    assert httpx.get(f"{address}/", headers={"host": host}).status_code in (400, 421)


@pytest.mark.parametrize("host", ["localhost", "LocalHost:1", "127.0.0.1:99", "[::1]:8420"])
def test_names_of_loopback_are_answered(address: str, host: str) -> None:
    assert httpx.get(f"{address}/health", headers={"host": host}).status_code == 200


def test_two_hosts_are_refused(address: str) -> None:
    port = urllib.parse.urlsplit(address).port
    with socket.create_connection(("127.0.0.1", port or 0)) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400")


# ------------------------------------------------------------------ pages of other sites


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"}, {"origin": "null"}, {"origin": "http://localhost:3000"}, {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"}, {"sec-fetch-site": "same-origin"},  # the last one without the page's token
    ],
)  # fmt: skip
def test_pages_of_other_sites_change_nothing(address: str, headers: dict[str, str]) -> None:
    assert query(address, **headers).status_code == 403
    assert query(address, **headers, **{PAGE_TOKEN: "wrong"}).status_code == 403


def test_pages_of_other_sites_change_nothing_even_with_the_token(address: str) -> None:
    token = page_token(address)
    assert query(address, origin="http://evil.example", **{PAGE_TOKEN: token}).status_code == 403
    assert query(address, **{"sec-fetch-site": "cross-site", PAGE_TOKEN: token}).status_code == 403


@pytest.mark.parametrize("headers", [{"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"origin": "http://evil.example"}])
@pytest.mark.parametrize("path", ["/api/v1/deployments", "/api/v1/stream", "/metrics", "/static/page.js"])
def test_pages_of_other_sites_read_nothing(address: str, path: str, headers: dict[str, str]) -> None:
    answer = httpx.get(f"{address}{path}", headers=headers)
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_own_page_and_programs_are_answered(address: str) -> None:
    assert query(address).status_code == 200
    own = {"origin": address, "sec-fetch-site": "same-origin", PAGE_TOKEN: page_token(address)}
    assert query(address, **own).status_code == 200
    shared_link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert httpx.get(f"{address}/", headers=shared_link).status_code == 200


@pytest.mark.parametrize("form", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])
def test_forms_are_refused(address: str, form: str) -> None:
    answer = httpx.post(f"{address}/api/v1/query", content=json.dumps(QUERY), headers={"content-type": form})
    assert answer.status_code == 415


def test_asking_whether_one_may_ask_is_refused(address: str) -> None:
    headers = {"origin": "http://evil.example", "access-control-request-method": "POST"}
    assert httpx.options(f"{address}/api/v1/query", headers=headers).status_code == 403
    assert httpx.options(f"{address}/api/v1/query").status_code == 405


def test_every_answer_has_the_headers(address: str) -> None:
    for path, status in (("/", 200), ("/api/v1/deployments", 200), ("/nothing", 404), ("/static/..%2fapp.py", 404)):
        answer = httpx.get(f"{address}{path}")
        assert answer.status_code == status
        assert HEADERS.items() <= dict(answer.headers).items()
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy
    assert "http" not in policy


# ------------------------------------------------------------------ tokens


def test_every_request_needs_the_token() -> None:
    with serving(host="0.0.0.0", token=TOKEN) as address:
        for path in ("/api/v1/deployments", "/metrics", "/openapi.json", "/api/v1/playground", "/nothing"):
            assert httpx.get(f"{address}{path}").status_code == 401
            assert httpx.get(f"{address}{path}", headers={"authorization": "Bearer wrong"}).status_code == 401
            assert httpx.get(f"{address}{path}", headers={"authorization": f"Basic {TOKEN}"}).status_code == 401
        assert query(address).headers["www-authenticate"] == "Bearer"
        assert query(address, authorization=f"Bearer {TOKEN}").status_code == 200
        assert query(address, authorization=f"Bearer {TOKEN}", origin="http://evil.example").status_code == 403
        assert httpx.get(f"{address}/health").status_code == httpx.get(f"{address}/").status_code == 200
        assert page_token(address) == ""
        assert TOKEN not in httpx.get(f"{address}/").text
        assert httpx.get(f"{address}/health", headers={"host": "evil.example"}).status_code == 421


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"host": "0.0.0.0"}, "needs a token"), ({"host": "192.168.1.5"}, "needs a token"), ({"host": "::"}, "needs a token"),
        ({"host": "box.example"}, "needs a token"), ({"names": ("box.example",)}, "needs a token"),
        ({"token": "short"}, "16 characters"), ({"token": "sixteen \n characters"}, "printable"),
        ({"playground": False, "rules": False}, "nothing is left"),
    ],
)  # fmt: skip
def test_what_would_let_others_in_does_not_start(options: dict[str, object], message: str) -> None:
    with pytest.raises(ServeFault, match=message):
        check(ServeOptions(**options))  # type: ignore[arg-type]


def test_names_behind_a_proxy() -> None:
    policy = Policy.of("127.0.0.1", TOKEN, ("rules.example",))
    headers = {"host": "Rules.Example", "authorization": f"bearer {TOKEN}"}
    assert policy.refusal("GET", "/metrics", headers) is None
    assert policy.refusal("POST", "/api/v1/query", {**headers, "origin": "https://rules.example"}) is None
    assert policy.refusal("GET", "/metrics", {**headers, "host": "10.1.2.3"}) is not None


# ------------------------------------------------------------------ sizes


def test_large_bodies_are_refused(address: str) -> None:
    large = [{"symbol": "x" * 1000, "price": 1}] * 200
    answer = httpx.post(f"{address}/api/v1/events/Trade", json=large)
    assert answer.status_code == 413
    assert "100,000 bytes" in answer.json()["error"]["message"]
    assert httpx.post(f"{address}/api/v1/query", json={"epl": "x" * 30_000}).status_code == 413


def test_large_bodies_without_a_length_are_refused(address: str) -> None:
    body = (b"x" * 1000 for _ in range(200))
    answer = httpx.post(f"{address}/api/v1/events/Trade", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 413


def test_bodies_that_do_not_come_are_given_up(address: str) -> None:
    place = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=10)
    connection.putrequest("POST", "/api/v1/query")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", "100")
    connection.endheaders()
    connection.send(b"{")
    assert connection.getresponse().status == 408
    connection.close()


def test_body_that_is_no_text_is_refused(address: str) -> None:
    answer = httpx.post(f"{address}/api/v1/query", content=b'{"epl": "\xff"}', headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert "0xff" in answer.json()["error"]["message"]
