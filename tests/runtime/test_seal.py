"""The frame around what is stored: every damage has a name, and with a key nobody else can write."""
from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epl.errors import EplRuntimeError
from runtime import Runtime
from runtime.state.seal import VERSION, seal_payload, unseal_payload

KEY = b"0123456789abcdef0123456789abcdef"


@given(st.binary(max_size=50), st.text(max_size=9), st.none() | st.binary(min_size=1, max_size=100))
def test_what_is_sealed_comes_back(payload: bytes, name: str, key: bytes | None) -> None:
    assert unseal_payload(seal_payload(payload, name, key), name, key) == payload


@given(st.data())
def test_every_change_is_found(data: st.DataObject) -> None:
    key = data.draw(st.sampled_from([None, KEY]))
    whole = seal_payload(data.draw(st.binary(max_size=60)), "a page", key)
    damaged = bytearray(whole)
    at = data.draw(st.integers(0, len(whole) - 1))
    how = data.draw(st.sampled_from(["flip", "cut", "insert"]))
    if how == "flip":
        damaged[at] ^= 1 << data.draw(st.integers(0, 7))
    elif how == "cut":
        del damaged[at : at + data.draw(st.integers(1, 9))]
    else:
        damaged[at:at] = data.draw(st.binary(min_size=1, max_size=9).filter(lambda more: whole[:at] + more + whole[at:] != whole))
    with pytest.raises(EplRuntimeError, match=r"^a page"):
        unseal_payload(bytes(damaged), "a page", key)


@pytest.mark.parametrize(("data", "name", "key", "message"), [
    (b"pickle", "it", None, "it is not an epl-spark snapshot"),
    (b"EPLSPARK", "it", None, "it is damaged: it is cut off"),
    (b"EPLSPARK\x03" + bytes(40), "it", None, f"it: snapshot version 3 is not known here; this is version {VERSION}"),
    (seal_payload(b"state", "it")[:-1], "it", None, "it is damaged: it has 4 bytes of 5"),
    (seal_payload(b"state", "it")[:-1] + b"f", "it", None, "it is damaged: its checksum is another one"),
    (seal_payload(b"state", "other"), "it", None, "it is damaged: its checksum is another one"),
    (seal_payload(b"state", "it"), "it", KEY, "it is not sealed with a key, and a snapshot_key is given"),
    (seal_payload(b"state", "it", KEY), "it", None, "it is sealed with a key that is not given"),
    (seal_payload(b"state", "it", KEY), "it", b"another", "it is not sealed with this snapshot_key: it was with another key, or has"),
    (seal_payload(b"state", "other", KEY), "it", KEY, "it is not sealed with this snapshot_key"),
    (seal_payload(b"state", "it"), "it", "text", "snapshot_key is bytes, and not empty"),
    (seal_payload(b"state", "it"), "it", b"", "snapshot_key is bytes, and not empty"),
    ("text", "it", None, "it is not an epl-spark snapshot: it is bytes, not str"),
])
def test_what_is_refused_has_a_name(data: bytes, name: str, key: bytes | None, message: str) -> None:
    with pytest.raises(EplRuntimeError) as caught:
        unseal_payload(data, name, key)
    assert caught.value.message.startswith(message)


def grouped() -> Runtime:
    runtime = Runtime()
    runtime.deploy("create schema E(k string, v int); @name('s') select k, sum(v) as t from E#keepall group by k")
    runtime.send("E", {"k": "a", "v": 1})
    return runtime


STORED: list[Callable[..., object]] = [
    lambda runtime, **key: runtime.snapshot(**key),
    lambda runtime, **key: runtime.pages(**key).apply_to({}),
]


@pytest.mark.parametrize("store", STORED)
def test_a_runtime_is_restored_with_its_key_only(store: Callable[..., bytes]) -> None:
    runtime = grouped()
    plain, keyed = store(runtime), store(runtime, snapshot_key=KEY)
    assert Runtime.restore(plain).snapshot() == Runtime.restore(keyed, snapshot_key=KEY).snapshot() == runtime.snapshot()
    with pytest.raises(EplRuntimeError, match="is sealed with a key that is not given"):
        Runtime.restore(keyed)
    with pytest.raises(EplRuntimeError, match="is not sealed with a key, and a snapshot_key is given"):
        Runtime.restore(plain, snapshot_key=KEY)
    with pytest.raises(EplRuntimeError, match="is not sealed with this snapshot_key"):
        Runtime.restore(keyed, snapshot_key=KEY[:-1])


def test_pages_that_changed_are_sealed_as_the_others() -> None:
    runtime = grouped()
    pages = runtime.pages(snapshot_key=KEY)
    store = pages.apply_to({})
    runtime.send("E", {"k": "b", "v": 1})
    store = runtime.pages(since=pages.mark, snapshot_key=KEY).apply_to(store)
    assert Runtime.restore(store, snapshot_key=KEY).snapshot() == runtime.snapshot()


def test_a_page_cannot_stand_for_another() -> None:
    runtime = Runtime()
    runtime.deploy("create schema E(v int); @name('a') select sum(v) as t from E; @name('b') select sum(v) as t from E#length(1)")
    runtime.send("E", {"v": 1})
    store = runtime.pages(snapshot_key=KEY).apply_to({})
    store["state/d0/1"], store["state/d0/2"] = store["state/d0/2"], store["state/d0/1"]
    with pytest.raises(EplRuntimeError, match=r"^page 'state/d0/[12]' is not sealed with this snapshot_key"):
        Runtime.restore(store, snapshot_key=KEY)
