"""Typed expressions → numba source. The expressions say every Java rule; this prints them and decides nothing.

A node becomes a ``ScalarText``: the value and, where it may be null, whether it is there. All integers and instants are int64 while they
are computed with, strings are codes of the statement's pool, ``float`` is float32. Constants are parameters: one shape is compiled once,
whatever its constants.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from epl.plan.expressions import (
    Arithmetic,
    Bitwise,
    Cast,
    Coalesce,
    Concatenation,
    Conditional,
    Constant,
    Convert,
    CurrentTime,
    Equality,
    Extreme,
    Invoke,
    LikeMatch,
    Logic,
    Membership,
    Negation,
    Not,
    Order,
    Parameter,
    Range,
    RegexpMatch,
    StreamProperty,
    TypedExpression,
    VariableValue,
)
from epl.value_types import Scalar, ValueType
from runtime.batch.printing.parameters import Parameters, Presence
from runtime.batch.refusals import NotCompilable
from runtime.batch.storage.kinds import DTYPES, INSTANTS, INTEGERS, TEXTS


@attrs.frozen
class ScalarText:
    """``value`` is a source text; ``valid`` one that is true where the value is not null, None where it never is."""

    value: str
    valid: str | None = None


def column_kind(value_type: ValueType) -> str:
    """Return the scalar kind; raise NotCompilable for what columns cannot hold."""
    if isinstance(value_type, Scalar) and value_type.kind in DTYPES:
        return value_type.kind
    raise NotCompilable(f"values of type {value_type} are not computed with in columns")


def is_null(node: TypedExpression) -> bool:
    return isinstance(node, Constant) and node.value is None


def is_steady(node: TypedExpression) -> bool:
    """Return whether it has the same value for an event as long as that is held: it reads neither time nor variables."""
    return not any(isinstance(inner, (CurrentTime, VariableValue)) for inner in node.walk())


def both(*valids: str | None) -> str | None:
    """Return true where all are."""
    parts = list(dict.fromkeys(v for v in valids if v is not None))
    return None if not parts else parts[0] if len(parts) == 1 else f"({' and '.join(parts)})"


Leaf = Callable[[TypedExpression], "ScalarText | None"]
"""Where values come from: the text of a property, an aggregation …; None for a node that is to be printed by its operands."""


class ScalarPrinter:
    """Prints one expression after another into ``lines``; ``now`` is the text of engine time."""

    def __init__(self, parameters: Parameters, leaf: Leaf, lines: list[str], now: str = "now", names: Iterator[int] | None = None) -> None:
        self.parameters = parameters
        self.leaf = leaf
        self.lines = lines
        self.now = now
        self._names = names if names is not None else iter(range(1_000_000))

    # ------------------------------------------------------------------ values

    def value(self, node: TypedExpression) -> ScalarText:
        """Return its value; raise NotCompilable."""
        self.parameters.count()
        leaf = self.leaf(node)
        if leaf is not None:
            return leaf
        if is_null(node):
            return ScalarText("0", "False")
        table = self._table(node)
        if table is not None:
            return table
        printer = PRINTERS.get(type(node))
        if printer is None:
            raise NotCompilable(f"{type(node).__name__} is not computed in columns")
        return printer(self, node)

    def test(self, node: TypedExpression) -> str:
        """Return true where the value is true; null is not."""
        if isinstance(node, Logic) and self.leaf(node) is None:
            return f"({f' {node.operator} '.join(self.test(o) for o in node.operands)})"
        text = self.value(node)
        return text.value if text.valid is None else f"({text.valid} and {text.value})"

    def keep(self, text: ScalarText) -> ScalarText:
        """Return the same text as names, where it is more than a name already: it may then be used many times."""
        value = text.value if _is_name(text.value) else self._name(text.value)
        valid = text.valid if text.valid is None or _is_name(text.valid) else self._name(text.valid)
        return ScalarText(value, valid)

    def _name(self, text: str) -> str:
        name = f"x{next(self._names)}"
        self.lines.append(f"{name} = {text}")
        return name

    # ------------------------------------------------------------------ functions of one string

    def _table(self, node: TypedExpression) -> ScalarText | None:
        """Return a function of a single string property, looked up by its code."""
        if not isinstance(node, TABLED) or not isinstance(node.type, Scalar) or node.type.kind not in TABLE_RESULTS:
            return None
        column = single_string(node)
        if column is None:
            return None
        code = self.leaf(column)
        if code is None:
            raise NotCompilable(f"property '{column.name}' cannot be read here")
        place = self.parameters.table(in_front(node), node.type.kind)
        return self.keep(ScalarText(_canonical(f"T[{2 * place}][{code.value} + 1]", node.type.kind),
            f"T[{2 * place + 1}][{code.value} + 1]"))


TABLED = (LikeMatch, RegexpMatch, Membership, Invoke, Cast, Range, Equality, Concatenation)
MOST_CASES = 50
"""Branches of a case: they are nested brackets in the kernel, of which Python takes 200."""
TABLE_RESULTS = ("boolean", "int", "long", "double")


def single_string(node: TypedExpression) -> StreamProperty | None:
    """Return the one string property that the expression depends on, if that is all it depends on and it is more than a comparison."""
    if isinstance(node, Equality) and _plain_equality(node):
        return None
    strings: set[tuple[int, str]] = set()
    column: StreamProperty | None = None
    for inner in node.walk():
        if isinstance(inner, StreamProperty):
            if not (isinstance(inner.type, Scalar) and inner.type.kind in TEXTS):
                return None
            strings.add((inner.stream, inner.name))
            column = inner
        elif not isinstance(inner, (Constant, *TABLED, Convert, Order, Logic, Not, Coalesce, Conditional)):
            return None
        if isinstance(inner, Invoke) and inner.function.startswith(("user.", "python.")):
            return None  # it may give another value each time
    return column if len(strings) == 1 else None


def _plain_equality(node: Equality) -> bool:
    return all(isinstance(side, (StreamProperty, Constant, VariableValue, Parameter)) for side in (node.left, node.right))


def in_front(node: Any) -> Any:
    """Return the expression with its property read from stream 0: what a table is filled with does not depend on where the code comes
    from."""
    if isinstance(node, StreamProperty):
        return attrs.evolve(node, stream=0, optional=False)
    if isinstance(node, TypedExpression):
        changes = {f.name: in_front(getattr(node, f.name)) for f in attrs.fields(type(node)) if f.name != "type"}
        return attrs.evolve(node, **changes)
    if isinstance(node, tuple):
        return tuple(in_front(item) for item in node)
    return node


# ------------------------------------------------------------------ leaves


def _canonical(text: str, kind: str) -> str:
    """Return a stored value as it is computed with."""
    return f"np.int64({text})" if kind in INTEGERS or kind in INSTANTS or kind in TEXTS else text


def element_text(text: str, kind: str) -> str:
    """Return the text of an array's element as a value of the kind."""
    return _canonical(text, kind)


