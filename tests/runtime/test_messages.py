"""What calls with the wrong thing in place of a name, a frame or a number say: what is expected, and what is near."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas
import pytest

from runtime import EplError, Runtime

FRAME = pandas.DataFrame({"symbol": ["A"], "price": [1.5]})
BEYOND = "is beyond the range of Long, -9223372036854775808 to 9223372036854775807"
REFUSED: dict[str, tuple[Callable[[Runtime], Any], list[str]]] = {
    "a column as a table": (lambda rt: Runtime.sql("select symbol from df", {"df": FRAME["price"]}), [
        "a table is an Arrow table, or a pandas or Polars frame, not Series"]),
    "a frame in place of a schema": (lambda rt: rt.register("T", FRAME), [
        "Event type 'T' cannot be built from the rows of a DataFrame", "pyarrow.Table.from_pandas(frame).schema, or a dict of types"]),
    "a misspelt type": (lambda rt: rt.send("Trad", {}), ["no bus event type named 'Trad' (did you mean 'Trade'?)", "create schema"]),
    "a misspelt variable": (lambda rt: rt.set_variable("limt", 1), [
        "Variable by name 'limt' has not been declared (did you mean 'limit_'?)"]),
    "a number beyond long": (lambda rt: rt.set_variable("limit_", 2**70), [
        "Variable 'limit_' of declared type Long cannot be assigned a value of type int", f"{2**70} {BEYOND}"]),
    "text for a number": (lambda rt: rt.set_variable("limit_", "many"), [
        "Variable 'limit_' of declared type Long cannot be assigned a value of type str"]),
    "a column that a batch's type lacks": (lambda rt: rt.send_batch("Trade", FRAME.rename(columns={"price": "prise"})), ["prise", "price"]),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_a_wrong_argument_is_refused_with_what_is_expected(what: str) -> None:
    call, parts = REFUSED[what]
    with Runtime() as rt:
        rt.deploy("@public @buseventtype create schema Trade(symbol string, price double); @public create variable long limit_ = 1")
        with pytest.raises(EplError) as refused:
            call(rt)
        said = str(refused.value)
        assert [part for part in parts if part not in said] == [], said
        assert "FRAME" not in said and "1.5" not in said  # the frame's rows are not echoed
        assert rt.get_variable("limit_") == 1


def test_an_index_of_times_is_no_column_of_a_table() -> None:
    """As in DuckDB and Arrow: ``reset_index()`` makes it one."""
    indexed = FRAME.set_index(pandas.DatetimeIndex(["2024-01-01"], name="at"))
    with pytest.raises(EplError, match="'at' cannot be resolved"):
        Runtime.sql("select at from df", {"df": indexed})
    assert len(Runtime.sql("select at from df", {"df": indexed.reset_index()})) == 1


def test_completion_offers_what_users_call() -> None:
    runtime = Runtime(tier="row")
    statement = runtime.deploy("create schema A(x int); @name('s') select x from A")["s"]
    shown = {name for name in dir(statement) if not name.startswith("_")}
    assert {"add_listener", "explain", "listeners", "name", "plan", "rows", "tier", "to_pandas"} <= shown
    assert len(shown) <= 24 and not any(hasattr(statement, name) for name in ("waiting_new", "deliver", "running", "prepared", "number"))
    shown = {name for name in dir(runtime) if not name.startswith("_")}
    assert {"deploy", "event_type", "lock", "metrics", "now", "register", "send", "settings", "sql", "statement", "undeploy"} <= shown
    assert len(shown) <= 57 and not any(hasattr(runtime, name) for name in ("import_names", "columnar", "on_fault", "plans", "state"))
    assert all(hasattr(each, name) for each in (statement, runtime) for name in dir(each) if name != "__abstractmethods__")
