"""What is printed for a statement does not depend on the names and texts that stand in it, but for string literals and fields.

Every construct is deployed twice: with plain names, and with names and texts that mean something to Python. The generated texts of both,
read as Python, have to be equal once fields and string literals are renamed: nothing of EPL stands anywhere else.
"""
from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pytest

from epl import generated_code
from epl.errors import EplError
from epl.functions.library import builtin_functions
from epl.generated_code import field_name
from runtime import Runtime
from runtime.batch.compiler import kernels
from runtime.batch.refusals import NotInBatchTier

NAMES = (
    "Kind", "Inner", "text", "count", "price", "items", "map", "inner", "deep", "alias", "column", "variable", "fixed", "declared", "x",
    "y", "z", "A", "B", "stream", "key", "other",
)
"""Plain names; in a template `` `name` `` stands for one of them."""

PATHS = (("alias", "text"), ("alias", "inner", "deep"))
"""What columns without an alias are called after."""

PAYLOADS = (
    "x=__import__('os')", "x: 0)(1) or (lambda x", "'", '"""', "\\", "a\nb", "{x}", "%s", "class", "None", "__class__", "self", "e0",
    "t1", "k0", "p_0", "ſ", "ａ", "#", " ", "\0", "//", "f_text", "x_73",
)

SCHEMA = """create schema `Inner`(`deep` int); create schema `Kind`(`text` string, `count` int, `price` double, `items` int[],
`map` java.util.Map, `inner` `Inner`); create variable int `variable` = 1; create constant variable string `fixed` = '~payload~';
create expression `declared` { `x` => `x`.`count` + 1 }; """

METHODS = sorted(spec.name for spec in builtin_functions().enumeration.values() if spec.mismatch([1]) is None)
"""Enumeration methods that take a lambda of one parameter alone."""

ASKS = ("where", "anyOf", "allOf", "countOf", "firstOf", "lastOf", "takeWhile", "takeWhileLast")
"""Those whose lambda is a condition."""

