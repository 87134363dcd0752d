"""Snapshots that somebody wrote by hand, with a right checksum: nothing they say imports, loops, recurses or allocates without bound."""
from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import pytest

from epl.errors import EplDeploymentError, EplRuntimeError
from epl.settings import Settings
from runtime import Runtime
from runtime.state.codec import BIG_INTEGER, DECIMAL, EVENT, KEYED, LONG, MOST_NESTED, SET, TUPLE, ZONED, Decoder, Encoder
from runtime.state.seal import seal_payload

Ext = msgpack.ExtType
Pages = dict[str, Any]


def stored() -> Pages:
    """The pages of a runtime with all that pages consist of, decoded."""
    runtime = Runtime()
    runtime.deploy(
        "create schema Other(n int); create schema E(k string, v double, o Object); create schema W(e E); create variable Object x = 1;"
        "@name('s') select k, sum(v) as t from E group by k; @name('w') select * from E#length(1000);"
        "@name('u') select * from E#unique(k);"
        "insert into W select a as e from E match_recognize (measures A as a pattern (A) define A as A.v > 400); select * from W#keepall"
    )
    for n in range(500):
        runtime.send("E", {"k": f"k{n}", "v": float(n), "o": n})
    packed = msgpack.unpackb(runtime.snapshot()[22:], strict_map_key=False)
    return {key: msgpack.unpackb(page, strict_map_key=False) for key, page in packed}


def written(pages: Pages) -> bytes:
    """The pages as a snapshot; what is bytes already is taken as it is."""
    packed = [[key, page if isinstance(page, bytes) else msgpack.packb(page)] for key, page in pages.items()]
    return seal_payload(msgpack.packb(packed), "the snapshot")


def replaced(value: Any, code: int, change: Callable[[bytes], Any]) -> Any:
    """Every extension of a kind changed."""
    if isinstance(value, Ext):
        return change(value.data) if value.code == code else value
    if isinstance(value, list):
        return [replaced(item, code, change) for item in value]
    if isinstance(value, dict):
        return {key: replaced(item, code, change) for key, item in value.items()}
    return value


def parts(pages: Pages, code: int, change: Callable[[list[Any]], Any]) -> None:
    """The pages' references to other pages changed."""
    for key in [key for key in pages if key.startswith("state") and key.count("/") == 2]:
        pages[key] = replaced(pages[key], code, lambda data: Ext(code, msgpack.packb(change(msgpack.unpackb(data)))))


def rows(pages: Pages, change: Callable[[int, list[Any]], Any]) -> None:
    """The events' rows changed."""
    for key in [key for key in pages if key.startswith("events")]:
        kind, version, body = pages[key]
        pages[key] = [kind, version, {n: msgpack.packb(change(n, msgpack.unpackb(row))) for n, row in body.items()}]


def nested(code: int, depth: int) -> Ext:
    found = Ext(code, msgpack.packb([1]))
    for _ in range(depth):
        found = Ext(code, msgpack.packb([found]))
    return found


def variable(value: Any) -> Callable[[Pages], None]:
    return lambda pages: pages.update(variables=["variables", 1, {"x": value}])


def deep_list(pages: Pages) -> None:
    pages["variables"] = b"\x93\xa9variables\x01\x81\xa1x" + b"\x91" * 200_000 + b"\x01"


def many_counts(pages: Pages) -> None:
    """Each count is no larger than the page, all of them together would be 60 GB."""
    pages["variables"] = b"\x93\xa9variables\x01\x81\xa1x" + b"\xdd\x00\x7f\xff\xff" * 900 + bytes(8 << 20)


def described(**changes: Any) -> Callable[[Pages], None]:
    """A registered type beside the others, described wrongly."""
    row = {
        "name": "T", "kind": "map", "registered": True, "open": False, "any_type": False, "is_bus": True, "module": None,
        "property_resolution": "case_sensitive", "start_timestamp": None, "end_timestamp": None, "supertypes": [], "members": [],
        "properties": [["a", ["scalar", "int", False], False, False]],
    }
    return head(types=[{**row, **changes}])


