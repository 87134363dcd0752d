"""Expressions of printed kernels → LLVM's instructions; what numbers do is what numpy and C do, and integers wrap around."""
from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from runtime.batch.compiler.llvm.kernel_types import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT64,
    NUMBERS,
    UINT64,
    Array,
    KernelArrayType,
    LlvmValue,
    NotNative,
    NumberType,
    Operand,
    Several,
)
from runtime.batch.compiler.llvm.lines import Lines, literal

INTEGER_WORDS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl"}
FLOAT_WORDS = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
ORDERS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("lt", "olt"), ast.LtE: ("le", "ole"), ast.Gt: ("gt", "ogt"), ast.GtE: ("ge", "oge"), ast.Eq: ("eq", "oeq"),
    ast.NotEq: ("ne", "une"),
}
MATHS = {"sqrt": "llvm.sqrt", "floor": "llvm.floor", "ceil": "llvm.ceil"}


class PrintedFunction(Protocol):
    """The function that the expressions are in (runtime.batch.compiler.llvm.functions)."""

    lines: Lines

    def read(self, name: str) -> Operand:
        """Return a variable's value."""

    def call(self, name: str, arguments: Sequence[Operand]) -> Operand: ...

    def intrinsic(self, name: str, values: Sequence[LlvmValue]) -> LlvmValue:
        """Return one of LLVM's own functions of floats of one type."""

    def allocate(self, size: str) -> str:
        """Allocate memory that is released when the function returns."""


