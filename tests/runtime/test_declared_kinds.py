"""What a module can declare: each kind is in the catalog, is found by who uses it, and is refused with Esper's word for it."""
from __future__ import annotations

import attrs
import pytest

from epl.catalog import Catalog
from epl.errors import EplDeploymentError
from epl.plan.declared import KINDS, Declared
from runtime import Runtime, Settings
from runtime.api.runtime import internal_engine

DECLARATIONS = {
    "event_type": ("create schema D(x int)", "select x from D", "Event type 'D'", "An event type by name 'D'"),
    "variable": ("create variable int D = 1", "select x from T(x = D)", "Variable 'D'", "A variable by name 'D'"),
    "named_window": ("create window D#keepall (x int)", "select x from D", "Named window 'D'", "A named window by name 'D'"),
    "table": ("create table D(k int primary key, n int)", "select D[x].n from T", "Table 'D'", "A table by name 'D'"),
    "declaration": (
        "create expression D { t => t.x + 1 }", "select D(t) from T as t", "Declared-expression 'D'", "A declared-expression by name 'D'"
    ),
}
"""By kind: what declares D, what uses it, what refusals call it at the beginning of a sentence, and of a name that is taken."""

T = "create schema T(x int)"


def test_every_kind_is_tried() -> None:
    assert DECLARATIONS.keys() == KINDS.keys() - {"index", "context"}  # indexes: tests/cases/indexes/deployment.json; contexts: below


def test_a_context_that_is_used_is_not_undeployed() -> None:
    runtime = Runtime()
    runtime.deploy(T)
    declared = runtime.deploy("create context D partition by x from T", name="declaring").plan.declared[0]
    assert (declared.kind, declared.name) == ("context", "D") and internal_engine(runtime).catalog().contexts["D"] is declared.value
    runtime.deploy("context D select x from T", name="using")
    with pytest.raises(EplDeploymentError) as refused:
        runtime.undeploy("declaring")
    assert refused.value.message == (
        "A precondition is not satisfied: Context 'D' cannot be un-deployed as it is referenced by deployment 'using'"
    )
    runtime.undeploy("using")
    runtime.undeploy("declaring")
    assert not internal_engine(runtime).catalog().contexts


@pytest.mark.parametrize("kind", DECLARATIONS)
def test_a_declared_name_is_in_the_field_of_its_kind(kind: str) -> None:
    runtime = Runtime()
    declared = runtime.compile(DECLARATIONS[kind][0]).declared[0]
    assert (declared.kind, declared.name) == (kind, "D")
    before = internal_engine(runtime).catalog()
    after = before.with_declared([declared])
    changed = {f.name for f in attrs.fields(Catalog) if getattr(before, f.name) != getattr(after, f.name)}
    rows = {"event_types"} if kind == "named_window" else set()  # the type of the window's rows
    assert changed == {KINDS[declared.kind].field} | rows and getattr(after, KINDS[declared.kind].field)["D"] is declared.value
    runtime.deploy(DECLARATIONS[kind][0])
    field, now = KINDS[declared.kind].field, internal_engine(runtime).catalog()
    assert "D" in getattr(now, field) and "D" not in getattr(before, field)


@pytest.mark.parametrize("kind", DECLARATIONS)
def test_a_name_that_is_used_is_not_undeployed(kind: str) -> None:
    text, use, title, _ = DECLARATIONS[kind]
    runtime = Runtime()
    runtime.deploy(T)
    declaring = runtime.deploy(text, name="declaring")
    other = runtime.deploy("select x from T", name="other")
    using = runtime.deploy(use, name="using")
    declared = declaring.plan.declared[0]
    assert [declared.is_needed(s.plan.body, s.plan.refers) for d in (other, using) for s in d] == [False, True]
    with pytest.raises(EplDeploymentError) as refused:
        runtime.undeploy("declaring")
    assert refused.value.message == (
        f"A precondition is not satisfied: {title} cannot be un-deployed as it is referenced by deployment 'using'"
    )
    runtime.undeploy("using")
    runtime.undeploy("declaring")


@pytest.mark.parametrize("kind", DECLARATIONS)
def test_a_plan_whose_name_is_taken_meanwhile_is_refused(kind: str) -> None:
    text, _, _, words = DECLARATIONS[kind]
    runtime = Runtime()
    plan = runtime.compile(text)
    runtime.deploy(f" {text}")  # a string of its own: the same one would give the same declaration
    with pytest.raises(EplDeploymentError) as refused:
        runtime.deploy(plan)
    assert refused.value.message == f"A precondition is not satisfied: {words} has already been created for module '(unnamed)'"


def test_nothing_declared_changes_nothing() -> None:
    catalog = internal_engine(Runtime()).catalog()
    assert catalog.with_declared([]) is catalog
    assert Declared("variable", "v", None).place("") == "an unknown place"


def test_a_private_name_may_go_while_another_module_has_one_of_its_own() -> None:
    text = "create variable int mine = 10; on pattern [every timer:interval(10)] set mine = mine + 1"
    runtime = Runtime(settings=Settings(default_access="private"))
    first, second = runtime.deploy(text), runtime.deploy(text.replace("= 10;", "= 20;"))
    runtime.advance_time(10_000)
    first.undeploy()
    runtime.advance_time(20_000)
    assert [row.to_dict() for row in second[0].rows()] == [{"mine": 22}]
    second.undeploy()
