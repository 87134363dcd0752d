"""Printing what reads and makes values: properties, variables, casts, arrays, calls, prev and prior."""
from __future__ import annotations

from operator import attrgetter
from typing import Any

from epl.errors import EplUnsupportedError
from epl.event_types import EventOf
from epl.functions.partition_hashes import partition_hash
from epl.generated_code import field_name, literal, local_name
from epl.java import MAX_TEXT
from epl.plan.expressions import (
    Aggregated,
    AggregationMethodCall,
    Applied,
    Cast,
    Coalesce,
    Concatenation,
    Constant,
    ContextValue,
    CurrentTime,
    DynamicExists,
    DynamicProperty,
    Element,
    Function,
    GroupingCall,
    HashNumber,
    Invoke,
    IsInsertStream,
    ItemsOf,
    Local,
    MapValue,
    NewArrayOf,
    NewArraySized,
    NewStructOf,
    Parameter,
    Previous,
    Prior,
    PropertyOf,
    Single,
    StreamEvent,
    StreamEvents,
    StreamProperty,
    SubqueryValue,
    TimeSpan,
    TypedExpression,
    TypeNameOf,
    TypeTest,
    VariableValue,
)
from epl.plan.stores.tables import TableKeys, TableValue
from epl.plan.structs import StructAs
from epl.value_types import ArrayType, Scalar, ValueType
from runtime.expressions.casts import cast_function, instance_test, static_instance, type_name_function
from runtime.expressions.printer import Printer, may_be_null, prints
from runtime.expressions.structs import struct_converter
from windows.event import event_class

_RANDOM_ACCESS, _PRIOR = attrgetter("random_access"), attrgetter("prior")

# ------------------------------------------------------------------ leaves


@prints(Constant)
def print_constant(printer: Printer, node: Constant) -> str:
    return printer.constant(node.value)


@prints(Parameter)
def print_parameter(printer: Printer, node: Parameter) -> str:
    cell = printer.environment.parameter_cells.get(node.key)
    return printer.constant(printer.environment.parameters[node.key]) if cell is None else f"{printer.bind(cell, 'parameter')}.value"


@prints(StreamProperty)
def print_stream_property(printer: Printer, node: StreamProperty) -> str:
    stream = printer.streams[node.stream]
    read = printer.property(node.stream, node.name)
    return f"(None if {stream} is None else {read})" if node.optional else read


@prints(StreamEvent)
def print_stream_event(printer: Printer, node: StreamEvent) -> str:
    stream = printer.streams[node.stream]
    if isinstance(node.type, EventOf) and node.type.event_type.kind == "table":  # the row as it is now
        return f"(None if {stream} is None else {stream}.as_event())"
    return stream


@prints(StreamEvents)
def print_stream_events(printer: Printer, node: StreamEvents) -> str:
    return f"({printer.streams[node.stream]} or None)"


@prints(VariableValue)
def print_variable(printer: Printer, node: VariableValue) -> str:
    cell = printer.environment.variables[node.name]
    if getattr(cell, "is_partitioned", False):
        name = node.name
        return f"{printer.bind_cell(lambda environment: environment.variables[name], 'variable')}.value"
    return f"{printer.bind(cell, 'variable')}.value"


@prints(ContextValue)
def print_context_value(printer: Printer, node: ContextValue) -> str:
    return printer.context_value(node.path)


@prints(CurrentTime)
def print_current_time(printer: Printer, node: CurrentTime) -> str:
    return f"{printer.bind(printer.environment.clock, 'clock')}.now"


@prints(Local)
def print_local(printer: Printer, node: Local) -> str:
    return local_name(node.number)


@prints(IsInsertStream)
def print_is_insert_stream(printer: Printer, node: IsInsertStream) -> str:
    return "insert_stream"


@prints(Aggregated)
def print_aggregated(printer: Printer, node: Aggregated) -> str:
    return printer.print_aggregation(node.slot)


@prints(AggregationMethodCall)
def print_aggregation_method(printer: Printer, node: AggregationMethodCall) -> str:
    if isinstance(node.operand, TableValue):
        key, arguments = (f"({''.join(f'{printer.value(each)}, ' for each in part)})" for part in (node.operand.keys, node.arguments))
        return f"{_table(printer, node.operand)}.call({node.operand.column}, {literal(node.method)}, {key}, {arguments})"
    if isinstance(node.operand, StreamProperty):
        stream, place = printer.streams[node.operand.stream], node.operand.computed.place
        result = f"{stream}.results[{place}].{node.method}({', '.join(map(printer.value, node.arguments))})"
        return f"(None if {stream} is None else {result})" if node.operand.optional else result
    assert isinstance(node.operand, Aggregated)
    return f"aggregations[{node.operand.slot}].{node.method}({', '.join(map(printer.value, node.arguments))})"


def _table(printer: Printer, node: TableValue | TableKeys) -> str:
    table = node.table
    if table.context is not None:
        return printer.bind_cell(lambda environment: environment.tables[table], "table")
    return printer.bind(printer.environment.tables[table], "table")