class ExpressionPrinter:
    """Prints into a function's lines what an expression does."""

    def __init__(self, function: PrintedFunction) -> None:
        self.function, self.lines = function, function.lines

    def operand(self, node: ast.expr) -> Operand:
        printer = PRINTERS.get(type(node))
        if printer is None:
            raise NotNative(ast.unparse(node))
        return printer(self, node)

    def value(self, node: ast.expr) -> LlvmValue:
        operand = self.operand(node)
        if not isinstance(operand, LlvmValue):
            raise NotNative(f"{ast.unparse(node)} where a number is expected")
        return operand

    def array(self, node: ast.expr) -> Array:
        operand = self.operand(node)
        if not isinstance(operand, Array):
            raise NotNative(f"{ast.unparse(node)} where an array is expected")
        return operand

    def integer(self, node: ast.expr) -> str:
        value = self.value(node)
        if value.type.sort == "f":
            raise NotNative(f"{ast.unparse(node)} where an integer is expected")
        return self.lines.convert(value, INT64).text

    def test(self, node: ast.expr, is_value: bool = False) -> str:
        """Return the expression as a boolean. Python gives the operand that decided: as a value only booleans are accepted."""
        if isinstance(node, ast.BoolOp):
            return self._logic(node, is_value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.lines.set(f"xor i1 {self.test(node.operand)}, true")
        value = self.value(node)
        if is_value and value.type is not BOOL:
            raise NotNative(f"{ast.unparse(node)} as a boolean")
        return self.lines.truth(value)

    def _logic(self, node: ast.BoolOp, is_value: bool) -> str:
        """Operands are looked at only as far as they decide."""
        lines, ends, decided = self.lines, [], "false" if isinstance(node.op, ast.And) else "true"
        last = lines.label()
        for number, operand in enumerate(node.values):
            result = self.test(operand, is_value)
            if number + 1 == len(node.values):
                ends.append((result, lines.block))
                lines.jump(last)
                break
            more = lines.label()
            ends.append((decided, lines.block))
            lines.branch(result, *((more, last) if decided == "false" else (last, more)))
            lines.begin(more)
        lines.begin(last)
        return lines.set("phi i1 " + ", ".join(f"[{text}, %{block}]" for text, block in ends))

    # ------------------------------------------------------------------ arithmetic

    def binary(self, operator: ast.operator, left: LlvmValue, right: LlvmValue) -> LlvmValue:
        if isinstance(operator, ast.Div):
            number = FLOAT32 if left.type is right.type is FLOAT32 else FLOAT64
        else:
            number = common(left, right)
        if number.sort == "f":
            word = FLOAT_WORDS.get(type(operator))
            if word is None:
                raise NotNative(f"{type(operator).__name__} of floats")
        elif isinstance(operator, (ast.FloorDiv, ast.Mod)):
            return self._divide(isinstance(operator, ast.Mod), left, right, number)
        elif isinstance(operator, ast.RShift):
            word = "ashr" if number.sort == "i" else "lshr"
        else:
            word = INTEGER_WORDS.get(type(operator))
            if word is None:
                raise NotNative(type(operator).__name__)
        if left.type is right.type is BOOL and isinstance(operator, (ast.BitAnd, ast.BitOr, ast.BitXor)):
            return LlvmValue(self.lines.set(f"{word} i1 {left.text}, {right.text}"), BOOL)
        texts = [self.lines.convert(value, number).text for value in (left, right)]
        return LlvmValue(self.lines.set(f"{word} {number.llvm} {', '.join(texts)}"), number)

    def _divide(self, rest: bool, left: LlvmValue, right: LlvmValue, number: NumberType) -> LlvmValue:
        """Towards the lower number, as Python's; by zero gives zero."""
        lines = self.lines
        over, by = lines.convert(left, number).text, lines.convert(right, number).text
        if number is UINT64:
            raise NotNative("a quotient of unsigned numbers")
        if right.literal is not None and right.literal > 0:
            quotient, remains = lines.set(f"sdiv i64 {over}, {by}"), lines.set(f"srem i64 {over}, {by}")
            low = lines.set(f"icmp slt i64 {remains}, 0")
        else:
            odd = lines.set(f"icmp ult i64 {lines.set(f'add i64 {by}, 1')}, 2")  # 0 and -1, by which a processor does not divide
            safe = lines.set(f"select i1 {odd}, i64 1, i64 {by}")
            quotient, remains = lines.set(f"sdiv i64 {over}, {safe}"), lines.set(f"srem i64 {over}, {safe}")
            opposite = lines.set(f"icmp slt i64 {lines.set(f'xor i64 {remains}, {safe}')}, 0")
            low = lines.set(f"and i1 {opposite}, {lines.set(f'icmp ne i64 {remains}, 0')}")
            negated = lines.set(f"sub i64 0, {over}")
            is_zero = lines.set(f"icmp eq i64 {by}, 0")
            quotient = lines.set(f"select i1 {odd}, i64 {lines.set(f'select i1 {is_zero}, i64 0, i64 {negated}')}, i64 {quotient}")
        if rest:
            divisor = by if right.literal is not None and right.literal > 0 else safe
            return LlvmValue(lines.set(f"select i1 {low}, i64 {lines.set(f'add i64 {remains}, {divisor}')}, i64 {remains}"), INT64)
        return LlvmValue(lines.set(f"sub i64 {quotient}, {lines.set(f'zext i1 {low} to i64')}"), INT64)

    def compare(self, operator: ast.cmpop, left: LlvmValue, right: LlvmValue) -> LlvmValue:
        words = ORDERS.get(type(operator))
        if words is None:
            raise NotNative(type(operator).__name__)
        if left.type is right.type is BOOL and words[0] in ("eq", "ne"):
            return LlvmValue(self.lines.set(f"icmp {words[0]} i1 {left.text}, {right.text}"), BOOL)
        number = common(left, right)
        texts = ", ".join(self.lines.convert(value, number).text for value in (left, right))
        sign = "" if words[0] in ("eq", "ne") else "u" if number.sort == "u" else "s"
        word = f"fcmp {words[1]}" if number.sort == "f" else f"icmp {sign}{words[0]}"
        return LlvmValue(self.lines.set(f"{word} {number.llvm} {texts}"), BOOL)

    def choose(self, test: str, yes: Callable[[], LlvmValue], no: Callable[[], LlvmValue]) -> LlvmValue:
        """Return one of two; the other is not looked at."""
        lines = self.lines
        labels = [lines.label() for _ in range(3)]
        lines.branch(test, *labels[:2])
        branches = []
        for label, give in zip(labels, (yes, no)):
            lines.begin(label)
            branches.append((give(), lines.block, len(lines.texts)))
        number = branches[0][0].type if branches[0][0].type == branches[1][0].type else common(branches[0][0], branches[1][0])
        ends = []
        (first, first_block, place), (second, second_block, _) = branches
        later = lines.texts[place:]
        del lines.texts[place:]
        ends.append((lines.convert(first, number).text, first_block))
        lines.jump(labels[2])
        lines.texts += later
        ends.append((lines.convert(second, number).text, second_block))
        lines.jump(labels[2])
        lines.begin(labels[2])
        return LlvmValue(lines.set(f"phi {number.llvm} " + ", ".join(f"[{text}, %{block}]" for text, block in ends)), number)

    def place(self, node: ast.Subscript) -> tuple[Array, str]:
        """Return the array, and the address of its element."""
        array = self.array(node.value)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return array, self.lines.place(array, [self.value(index) for index in indices])


def element_size(number: NumberType) -> int:
    """Return bytes of an array's element."""
    return max(1, number.bits // 8)


def common(left: LlvmValue, right: LlvmValue) -> NumberType:
    """Return the type in which two numbers are computed with."""
    sorts = left.type.sort + right.type.sort
    if "f" in sorts:
        return FLOAT32 if left.type is right.type is FLOAT32 else FLOAT64
    if sorts == "uu":
        return UINT64
    if UINT64 in (left.type, right.type):
        raise NotNative("signed and unsigned numbers together")
    return INT64


# ------------------------------------------------------------------ nodes


def _constant(printer: ExpressionPrinter, node: ast.Constant) -> Operand:
    if not isinstance(node.value, (bool, int, float)):
        raise NotNative(ast.unparse(node))
    return literal(node.value)


def _name(printer: ExpressionPrinter, node: ast.Name) -> Operand:
    return printer.function.read(node.id)


def _subscript(printer: ExpressionPrinter, node: ast.Subscript) -> Operand:
    of = printer.operand(node.value)
    if isinstance(of, Several):
        if not isinstance(node.slice, ast.Constant) or not isinstance(node.slice.value, int):
            raise NotNative(ast.unparse(node))
        return of.items[node.slice.value]
    array, place = printer.place(node)
    return printer.lines.load(array, place)


def _binary(printer: ExpressionPrinter, node: ast.BinOp) -> Operand:
    return printer.binary(node.op, printer.value(node.left), printer.value(node.right))


def _unary(printer: ExpressionPrinter, node: ast.UnaryOp) -> Operand:
    if isinstance(node.op, ast.Not):
        return LlvmValue(printer.test(node), BOOL)
    value = printer.value(node.operand)
    if isinstance(node.op, ast.USub) and value.literal is not None:
        return literal(-value.literal)
    if not isinstance(node.op, ast.USub) or value.type is UINT64:
        raise NotNative(ast.unparse(node))
    if value.type.sort == "f":
        return LlvmValue(printer.lines.set(f"fneg {value.type.llvm} {value.text}"), value.type)
    return LlvmValue(printer.lines.set(f"sub i64 0, {printer.lines.convert(value, INT64).text}"), INT64)


def _compare(printer: ExpressionPrinter, node: ast.Compare) -> Operand:
    if len(node.ops) > 1 and any(isinstance(inner, (ast.Subscript, ast.BoolOp, ast.IfExp)) for inner in ast.walk(node)):
        raise NotNative(ast.unparse(node))  # each operand is looked at here, and may be looked at
    values = [printer.value(each) for each in (node.left, *node.comparators)]
    result, *others = (printer.compare(*each) for each in zip(node.ops, values, values[1:]))
    for other in others:
        result = LlvmValue(printer.lines.set(f"and i1 {result.text}, {other.text}"), BOOL)
    return result


def _logic(printer: ExpressionPrinter, node: ast.BoolOp) -> Operand:
    return LlvmValue(printer.test(node, True), BOOL)


def _choice(printer: ExpressionPrinter, node: ast.IfExp) -> Operand:
    return printer.choose(printer.test(node.test), lambda: printer.value(node.body), lambda: printer.value(node.orelse))


def _attribute(printer: ExpressionPrinter, node: ast.Attribute) -> Operand:
    if node.attr != "shape":
        raise NotNative(ast.unparse(node))
    return Several(tuple(LlvmValue(text, INT64) for text in printer.array(node.value).shape))


def _tuple(printer: ExpressionPrinter, node: ast.Tuple) -> Operand:
    return Several(tuple(map(printer.operand, node.elts)))


def _call(printer: ExpressionPrinter, node: ast.Call) -> Operand:
    name = ast.unparse(node.func)
    known = CALLS.get(name)
    if node.keywords:
        raise NotNative(ast.unparse(node))
    if known is not None:
        return known(printer, node.args)
    if name.startswith("np.") and name[3:] in NUMBERS and len(node.args) == 1:
        value = printer.value(node.args[0])
        number = NUMBERS[name[3:]]
        converted = printer.lines.convert(value, number)
        literal = value.literal if value.type.sort in "iu" and number.bits == 64 and number.sort != "f" else None
        return LlvmValue(converted.text, number, literal)
    if isinstance(node.func, ast.Attribute) and node.func.attr == "view":
        return _view(printer, node)
    return printer.function.call(name, [printer.operand(argument) for argument in node.args])


def _view(printer: ExpressionPrinter, node: ast.Call) -> Operand:
    """Return the same bits as a number of another type."""
    assert isinstance(node.func, ast.Attribute)
    value, number = printer.operand(node.func.value), NUMBERS.get(ast.unparse(node.args[0]).removeprefix("np."))
    if isinstance(value, Array) and number is not None and value.type == KernelArrayType(value.type.element, 1):
        size = printer.lines.set(f"mul i64 {value.shape[0]}, {element_size(value.type.element)}")
        return Array(KernelArrayType(number, 1), value.pointer, (printer.lines.set(f"udiv i64 {size}, {element_size(number)}"),))
    if number is None or not isinstance(value, LlvmValue) or number.bits != value.type.bits:
        raise NotNative(ast.unparse(node))
    if number.llvm == value.type.llvm:
        return LlvmValue(value.text, number)
    return LlvmValue(printer.lines.set(f"bitcast {value.type.llvm} {value.text} to {number.llvm}"), number)


def _length(printer: ExpressionPrinter, arguments: Sequence[ast.expr]) -> Operand:
    return LlvmValue(printer.array(arguments[0]).shape[0], INT64)


def _extreme(operator: ast.cmpop) -> Callable[[ExpressionPrinter, Sequence[ast.expr]], Operand]:
    def print_call(printer: ExpressionPrinter, arguments: Sequence[ast.expr]) -> Operand:
        best, *others = [printer.value(argument) for argument in arguments]
        for other in others:
            number = common(best, other)
            if number.sort == "f":
                raise NotNative("the extreme of floats")
            left, right = (printer.lines.convert(value, number) for value in (best, other))
            test = printer.compare(operator, right, left).text
            best = LlvmValue(printer.lines.set(f"select i1 {test}, {number.llvm} {right.text}, {number.llvm} {left.text}"), number)
        return best

    return print_call


def _math(name: str) -> Callable[[ExpressionPrinter, Sequence[ast.expr]], Operand]:
    def print_call(printer: ExpressionPrinter, arguments: Sequence[ast.expr]) -> Operand:
        values = [printer.value(argument) for argument in arguments]
        if any(value.type is not FLOAT64 for value in values):
            raise NotNative(f"{name} of anything but doubles")
        return printer.function.intrinsic(name, values)

    return print_call


def _absolute(printer: ExpressionPrinter, arguments: Sequence[ast.expr]) -> Operand:
    value = printer.value(arguments[0])
    if value.type.sort != "f":
        raise NotNative("abs of an integer")
    return printer.function.intrinsic("llvm.fabs", [value])


def _remainder(printer: ExpressionPrinter, arguments: Sequence[ast.expr]) -> Operand:
    left, right = (printer.value(argument) for argument in arguments)
    number = common(left, right)
    if number.sort != "f":
        number = FLOAT64
    texts = ", ".join(printer.lines.convert(value, number).text for value in (left, right))
    return LlvmValue(printer.lines.set(f"frem {number.llvm} {texts}"), number)


def _empty(printer: ExpressionPrinter, arguments: Sequence[ast.expr]) -> Operand:
    """Return an array of the function's own, released when it returns."""
    number = NUMBERS.get(ast.unparse(arguments[1]).removeprefix("np."))
    if number is None:
        raise NotNative("an array of an unknown type")
    count = printer.integer(arguments[0])
    size = printer.lines.set(f"mul i64 {count}, {element_size(number)}")
    pointer = printer.function.allocate(printer.lines.set(f"add i64 {size}, 8"))
    return Array(KernelArrayType(number, 1), pointer, (count,))


CALLS: dict[str, Callable[[ExpressionPrinter, Sequence[ast.expr]], Operand]] = {
    "len": _length, "min": _extreme(ast.Lt()), "max": _extreme(ast.Gt()), "abs": _absolute, "np.fmod": _remainder, "np.empty": _empty,
    "np.copysign": _math("llvm.copysign"), **{f"np.{name}": _math(word) for name, word in MATHS.items()},
}
PRINTERS: dict[type[ast.expr], Callable[[ExpressionPrinter, Any], Operand]] = {
    ast.Constant: _constant, ast.Name: _name, ast.Subscript: _subscript, ast.BinOp: _binary, ast.UnaryOp: _unary, ast.Compare: _compare,
    ast.BoolOp: _logic, ast.IfExp: _choice, ast.Attribute: _attribute, ast.Tuple: _tuple, ast.Call: _call,
}

__all__ = ["ExpressionPrinter"]
