"""What refers to a declaration of another deployment holds it; so a snapshot can always be restored."""
from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from epl.errors import EplDeploymentError, EplRuntimeError
from runtime import Runtime
from runtime.api import deployer

TYPES = "@public create schema A(id string, n int); @public create schema B(id string, n int)"
DECLARED = (
    "create expression f {1}",
    "create variable int v = 3",
    "create table T(k string primary key, c count(*))",
    "create window W#keepall as A",
    "create context C partition by id from A",
    "create schema Q(k int)",
    "insert into S select id from A",
    "create index X on W(n)",
    "create schema Y as (q Q)",
)
USES = (
    "select f as x from B",
    "select v as x from B",
    "select T['x'].c as x from B",
    "select (select count(*) from W) as x from B",
    "context C select n from A",
    "select * from S",
    "select * from Q",
    "select * from Y",
    "create expression g {v + 1}",
    "create expression g {(select count(*) from W)}",
    "create expression g {(select k from Q#keepall)}",
    "create expression g {f}; select g as x from B",
    "create expression h {(select count(*) from W)}; select h as x from B",
    "into table T select count(*) as c from A group by id",
    "on B merge W where W.id=B.id when not matched then insert select id, n",
    "create window V#keepall as W",
    "create variable int u = v + 1",
    "select * from pattern [every B(n = v)]",
    "select * from A#length(v)",
    "select * from A output every v events",
    "create schema Z() inherits Q",
    "create schema Z (w W)",
    "select b, (select id from S#lastevent) as i from B as b",
    "update istream A set n = v",
    "insert into Q select n as k from A",
    "create window U#keepall as (q Q)",
    "on B set v = 1",
    "select * from W(n > v)",
    "context C create window K#keepall as A",
    "create variant schema VV as A, Q",
    "create schema Z as (ys Y[])",
    "select * from B(n in (select c from T))",
    "create context D start B end after 3 sec; context D select * from Q",
    "create context D initiated by Q terminated after v sec",
    "create expression p alias for {v}",
    "select typeof(x) as t from A as x",
    "create variable Q qq",
    "create variable W ww",
    "create table TT(q Q)",
    "create table TT(k string primary key, w window(*) @type(W))",
)


@pytest.mark.parametrize("use", USES)
def test_a_snapshot_can_be_restored_whatever_was_undeployed(use: str) -> None:
    runtime = Runtime(start_time=0)
    runtime.deploy(TYPES)
    declared = [runtime.deploy(f"@public {text}") for text in DECLARED]
    runtime.deploy(use, name="use")
    for deployment in reversed(declared):
        with suppress(EplDeploymentError):
            runtime.undeploy(deployment.id)
        assert "use" in Runtime.restore(runtime.snapshot()).deployments


HELD = {
    "create expression f {1}": ("select f as x from B", "select (select f from A#keepall) as x from B", "select * from B(n = f)",
                                "create expression g {f + 1}", "select * from pattern [every B(n = f)]", "select f() as x from B"),
    "create expression f alias for {1}": ("select f as x from B",),
    "create table T(c count(*))": ("create expression g {T.c}", "create expression g {x => x.n + T.c}"),
    "create variable int v": ("create expression g {v + 1}", "create expression g alias for {v}"),
    "create schema Q(k int)": (
        "create schema Y as (q Q)", "create schema Y as (q Q[])", "create schema Y() inherits Q", "create variant schema Y as A, Q",
        "create window Y#keepall as (q Q)", "create window Y#keepall as Q", "create schema Y() copyfrom Q", "create table Y(q Q)"),
}
FREE = {
    "create expression f {1}": ("select n as f from B", "select 'f()' as g from B", "expression f {2} select f() as x from B"),
    "create window W#keepall as A": ("create expression g {(select count(*) from W)}",),
}


@pytest.mark.parametrize(("declared", "use"), [(text, use) for text, uses in HELD.items() for use in uses])
def test_is_held(declared: str, use: str) -> None:
    runtime = Runtime(start_time=0)
    runtime.deploy(TYPES)
    deployment = runtime.deploy(f"@public {declared}")
    using = runtime.deploy(f"@public {use}" if use.startswith("create") else use)
    with pytest.raises(EplDeploymentError, match=f"cannot be un-deployed as it is referenced by deployment '{using.id}'"):
        deployment.undeploy()
    using.undeploy()
    deployment.undeploy()


@pytest.mark.parametrize(("declared", "use"), [(text, use) for text, uses in FREE.items() for use in uses])
def test_is_not_held(declared: str, use: str) -> None:
    runtime = Runtime(start_time=0)
    runtime.deploy(TYPES)
    deployment = runtime.deploy(f"@public {declared}")
    runtime.deploy(use)
    deployment.undeploy()
    Runtime.restore(runtime.snapshot())


def test_a_snapshot_that_cannot_be_restored_is_refused(monkeypatch: Any) -> None:
    runtime = Runtime(start_time=0)
    runtime.deploy(TYPES)
    declared = runtime.deploy("@public create expression f {1}")
    runtime.deploy("select f() as x from B", name="use")
    runtime.snapshot()
    monkeypatch.setattr(deployer, "first_use", lambda *arguments: None)  # as if something held nothing
    declared.undeploy()
    for take in (runtime.snapshot, runtime.pages, runtime.snapshot):
        with pytest.raises(EplRuntimeError, match="no snapshot can be taken: deployment 'use' could not be restored: "):
            take()
    runtime.deploy("@public create expression f {1}", name="again")
    with pytest.raises(EplRuntimeError, match="no snapshot can be taken"):
        runtime.snapshot()  # a restore would deploy it too late
    runtime.undeploy("use")
    Runtime.restore(runtime.snapshot())