def chain_of_types(pages: Pages) -> None:
    """Each holds the next one."""
    described()(pages)
    (row,) = pages["head"][2]["types"]
    pages["head"][2]["types"] = [
        {**row, "name": f"T{n}", "properties": [["a", ["event", min(n + 1, 2999)], False, False]]} for n in range(3000)
    ]


def peak(value: Any) -> Callable[[Pages], None]:
    """The most keys that a window held."""
    def change(pages: Pages) -> None:
        key = next(key for key, page in pages.items() if key.startswith("state") and "peak" in repr(page))
        pages[key] = with_peak(pages[key], value)

    return change


def with_peak(found: Any, value: Any) -> Any:
    if isinstance(found, dict):
        return {key: value if key == "peak" else with_peak(item, value) for key, item in found.items()}
    return [with_peak(item, value) for item in found] if isinstance(found, list) else found


def head(**changes: Any) -> Callable[[Pages], None]:
    return lambda pages: pages["head"][2].update(changes)


def clock(**changes: Any) -> Callable[[Pages], None]:
    return lambda pages: pages["clock"][2].update(changes)


def settings(**changes: Any) -> Callable[[Pages], None]:
    return lambda pages: pages["head"][2]["settings"].update(changes)


def reference(to: int) -> Ext:
    return Ext(EVENT, to.to_bytes(8, "big"))


