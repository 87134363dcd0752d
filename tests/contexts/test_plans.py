"""Contexts as plans: what is looked up for a partition, and what explain() says."""
from __future__ import annotations

import pytest

from epl.errors import EplDeploymentError, EplUnsupportedError, EplValidationError
from epl.functions.partition_hashes import partition_hash
from epl.plan.context.contexts import CategoryLevel, Context, HashLevel, KeyedLevel, LifetimeLevel
from epl.plan.expressions import ContextValue, HashNumber, StreamProperty
from epl.plan.filter_specifications import FilterSpecification
from epl.plan.patterns.pattern import FilterNode
from epl.plan.statements import CreateContextPlan, ModulePlan
from epl.plan.streams import FilterPlan
from epl.plan.walk import walk_plan
from epl.value_types import INT, STRING
from runtime import Runtime

SCHEMAS = "@public create schema Sale(customer string, amount int); @public create schema Payment(customer string, amount int);\n"


def compiled(text: str) -> ModulePlan:
    return Runtime().compile(SCHEMAS + text)


def context_of(text: str) -> Context:
    body = compiled(text).statements[-1].body
    assert isinstance(body, CreateContextPlan)
    return body.context


def partitioned(text: str) -> list[FilterSpecification]:
    """What the filters of the last statement look up for a partition."""
    parts = list(walk_plan(compiled(text).statements[-1].body))
    filters = [part.partitioned for part in parts if isinstance(part, FilterPlan)]
    atoms = [part.filter for part in parts if isinstance(part, FilterNode)]
    return [each for each in filters if each is not None] + atoms


def test_a_key_is_looked_up() -> None:
    (sales,) = partitioned("create context C partition by customer from Sale; context C select * from Sale(amount > 3)")
    (key,) = sales.equal
    assert isinstance(key.expression, StreamProperty) and key.expression.name == "customer" and key.null_matches
    assert sales.values == (ContextValue(type=STRING, path=("key1",)),)
    assert sales.range is not None and not sales.conditions


def test_a_hash_number_is_looked_up() -> None:
    (sales,) = partitioned(
        "create context C coalesce by consistent_hash_crc32(customer, amount) from Sale granularity 16; context C select * from Sale")
    (key,) = sales.equal
    assert isinstance(key.expression, HashNumber) and key.expression.granularity == 16
    assert sales.values == (ContextValue(type=INT, path=("#hash",)),)


def test_a_category_is_a_condition_and_the_filter_of_its_type_has_no_effect() -> None:
    (sales,) = partitioned(
        "create context C group by amount < 0 as low, group by amount > 0 as high from Sale(amount != 7); context C select * from Sale")
    paths = {part.path for value in sales.values for part in value.walk() if isinstance(part, ContextValue)}
    assert not sales.equal and paths == {("#category",)} and len(sales.values) == 2
    assert len(sales.conditions) == 1


def test_atoms_of_patterns_have_the_key_and_types_that_are_not_listed_have_none() -> None:
    sale, payment = partitioned(
        "create context C partition by customer from Sale; context C select * from pattern [every s=Sale -> Payment(amount = s.amount)]")
    assert [each.expression.name for each in sale.equal if isinstance(each.expression, StreamProperty)] == ["customer"]
    assert [each.expression.name for each in payment.equal if isinstance(each.expression, StreamProperty)] == ["amount"]


def test_levels_add_their_conditions_to_those_within() -> None:
    context = context_of(
        "create context C context X partition by customer from Sale, context Y start Sale(amount = 1) as s end Sale(amount = s.amount + 1)")
    outer, inner = context.levels
    assert isinstance(outer, KeyedLevel) and isinstance(inner, LifetimeLevel)
    assert inner.prefix == ("Y",)
    for condition in (inner.start, inner.end):
        specification = next(part for part in walk_plan(condition) if isinstance(part, FilterSpecification))
        assert ContextValue(type=STRING, path=("X", "key1")) in specification.values
    assert context.names == ("name", "id", "X", "Y")
    known = dict(context.properties)
    assert ("Y", "s") in known and ("Y", "id") in known and ("X", "id") not in known


def test_the_end_of_a_keyed_partition_has_its_key_and_not_the_filter_of_its_item() -> None:
    (level,) = context_of("create context C partition by customer from Sale(amount > 0) as s terminated by Sale(amount < s.amount)").levels
    assert isinstance(level, KeyedLevel)
    end = next(part for part in walk_plan(level.terminated_by) if isinstance(part, FilterSpecification))
    assert {value.path for part in end.values for value in part.walk() if isinstance(value, ContextValue)} == {("key1",), ("s",)}
    assert level.items[0].conditions and end.range is not None and end.range.low is None


