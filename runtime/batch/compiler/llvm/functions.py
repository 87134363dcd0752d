"""Functions of printed kernels → LLVM functions, one for each types of arguments; a module of them from a kernel's source."""
from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

from runtime.batch.compiler.llvm.expressions import ExpressionPrinter
from runtime.batch.compiler.llvm.kernel_types import (
    BOOL,
    FLOAT64,
    INT64,
    Array,
    LlvmValue,
    NotNative,
    NumberType,
    Operand,
    Several,
    TupleType,
    Type,
    call_arguments,
    function_parameters,
)
from runtime.batch.compiler.llvm.lines import Lines, literal, zero


class ModulePrinter:
    """The functions of one kernel. ``sources``: all that may be called; ``constants``: integers that these name."""

    def __init__(self, sources: Mapping[str, ast.FunctionDef], constants: Mapping[str, int]) -> None:
        self.sources, self.constants = sources, constants
        self._made: dict[tuple[str, tuple[Type, ...]], tuple[str, Type | None]] = {}
        self._texts: list[str] = []
        self._declared: set[str] = set()

    def function(self, name: str, types: tuple[Type, ...]) -> tuple[str, Type | None]:
        """Return the function for these types of arguments: its name, and the type of what it gives."""
        entry = self._made.get((name, types))
        if entry is None:
            if name not in self.sources:
                raise NotNative(f"the function {name}")
            called = f"@{name}.{len(self._made)}"
            printer = FunctionPrinter(self, self.sources[name], types)
            text, result = printer.printed(called)
            self._texts.append(text)
            entry = self._made[name, types] = called, result
        return entry

    def declare(self, text: str) -> None:
        self._declared.add(text)

    def text(self) -> str:
        return "\n".join([*sorted(self._declared), *self._texts])