def _parameter(printer: ScalarPrinter, node: TypedExpression) -> ScalarText:
    kind = column_kind(node.type)
    if kind == "boolean":
        text = f"({printer.parameters.integer(node)} != 0)"
    elif kind in ("float", "double"):
        text = printer.parameters.floating(node)
        text = f"np.float32({text})" if kind == "float" else text
    else:
        text = printer.parameters.integer(node)
    if isinstance(node, Constant):
        return ScalarText(text)
    return ScalarText(text, f"({printer.parameters.integer(Presence(type=node.type, node=node))} != 0)")


def _constant(printer: ScalarPrinter, node: Constant) -> ScalarText:
    return ScalarText(str(node.value)) if node.value is True or node.value is False else _parameter(printer, node)


def _now(printer: ScalarPrinter, node: CurrentTime) -> ScalarText:
    return ScalarText(printer.now)


# ------------------------------------------------------------------ numbers


def _arithmetic(printer: ScalarPrinter, node: Arithmetic) -> ScalarText:
    kind = column_kind(node.type)
    left, right = printer.value(node.left), printer.value(node.right)
    valid = both(left.valid, right.valid)
    if kind in INTEGERS:
        return _integer(printer, node, kind, left, right, valid)
    if kind not in ("float", "double"):
        raise NotCompilable(f"arithmetic on {kind}")
    if node.operator == "%":
        text = f"np.fmod({left.value}, {right.value})"
    else:
        text = f"({left.value} {node.operator} {right.value})"
    if node.operator == "/" and node.zero_division_null:
        right = printer.keep(right)
        text = f"({left.value} / {right.value})"
        valid = both(valid, f"({right.value} != 0)")
    return ScalarText(f"np.float32({text})" if kind == "float" else text, valid)


