"""Syntax of statements, contexts and modules → text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from epl import syntax as S
from epl.unparse.clauses import alias, condition_text, join_parts, select_rest, views
from epl.unparse.expressions import Text, list_text
from epl.unparse.words import name, property_name, quote_type_name, type_name


def where(written: S.Expression | None, text: Text) -> str:
    return "" if written is None else f"where {condition_text(written, text)}"


# ------------------------------------------------------------------ create


def create_schema(node: S.CreateSchema, text: Text) -> str:
    kind = "variant" if node.variant else node.representation or ""
    body = f"as {', '.join(map(type_name, node.types))}" if node.types else f"({list_text(node.columns, text)})"
    return join_parts(
        "create",
        kind,
        f"schema {name(node.name)}",
        body,
        f"inherits {', '.join(map(name, node.inherits))}" if node.inherits else "",
        f"copyfrom {', '.join(map(name, node.copy_from))}" if node.copy_from else "",
        "" if node.start_timestamp is None else f"starttimestamp {name(node.start_timestamp)}",
        "" if node.end_timestamp is None else f"endtimestamp {name(node.end_timestamp)}",
    )


def create_window(node: S.CreateWindow, text: Text) -> str:
    retain = "" if node.retain is None else f"retain-{node.retain}"
    if node.from_type is None:
        body = f"({list_text(node.columns, text)})"
    else:
        items = ", ".join(join_parts(text(item.expression), alias(item.alias)) for item in node.items)
        body = join_parts(f"select {items} from" if items else "", quote_type_name(node.from_type))
    insert = join_parts("insert", where(node.insert_where, text)) if node.insert else ""
    return join_parts(f"create window {name(node.name)}{views(node.views, text)}", retain, "as", body, insert)


def create_index(node: S.CreateIndex, text: Text) -> str:
    unique = "unique " if node.unique else ""
    return f"create {unique}index {name(node.name)} on {name(node.target)} ({list_text(node.columns, text)})"


def index_column(node: S.IndexColumn, text: Text) -> str:
    expressions = list_text(node.expressions, text)
    arguments = f"({list_text(node.arguments, text)})" if node.arguments else ""
    kind = "" if node.kind is None else f"{name(node.kind)}{arguments}"
    return join_parts(expressions if len(node.expressions) == 1 else f"({expressions})", kind)


def create_variable(node: S.CreateVariable, text: Text) -> str:
    constant = "constant" if node.constant else ""
    value = "" if node.value is None else f"= {text(node.value)}"
    return join_parts("create", constant, "variable", type_name(node.type_name), name(node.name), value)


def declaration(node: S.Declaration, text: Text) -> str:
    head = join_parts("expression", "" if node.return_type is None else type_name(node.return_type))
    names, listed = (", ".join(map(property_name, each)) for each in (node.parameters, node.listed))
    annotations = "".join(f" {text(annotation)}" for annotation in node.annotations)
    dialect = "" if node.dialect is None else f"{name(node.dialect)}:"
    if node.script is not None:
        return f"{head}{annotations} {dialect}{name(node.name)}({listed}) [{node.script}]"
    if node.alias:
        return f"{head} {name(node.name)} alias for {{ {text(node.body)} }}"
    arrow = f"({names}) => " if node.parameters else ""
    behind = f"({listed})" if listed else ""
    return f"{head}{annotations} {name(node.name)}{behind} {{ {arrow}{text(node.body)} }}"


# ------------------------------------------------------------------ contexts


def condition(node: S.ContextCondition, text: Text) -> str:
    kinds: dict[str, Callable[[], str]] = {
        "now": lambda: "",
        "filter": lambda: text(node.filter),
        "pattern": lambda: f"pattern [{text(node.pattern)}]{' @inclusive' if node.inclusive else ''}",
        "crontab": lambda: ", ".join(f"({list_text(crontab, text)})" for crontab in node.crontabs),
        "after": lambda: f"after {text(node.after)}",
        "never": lambda: "",
    }
    now = "" if not node.now else "@now" if node.kind == "now" else "@now and"
    return join_parts(now, kinds[node.kind](), alias(node.tag))


def lifetime(node: S.LifetimeContext, text: Text) -> str:
    ended = node.end.kind != "never"
    if not node.overlapping:
        return join_parts("start", text(node.start), f"end {text(node.end)}" if ended else "")
    distinct = f"distinct({list_text(node.distinct, text)})" if node.distinct else ""
    return join_parts("initiated by", distinct, text(node.start), f"terminated by {text(node.end)}" if ended else "")


def key_context(node: S.KeyedContext, text: Text) -> str:
    initiated = f"initiated by {list_text(node.initiated_by, text)}" if node.initiated_by else ""
    terminated = "" if node.terminated_by is None else f"terminated by {text(node.terminated_by)}"
    return join_parts(f"partition by {list_text(node.items, text)}", initiated, terminated)


def hash_context(node: S.HashContext, text: Text) -> str:
    granularity = "" if node.granularity is None else f"granularity {text(node.granularity)}"
    return join_parts(f"coalesce by {list_text(node.items, text)}", granularity, "preallocate" if node.preallocate else "")


def category(node: S.CategoryContext, text: Text) -> str:
    labels = ", ".join(f"group by {text(expression)} as {name(label)}" for expression, label in node.categories)
    return f"{labels} from {text(node.source)}"


# ------------------------------------------------------------------ on …, update, fire-and-forget


def on(node: Any, text: Text) -> str:
    return f"on {text(node.trigger.source)}"


def change_statement(head: str, node: Any, text: Text) -> str:
    return join_parts(head, quote_type_name(node.target), alias(node.alias), f"set {list_text(node.assignments, text)}",
        where(node.where, text))


def on_select(node: S.OnSelect, text: Text) -> str:
    insert = "" if node.select.insert_into is None else text(node.select.insert_into)
    return join_parts(on(node, text), insert, "select", "and delete" if node.delete else "", select_rest(node.select, text))


def on_split(node: S.OnSplit, text: Text) -> str:
    return join_parts(
        on(node, text), *(text(branch.select) for branch in node.branches), "" if node.output is None else f"output {node.output}"
    )


def on_merge(node: S.OnMerge, text: Text) -> str:
    return join_parts(on(node, text), "merge", name(node.target), alias(node.alias), where(node.where, text), *map(text, node.branches))


def merge_branch(node: S.MergeBranch, text: Text) -> str:
    if node.matched is None:
        return " ".join(map(text, node.actions))
    condition_text = "" if node.condition is None else f"and {text(node.condition)}"
    head = "when matched" if node.matched else "when not matched"
    return join_parts(head, condition_text, *(f"then {text(action)}" for action in node.actions))


def merge_action(node: S.MergeAction, text: Text) -> str:
    if node.kind == "delete":
        return join_parts("delete", where(node.where, text))
    if node.kind == "update":
        return join_parts(f"update set {list_text(node.assignments, text)}", where(node.where, text))
    into = "" if node.target is None else f"into {quote_type_name(node.target)}"
    columns = f"({', '.join(map(name, node.columns))})" if node.columns else ""
    precedence = "" if node.precedence is None else f"event-precedence({text(node.precedence)})"
    return join_parts("insert", into, columns, precedence, f"select {list_text(node.items, text)}", where(node.where, text))


def insert_values(node: S.InsertValues, text: Text) -> str:
    rows = ", ".join(f"({list_text(row, text)})" for row in node.rows)
    return f"{text(node.insert_into)} values {rows}"


# ------------------------------------------------------------------ statements, modules


def statement(node: S.Statement, text: Text) -> str:
    return join_parts(
        *map(text, node.annotations),
        *map(text, node.declarations),
        *(f'inlined_class """{source}"""' for source in node.classes),
        "" if node.context is None else f"context {name(node.context)}",
        text(node.body),
    )


def module(node: S.Module, text: Text) -> str:
    lines = [] if node.name is None else [f"module {node.name}"]
    lines.extend(f"uses {used}" for used in node.uses)
    lines.extend(f"import {imported}" for imported in node.imports)
    lines.extend(map(text, node.statements))
    return "".join(f"{line};\n" for line in lines)


WRITERS: dict[type, Callable[[Any, Text], str]] = {
    S.CreateSchema: create_schema,
    S.CreateWindow: create_window,
    S.CreateTable: lambda node, text: f"create table {name(node.name)} ({list_text(node.columns, text)})",
    S.CreateIndex: create_index,
    S.IndexColumn: index_column,
    S.CreateVariable: create_variable,
    S.CreateExpression: lambda node, text: f"create {text(node.declaration)}",
    S.CreateClass: lambda node, text: f'create inlined_class """{node.source}"""',
    S.CreateDataflow: lambda node, text: f"create dataflow {name(node.name)} {node.source}",
    S.CreateContext: lambda node, text: f"create context {name(node.name)} {text(node.context)}",
    S.Declaration: declaration,
    S.ContextCondition: condition,
    S.KeyedItem: lambda node, text: join_parts(list_text(node.keys, text), "from", text(node.source), alias(node.alias)),
    S.HashItem: lambda node, text: join_parts(text(node.function), "from", text(node.source), alias(node.alias)),
    S.KeyedContext: key_context,
    S.HashContext: hash_context,
    S.CategoryContext: category,
    S.LifetimeContext: lifetime,
    S.NestedContext: lambda node, text: ", ".join(f"context {name(inner)} {text(spec)}" for inner, spec in node.contexts),
    S.OnTrigger: lambda node, text: text(node.source),
    S.OnSelect: on_select,
    S.OnDelete: lambda node, text: join_parts(on(node, text), "delete from", quote_type_name(node.target), alias(node.alias),
    where(node.where, text)),
    S.OnUpdate: lambda node, text: change_statement(f"{on(node, text)} update", node, text),
    S.OnSet: lambda node, text: f"{on(node, text)} set {list_text(node.assignments, text)}",
    S.MergeAction: merge_action,
    S.MergeBranch: merge_branch,
    S.OnMerge: on_merge,
    S.SplitBranch: lambda node, text: text(node.select),
    S.OnSplit: on_split,
    S.UpdateIstream: lambda node, text: join_parts(
        f"update istream {quote_type_name(node.type_name)}", alias(node.alias), f"set {list_text(node.assignments, text)}",
        where(node.where, text)
    ),
    S.InsertValues: insert_values,
    S.FafUpdate: lambda node, text: change_statement("update", node, text),
    S.FafDelete: lambda node, text: join_parts("delete from", quote_type_name(node.target), alias(node.alias), where(node.where, text)),
    S.Statement: statement,
    S.Module: module,
}
