"""REST for rules, events, time and queries."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.serve.conftest import serving


def post(http: httpx.Client, path: str, body: Any, status: int = 200) -> Any:
    answer = http.post(f"/api/v1{path}", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def rows(http: httpx.Client, statement: str) -> Any:
    return http.get(f"/api/v1/statements/{statement}/rows").json()["rows"]


def test_module_is_deployed_shown_and_undeployed(http: httpx.Client) -> None:
    deployed = post(http, "/deployments", {"epl": "@name('Few') select * from Trade(price < 1)", "name": "few/1"}, 201)
    assert deployed["id"] == "few/1"
    assert deployed["statements"][0]["properties"] == [{"name": "symbol", "type": "String"}, {"name": "price", "type": "Double"}]
    one = http.get("/api/v1/deployments/few/1").json()
    assert one["epl"] == "@name('Few') select * from Trade(price < 1)"
    assert [d["id"] for d in http.get("/api/v1/deployments").json()["deployments"]] == ["m", "few/1"]
    assert http.get("/api/v1/statements/Few").json()["tier"] in ("row", "batch")
    assert "Trade where price < 1" in http.get("/api/v1/statements/Few/plan").json()["plan"]
    assert http.delete("/api/v1/deployments/few/1").status_code == 204
    assert http.delete("/api/v1/deployments/few/1").status_code == 404
    assert http.get("/api/v1/statements/Few").status_code == 404


def test_module_may_be_the_body_itself(http: httpx.Client) -> None:
    def deploy(text: str, query: str = "") -> httpx.Response:
        return http.post(f"/api/v1/deployments{query}", content=text, headers={"content-type": "text/x-epl"})

    assert deploy("@name('A') select * from Trade", "?name=mine").json()["id"] == "mine"
    replaced = deploy("@name('A') select symbol from Trade", "?replace=true")
    assert replaced.status_code == 201
    assert "mine" not in [d["id"] for d in http.get("/api/v1/deployments").json()["deployments"]]


def test_refused_module_has_position_and_hint(http: httpx.Client) -> None:
    error = post(http, "/deployments", {"epl": "select *\nfro Trade"}, 422)["error"]
    assert (error["code"], error["line"], error["column"], error["hint"]) == ("syntax", 2, 1, "did you mean 'from'?")
    assert error["excerpt"] == ["fro Trade", "^^^"]


def test_compile_deploys_nothing(http: httpx.Client) -> None:
    assert post(http, "/compile", {"epl": "@name('x') select symbol from Trade"}) == {
        "accepted": True, "statements": [{"name": "x", "kind": "select"}], "errors": [], "warnings": []}
    refused = post(http, "/compile", {"epl": "select nothing from Trade"})
    assert not refused["accepted"]
    assert refused["errors"][0]["column"] == 8
    assert len(http.get("/api/v1/deployments").json()["deployments"]) == 1


def test_warnings_are_in_the_answer(http: httpx.Client) -> None:
    (warning,) = post(http, "/deployments", {"epl": "@Nobody @name('w') select * from Trade"}, 201)["warnings"]
    assert "Nobody" in warning


def test_what_is_used_is_not_undeployed(http: httpx.Client) -> None:
    post(http, "/deployments", {"epl": "select * from Trade"}, 201)
    answer = http.delete("/api/v1/deployments/m")
    assert answer.status_code == 409
    assert "referenced" in answer.json()["error"]["message"]


def test_parameters_of_statements_and_queries(http: httpx.Client) -> None:
    post(http, "/deployments", {"epl": "@name('Above') select * from Trade#keepall where price > ?", "parameters": {"1": 5.0}}, 201)
    post(http, "/events/Trade", [{"symbol": "A", "price": 4}, {"symbol": "B", "price": 6}])
    assert rows(http, "Above") == [{"symbol": "B", "price": 6.0}]
    answer = post(http, "/query", {"epl": "select symbol from Book where price < ?:most:double", "parameters": {"most": 5}})
    assert answer["rows"] == [{"symbol": "A"}]
    assert answer["columns"] == [{"name": "symbol", "type": "String"}]


def test_events_as_object_array_and_lines(http: httpx.Client) -> None:
    post(http, "/events/Trade", {"symbol": "A", "price": 1})
    post(http, "/events/Trade", [{"symbol": "A", "price": 2}, {"symbol": "B", "price": 3}])
    lines = '{"symbol": "B", "price": 4}\r\n\n{"symbol": "C", "price": 5}'
    answer = http.post("/api/v1/events/Trade", content=lines, headers={"content-type": "application/x-ndjson"})
    assert answer.json()["accepted"] == 2
    assert {row["symbol"]: row["total"] for row in rows(http, "Totals")} == {"A": 3.0, "B": 7.0, "C": 5.0}


def test_events_of_several_types_and_time(http: httpx.Client) -> None:
    post(http, "/deployments", {"epl": "@name('Last') select symbol from Trade#time(10 seconds)"}, 201)
    now = http.get("/api/v1/time").json()["now"]
    trade = {"type": "Trade", "event": {"symbol": "A", "price": 1}}
    assert post(http, "/events", [trade, {"time": now + 9_000}, trade]) == {"accepted": 2, "now": now + 9_000, "faults": 0, "warnings": []}
    assert len(rows(http, "Last")) == 2
    assert post(http, "/time", {"by": 1_000})["now"] == now + 10_000
    assert len(rows(http, "Last")) == 1


def test_time_is_set_by_iso_text(http: httpx.Client) -> None:
    before = http.get("/api/v1/time").json()
    later = post(http, "/time", {"to": "2030-01-02T03:04:05Z", "mode": "jump"})
    assert later["at"] == "2030-01-02T03:04:05Z"
    assert later["clock"] == before["clock"] == "external"
    assert "time goes back" in post(http, "/time", {"to": 5}, 422)["error"]["message"]
    post(http, "/time", {"to": before["now"], "mode": "jump"})


def test_wrong_event_changes_nothing(http: httpx.Client) -> None:
    refused = post(http, "/events/Trade", [{"symbol": "A", "price": 1}, {"symbol": "A", "price": "much"}], 422)
    assert (refused["item"], refused["accepted"]) == (2, 0)
    assert "cannot hold" in refused["error"]["message"]
    assert rows(http, "Totals") == []
    assert post(http, "/events/Trad", {}, 422)["error"]["code"] == "runtime"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"), ("[" * 50_000, "nested too deeply"), ('{"price": NaN}', "NaN"), ("1" * 5_000, "not JSON"),
        ("[1]", "cannot be built"),
    ],
)  # fmt: skip
def test_what_is_no_event_is_refused(http: httpx.Client, content: str, message: str) -> None:
    answer = http.post("/api/v1/events/Trade", content=content, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert message in answer.json()["error"]["message"]


def test_place_in_lines_is_given(http: httpx.Client) -> None:
    lines = '{"symbol": "A"}\n{"symbol": }'
    answer = http.post("/api/v1/events/Trade", content=lines, headers={"content-type": "application/x-ndjson"})
    assert (answer.json()["error"]["line"], answer.json()["error"]["column"]) == (2, 12)
    assert rows(http, "Totals") == []


def test_answer_has_at_most_so_many_rows(http: httpx.Client) -> None:
    post(http, "/events/Trade", [{"symbol": str(n), "price": n} for n in range(30)])
    answer = post(http, "/query", {"epl": "select * from Book"})
    assert answer["truncated"] is True
    assert len(answer["rows"]) == 20


def test_faults_are_listed_with_their_place(http: httpx.Client) -> None:
    before = http.get("/api/v1/faults").json()["count"]
    post(http, "/deployments", {"epl": "@name('F') select cast(symbol, int) as n from Trade"}, 201)
    assert post(http, "/events/Trade", {"symbol": "x", "price": 1})["faults"] == 1
    faults = http.get("/api/v1/faults").json()
    assert faults["count"] == before + 1
    assert faults["faults"][-1]["statement"] == "F"
    assert faults["faults"][-1]["line"] == 1


def test_refused_query_has_a_position(http: httpx.Client) -> None:
    error = post(http, "/query", {"epl": "select nothing from Book"}, 422)["error"]
    assert (error["line"], error["column"]) == (1, 8)


@pytest.mark.parametrize(
    ("body", "message"),
    [({}, "'epl' is missing"), ({"epl": 1}, "another kind"), ({"epl": "", "more": 1}, "no member 'more'"), ([], "JSON object")],
)  # fmt: skip
def test_members_are_checked(http: httpx.Client, body: Any, message: str) -> None:
    assert message in post(http, "/query", body, 400)["error"]["message"]


def test_metrics_health_ready(http: httpx.Client) -> None:
    post(http, "/events/Trade", {"symbol": "A", "price": 1})
    metrics = http.get("/metrics")
    assert metrics.headers["content-type"].startswith("text/plain")
    for line in ('epl_events_total{type="Trade"}', 'epl_stored_rows{name="Book"} 1.0', "epl_statements 5.0", "epl_engine_time",
                 'epl_http_requests_total{route="/api/v1/events/{type:path}",status="200"}'):  # fmt: skip
        assert line in metrics.text
    assert http.get("/health").json() == {"status": "ok"}
    assert http.get("/ready").json() == {"status": "ready"}


def test_half_a_character_is_kept_as_json_has_it(http: httpx.Client) -> None:
    event = '{"symbol": "\\ud800", "price": 1}'
    answer = http.post("/api/v1/events/Trade", content=event, headers={"content-type": "application/json"})
    assert answer.status_code == 200
    text = http.get("/api/v1/statements/Totals/rows").text
    assert json.loads(text)["rows"] == [{"symbol": "\ud800", "total": 1.0}]


def test_metrics_of_an_application() -> None:
    from prometheus_client import CollectorRegistry

    from runtime import Runtime
    from runtime.tools.metrics import RuntimeMetrics

    registry = CollectorRegistry()
    with Runtime(tier="row", start_time=7) as runtime:
        registry.register(RuntimeMetrics(runtime))
        runtime.deploy("create schema T(a int); create window W#keepall as T; insert into W select * from T")
        runtime.send("T", {"a": 1})
        assert registry.get_sample_value("epl_stored_rows", {"name": "W"}) == 1
        assert registry.get_sample_value("epl_engine_time") == 7
        assert registry.get_sample_value("epl_statements") == 3
        runtime.deploy("@name('s') select * from T match_recognize (order by a measures A.a as a pattern (A) define A as true)")
        for a in (3, 2):
            runtime.send("T", {"a": a})
        assert registry.get_sample_value("epl_rows_late_total", {"name": "s"}) == 1
        assert registry.get_sample_value("epl_rows_waiting", {"name": "s"}) == 0


def test_undeclared_properties_are_warned_of_once_in_an_answer(http: httpx.Client) -> None:
    sent = [{"symbol": "A", "prise": 1}, {"symbol": "B", "prise": 2}]
    for _ in range(2):
        answer = post(http, "/events/Trade", sent)
        assert (answer["accepted"], answer["warnings"]) == (2, ["Trade has no property 'prise' (did you mean 'price'?)"])


@pytest.mark.parametrize(("unknown", "status"), [("ignore", 200), ("refuse", 422)])
def test_undeclared_properties_are_as_the_option_says(unknown: Any, status: int) -> None:
    with serving(playground=False, unknown=unknown) as address, httpx.Client(base_url=address) as http:
        post(http, "/deployments", {"epl": "create schema Trade(symbol string, price double)"}, 201)
        answer = post(http, "/events/Trade", {"prise": 1}, status)
        if status == 200:
            assert answer["warnings"] == []
        else:
            assert answer["error"]["message"] == "Event type 'Trade' has no property 'prise'"
            assert (answer["error"]["hint"], answer["accepted"]) == ("did you mean 'price'?", 0)