def _integer(printer: ScalarPrinter, node: Arithmetic, kind: str, left: ScalarText, right: ScalarText, valid: str | None) -> ScalarText:
    if node.operator == "/":
        right = printer.keep(right)
        text = f"int_divide({left.value}, {right.value})"
        valid = both(valid, f"({right.value} != 0)")
    elif node.operator == "%":
        if not (isinstance(node.right, Constant) and node.right.value):
            raise NotCompilable("a remainder of integers by a value that may be zero is an error, which columns do not raise")
        text = f"int_remainder({left.value}, {right.value})"
    elif kind == "long":
        text = f"{LONGS[node.operator]}({left.value}, {right.value})"
    else:
        text = f"({left.value} {node.operator} {right.value})"
    return ScalarText(text if kind == "long" else f"wrap_int({text})", valid)


LONGS = {"+": "long_add", "-": "long_subtract", "*": "long_multiply"}


def _negation(printer: ScalarPrinter, node: Negation) -> ScalarText:
    inner, kind = printer.value(node.operand), column_kind(node.type)
    if kind == "long":
        return ScalarText(f"long_subtract(0, {inner.value})", inner.valid)
    return ScalarText(f"wrap_int(-{inner.value})" if kind in ("byte", "short", "int") else f"(-{inner.value})", inner.valid)


def _convert(printer: ScalarPrinter, node: Convert) -> ScalarText:
    inner, source, kind = printer.value(node.operand), column_kind(node.operand.type), column_kind(node.type)
    if (source in INTEGERS and kind in INTEGERS) or source == kind:
        return inner
    if kind in ("float", "double") and source not in ("boolean", *TEXTS):
        return ScalarText(f"np.{'float32' if kind == 'float' else 'float64'}({inner.value})", inner.valid)
    raise NotCompilable(f"conversion from {source} to {kind}")


def _bitwise(printer: ScalarPrinter, node: Bitwise) -> ScalarText:
    left, right = printer.value(node.left), printer.value(node.right)
    return ScalarText(f"({left.value} {node.operator} {right.value})", both(left.valid, right.valid))


def sign_of_zero(kind: str, value: str, other: str, sign: str) -> str:
    """Return the text that says of two zeros of a floating kind whether the first may stand for both: ``<`` if it is -0.0, ``>`` if 0.0."""
    number = value if kind == "double" else f"np.float64({value})"
    return f"({value} == 0 and {other} == 0 and np.copysign(1.0, {number}) {sign} 0)"


def _extreme(printer: ScalarPrinter, node: Extreme) -> ScalarText:
    sign = "<" if node.function == "min" else ">"
    texts = [printer.keep(printer.value(o)) for o in node.operands]
    best = texts[0]
    for text in texts[1:]:
        better = f"({best.value} if {best.value} {sign} {text.value} else {text.value})"
        best = printer.keep(ScalarText(better, both(best.valid, text.valid)))
    return best


MATH = {"abs": "abs({0})", "floor": "np.floor({0})", "ceil": "np.ceil({0})", "sqrt": "np.sqrt({0})"}
"""Of doubles; abs also of floats."""
WHOLE = {"abs": "({0} if {0} >= 0 else {less})", "max": "({0} if {0} >= {1} else {1})", "min": "({0} if {0} <= {1} else {1})"}
"""Of ints and longs; ``less`` is the negated value, wrapped around."""


def _invoke(printer: ScalarPrinter, node: Invoke) -> ScalarText:
    """Math's functions where arguments and result are of one type: that says which of Java's overloads is meant."""
    name = node.function.removeprefix("java.lang.").removeprefix("Math.")
    kind = node.type.kind if isinstance(node.type, Scalar) else ""
    known = WHOLE if kind in ("int", "long") else MATH if kind == "double" or (kind == "float" and name == "abs") else {}
    if "Math." not in node.function or name not in known or any(column_kind(a.type) != kind for a in node.arguments):
        raise NotCompilable(f"the function {node.function} is not computed in columns")
    texts = [printer.keep(printer.value(a)) for a in node.arguments]
    valid = both(*(t.valid for t in texts))
    if valid is not None and not node.null_propagates:
        raise NotCompilable(f"{node.function} of null")
    less = f"wrap_int(-{texts[0].value})" if kind == "int" else f"long_subtract(0, {texts[0].value})"
    return ScalarText(known[name].format(*(t.value for t in texts), less=less), valid)