@prints(TableValue)
def print_table_value(printer: Printer, node: TableValue) -> str:
    keys = [printer.value(key) for key in node.keys]
    if node.column is None:
        return f"{_table(printer, node)}.{'whole' if node.or_nulls else 'row'}({', '.join(keys)})"
    return f"{_table(printer, node)}.value({', '.join([str(node.column), *keys])})"


@prints(TableKeys)
def print_table_keys(printer: Printer, node: TableKeys) -> str:
    return f"{_table(printer, node)}.keys()"


# ------------------------------------------------------------------ values inside values


@prints(PropertyOf)
def print_inner_property(printer: Printer, node: PropertyOf) -> str:
    return printer.unary(node.operand, lambda text: f"{text}.{field_name(node.name)}")


@prints(DynamicProperty)
def print_dynamic_property(printer: Printer, node: DynamicProperty) -> str:
    text = f"dynamic_value({printer.value(node.operand)}, {literal(node.name)})"
    if node.index is not None:
        return f"dynamic_index({text}, {literal(node.index)})"
    return f"dynamic_key({text}, {literal(node.key)})" if node.key is not None else text


@prints(DynamicExists)
def print_dynamic_exists(printer: Printer, node: DynamicExists) -> str:
    operand = printer.value(node.operand)
    if node.index is not None:
        return f"index_exists(dynamic_value({operand}, {literal(node.name)}), {literal(node.index)})"
    if node.key is not None:
        return f"dynamic_exists(dynamic_value({operand}, {literal(node.name)}), {literal(node.key)})"
    return f"dynamic_exists({operand}, {literal(node.name)})"


@prints(Element)
def print_element(printer: Printer, node: Element) -> str:
    return f"element_at({printer.value(node.operand)}, {printer.value(node.index)})"


@prints(MapValue)
def print_map_value(printer: Printer, node: MapValue) -> str:
    return printer.unary(node.operand, lambda text: f"{text}.get({printer.value(node.key)})")


# ------------------------------------------------------------------ text, types


@prints(Concatenation)
def print_concatenation(printer: Printer, node: Concatenation) -> str:
    kept: list[str] = []
    parts = [printer.once(p, kept) for p in node.parts]
    if len(parts) > 2:
        return printer.guard(kept, f"concatenate({', '.join(parts)})")
    name = printer.temporary()
    return printer.guard(kept, f"({name} if len({name} := {' + '.join(parts)}) <= {MAX_TEXT} else concatenate({name}))")


@prints(Coalesce)
def print_coalesce(printer: Printer, node: Coalesce) -> str:
    text = printer.value(node.operands[-1])
    for operand in reversed(node.operands[:-1]):
        if may_be_null(operand):
            name = printer.temporary()
            text = f"({name} if ({name} := {printer.value(operand)}) is not None else {text})"
        else:
            text = printer.value(operand)
    return text


@prints(Cast)
def print_cast(printer: Printer, node: Cast) -> str:
    function = printer.bind(cast_function(node.operand.type, node.type), "cast")
    return printer.unary(node.operand, lambda text: f"{function}({text})")


@prints(TypeTest)
def print_type_test(printer: Printer, node: TypeTest) -> str:
    known = [static_instance(node.operand.type, t) for t in node.targets]
    if any(known):
        return printer.null_test(node.operand, negated=True)
    tests = [printer.bind(instance_test(t), "is_a") for t, k in zip(node.targets, known) if k is None]
    if not tests:
        return "False"
    name = printer.temporary()
    return f"(({name} := {printer.value(node.operand)}) is not None and ({' or '.join(f'{t}({name})' for t in tests)}))"


@prints(TypeNameOf)
def print_type_name(printer: Printer, node: TypeNameOf) -> str:
    function = printer.bind(type_name_function(node.operand.type), "type_name")
    name = printer.temporary()
    return f"(None if ({name} := {printer.value(node.operand)}) is None else {function}({name}))"


# ------------------------------------------------------------------ making values


@prints(Single)
def print_single(printer: Printer, node: Single) -> str:
    name = printer.temporary()
    return f"(None if ({name} := {printer.value(node.operand)}) is None else [{name}])"


@prints(NewArrayOf)
def print_new_array(printer: Printer, node: NewArrayOf) -> str:
    body = f"[{', '.join(printer.value(i) for i in node.items)}]"
    element = node.type.element if isinstance(node.type, ArrayType) else node.type
    return f"no_nulls({body})" if not element.nullable and any(may_be_null(i) for i in node.items) else body


DEFAULTS = {"boolean": False, "float": 0.0, "double": 0.0, "char": "\0"}


@prints(ItemsOf)
def print_items(printer: Printer, node: ItemsOf) -> str:
    body = f"[{', '.join(map(printer.value, node.operand.items))}]"
    return f"without_nulls({body})" if any(map(may_be_null, node.operand.items)) else body


@prints(NewArraySized)
def print_new_array_sized(printer: Printer, node: NewArraySized) -> str:
    element: ValueType = node.type
    depth = 0
    while isinstance(element, ArrayType):
        element, depth = element.element, depth + 1
    default = DEFAULTS.get(element.kind, 0) if isinstance(element, Scalar) and element.primitive else None
    return f"sized_array(({''.join(f'{printer.value(s)}, ' for s in node.sizes)}), {depth}, {literal(default)})"