class FunctionPrinter:
    """One function for one choice of types. A variable has one type, the widest that is assigned to it: where a later line shows a wider
    one than the lines before were printed with, they are printed again."""

    def __init__(self, module: ModulePrinter, source: ast.FunctionDef, types: tuple[Type, ...]) -> None:
        self.module, self._source, self._types = module, source, types
        self._variables: dict[str, NumberType] = {}
        self._assigned = count_assignments(source)
        self.lines = Lines()
        self._result: Type | None = None

    def printed(self, called: str) -> tuple[str, Type | None]:
        while True:
            self._widened = False
            text = self._print(called)
            if not self._widened:
                return text, self._result

    def _print(self, called: str) -> str:
        self.lines = Lines()
        self.expressions = ExpressionPrinter(self)
        self._places: dict[str, str] = {}
        self._fixed: dict[str, Array | Several] = {}
        self._loops: list[tuple[str, str]] = []
        self._own: list[str] = []
        self._result = None
        parameters: list[str] = []
        names = (f"%p{n}" for n in count())
        arguments = self._source.args.args
        if len(arguments) != len(self._types):
            raise NotNative(f"{self._source.name} with {len(self._types)} arguments")
        for argument, of in zip(arguments, self._types):
            self.assign(argument.arg, function_parameters(of, names, parameters))
        self._block(self._source.body)
        self._end()
        body = "\n".join([*self.lines.variables, *self.lines.texts])
        inlined = "alwaysinline " if self._source.name.startswith("part") else ""  # a call hands over some hundred numbers
        head = f"define internal {llvm_type(self._result)} {called}({', '.join(parameters)}) {inlined}nounwind"
        return f"{head} {{\nentry:\n{body}\n}}\n"

    def _end(self) -> None:
        """Print what follows the last statement."""
        if self._result is None:
            self._free_memory()
            self.lines.add("ret void")
        elif isinstance(self._source.body[-1], (ast.Return, ast.While)):
            self.lines.add("unreachable")
        else:
            raise NotNative(f"{self._source.name} gives something or nothing")

    # ------------------------------------------------------------------ variables

    def read(self, name: str) -> Operand:
        fixed = self._fixed.get(name)
        if fixed is not None:
            return fixed
        place = self._places.get(name)
        if place is None and name in self.module.constants and name not in self._assigned:
            return literal(self.module.constants[name])
        if place is None:
            raise NotNative(f"{name} before it is assigned to")
        number = self._variables[name]
        return LlvmValue(self.lines.set(f"load {number.llvm}, ptr {place}"), number)

    def assign(self, name: str, operand: Operand) -> None:
        if not isinstance(operand, LlvmValue):
            if self._assigned[name] != 1 or name in self._fixed:
                raise NotNative(f"{name} is more than one array")
            self._fixed[name] = operand
            return
        if name in self._fixed:
            raise NotNative(f"{name} is an array and a number")
        number = self._variables.setdefault(name, operand.type)
        if number != operand.type:
            wide = wider(name, number, operand.type)
            self._widened = self._widened or wide != number
            number = self._variables[name] = wide
        if name not in self._places:
            self._places[name] = self.lines.variable(number.llvm, zero(number))
        self.lines.add(f"store {number.llvm} {self.lines.convert(operand, number).text}, ptr {self._places[name]}")

    def allocate(self, size: str) -> str:
        """Allocate memory that is released when the function returns."""
        self.module.declare("declare noalias ptr @malloc(i64)")
        self.module.declare("declare void @free(ptr)")
        pointer = self.lines.set(f"call ptr @malloc(i64 {size})")
        self._own.append(pointer)
        return pointer

    def _free_memory(self) -> None:
        for pointer in self._own:
            self.lines.add(f"call void @free(ptr {pointer})")

    # ------------------------------------------------------------------ calls

    def call(self, name: str, arguments: Sequence[Operand]) -> Operand:
        called, result = self.module.function(name, tuple(argument.type for argument in arguments))
        text = f"call {llvm_type(result)} {called}({', '.join(t for a in arguments for t in call_arguments(a))})"
        if result is None:
            self.lines.add(text)
            return Several(())
        returned = self.lines.set(text)
        if isinstance(result, NumberType):
            return LlvmValue(returned, result)
        assert isinstance(result, TupleType)
        items = [(n, item) for n, item in enumerate(result.items) if isinstance(item, NumberType)]
        return Several(tuple(LlvmValue(self.lines.set(f"extractvalue {llvm_type(result)} {returned}, {n}"), item) for n, item in items))

    def intrinsic(self, name: str, values: Sequence[LlvmValue]) -> LlvmValue:
        """Return one of LLVM's own functions of floats of one type."""
        number = values[0].type
        called = f"@{name}.f{number.bits}"
        self.module.declare(f"declare {number.llvm} {called}({', '.join([number.llvm] * len(values))})")
        return LlvmValue(self.lines.set(f"call {number.llvm} {called}({', '.join(f'{v.type.llvm} {v.text}' for v in values)})"), number)

    # ------------------------------------------------------------------ statements

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            printer = STATEMENTS.get(type(node))
            if printer is None:
                raise NotNative(ast.unparse(node))
            printer(self, node)
            if isinstance(node, (ast.Break, ast.Continue, ast.Return)):
                self.lines.begin(self.lines.label())  # where nothing comes
                break

    def _assign(self, node: ast.Assign) -> None:
        if len(node.targets) != 1:
            raise NotNative(ast.unparse(node))
        self._put(node.targets[0], self.expressions.operand(node.value))

    def _put(self, target: ast.expr, operand: Operand) -> None:
        if isinstance(target, ast.Name):
            self.assign(target.id, operand)
        elif isinstance(target, ast.Tuple):
            if not isinstance(operand, Several) or len(operand.items) != len(target.elts):
                raise NotNative(ast.unparse(target))
            for each, item in zip(target.elts, operand.items):
                self._put(each, item)
        elif isinstance(target, ast.Subscript) and isinstance(operand, LlvmValue):
            array, place = self.expressions.place(target)
            self.lines.store(array, place, operand)
        else:
            raise NotNative(ast.unparse(target))

    def _change(self, node: ast.AugAssign) -> None:
        expressions = self.expressions
        if isinstance(node.target, ast.Subscript):
            array, place = expressions.place(node.target)
            changed = expressions.binary(node.op, self.lines.load(array, place), expressions.value(node.value))
            self.lines.store(array, place, changed)
        elif isinstance(node.target, ast.Name):
            before = self.read(node.target.id)
            if not isinstance(before, LlvmValue):
                raise NotNative(ast.unparse(node))
            self.assign(node.target.id, expressions.binary(node.op, before, expressions.value(node.value)))
        else:
            raise NotNative(ast.unparse(node))

    def _if(self, node: ast.If) -> None:
        lines = self.lines
        if isinstance(node.test, ast.Constant) and node.test.value is True:
            self._block(node.body)
            return
        yes, no, after = (lines.label() for _ in range(3))
        lines.branch(self.expressions.test(node.test), yes, no if node.orelse else after)
        for label, body in ((yes, node.body), (no, node.orelse)):
            if body:
                lines.begin(label)
                self._block(body)
                lines.jump(after)
        lines.begin(after)

    def _while(self, node: ast.While) -> None:
        lines = self.lines
        top, body, after = (lines.label() for _ in range(3))
        lines.jump(top)
        lines.begin(top)
        lines.branch(self.expressions.test(node.test), body, after)
        lines.begin(body)
        self._loop(node, top, after)
        lines.jump(top)
        lines.begin(after)

    def _for(self, node: ast.For) -> None:
        lines = self.lines
        if not (isinstance(node.target, ast.Name) and isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "range"):
            raise NotNative(ast.unparse(node))
        bounds = [self.expressions.integer(argument) for argument in node.iter.args]
        first, end = ("0", bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        down = len(bounds) == 3 and bounds[2].startswith("-")
        step = bounds[2] if len(bounds) == 3 else "1"
        if step.startswith("%") and not self._ascends(node.iter.args[2]):
            raise NotNative("a step that may be negative")
        counter = lines.variable("i64", "0")
        lines.add(f"store i64 {first}, ptr {counter}")
        top, body, more, after = (lines.label() for _ in range(4))
        lines.jump(top)
        lines.begin(top)
        at = lines.set(f"load i64, ptr {counter}")
        lines.branch(lines.set(f"icmp {'sgt' if down else 'slt'} i64 {at}, {end}"), body, after)
        lines.begin(body)
        self.assign(node.target.id, LlvmValue(at, INT64))
        self._loop(node, more, after)
        lines.jump(more)
        lines.begin(more)
        lines.add(f"store i64 {lines.set(f'add nsw i64 {at}, {step}')}, ptr {counter}")
        lines.jump(top)
        lines.begin(after)

    def _ascends(self, node: ast.expr) -> bool:
        """Return a product of a number with a variable, which the functions of this package only use for widths."""
        return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and isinstance(node.left, ast.Constant)

    def _loop(self, node: ast.For | ast.While, again: str, after: str) -> None:
        if node.orelse:
            raise NotNative("else of a loop")
        self._loops.append((again, after))
        self._block(node.body)
        self._loops.pop()

    def _break(self, node: ast.Break) -> None:
        self.lines.jump(self._loops[-1][1])

    def _continue(self, node: ast.Continue) -> None:
        self.lines.jump(self._loops[-1][0])

    def _return(self, node: ast.Return) -> None:
        lines = self.lines
        operand = Several(()) if node.value is None else self.expressions.operand(node.value)
        self._free_memory()
        result = None if isinstance(operand, Several) and not operand.items else operand.type
        if self._result is not None and self._result != result:
            raise NotNative(f"{self._source.name} gives values of several types")
        self._result = result
        if isinstance(operand, LlvmValue):
            lines.add(f"ret {operand.type.llvm} {operand.text}")
        elif isinstance(operand, Several) and operand.items:
            packed = "poison"
            for number, item in enumerate(operand.items):
                if not isinstance(item, LlvmValue):
                    raise NotNative("a function that gives an array")
                packed = lines.set(f"insertvalue {llvm_type(result)} {packed}, {item.type.llvm} {item.text}, {number}")
            lines.add(f"ret {llvm_type(result)} {packed}")
        else:
            lines.add("ret void")

    def _expression(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.expressions.operand(node.value)

    def _pass(self, node: ast.Pass) -> None:
        """Print nothing."""


STATEMENTS: dict[type[ast.stmt], Callable[[FunctionPrinter, Any], None]] = {
    ast.Assign: FunctionPrinter._assign, ast.AugAssign: FunctionPrinter._change, ast.If: FunctionPrinter._if,
    ast.While: FunctionPrinter._while, ast.For: FunctionPrinter._for, ast.Break: FunctionPrinter._break,
    ast.Continue: FunctionPrinter._continue, ast.Return: FunctionPrinter._return, ast.Expr: FunctionPrinter._expression,
    ast.Pass: FunctionPrinter._pass,
}


def llvm_type(result: Type | None) -> str:
    if result is None:
        return "void"
    if isinstance(result, NumberType):
        return result.llvm
    if isinstance(result, TupleType) and all(isinstance(item, NumberType) for item in result.items):
        return "{" + ", ".join(llvm_type(item) for item in result.items) + "}"
    raise NotNative("a function that gives an array")


def wider(name: str, one: NumberType, other: NumberType) -> NumberType:
    """Return the type of a variable that is assigned values of two."""
    if BOOL in (one, other):
        one, other = (INT64 if number is BOOL else number for number in (one, other))
    if one == other:
        return one
    if one.sort == other.sort == "f":
        return FLOAT64
    if "f" in one.sort + other.sort or 64 in (one.bits * (one.sort == "u"), other.bits * (other.sort == "u")):
        raise NotNative(f"{name} is {one.name} and {other.name}")
    return INT64


def count_assignments(source: ast.FunctionDef) -> dict[str, int]:
    """Return how many times each variable is assigned to."""
    counts: dict[str, int] = {argument.arg: 1 for argument in source.args.args}
    for node in ast.walk(source):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            counts[node.id] = counts.get(node.id, 0) + 1
    return counts


__all__ = ["ModulePrinter", "llvm_type"]