# ------------------------------------------------------------------ comparisons, logic


def _equality(printer: ScalarPrinter, node: Equality) -> ScalarText:
    if is_null(node.left) or is_null(node.right):
        return _is_null(printer, node)
    kind = column_kind(node.left.type)
    if node.arrays or column_kind(node.right.type) != kind:
        raise NotCompilable("equality of values of different types")
    left, right = printer.value(node.left), printer.value(node.right)
    if node.null_safe and (left.valid or right.valid):
        left, right = printer.keep(left), printer.keep(right)
    floating = kind in ("float", "double") and not (is_plain_number(node.left) or is_plain_number(node.right))
    same = f"same_double({left.value}, {right.value})" if floating else f"({left.value} == {right.value})"
    if not node.null_safe:
        return ScalarText(f"(not {same})" if node.negated else same, both(left.valid, right.valid))
    if left.valid or right.valid:
        there, other = left.valid or "True", right.valid or "True"
        same = f"({same} if ({there} and {other}) else ((not {there}) and (not {other})))"
    return ScalarText(f"(not {same})" if node.negated else same)


def is_plain_number(node: TypedExpression) -> bool:
    """Return whether ``==`` with the constant is Java's ``equals`` for doubles: it is neither zero nor NaN."""
    return isinstance(node, Constant) and bool(node.value) and node.value == node.value


def _is_null(printer: ScalarPrinter, node: Equality) -> ScalarText:
    if not node.null_safe:
        return ScalarText("False", "False")
    other = node.right if is_null(node.left) else node.left
    if is_null(other):
        return ScalarText(str(not node.negated))
    there = printer.value(other).valid
    if there is None:
        return ScalarText(str(node.negated))
    return ScalarText(there if node.negated else f"(not {there})")


def _comparable(printer: ScalarPrinter, node: TypedExpression) -> ScalarText:
    """Return a value as ``<`` takes it: strings by their rank."""
    text = printer.value(node)
    if column_kind(node.type) in TEXTS:
        printer.parameters.ranked = True
        return ScalarText(f"K[{text.value} + 1]", text.valid)
    return text


def _order(printer: ScalarPrinter, node: Order) -> ScalarText:
    left, right = _comparable(printer, node.left), _comparable(printer, node.right)
    return ScalarText(f"({left.value} {node.operator} {right.value})", both(left.valid, right.valid))


def _range(printer: ScalarPrinter, node: Range) -> ScalarText:
    """False, negated or not, if the value is null; false if an end is null, and true if negated."""
    if is_null(node.value) or (not node.negated and (is_null(node.low) or is_null(node.high))):
        return ScalarText("False")
    value = printer.keep(_comparable(printer, node.value))
    if is_null(node.low) or is_null(node.high):
        return ScalarText(value.valid or "True")
    low, high = (printer.keep(_comparable(printer, o)) for o in (node.low, node.high))
    between = f"({low.value} <{'=' * node.include_low} {value.value} and {value.value} <{'=' * node.include_high} {high.value})"
    if node.swap:
        swapped = f"({high.value} <{'=' * node.include_low} {value.value} and {value.value} <{'=' * node.include_high} {low.value})"
        between = f"({between} if {low.value} <= {high.value} else {swapped})"
    ends = both(low.valid, high.valid)
    body = between if ends is None else f"({ends} and {between})"
    if node.negated:
        body = f"(not {body})"
    return ScalarText(body if value.valid is None else f"({value.valid} and {body})")


