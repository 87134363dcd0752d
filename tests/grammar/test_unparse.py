"""Trees that hypothesis makes are written and read back; Esper's texts of expressions."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from epl import syntax as S
from epl.parse import parse_expression, parse_statement
from epl.syntax import patterns as P
from epl.unparse import expression_text, quote_expression, unparse

names = st.sampled_from(["a", "b", "price", "order", "where", "last", "odd name", "a.b", "$x", "count"])
literals = st.one_of(
    st.integers(-(2**31) + 1, 2**31 - 1).map(lambda value: S.Literal(value, "int")),
    st.integers(2**31, 2**63 - 1).map(lambda value: S.Literal(value, "long")),
    st.integers(-(2**31), 2**31).map(lambda value: S.Literal(value, "long")),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda value: S.Literal(value, "double")),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])).map(lambda value: S.Literal(value, "string")),
    st.sampled_from([S.Literal(None, "null"), S.Literal(True, "boolean"), S.Literal(False, "boolean")]),
)
properties = st.lists(st.builds(S.Name, names, st.booleans()), min_size=1, max_size=3).map(lambda links: S.Chain(tuple(links)))


def tuples(items: st.SearchStrategy[S.Expression], least: int = 0) -> st.SearchStrategy[tuple[S.Expression, ...]]:
    return st.lists(items, min_size=least, max_size=3).map(tuple)


def subqueries(inner: st.SearchStrategy[S.Expression]) -> st.SearchStrategy[S.Expression]:
    stream = S.From((S.Stream(S.TypeFilter("T"), (S.View("keepall"),)),))
    return st.builds(
        lambda value, where, exists: S.Subquery(S.Select((S.SelectItem(value, "x"),), stream, where=where), exists),
        inner,
        inner,
        st.booleans(),
    )


def grow(inner: st.SearchStrategy[S.Expression]) -> st.SearchStrategy[S.Expression]:
    flags = st.booleans()
    comparators = st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "is", "is not"])
    arguments = st.one_of(
        inner, st.builds(S.Ordered, inner, flags), st.builds(S.Lambda, st.lists(names, min_size=1, max_size=2).map(tuple), inner)
    )
    calls = st.builds(S.Call, st.sampled_from(["f", "sum", "max", "order"]), tuples(arguments, 1), flags, flags)
    links = st.lists(st.one_of(st.builds(S.Name, names), calls, st.builds(S.Index, tuples(inner, 1))), min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(S.Binary, st.sampled_from(["+", "-", "*", "/", "%", "&", "|", "^", "||"]), inner, inner),
        st.builds(S.Logical, st.sampled_from(["and", "or"]), tuples(inner, 2)),
        st.builds(lambda value: S.Unary("not", value), inner),
        st.builds(lambda value: S.Unary("-", value), properties),
        st.builds(S.Comparison, comparators, inner, inner),
        st.builds(S.QuantifiedComparison, comparators, st.sampled_from(["any", "all"]), inner, tuples(inner)),
        st.builds(S.Between, inner, inner, inner, flags),
        st.builds(S.In, inner, tuples(inner, 1), flags),
        st.builds(S.InRange, inner, inner, inner, flags, flags, flags),
        st.builds(S.Like, inner, inner, st.none() | st.just(S.Literal("!", "string")), flags),
        st.builds(S.Regexp, inner, inner, flags),
        st.builds(S.Case, st.lists(st.tuples(inner, inner), min_size=1, max_size=2).map(tuple), st.none() | inner, st.none() | inner),
        st.builds(S.Cast, inner, st.just(S.TypeName("java.util.List", (S.TypeName("int"),), 1))),
        st.builds(S.ArrayLiteral, tuples(inner)),
        st.builds(S.NewInstance, st.just(S.TypeName("a.B")), tuples(inner)),
        st.builds(lambda call, rest: S.Chain((call, *rest)), calls, links),
        st.builds(S.Chain, links, inner),
        subqueries(inner),
    )


expressions = st.recursive(st.one_of(literals, properties), grow, max_leaves=12)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(expressions)
def test_expressions_are_written_and_read_back(tree: S.Expression) -> None:
    assert parse_expression(unparse(tree)) == tree


atoms = st.builds(P.FilterAtom, st.sampled_from(["A", "B"]), tag=st.none() | st.sampled_from(["a", "b"]))


def grow_pattern(inner: st.SearchStrategy[P.Pattern]) -> st.SearchStrategy[P.Pattern]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    bound = literals.filter(lambda literal: literal.kind == "int" and literal.value >= 0)
    return st.one_of(
        st.builds(P.Every, inner),
        st.builds(P.Not, inner),
        st.builds(P.And, several),
        st.builds(P.Or, several),
        several.flatmap(lambda items: st.builds(P.FollowedBy, st.just(items), st.tuples(*[st.none() | bound for _ in items[1:]]))),
        st.builds(P.MatchUntil, inner, inner),
        st.builds(lambda item, until, low: P.MatchUntil(item, until, "exact", low), inner, st.none() | inner, bound),
        st.builds(lambda item, low, high: P.MatchUntil(item, None, "both", low, high), inner, bound, bound),
        st.builds(lambda item: P.Guard(item, "within", (S.Literal(1, "int"),), "timer"), inner),
        st.builds(lambda item: P.EveryDistinct((S.Chain((S.Name("x"),)),), item), inner),
    )


@settings(max_examples=200, deadline=None)
@given(st.recursive(atoms, grow_pattern, max_leaves=8))
def test_patterns_are_written_and_read_back(tree: P.Pattern) -> None:
    body = S.Select((S.SelectItem(S.Wildcard()),), S.From((S.Stream(S.PatternSource(tree)),)))
    assert parse_statement(unparse(body)).body == body


def grow_rows(inner: st.SearchStrategy[S.RowPattern]) -> st.SearchStrategy[S.RowPattern]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    two = S.Literal(2, "int")
    inner = inner.map(lambda item: S.RowConcatenation((item,)) if isinstance(item, S.RowRepetition) else item)
    return st.one_of(
        st.builds(S.RowConcatenation, several),
        st.builds(S.RowAlternation, several),
        st.builds(S.RowPermutation, several),
        st.builds(lambda item, quantifier: S.RowRepetition(item, quantifier), inner, st.sampled_from(["*", "+", "?"])),
        st.builds(lambda item: S.RowRepetition(item, "", two, two, True), inner),
        st.builds(lambda item: S.RowRepetition(item, "+", two), inner),
    )


variables = st.builds(S.RowVariable, st.sampled_from(["A", "B", "order"]))
reluctant = st.builds(S.RowRepetition, variables, st.sampled_from(["*?", "+?", "??"]))


@settings(max_examples=200, deadline=None)
@given(st.recursive(variables | reluctant, grow_rows, max_leaves=8))
def test_row_patterns_are_written_and_read_back(tree: S.RowPattern) -> None:
    measures = (S.SelectItem(S.Chain((S.Name("A"),)), "a"),)
    body = S.Select((S.SelectItem(S.Wildcard()),), S.From((S.Stream(S.TypeFilter("T")),)), match_recognize=S.MatchRecognize(measures, tree))
    assert parse_statement(unparse(body)).body == body


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("a * 2 + 1", "a*2+1"),
        ("a*(2+1)", "a*(2+1)"),
        ("1 - (2 - a)", "1-2-a"),
        ("-a", "-1*a"),
        ("sum( distinct a )", "sum(distinct a)"),
        ("count(*, filter: a = 1 or d = 2)", "count(*,filter:a=1 or d=2)"),
        ("not (a = 1 and d = 2)", "not (a=1 and d=2)"),
        ("(a = 1 or d = 2) and a = 3", "(a=1 or d=2) and a=3"),
        ("a <> 1", "a!=1"),
        ("a in [1:2]", "a between 1 and 2"),
        ("a in (1:2]", "a in (1:2]"),
        ("a not in (1, case when true then 1 end)", "a not in (1,(case when true then 1 end))"),
        ("b like 'x' escape '!'", 'b like "x" escape "!"'),
        ("case a when 1 then 2 else 3 end", "case a when 1 then 2 else 3 end"),
        ("(a & 1) = 2", "(a&1)=2"),
        ("a is any (1, 2)", "a=any(1,2)"),
        ("cast(b, date, dateformat: 'yyyy')", 'cast(b,date,dateformat:"yyyy")'),
        ("new {x = 1, a}", "new{x=1,a}"),
        ("new int[2][]", "new int[2]"),
        ("arr.aggregate(0, (r, x) => r + x)", "arr.aggregate(0,)"),
        ("current_timestamp.plus(1 day 2 hours)", "current_timestamp().plus(1 days 2 hours)"),
        ("m('x')", "m('x')"),
        ("String.valueOf('x')", 'String.valueOf("x")'),
        ("b.concat('x')", 'b.concat("x")'),
        ("prev(a)", "prev(1,a)"),
        ("1.50f", "1.5"),
        ("1e10", "1.0E10"),
        ("(select a from T#lastevent) + 1", "a+1"),
        ("exists (select * from T) and a", "subselect_1 and a"),
    ],
)
def test_columns_are_named_as_esper_names_them(text: str, column: str) -> None:
    assert expression_text(parse_expression(text)) == column


def test_long_texts_are_cut_in_messages() -> None:
    assert quote_expression(
        parse_expression("case when 1=2 then 1 when 1=3 then true end")) == "'case when 1=2 then 1 when 1=3 then ...(43 chars)'"
    assert quote_expression(parse_expression("a + 1")) == "'a+1'"