STATEMENTS = (
    "select `text`, `count`, `price` from `Kind`",
    "select * from `Kind` as `alias`",
    "select `text` as `column`, `count` + 1 as `other` from `Kind`",
    "select `alias`.`text`, `alias`.`inner`.`deep`, `alias`.* from `Kind` as `alias`",
    "select `inner`.`deep` as `column`, `inner` from `Kind`",
    "select `map`.`key`? as `column`, exists(`map`.`key`?) as `other`, `map`('~payload~') as `x`, `map`.`key`?.`other`? as `y` from `Kind`",
    "select `items`[0] as `column`, `items`.countOf() as `other` from `Kind`",
    "select `variable` + `count` as `column`, `fixed` as `other` from `Kind`(`count` > `variable`)",
    "select `declared`(`alias`) as `column` from `Kind` as `alias`",
    "expression `declared` { (`x`, `y`) => `x` + `y` } select `declared`(`count`, `price`) as `column` from `Kind`",
    "select new { `column` = `count`, `other` = '~payload~' } as `alias` from `Kind`",
    "select `text` || '~payload~' as `column`, '~payload~' as `other` from `Kind`(`text` != '~payload~')",
    "select `text` from `Kind`(`text` in ('~payload~', 'b') or `text` = '~payload~' or `text` between '~payload~' and '\\uffff')",
    "select `text` from `Kind`(`text` like '~payload~%' or `text` like '%~payload~' or `text` like '%~payload~%')",
    "select `text` from `Kind`(`text` like '~payload~_')",
    "select `text` from `Kind`(`text` like '~payload~' or `text` = any ('~payload~', 'c') or `text` > all ('~payload~'))",
    "select case `text` when '~payload~' then '~payload~' else `text` end as `column` from `Kind`",
    "select coalesce(`text`, '~payload~') as `other` from `Kind`",
    "select `text`.replace('~payload~', 'q') as `column`, `text`.indexOf('~payload~') as `other` from `Kind`",
    "select cast(`count`, string) as `column`, typeof(`alias`) as `other`, instanceof(`text`, string) as `x` from `Kind` as `alias`",
    "select {'~payload~', `text`} as `column`, `text` in ({'~payload~', 'r'}) as `other` from `Kind`",
    "select sum(`count`) as `column`, avg(`price`) as `other`, first(`text`) as `x`, window(`text`) as `y` from `Kind`#length(3)",
    "select sum(`count`, filter: `text` = '~payload~') as `column` from `Kind`#length(3)",
    "select `text`, sum(`count`) as `column` from `Kind`#length(3) group by `text` having sum(`count`) > 0",
    "select `text`, `count`, sum(`price`) as `column` from `Kind`#keepall group by rollup(`text`, `count`)",
    "select `text`, max(`price`) as `column` from `Kind`#time(10 sec) group by `text` output last every 2 events order by `text`",
    "select irstream `text` from `Kind`#unique(`text`)",
    "select `text` from `Kind`#groupwin(`text`)#length(2)",
    "select `text` from `Kind`#sort(3, `price` desc, `text`)",
    "select `text` from `Kind`#ext_timed(`count`, 5 sec)",
    "select `text` from `Kind`#expr(current_count < 3 and `count` > 0 and newest_event.`count` > 0)",
    "select `text` from `Kind`#expr_batch(current_count > 1 or oldest_event.`text` = '~payload~')",
    "select prev(1, `text`) as `column`, prior(1, `count`) as `other`, prevwindow(`text`) as `x` from `Kind`#length(3)",
    "select `text` from `Kind` output when count_insert > 1 and `variable` > 0 then set `variable` = `variable` + 1",
    "on `Kind` as `alias` set `variable` = `alias`.`count` + 1",
    "insert into `stream` select `text` as `column`, `count` as `other` from `Kind`",
    "insert into `stream`(`column`, `other`) select `text`, `count` from `Kind`",
    "on `Kind` insert into `x` select `text` where `count` > 0 insert into `y` select `count` as `column` output all",
    "update istream `Kind` set `text` = '~payload~', `count` = `count` + 1 where `text` = '~payload~'",
    "select * from `Kind` match_recognize (partition by `text` measures `A`.`count` as `column`, `B`.`text` as `other` "
    "pattern (`A` `B`) define `A` as `A`.`count` > 0, `B` as `B`.`count` > `A`.`count` or `B`.`text` = '~payload~')",
    "select * from `Kind` match_recognize (measures `A`[0].`count` as `column`, sum(`A`.`count`) as `other`, last(`A`.`text`) as `x` "
    "pattern (`A`+ `B`?) define `A` as `A`.`count` > 0, `B` as prev(`B`.`text`, 1) = '~payload~')",
    "select `items`.aggregate(0, (`x`, `y`) => `x` + `y`) as `column`, `items`.toMap(`x` => `x`, `y` => `y`) as `other` from `Kind`",
    "select `items`.where((`x`, `y`, `z`) => `x` > `y` and `z` > 0) as `column` from `Kind`",
    "select `items`.selectFrom(`x` => `items`.countOf(`y` => `y` > `x` and `variable` > `y`)) as `column` from `Kind`",
    "select `items`.selectFrom(`x` => new { `column` = `x` }) as `other` from `Kind`",
    "select window(*).where(`x` => `x`.`text` = '~payload~') as `column` from `Kind`#length(2)",
    "select window(*).selectFrom(`x` => `x`.`inner`.`deep`) as `column` from `Kind`#length(2)",
    "select `text` from `Kind`(`items`.anyOf(`x` => `x` > `count`))",
    "select `text` from `Kind`#length(2) where `items`.anyOf(`x` => `x` > `count`) order by `text`, `items`.countOf(`y` => `y` > 0)",
    "select * from `Kind` match_recognize (measures `A`.`items`.where(`x` => `x` > 1) as `column` pattern (`A`) "
    "define `A` as `A`.`items`.anyOf(`x` => `x` > `A`.`count`))",
    "@name('~payload~') @description('~payload~') @tag(name='~payload~', value='~payload~') select `text` from `Kind`",
    "select `text`, count(distinct `text`) as `column` from `Kind`#length(4) group by `text` output snapshot every 3 events",
    "select rstream `price` * `count` as `column`, min(`price`, `count`) as `other`, `price` % 2 as `x` from `Kind`#length(1)",
    *(f"select `items`.{name}(`x` => `x`{' > 1' if name in ASKS else ''}) as `column` from `Kind`" for name in METHODS),
)