def test_named_windows_have_the_keys_of_the_type_that_they_are_declared_with() -> None:
    keyed = "create context C partition by customer from Sale; context C create window W#keepall as "
    (rows,) = partitioned(f"{keyed} Sale")
    assert rows.event_type.name == "W" and len(rows.equal) == 1
    (reduced,) = partitioned(f"{keyed} select amount from Sale")
    assert not reduced.equal and reduced.conditions  # null has no partition but that of null
    (atom,) = partitioned(f"{keyed} Sale; context C select * from pattern [every w=W]")
    assert len(atom.equal) == 1


def test_kinds_of_levels() -> None:
    hashed, groups = context_of(
        "create context C context X coalesce by hash_code(customer) from Sale granularity 4 preallocate, "
        "context Y group by amount < 0 as low from Sale").levels
    assert isinstance(hashed, HashLevel) and hashed.preallocate and isinstance(groups, CategoryLevel) and groups.labels == ("low",)


def test_a_context_stays_while_statements_name_it() -> None:
    runtime = Runtime()
    runtime.deploy(SCHEMAS)
    context = runtime.deploy("@public create context C partition by customer from Sale")
    user = runtime.deploy("context C select * from Sale")
    with pytest.raises(EplDeploymentError, match="Context 'C' cannot be un-deployed as it is referenced"):
        context.undeploy()
    user.undeploy()
    context.undeploy()
    with pytest.raises(EplValidationError, match="Context by name 'C' could not be found"):
        runtime.deploy("context C select * from Sale")


def test_explain_says_what_a_context_is() -> None:
    runtime = Runtime()
    deployment = runtime.deploy(
        SCHEMAS + "@name('c') create context C context X partition by customer from Sale, "
        "context Y initiated by distinct(s.amount) Sale as s terminated by pattern [p=Payment(amount = s.amount)]; "
        "@name('s') context C select context.X.key1 as k, context.Y.s.amount as a from Sale")
    texts = {statement.name: statement.explain() for statement in deployment}
    assert "level X: a partition for each key\n    key customer of Sale" in texts["c"]
    assert "begins with Sale where customer is context.X.key1, looked up as s" in texts["c"]
    assert "ends with a match of p=Payment where amount = context.Y.s.amount, found by amount" in texts["c"]
    assert "of each partition of the context C" in texts["s"]
    assert "columns: context.X.key1, context.Y.s.amount" in texts["s"]
    assert "partitioning: not at all: the context 'C'" in texts["s"]


def test_a_function_of_the_application_numbers_partitions() -> None:
    assert [partition_hash("number", (INT,), 5)(value) for value in (7, -7, None)] == [2, 2, 0]
    runtime = Runtime()
    with pytest.raises(EplValidationError, match="or a plug-in single-row function or script but received 'bucket_of'"):
        runtime.deploy(SCHEMAS + "create context C coalesce by bucket_of(customer) from Sale granularity 4")

    def initial_of(customer: str) -> str:
        return customer[:1]

    runtime.register_function("initial_of", initial_of)
    with pytest.raises(EplUnsupportedError, match="A hash function that returns String is not supported"):
        runtime.deploy(SCHEMAS + "create context C coalesce by initial_of(customer) from Sale granularity 4")

    def length_of(customer: str) -> int:
        return len(customer)

    runtime.register_function("length_of", length_of)
    runtime.deploy(SCHEMAS + "create context D coalesce by length_of(customer) from Sale granularity 4")


def test_queries_name_a_context() -> None:
    runtime = Runtime()
    runtime.deploy(SCHEMAS + "@public create context C partition by customer from Sale; @public context C create window W#keepall as Sale")
    plan = runtime.compile_query("context C select context.key1 as k, amount from W")
    assert plan.context is not None and plan.context.name == "C"
    with pytest.raises(EplValidationError, match="Joins in runtime queries for context partitions are not supported"):
        runtime.compile_query("context C select a.amount as n from W as a, W as b")
    with pytest.raises(EplValidationError, match="Context by name 'D' could not be found"):
        runtime.compile_query("context D select * from W")
    with pytest.raises(EplValidationError, match=r"Failed to resolve property 'context\.key1' to a stream"):
        runtime.compile_query("select context.key1 as k from W")