CRAFTED: dict[str, tuple[Callable[[Pages], None], str]] = {
    "an event in itself": (
        lambda p: rows(p, lambda n, row: [row[0], [*row[1][:-1], reference(n)], *row[2:]]), "event 0 is a part of itself"),
    "events in a circle": (
        lambda p: rows(p, lambda n, row: [row[0], [*row[1][:-1], reference((n + 1) % 500)], *row[2:]]), "is a part of itself"),
    "an event that is not there": (
        lambda p: rows(p, lambda n, row: [row[0], [reference(10**9)], *row[2:]]), "page 'events/3906250' is missing"),
    "an event with too few values": (lambda p: rows(p, lambda n, row: [row[0], row[1][1:], *row[2:]]), "values, not"),
    "an event without what its type has not": (
        lambda p: rows(p, lambda n, row: [*row[:2], [{}, ["z"]], row[3]]), "event 0: it lacks properties that its type does not declare"),
    "an event without a number": (
        lambda p: rows(p, lambda n, row: [*row[:2], [{}, [1]], row[3]]), "event 0: it lacks properties that its type does not declare"),
    "an event of another type in a window": (
        lambda p: rows(p, lambda n, row: ["d0/0/0", [1], *row[2:]] if row[0] == "d0/1/0" and n % 3 else row),
        "an event of type 'Other' where one of type 'E' is expected"),
    "an event of no type": (lambda p: rows(p, lambda n, row: ["none", *row[1:]]), "names an event type that is not there: none"),
    "an event of a list": (lambda p: rows(p, lambda n, row: [[], *row[1:]]), "event 0 cannot be read: TypeError"),
    "an event that stands for 1": (lambda p: rows(p, lambda n, row: [*row[:3], 1]), "event 0: its origin is not an event"),
    "rows of events that are not bytes": (lambda p: p.update({"events/0": ["events", 1, {0: 1}]}), "event 0 is missing"),
    "tuples in tuples": (variable(nested(TUPLE, 3000)), f"page 'variables': tuples or sets are nested more than {MOST_NESTED} deep"),
    "sets in sets": (variable(nested(SET, 3000)), f"page 'variables': tuples or sets are nested more than {MOST_NESTED} deep"),
    "a set of lists": (variable(Ext(SET, msgpack.packb([[1]]))), "page 'variables' cannot be read: TypeError"),
    "lists in lists": (deep_list, "page 'variables' cannot be read"),
    "counts of what is not there": (many_counts, "page 'variables' cannot be read"),
    "pages of a page": (
        lambda p: p.update({"x/0": ["groups", 1, [[0, [False, "a"], Ext(KEYED, msgpack.packb(["x", "groups", 1, 1]))]]]})
        or parts(p, KEYED, lambda part: ["x", "groups", 1, 1]), "page 'x/0': a value of kind 'pages by key' where none can be"),
    "fewer keys than are there": (lambda p: parts(p, KEYED, lambda part: [*part[:3], 0]), "of 0 keys, pages 'state/d0/"),
    "keys of another kind": (lambda p: parts(p, KEYED, lambda part: [part[0], "unique", *part[2:]]), "is of kind 'groups', not 'unique'"),
    "a piece that comes often": (lambda p: parts(p, LONG, lambda part: [part[0], part[1] * 10_000]), "is referred to twice"),
    "a decimal of words": (variable(Ext(DECIMAL, b"many")), "page 'variables' cannot be read: InvalidOperation"),
    "a zone of nowhere": (variable(Ext(ZONED, b"2020-01-01T00:00:00|0|Nowhere/Land")), "there is no time zone 'Nowhere/Land'"),
    "a zone that is a file": (variable(Ext(ZONED, b"2020-01-01T00:00:00|0|../../../../etc/passwd")), "cannot be read: ValueError"),
    "a page that is a map": (lambda p: p.update(clock={}), "page 'clock': a value of type dict where a list of 3 is expected"),
    "variables that no module has": (lambda p: p["variables"][2].update(y=1), "its variables are not those of the modules"),
    "a variable that is gone": (lambda p: p["variables"][2].clear(), "its variables are not those of the modules"),
    "time that no long holds": (clock(now=2**63), "'now' is not a point in engine time"),
    "time beyond 62 bits": (clock(now=2**61), "'now' is not a point in engine time"),
    "time in words": (clock(now="noon"), "'now' is not a point in engine time"),
    "counts that are not numbers": (head(counts=["many", 1]), "a count of deployments or statements is not a number"),
    "a text that is not EPL": (head(deployments=[["d0", "select", []]]), "deployment 'd0': Unexpected end-of-input near"),
    "deployments that are not lists": (head(deployments=[1]), "page 'head': a value of type int where a list of 3 is expected"),
    "no settings": (head(settings={}), "cannot be read: KeyError: 'python_imports'"),
    "settings that there are not": (settings(faster=True), "page 'head' cannot be read: TypeError"),
    "types that are not lists": (head(types=1), "page 'head' cannot be read: TypeError"),
    "a type with a name of bytes": (described(name=b"T"), "a value of type bytes where a name is expected"),
    "a type of no kind": (described(kind="list"), "'list' where one of avro, bean"),
    "a type that is open or not": (described(open=1), "a value of type int where true or false is expected"),
    "a scalar of no kind": (described(properties=[["a", ["scalar", "os", True], False, False]]), "where one of boolean"),
    "a primitive that is none": (described(properties=[["a", ["scalar", "String", True], False, False]]), "where one of boolean"),
    "a property without a name": (described(properties=[[None, ["scalar", "int", False], False, False]]), "NoneType where a name"),
    "an enum of numbers": (described(properties=[["a", ["enum", "C", [1]], False, False]]), "int where a name is expected"),
    "types in types in types": (chain_of_types, "page 'head' cannot be read: RecursionError"),
    "more keys than there can be": (peak(Ext(DECIMAL, b"1E+999999999")), "UniqueView cannot be read: ValueError: a number of keys"),
    "fewer keys than none": (peak(-1), "a number of keys is expected"),
    "a type of nothing": (head(types=[{"name": "T"}]), "page 'head' cannot be read: KeyError"),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_a_crafted_structure_is_refused_by_name(name: str) -> None:
    change, message = CRAFTED[name]
    pages = stored()
    change(pages)
    with pytest.raises(EplRuntimeError) as caught:
        Runtime.restore(written(pages))
    assert message in caught.value.message


@pytest.mark.parametrize("code", [KEYED, LONG])
def test_references_to_pages_take_no_memory_by_their_counts(code: int) -> None:
    """Each count is no larger than the reference, all of them together are far more."""
    pages = stored()
    key = next(key for key in pages if key.startswith("state") and key.count("/") == 2)
    pages[key] = [*pages[key][:2], Ext(code, b"\xdd\x00\x0f\xff\xff" * 1000 + bytes(1 << 20))]
    blob = written(pages)
    tracemalloc.start()
    try:
        with pytest.raises(EplRuntimeError, match=f"page '{key}' cannot be read"):
            Runtime.restore(blob)
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


def test_a_number_of_pages_is_not_counted_up() -> None:
    pages = stored()
    parts(pages, KEYED, lambda part: [*part[:2], 2**62, part[3]])
    assert Runtime.restore(written(pages)).snapshot() == Runtime.restore(written(stored())).snapshot()


def test_text_of_another_statement_does_not_run() -> None:
    pages = stored()
    pages["head"][2]["deployments"].append(["d1", "create variable int v = limit_()", []])
    pages["head"][2]["fingerprints"]["d1/0"] = "?"
    pages["head"][2]["functions"] = ["limit_"]
    called: list[int] = []
    with pytest.raises(EplRuntimeError, match="statement 'stmt-0' of deployment 'd1' is not the one in the snapshot"):
        Runtime.restore(written(pages), functions={"limit_": lambda: called.append(1) or 1})
    assert not called


def test_a_snapshot_imports_nothing_by_itself(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    runtime = Runtime(settings=Settings(python_imports=("os",)))
    runtime.deploy(f"import os; create variable int v = cast(os.system('touch {mark}'), int)")
    assert mark.exists()
    mark.unlink()
    for stored_as in (runtime.snapshot(), runtime.pages().apply_to({})):
        with pytest.raises(EplDeploymentError, match="the snapshot uses python_imports that are not given: os"):
            Runtime.restore(stored_as)
        with pytest.raises(EplDeploymentError, match="not given: os"):
            Runtime.restore(stored_as, python_imports=("os.path", "math"))
    pages = stored()
    pages["head"][2]["settings"].update(imports=["os", "subprocess"])
    assert Runtime.restore(written(pages)).settings.python_imports == ()
    assert not mark.exists()
    assert Runtime.restore(runtime.snapshot(), python_imports=["os", "math"]).get_variable("v") == 0


def test_a_long_chain_of_events_comes_back() -> None:
    """Longer than Python's stack: events refer to events, and each is made once those in it have been."""
    runtime = Runtime()
    runtime.deploy("create schema N(o Object); @name('s') select o from N#keepall")
    for _ in range(5000):
        runtime.send("N", {"o": None})
    pages = {key: msgpack.unpackb(page, strict_map_key=False) for key, page in msgpack.unpackb(runtime.snapshot()[22:])}
    rows(pages, lambda n, row: [row[0], [reference(n + 1) if n < 4999 else "end"], *row[2:]])
    last = Runtime.restore(written(pages)).statement("s").rows()[0]["o"]
    for _ in range(4998):
        last = last["o"]
    assert last["o"] == "end"


def test_values_that_are_nested_too_deep_are_refused_when_they_are_written() -> None:
    value: tuple[Any, ...] = ()
    for _ in range(MOST_NESTED - 1):
        value = (value,)
    assert Decoder(lambda number: None).decode(Encoder().encode(value)) == value
    with pytest.raises(EplRuntimeError, match="nested more than 64 deep"):
        Encoder().encode(((value,),))
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(EplRuntimeError, match="a value cannot be kept in a snapshot: recursion limit exceeded"):
        Encoder().encode(deep)


def test_large_integers_and_lone_surrogates_survive() -> None:
    runtime = Runtime()
    runtime.deploy("create schema X(b BigInteger, s string); @name('w') select b, s from X#keepall")
    for number in (10**5000, -(10**5000), 2**63, -(2**63) - 1, 255, -256):
        runtime.send("X", {"b": number, "s": "\udfff"})
    for stored_as in (runtime.snapshot(), runtime.pages().apply_to({})):
        restored = Runtime.restore(stored_as)
        assert [row["b"] for row in restored.statement("w")] == [row["b"] for row in runtime.statement("w")]
        assert {row["s"] for row in restored.statement("w")} == {"\udfff"}
        assert restored.snapshot() == runtime.snapshot()


def test_sets_stay_as_frozen_as_they_were() -> None:
    runtime = Runtime()
    runtime.deploy("create schema X(o Object); @name('w') select o from X#keepall")
    for value in ({1, 2}, frozenset({1, frozenset()}), [frozenset("a")]):
        runtime.send("X", {"o": value})
    found = [row["o"] for row in Runtime.restore(runtime.snapshot()).statement("w")]
    assert found == [{1, 2}, frozenset({1, frozenset()}), [frozenset("a")]]
    assert list(map(type, found)) == [set, frozenset, list] and type(found[2][0]) is frozenset


def test_a_large_integer_is_read_in_time_of_its_size() -> None:
    pages = stored()
    pages["variables"] = ["variables", 1, {"x": Ext(BIG_INTEGER, b"9" * 4_000_000)}]
    assert Runtime.restore(written(pages)).get_variable("x").bit_length() == 32_000_000 - 2


PATTERN = (
    "create schema R(k string, v int); @name('s') select * from R match_recognize (partition by k measures A.v as a, B[0].v as b, C.v as c "
    "pattern (A B+ C) define B as B.v > A.v, C as C.v < A.v)"
)
NODES: dict[str, tuple[int, Any, str]] = {
    "a path in a circle": (0, 1, "a row of a path does not follow"),
    "a path of a decimal": (0, Ext(DECIMAL, b"1E+99"), "a row of a path does not follow"),
    "a path from the end": (0, -2, "a row of a path does not follow"),
    "a step that there is not": (2, 3, "there is no step 3"),
    "a step of a decimal": (2, Ext(DECIMAL, b"1E+99"), "there is no step"),
    "a step far away": (2, 2**40, "there is no step"),
    "a number for a row": (1, 7, "a value of type int where an event is expected"),
}


@pytest.mark.parametrize("tier", ["row", "batch"])
@pytest.mark.parametrize("name", NODES)
def test_paths_of_matches_in_progress_lead_back_to_their_first_rows(name: str, tier: str) -> None:
    """The reader follows the numbers; compiled code takes them for places."""
    runtime = Runtime(tier="row")
    runtime.deploy(PATTERN)
    for v in (5, 6, 7):
        runtime.send("R", {"k": "a", "v": v})
    pages = {key: msgpack.unpackb(page, strict_map_key=False) for key, page in msgpack.unpackb(runtime.snapshot()[22:])}
    place, value, message = NODES[name]
    pages["state/d0/1/k0/0"][2][0][2][2][1][place] = value
    with pytest.raises(EplRuntimeError) as caught:
        Runtime.restore(written(pages), tier=tier)
    assert message in caught.value.message


@pytest.mark.parametrize("tier", ["row", "batch"])
@pytest.mark.parametrize(("place", "value"), [(0, 3), (0, -1), (2, 99), (2, -1), (1, 1.5), (1, 2**63)])
def test_matches_in_progress_are_where_they_can_be(place: int, value: Any, tier: str) -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(PATTERN)
    for v in (5, 6, 7):
        runtime.send("R", {"k": "a", "v": v})
    pages = {key: msgpack.unpackb(page, strict_map_key=False) for key, page in msgpack.unpackb(runtime.snapshot()[22:])}
    pages["state/d0/1/k0/0"][2][0][2][1][0][place] = value
    with pytest.raises(EplRuntimeError, match=r"there is no (step|path|row)"):
        Runtime.restore(written(pages), tier=tier)


LAYERS = (
    "create schema R(v int); @name('s') select * from R match_recognize (measures A.v as a pattern (A B+ C) "
    "define B as B.v > 5, C as C.v < 0)"
)


@pytest.mark.parametrize("tier", ["row", "batch"])
@pytest.mark.parametrize(("change", "message"), [
    (lambda written: written[2][0].__setitem__(2, 8), "there is no set of steps 8"),
    (lambda written: written[2][0].__setitem__(2, -1), "there is no set of steps -1"),
    (lambda written: written[2][0].__setitem__(1, 2**63), "there is no row 9223372036854775808"),
    (lambda written: written[2][0].__setitem__(0, "a"), "a value of type str where an event is expected"),
    (lambda written: written.__setitem__(1, [1]), "there are 1 first rows for 3 steps"),
    (lambda written: written.__setitem__(1, ["x", 0, 0]), "there is no row"),
    (lambda written: written.__setitem__(0, None), "there is no row None"),
])
def test_layers_of_matches_in_progress_are_what_they_can_be(change: Callable[[list[Any]], None], message: str, tier: str) -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(LAYERS)
    for v in (5, 6, 7):
        runtime.send("R", {"v": v})
    pages = {key: msgpack.unpackb(page, strict_map_key=False) for key, page in msgpack.unpackb(runtime.snapshot()[22:])}
    change(pages["state/d0/1/k0/0"][2][0][2][1])
    with pytest.raises(EplRuntimeError) as caught:
        Runtime.restore(written(pages), tier=tier)
    assert message in caught.value.message


@pytest.mark.parametrize("tier", ["row", "batch"])
@pytest.mark.parametrize("value", ["first", 1.0, 2**62, Ext(DECIMAL, b"1E+99")])
def test_the_number_of_the_last_row_is_one(value: Any, tier: str) -> None:
    runtime = Runtime(tier="row")
    runtime.deploy(LAYERS)
    pages = {key: msgpack.unpackb(page, strict_map_key=False) for key, page in msgpack.unpackb(runtime.snapshot()[22:])}
    pages["state/d0/1"][2]["match_recognize"]["row"] = value
    with pytest.raises(EplRuntimeError, match="there is no row"):
        Runtime.restore(written(pages), tier=tier)


@pytest.mark.parametrize("aggregation", ["sum(v)", "max(v)", "count(*)"])
def test_columns_take_no_decimals_of_any_number_of_digits(aggregation: str) -> None:
    """NumPy would make an integer of it, for hours."""
    runtime = Runtime(tier="batch")
    runtime.deploy(f"create schema R(k string, v long); @name('s') select k, {aggregation} as x from R#length(5) group by k")
    for n in range(3):
        runtime.send("R", {"k": f"k{n}", "v": n})
    blob = runtime.snapshot()
    pages = {key: msgpack.unpackb(page, strict_map_key=False) for key, page in msgpack.unpackb(blob[22:])}
    vast = Ext(DECIMAL, b"1E+999999999")
    for key in [key for key in pages if key.startswith("state/d0/1")]:
        changed = {**pages, key: [*pages[key][:2], with_numbers(pages[key][2], vast)]}
        with pytest.raises(EplRuntimeError, match="a decimal of more than 10000 digits where columns hold none"):
            Runtime.restore(written(changed), tier="batch")
    assert Runtime.restore(blob, tier="batch").snapshot() == blob


def with_numbers(found: Any, value: Any) -> Any:
    """Every integer exchanged for a value."""
    if isinstance(found, dict):
        return {key: with_numbers(item, value) for key, item in found.items()}
    if isinstance(found, list):
        return [with_numbers(item, value) for item in found]
    return value if type(found) is int else found


WHERES: dict[str, tuple[Any, str]] = {
    "no list": (7, "a value of type int"),
    "two parts": ([None, "a"], "a list of 2 where a list of 3 is expected"),
    "a partition that is no number": (["x", [False, "a"], 1], "the number of its partition is not a number"),
    "a key of another type": ([None, [False, 5], 1], "a value of type int"),
    "a standing that there is not": ([None, [False, "a"], 9], "a row of a table stands in another way"),
}


@pytest.mark.parametrize("name", WHERES)
def test_rows_of_tables_are_where_they_can_be(name: str) -> None:
    where, message = WHERES[name]
    runtime = Runtime()
    runtime.deploy(
        "create schema A(k string); create table T(k string primary key, n count(*)); into table T select count(*) as n from A group by k;"
        "@name('s') select t from A#length(2) as a, T as t where a.k = t.k output every 9 events"
    )
    runtime.send("A", {"k": "a"})
    pages = {key: msgpack.unpackb(page, strict_map_key=False) for key, page in msgpack.unpackb(runtime.snapshot()[22:])}
    changed = []

    def change(number: int, row: list[Any]) -> list[Any]:
        if len(row) == 5:
            assert row[4] == [None, [False, "a"], 1]
            changed.append(number)
            row[4] = where
        return row

    rows(pages, change)
    assert changed
    with pytest.raises(EplRuntimeError) as caught:
        Runtime.restore(written(pages))
    assert message in caught.value.message