class Writing:
    """Templates with other names and texts in the place of the plain ones."""

    def __init__(self, payload: str | None) -> None:
        self.payload = "plain" if payload is None else payload
        renamed = {name: name if payload is None else f"{payload}{number or ''}" for number, name in enumerate(NAMES)}
        self.names: Mapping[str, str] = renamed

    def epl(self, template: str) -> str:
        parts = template.split("`")
        parts[1::2] = [f"`{self.names[name]}`" for name in parts[1::2]]
        literal = self.payload.replace("\\", "\\\\").replace("'", "\\'")
        return "".join(parts).replace("~payload~", literal)

    def event(self) -> dict[str, Any]:
        n = self.names
        return {
            n["text"]: self.payload, n["count"]: 3, n["price"]: 1.5, n["items"]: [1, 2, 3], n["map"]: {n["key"]: 1, self.payload: 2},
            n["inner"]: {n["deep"]: 4},
        }

    def table(self) -> pa.Table:
        """Two such events."""
        columns = {name: [value, value] for name, value in self.event().items()}
        maps = pa.map_(pa.string(), pa.int64())
        return pa.table({k: pa.array([list(v[0].items())] * 2, maps) if k == self.names["map"] else v for k, v in columns.items()})

    def plain(self) -> ast.NodeTransformer:
        """Renames fields and literals back; a literal may hold the name with signs around it."""
        fields = {field_name(new): field_name(old) for old, new in self.names.items()}
        for path in PATHS:
            fields[field_name(".".join(self.names[name] for name in path))] = field_name(".".join(path))
        literals = {new: old for old, new in self.names.items()} | {self.payload: "plain"}

        class Plain(ast.NodeTransformer):
            def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
                self.generic_visit(node)
                return ast.Attribute(node.value, fields.get(node.attr, node.attr), node.ctx)

            def visit_Constant(self, node: ast.Constant) -> ast.AST:
                return ast.Constant(literals.get(node.value, node.value)) if isinstance(node.value, str) else node

            def visit_arg(self, node: ast.arg) -> ast.AST:
                return ast.arg(fields.get(node.arg, node.arg))

            def visit_Name(self, node: ast.Name) -> ast.AST:
                return ast.Name(fields.get(node.id, node.id), node.ctx)

        return Plain()


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are generated meanwhile."""
    found: list[str] = []
    compiled = generated_code.compile_text

    def recording(text: str) -> Any:
        found.append(text)
        return compiled(text)

    monkeypatch.setattr(generated_code, "compile_text", recording)
    return found


def printed(template: str, writing: Writing, tier: Any, texts: list[str]) -> list[str]:
    """The generated texts of a statement, deployed and given two events, with plain names; the error's class where it is refused."""
    kernels.interpret_kernel.cache_clear()
    texts.clear()
    errors: list[BaseException] = []
    outcome = []
    with Runtime(tier=tier, on_error=lambda error, *_: errors.append(error)) as runtime:
        try:
            runtime.deploy(writing.epl(SCHEMA))
            runtime.deploy(writing.epl(template))
            if tier == "batch":
                runtime.send_batch(writing.names["Kind"], writing.table())
            else:
                for _ in range(2):
                    runtime.send(writing.names["Kind"], writing.event())
        except EplError as error:
            outcome.append(type(error).__name__)
    assert not [e for e in errors if isinstance(e, (NameError, SyntaxError, AttributeError, TypeError))], errors
    plain = writing.plain()
    return [*outcome, *(ast.dump(plain.visit(ast.parse(text))) for text in texts)]


PLAIN = Writing(None)


def payloads(template: str, number: int) -> Iterator[str]:
    """Some of them, others for each template."""
    for payload in PAYLOADS[number % 6 :: 6]:
        if " like " not in template or not any(sign in payload for sign in "%_\\"):  # these mean something to like
            yield payload


@pytest.mark.parametrize("number", range(len(STATEMENTS)))
def test_names_and_texts_do_not_reach_the_row_tiers_text(number: int, texts: list[str]) -> None:
    template = STATEMENTS[number]
    expected = printed(template, PLAIN, "row", texts)
    assert expected and not expected[0].endswith("Error"), expected[0]
    for payload in payloads(template, number):
        assert printed(template, Writing(payload), "row", texts) == expected, payload


def test_names_and_texts_do_not_reach_the_batch_tiers_text(texts: list[str]) -> None:
    in_columns = 0
    for number, template in enumerate(STATEMENTS):
        expected = printed(template, PLAIN, "batch", texts)
        in_columns += "Error" not in expected[0] and "NotIn" not in expected[0]
        for payload in payloads(template, number) if expected[0] != NotInBatchTier.__name__ else ():
            assert printed(template, Writing(payload), "batch", texts) == expected, (template, payload)
    assert in_columns > 15