def _membership(printer: ScalarPrinter, node: Membership) -> ScalarText:
    kind = column_kind(node.value.type)
    if any(node.spread) or len(node.items) > 32:
        raise NotCompilable("in with anything but a short list of values")
    if any(column_kind(i.type) != kind for i in node.items if not is_null(i)):
        raise NotCompilable("in with values of another type")
    value = printer.keep(printer.value(node.value))
    nodes = [item for item in node.items if not is_null(item)]
    items = [printer.value(item) if isinstance(item, Constant) else printer.keep(printer.value(item)) for item in nodes]
    same = [
        f"same_double({value.value}, {text.value})" if kind in ("float", "double") and not is_plain_number(item)
        else f"{value.value} == {text.value}" for item, text in zip(nodes, items)
    ]
    there = [test if item.valid is None else f"({item.valid} and {test})" for item, test in zip(items, same)]
    member = f"({' or '.join(there) or 'False'})"
    valid = value.valid
    if any(is_null(i) for i in node.items):
        valid = both(valid, member)
    elif (all_there := both(*(item.valid for item in items))) is not None:
        member = printer.keep(ScalarText(member)).value
        valid = both(valid, f"({member} or {all_there})")
    return ScalarText(f"(not {member})" if node.negated else member, valid)


def _logic(printer: ScalarPrinter, node: Logic) -> ScalarText:
    texts = [printer.keep(printer.value(o)) for o in node.operands]
    word, decided = ("and", "(not {})") if node.operator == "and" else ("or", "{}")
    known = "({} and {})" if word == "or" else "((not {}) or {})"
    values = [t.value if t.valid is None else known.format(t.valid, t.value) for t in texts]
    value = f"({f' {word} '.join(values)})"
    if all(t.valid is None for t in texts):
        return ScalarText(value)
    sure = [decided.format(t.value) if t.valid is None else f"({t.valid} and {decided.format(t.value)})" for t in texts]
    there = both(*(t.valid for t in texts))
    return ScalarText(value, f"({there} or {' or '.join(sure)})")


def _not(printer: ScalarPrinter, node: Not) -> ScalarText:
    inner = printer.value(node.operand)
    return ScalarText(f"(not {inner.value})", inner.valid)


def _conditional(printer: ScalarPrinter, node: Conditional) -> ScalarText:
    if len(node.pairs) > MOST_CASES:
        raise NotCompilable(f"case with more than {MOST_CASES} branches")
    last = ScalarText("0", "False") if node.otherwise is None else printer.value(node.otherwise)
    result = _cast_null(last, node.type)
    for condition, outcome in reversed(node.pairs):
        test = printer.keep(ScalarText(printer.test(condition))).value
        text = _cast_null(printer.value(outcome), node.type)
        valid = None if text.valid is None and result.valid is None else f"({text.valid or 'True'} if {test} else {result.valid or 'True'})"
        result = ScalarText(f"({text.value} if {test} else {result.value})", valid)
    return result


def _coalesce(printer: ScalarPrinter, node: Coalesce) -> ScalarText:
    texts = [_cast_null(printer.keep(printer.value(o)), node.type) for o in node.operands]
    result = texts[-1]
    for text in reversed(texts[:-1]):
        if text.valid is None:
            result = text
            continue
        valid = None if result.valid is None else f"({text.valid} or {result.valid})"
        result = ScalarText(f"({text.value} if {text.valid} else {result.value})", valid)
    return result


def _cast_null(text: ScalarText, value_type: ValueType) -> ScalarText:
    """Null's stand-in in the type of the others, so that both arms of a choice have one type."""
    if text == ScalarText("0", "False"):
        return ScalarText(STAND_INS.get(column_kind(value_type), "np.int64(0)"), "False")
    return text


STAND_INS = {"double": "0.0", "float": "np.float32(0)", "boolean": "False", "String": "np.int64(-1)"}

PRINTERS: dict[type[TypedExpression], Callable[[ScalarPrinter, Any], ScalarText]] = {
    Constant: _constant, Parameter: _parameter, VariableValue: _parameter, CurrentTime: _now, Arithmetic: _arithmetic,
    Negation: _negation, Convert: _convert, Bitwise: _bitwise, Extreme: _extreme, Invoke: _invoke, Equality: _equality, Order: _order,
    Range: _range, Membership: _membership, Logic: _logic, Not: _not, Conditional: _conditional, Coalesce: _coalesce,
}


def _is_name(text: str) -> bool:
    return text.isidentifier() or text in ("True", "False")


__all__ = [
    "DTYPES",
    "INSTANTS",
    "INTEGERS",
    "TEXTS",
    "Leaf",
    "ScalarPrinter",
    "ScalarText",
    "column_kind",
    "element_text",
    "is_steady",
]