@prints(NewStructOf)
def print_new_struct(printer: Printer, node: NewStructOf) -> str:
    return f"{printer.bind(event_class(node.event_type), 'struct')}({', '.join(printer.value(v) for v in node.values)})"


@prints(StructAs)
def print_struct_conversion(printer: Printer, node: StructAs) -> str:
    return f"{printer.bind(struct_converter(node.type), 'struct')}({printer.value(node.operand)})"


# ------------------------------------------------------------------ calls


@prints(Function)
def print_function(printer: Printer, node: Function) -> str:
    return f"(lambda {', '.join(map(local_name, node.parameters))}: {printer.value(node.body)})"


@prints(Applied)
def print_applied(printer: Printer, node: Applied) -> str:
    return f"{printer.value(node.function)}({', '.join(map(printer.value, node.arguments))})"


@prints(Invoke)
def print_invoke(printer: Printer, node: Invoke) -> str:
    function = printer.bind(printer.environment.functions.find_callable(node.function, node.bound), "call")
    kept: list[str] = []
    texts: list[str] = []
    for at, argument in enumerate(node.arguments):
        checked = node.null_propagates or (node.null_receiver and at == 0)
        texts.append(printer.once(argument, kept) if checked and not isinstance(argument, Function) else printer.value(argument))
    call = printer.guard(kept, f"{function}({', '.join(texts)})")
    if not node.once:
        return call
    cell = printer.bind(FirstResult(), "first_result")
    return f"({cell}.value if {cell}.known else {cell}.keep({call}))"


@prints(HashNumber)
def print_hash_number(printer: Printer, node: HashNumber) -> str:
    call = printer.bind(partition_hash(node.function, [each.type for each in node.arguments], node.granularity), "call")
    return f"{call}({', '.join(map(printer.value, node.arguments))})"


class FirstResult:
    """What a call gave the first time; one that raises is made again."""

    __slots__ = ("known", "value")

    def __init__(self) -> None:
        self.known = False
        self.value: Any = None

    def keep(self, value: Any) -> Any:
        self.value, self.known = value, True
        return value


# ------------------------------------------------------------------ prev, prior


@prints(Previous)
def print_previous(printer: Printer, node: Previous) -> str:
    access = f"{printer.bind_cell(_RANDOM_ACCESS, 'random_access')}[{node.stream}]"
    event = printer.streams[node.stream]
    if node.kind == "count":
        return f"{access}.count({event}, insert_stream)"
    if node.kind == "window":
        assert node.value is not None
        name = printer.temporary()
        body = f"each(lambda {name}: {_replace_stream(printer, node.stream, name, node.value)}, {access}.window({event}))"
        return f"({body} if insert_stream else None)"
    assert node.value is not None and node.index is not None
    method = "previous" if node.kind == "previous" else "from_tail"
    kept: list[str] = []
    index = printer.once(node.index, kept)
    name = printer.temporary()
    value = _replace_stream(printer, node.stream, name, node.value)
    return printer.guard(kept, f"(None if not insert_stream or ({name} := {access}.{method}({event}, {index})) is None else {value})")


@prints(Prior)
def print_prior(printer: Printer, node: Prior) -> str:
    name = printer.temporary()
    access = f"{printer.bind_cell(_PRIOR, 'prior')}[{node.stream}]"
    value = _replace_stream(printer, node.stream, name, node.value)
    if node.newest:
        return f"(None if not insert_stream or ({name} := {access}.before_newest({literal(node.index)})) is None else {value})"
    asked = f"{access}.prior({printer.streams[node.stream]}, {literal(node.index)}, insert_stream)"
    return f"(None if ({name} := {asked}) is None else {value})"


def _replace_stream(printer: Printer, stream: int, name: str, value: TypedExpression) -> str:
    """Return a value with another event in the stream's place."""
    outer = printer.streams[stream]
    printer.streams[stream] = name
    try:
        return printer.value(value)
    finally:
        printer.streams[stream] = outer


@prints(SubqueryValue)
def print_subquery(printer: Printer, node: SubqueryValue) -> str:
    plan = node.plan
    operator = printer.bind_cell(lambda environment: next(o for p, o in environment.subqueries if p is plan or p == plan), "subquery")
    arguments = [*(() if node.operand is None else (node.operand,)), *node.outer]
    return f"{operator}.answer({', '.join(map(printer.value, arguments))})"


@prints(TimeSpan)
def print_time_span(printer: Printer, node: TimeSpan) -> str:
    """Print a time span as functions take it: unit, number, unit, number …; what each unit means, and that parts are cut to whole numbers
    or not, is theirs to say.
    """
    return f"({''.join(f'{literal(unit)}, {printer.value(v)}, ' for unit, v in node.parts)})"


# ------------------------------------------------------------------ not here


def _refuse(what: str) -> object:
    def refuse(printer: Printer, node: TypedExpression) -> str:
        raise EplUnsupportedError(f"{what} not supported here")

    return refuse


prints(GroupingCall)(_refuse("grouping functions are"))  # type: ignore[arg-type]
