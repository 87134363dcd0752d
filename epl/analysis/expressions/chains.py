"""Chains ``a.b[0].c('k')?.d(x)``: what each link means, from left to right.

In the order in which Esper looks: lambda and declared-expression parameters, properties of the streams, stream names, variables,
constants of classes,
static functions; a call alone may be a mapped or indexed property, an aggregation, a declared expression or a single-row function.
"""
from __future__ import annotations

from collections.abc import Sequence

from epl.analysis.expressions import calls
from epl.analysis.expressions.aggregation_methods import as_aggregation, bind_aggregation_method, is_sorted
from epl.analysis.expressions.binding import StatementRefusal, bind, bind_node
from epl.analysis.expressions.context_values import check_store, check_variable, context_value, unknown_property
from epl.analysis.expressions.conversions import message_type
from epl.analysis.expressions.declared import bind_alias, bind_declared, find_alias, find_declaration
from epl.analysis.expressions.dynamic_properties import check_dynamic
from epl.analysis.expressions.path_hints import dots_hint, java_member
from epl.analysis.expressions.paths import (
    at_index,
    bind_key_access,
    declares,
    declaring_streams,
    dynamic_step,
    find_dotted_property,
    find_dotted_step,
    is_dynamic_property,
    is_iterable,
    literal_key,
    read_property,
    stream_by_alias,
    stream_by_name,
    stream_value,
    stream_with_property,
    value_event_type,
)
from epl.analysis.expressions.scope import LocalName, Scope
from epl.analysis.expressions.spatial import bind_spatial, spatial_method
from epl.analysis.expressions.table_access import bind_table, refuse_unreadable
from epl.analysis.names.remedies import function_call, method_call
from epl.analysis.names.suggestions import did_you_mean
from epl.errors import EplError, EplUnsupportedError, EplValidationError
from epl.event_types import EventOf, EventType
from epl.foreign_words import FUNCTIONS, word_hint
from epl.grammar.lexis import RESERVED_FOR_TYPES
from epl.java_classes import is_java_class
from epl.plan import expressions as typed
from epl.plan.aggregations import AggregationPlan
from epl.plan.context.contexts import Context
from epl.plan.expressions import TypedExpression
from epl.plan.join.subqueries import as_rows, is_subquery_value
from epl.syntax import expressions as syntax
from epl.syntax.expressions import Call, Chain, Index, Link, Name
from epl.unparse import expression_text
from epl.value_types import INT, OBJECT, STRING, ArrayType, ClassType, EnumType, MapType, Scalar


@bind_node.register
def bind_chain(node: Chain, scope: Scope) -> TypedExpression:
    if node.root is not None:
        root = bind(node.root, scope)
        if isinstance(node.root, syntax.Subquery) and is_subquery_value(root) and isinstance(node.links[0], Name):
            _refuse_property_of_rows(root, node.links[0])
        return follow(root, node.links, scope, node)
    first = node.links[0]
    if isinstance(first, Call):
        spatial = spatial_method(node.links)
        if spatial is not None:
            return follow(bind_spatial(spatial, node, scope), node.links[2:], scope, node)
        return follow(_bind_call(first, node, scope), node.links[1:], scope, node)
    assert isinstance(first, Name)
    try:
        bound = _bind_name(first, node, scope)
        if bound is None:
            raise _unknown(node, scope)
    except StatementRefusal:
        raise
    except EplValidationError as refusal:
        if refusal.message.startswith("Context property"):
            raise
        if _like_mapped_property(node):
            raise calls.introduce_refusal(
                f"Failed to resolve enumeration method, date-time method or mapped property '{expression_text(node)}'", refusal) from None
        raise
    return bound


def _refuse_property_of_rows(rows: TypedExpression, link: Name) -> None:
    """``(select …).name``: what a sub-query gives is a collection, except for a declared expression."""
    if isinstance(rows.type, EventOf):
        raise EplValidationError(
            f"Could not find event property or method named '{link.name}' in collection of events of type '{rows.type}'", span=link.span)


def _like_mapped_property(node: Chain) -> bool:
    """Return whether Esper takes ``a.b('text')`` for a mapped property until the end."""
    last = node.links[-1]
    if len(node.links) < 2 or not isinstance(last, Call) or len(last.arguments) != 1:
        return False
    argument = last.arguments[0]
    return isinstance(argument, syntax.Literal) and argument.kind == "string"


@bind_node.register
def bind_stream_wildcard(node: syntax.StreamWildcard, scope: Scope) -> TypedExpression:
    number = stream_by_alias(node.stream, scope)
    if number is None:
        raise EplValidationError(f"Stream by name '{node.stream}' could not be found among all streams", span=node.span)
    return stream_value(number, scope)


# ------------------------------------------------------------------ the first link


def _bind_name(first: Name, node: Chain, scope: Scope) -> TypedExpression | None:
    links = node.links
    for local in scope.locals:
        if local.name == first.name:
            if not isinstance(local.type, EventOf) and local.name not in scope.builtin_names and scope.unqualified:
                _refuse_if_property(first, node, scope)
            return follow(_local(local), links[1:], scope, node)
    for name, value in scope.substitutions:
        if name == first.name:
            return follow(value, links[1:], scope, node)
    if first.name.lower() == "context" and scope.catalog.statement_context is not None:
        return _context_value(node, scope.catalog.statement_context, scope)
    alias = find_alias(first.name, scope)
    if alias is not None:
        return follow(bind_alias(alias, scope), links[1:], scope, node)
    if first.name in scope.catalog.variables:
        return _variable(first, node, scope)
    of_table = _of_table(first, node, scope)
    if of_table is not None:
        return of_table
    return _bind_declaration(first, node, scope) or _stream_path(node, scope) or class_member(node, scope)


def _of_table(first: Name, node: Chain, scope: Scope) -> TypedExpression | None:
    """Return what is read of a table; None where the name is that of something else, too."""
    table = scope.catalog.tables.get(first.name)
    if table is None or (scope.unqualified and declaring_streams(first.name, scope)):
        return None
    number = stream_by_name(first.name, scope)
    if number is not None and not (table.keys and _is_access(node, scope.streams[number].event_type is table.event_type)):
        return None
    access = bind_table(table, node, scope)
    if access is None:
        return None
    check_store(table, scope.catalog, node.span)
    bound = follow(access[0], node.links[access[1]:], scope, node)
    refuse_unreadable(bound, node)
    return bound


def _is_access(node: Chain, in_table: bool) -> bool:
    """Return whether the name of a table, which is that of a stream too, is the table's: ``T[key]``, and a stream of its rows as a
    whole."""
    return isinstance(node.links[1], Index) if len(node.links) > 1 else in_table


def _refuse_if_property(first: Name, node: Chain, scope: Scope) -> None:
    """Raise for the name of a lambda's value that is a property of a stream, too: Esper takes the value for a property of another one."""
    if not declaring_streams(first.name, scope):
        return
    if len(node.links) == 1:
        raise EplValidationError(f"Property named '{first.name}' is ambiguous as is valid for more then one stream", span=node.span)
    raise EplValidationError(
        f"Failed to resolve '{first.name}.{getattr(node.links[1], 'name', '')}' to a property, single-row function, aggregation function, "
        "script, stream or class name", span=node.span)


def _bind_declaration(first: Name, node: Chain, scope: Scope) -> TypedExpression | None:
    """Bind a declared expression without parameters, written without parentheses: it comes before properties, but not in its own body."""
    declaration = find_declaration(first.name, scope)
    if declaration is None or declaration.parameters or declaration.name in scope.expanding:
        return None
    return follow(bind_declared(declaration, Call(name=first.name, span=first.span), scope), node.links[1:], scope, node)


def _stream_path(node: Chain, scope: Scope) -> TypedExpression | None:
    """Return a property of a stream, ``stream.property``, or the stream itself. An alias that several streams have as a property is the
    stream."""
    links, first = node.links, node.links[0]
    assert isinstance(first, Name)
    owners = declaring_streams(first.name, scope, links) if scope.unqualified else []
    if len(owners) > 1 and len(links) > 1:
        owners = [owner for owner in owners if _has_whole_path(owner, node, scope)] or owners
    elements = _lambda_elements(links, scope)
    of_property = len(links) > 1 and isinstance(links[1], Name)
    is_dynamic = scope.unqualified and is_dynamic_property(links, 0)  # a property, whatever the names of streams
    number = None if is_dynamic else stream_with_property(first.name, scope) if of_property else stream_by_name(first.name, scope)
    aliased = number is not None and scope.streams[number].alias == first.name
    if aliased and of_property and number is not None and _next_is_property(number, links, scope):
        elements = []  # the name of a stream comes before what lambda parameters have
    if len(owners) + len(elements) > 1:
        if elements or not (aliased or scope.prefers_first):
            if any(find_dotted_property(scope.streams[owner].event_type, links, 0) for owner in owners):
                raise _unknown(node, scope)
            raise EplValidationError(f"Property named '{first.name}' is ambiguous as is valid for more then one stream", span=node.span)
        owners = [] if aliased else owners[:1]
    if elements:
        return follow(elements[0], links, scope, node)
    if owners and not (number is not None and len(links) > 1 and _next_is_property(number, links, scope)):
        return follow(stream_value(owners[0], scope), links, scope, node)
    if number is not None and (len(links) > 1 or aliased):
        if len(links) == 2 and isinstance(links[1], Name) and not _next_is_property(number, links, scope):
            raise _unknown_stream_property(number, links[1].name, node, scope)
        return follow(stream_value(number, scope), links[1:], scope, node)
    local = next((n for n in scope.locals if isinstance(n.type, EventOf) and n.type.event_type.name == first.name), None)
    if local is not None and number is None and len(links) > 1:
        return follow(_local(local), links[1:], scope, node)
    if is_dynamic:
        return _dynamic_of_stream(node, scope)
    if any(s.visible and s.outer and s.event_type.property(first.name) is not None for s in scope.streams):
        raise EplValidationError(
            f"Property named '{expression_text(node)}' must be prefixed by a stream name, use the stream name itself or use the as-clause "
            'to name the stream with the property in the format "stream.property"', span=node.span)
    return None


def _has_whole_path(number: int, node: Chain, scope: Scope) -> bool:
    """Return whether the whole path is one of the stream's: Esper looks for that, not for its first name."""
    try:
        follow(stream_value(number, scope), node.links, scope, node)
    except EplValidationError:
        return False
    return True


def _lambda_elements(links: Sequence[Link], scope: Scope) -> list[TypedExpression]:
    """Lambda parameters that are events with the property: Esper takes them for streams."""
    return [
        _local(local) for local in scope.locals
        if isinstance(local.type, EventOf) and local.name not in scope.builtin_names and declares(local.type.event_type, links)
    ]


def _local(local: LocalName) -> typed.Local:
    return typed.Local(type=local.type, number=local.number, name=local.name)


def _dynamic_of_stream(node: Chain, scope: Scope) -> TypedExpression:
    visible = [n for n, s in enumerate(scope.streams) if s.visible and not s.outer]
    if len(visible) != 1:
        raise EplValidationError(
            f"Property named '{expression_text(node)}' is ambiguous as is valid for more then one "
            "stream", span=node.span)
    return follow(stream_value(visible[0], scope), node.links, scope, node)


def _next_is_property(number: int, links: Sequence[Link], scope: Scope) -> bool:
    stream, link = scope.streams[number], links[1]
    if stream.group or stream.event_type.any_type or isinstance(link, (Call, Index)) or getattr(link, "optional", False):
        return True
    return declares(stream.event_type, links, 1)


def _variable(first: Name, node: Chain, scope: Scope) -> TypedExpression:
    if scope.unqualified and declaring_streams(first.name, scope):
        raise EplValidationError(f"The variable by name '{first.name}' is ambigous to a property of the same name", span=node.span)
    variable = scope.catalog.variables[first.name]
    check_variable(variable, scope.catalog, node.span)
    value: TypedExpression = typed.VariableValue(type=variable.type.boxed, name=first.name)
    if variable.constant and isinstance(variable.value, (bool, int, float, str)):
        value = typed.Constant(type=variable.type.boxed, value=variable.value)
    return follow(value, node.links[1:], scope, node)


def _context_value(node: Chain, context: Context, scope: Scope) -> TypedExpression:
    value, rest = context_value(node, context)
    try:
        return follow(value, rest, scope, node)
    except StatementRefusal:
        raise
    except EplValidationError as refusal:
        if any(isinstance(link, Call) for link in rest):
            raise
        raise unknown_property(node, context) from refusal


def class_member(node: Chain, scope: Scope) -> TypedExpression | None:
    """Bind ``Integer.MAX_VALUE``, ``Math.abs(x)``, with or without the package."""
    links, functions = node.links, scope.catalog.functions
    names: list[str] = []
    for at, link in enumerate(links):
        if isinstance(link, Call) and names:
            spec = functions.static.get((".".join(names), link.name))
            if spec is None:
                return None
            result = calls.invoke_static(spec, link, scope)
            return follow(result, links[at + 1:], scope, node) if result is not None else None
        if not isinstance(link, Name):
            return None
        names.append(link.name)
        constant = functions.constants.get(".".join(names))
        if constant is not None:
            return follow(typed.Constant(type=constant[0], value=constant[1]), links[at + 1:], scope, node)
        if len(names) > 1:
            enum_type = _enum_type(names[-2], names[-1], scope)
            if enum_type is not None:
                return follow(typed.Constant(type=enum_type, value=names[-1]), links[at + 1:], scope, node)
    return None


def _enum_type(name: str, constant: str, scope: Scope) -> EnumType | None:
    """Return the enum of that (simple) name that some event type's property has, if it has the constant."""
    for event_type in scope.catalog.event_types.values():
        for prop in event_type.properties.values():
            if isinstance(prop.type, EnumType) and constant in prop.type.constants and prop.type.name.rsplit(".", 1)[-1] == name:
                return prop.type
    return None


# ------------------------------------------------------------------ calls without an owner


def _bind_call(call: Call, node: Chain, scope: Scope) -> TypedExpression:
    """``name(arguments)`` at the start of a chain."""
    built_in = None if call.is_by_name else calls.BUILT_IN.get(call.name.lower())
    if call.name.lower() == "prior" and len(node.links) > 1 and isinstance(node.links[1], (Name, Call)):
        raise EplValidationError(
            f"Failed to resolve 'prior.{node.links[1].name}' to a property, single-row function, aggregation function, script, stream or "
            "class name", span=node.span
        )
    if built_in is not None:
        bound = built_in(call, scope)
        if bound is not None:
            return bound
    keyed = _bind_keyed_property(call, scope)
    if keyed is not None:
        return keyed
    if call.name.lower() in scope.catalog.aggregations and not call.is_by_name:
        return calls.aggregate(call, scope)
    declaration = find_declaration(call.name, scope)
    if declaration is not None:
        return bind_declared(declaration, call, scope)
    spec = scope.catalog.functions.single_row.get(call.name)
    if spec is not None:
        return calls.invoke_single_row(spec, call, scope)
    if scope.unqualified and (call.optional or _is_keyed_of_any(call, scope)):
        bound = _dynamic_of_stream(Chain(links=(call,), span=call.span), scope)
        assert isinstance(bound, typed.DynamicProperty)
        check_dynamic(bound.operand, node.links, 0, node)
        return bound
    for argument in call.arguments:
        calls.bind_argument(argument, scope, call.name)
    one = len(call.arguments) == 1
    kinds = "aggregation function or mapped or indexed property" if one else "expression declaration, script or aggregation function"
    hint = f"write -1 * {call.name}(…): a minus is followed by a name" if call.is_by_name else function_call(call.name)
    raise EplValidationError(f"Unknown single-row function, {kinds} named '{call.name}' could not be resolved", span=node.span, hint=hint)


def _is_keyed_of_any(call: Call, scope: Scope) -> bool:
    """``name('key')`` where every name is a property."""
    return literal_key(call) is not None and any(s.visible and s.event_type.any_type for s in scope.streams)


NO_KEYS = (syntax.Wildcard, syntax.StreamWildcard, syntax.NamedArgument, syntax.Ordered)
"""Arguments of functions that are no key of a mapped or indexed property."""


def _bind_keyed_property(call: Call, scope: Scope) -> TypedExpression | None:
    """``indexed(0)``, ``mapped('key')`` on a stream's property, variable or parameter."""
    if len(call.arguments) != 1 or call.optional or call.distinct or isinstance(call.arguments[0], NO_KEYS):
        return None
    if call.name.lower() in RESERVED_FOR_TYPES and call.name.lower() in scope.catalog.aggregations:
        return None  # count(x), last(x): a word of the language comes first
    for name, value in scope.substitutions:
        if name == call.name:
            return bind_key_access(value, call.arguments[0], scope)
    if call.name in scope.catalog.variables:
        variable = scope.catalog.variables[call.name]
        return bind_key_access(typed.VariableValue(type=variable.type, name=call.name), call.arguments[0], scope)
    owners = declaring_streams(call.name, scope) if scope.unqualified else []
    if len(owners) != 1:
        return None
    stream = scope.streams[owners[0]]
    prop = stream.event_type.property(call.name)
    assert prop is not None
    return bind_key_access(read_property(stream_value(owners[0], scope), prop, scope), call.arguments[0], scope)


# ------------------------------------------------------------------ the links after a value


def follow(value: TypedExpression, links: Sequence[Link], scope: Scope, node: Chain) -> TypedExpression:
    """Bind ``value`` and what follows it."""
    at, name = 0, None
    while at < len(links):
        link = links[at]
        if isinstance(link, (Name, Call)) and (is_dynamic_property(links, at) or _is_dynamic(value, link)):
            _refuse_dynamic_of_many(value, node)
            if isinstance(value, (typed.StreamProperty, typed.PropertyOf)) and isinstance(value.type, Scalar) and value.type != OBJECT:
                raise _unknown(node, scope)
            check_dynamic(value, links, at, node)
            value, taken = dynamic_step(value, links, at)
            at += taken
            continue
        if isinstance(link, Index):
            if name is not None and not isinstance(value.type, (ArrayType, EventOf)) and literal_key(link) is not None:
                raise _unknown(node, scope)
            value = at_index(value, link, scope, name)
            name = None
        elif isinstance(link, Name) and (dotted := find_dotted_step(value, links, at)) is not None:
            value, name = read_property(value, dotted[0], scope), None
            at += dotted[1] - 1
        elif isinstance(link, Name):
            is_top = isinstance(value, typed.StreamEvent)
            value, name = _property(value, link, scope, node), link.name if is_top else None
        elif isinstance(link, Call):
            value, name = _bind_member(value, link, scope, node), None
        at += 1
    return value


def _is_dynamic(value: TypedExpression, link: Name | Call) -> bool:
    """After a dynamic property names are dynamic too, and so are all of a type of which no properties are declared."""
    if isinstance(value, typed.DynamicProperty) or (isinstance(value.type, MapType) and value.type.nested):
        return isinstance(link, Name) or isinstance(literal_key(link), str)
    event_type = value_event_type(value)
    if event_type is None or not event_type.any_type or event_type.property(link.name) is not None:
        return False
    return isinstance(link, Name) or literal_key(link) is not None


def _refuse_dynamic_of_many(value: TypedExpression, node: Chain) -> None:
    if isinstance(value.type, ArrayType) and isinstance(value, (typed.StreamProperty, typed.PropertyOf, typed.StreamEvents)):
        name = getattr(value, "name", "")
        raise EplValidationError(_index_refusal(expression_text(node), name), span=node.span)


def _property(value: TypedExpression, link: Name, scope: Scope, node: Chain) -> TypedExpression:
    own = bind_aggregation_method(value, Call(name=link.name, span=link.span), scope)
    if own is not None:
        return own
    event_type = value_event_type(value)
    if event_type is not None and isinstance(value, typed.Aggregated) and _is_plain_value(value.plan):
        raise calls.unknown_method(value, link.name, (), node)
    if event_type is not None:
        prop = event_type.property(link.name)
        if prop is None:
            raise _unknown_property(value, event_type, link.name, node, scope)
        return read_property(value, prop, scope)
    owner = _owner(value, scope) if node.root is None else None
    if is_iterable(value.type) and owner is not None and isinstance(value.type, ArrayType):
        hint = f"write {owner}[0].{link.name}, or {owner}.lastOf().{link.name}" if isinstance(value.type.element, EventOf) else None
        raise EplValidationError(_index_refusal(expression_text(node), owner), span=node.span, hint=hint)
    if isinstance(value.type, MapType) and owner is not None:
        raise EplValidationError(
            f"Failed to resolve property '{expression_text(node)}' (property '{owner}' is a mapped property and requires keyed "
            "access)", span=node.span)
    getter = None if value.type == STRING else calls.invoke_method(value, Call(name=f"get{link.name[:1].upper()}{link.name[1:]}"), scope)
    if getter is not None:
        return getter
    is_of_class = isinstance(value.type, ClassType) and is_java_class(value.type.name)
    if isinstance(value, (typed.StreamProperty, typed.PropertyOf, typed.Local)) and node.root is None and not is_of_class:
        raise _unknown(node, scope)
    raise calls.unknown_method(value, link.name, (), node)


def _is_plain_value(plan: AggregationPlan) -> bool:
    """Return whether the aggregation takes an event for a value like any other, as in Esper: nothing of it can be read."""
    return plan.function in ("firstever", "lastever", "nth") and plan.stream is None


def _owner(value: TypedExpression, scope: Scope) -> str | None:
    """Return the property's or group variable's name, for refusals."""
    if isinstance(value, (typed.StreamProperty, typed.PropertyOf)):
        return value.name
    return scope.streams[value.stream].alias if isinstance(value, typed.StreamEvents) else None


def _index_refusal(text: str, owner: str) -> str:
    return (f"Failed to resolve property '{text}' (property '{owner}' is an indexed property and requires an index or enumeration method "
            "to access values)")


def _bind_member(value: TypedExpression, link: Call, scope: Scope, node: Chain) -> TypedExpression:
    """``value.name(arguments)``: a mapped or indexed property of an event, an enumeration method, a method; getters of events."""
    own = bind_aggregation_method(value, link, scope)
    if own is not None:
        return own
    if scope.in_pattern and isinstance(value, typed.StreamEvents) and not link.arguments and link.name.lower() in ("countof", "size"):
        return typed.Constant(type=INT, value=1)  # as in Esper: within a pattern a tag's array counts as one
    event_type = value_event_type(value)
    if event_type is not None and len(link.arguments) == 1:
        prop = event_type.property(link.name)
        keyed = bind_key_access(read_property(value, prop, scope), link.arguments[0], scope) if prop is not None else None
        if keyed is not None:
            return keyed
    enumeration = scope.catalog.functions.enumeration.get(link.name.lower())
    if enumeration is not None and isinstance(value, typed.SubqueryValue) and is_subquery_value(value):
        value = as_rows(value)
    if enumeration is not None and is_sorted(value):  # of no events it is an empty collection here, and null by itself, as in Esper
        value = typed.AggregationMethodCall(type=value.type, operand=value, method="events_in_order", arguments=())
    if enumeration is not None and _is_one_of_many(value):
        value = typed.Single(type=ArrayType(value.type), operand=value)
    if enumeration is not None and is_iterable(value.type):
        return calls.bind_enumeration_call(enumeration, value if node.root is None else calls.collection_items(value), link, scope)
    result = calls.invoke_method(value, link, scope)
    if result is not None:
        return result
    if event_type is not None and not link.arguments:
        prop = event_type.property(_getter_property(link.name))
        if prop is not None:
            return read_property(value, prop, scope)
    if enumeration is not None:
        raise EplValidationError(
            f"Invalid input for built-in enumeration method '{link.name}', expecting collection of event-type or scalar values as input, "
            f"received {value.type.boxed}", span=node.span)
    types = tuple(message_type(bind(a, scope)) for a in link.arguments if not isinstance(a, syntax.Lambda))
    raise calls.unknown_method(value, link.name, types, node)


SINGLE = ("first", "last", "minby", "maxby", "minbyever", "maxbyever")


def _is_one_of_many(value: TypedExpression) -> bool:
    """Return what enumeration methods take as a collection of one: the stream's event, prev and prevtail, and what ``SINGLE`` gives."""
    aggregation = as_aggregation(value)
    if aggregation is not None:
        return aggregation.function in SINGLE
    return isinstance(value, typed.StreamEvent) or (isinstance(value, typed.Previous) and value.kind in ("previous", "tail"))


def _getter_property(method: str) -> str:
    """``getTheString`` → ``theString``, ``isOpen`` → ``open``."""
    for prefix in ("get", "is"):
        if method.startswith(prefix) and method[len(prefix):len(prefix) + 1].isupper():
            return method[len(prefix):][:1].lower() + method[len(prefix) + 1:]
    return method


# ------------------------------------------------------------------ refusals


def _unknown(node: Chain, scope: Scope) -> EplError:
    """Return the refusal of a path that leads nowhere."""
    first, text = node.links[0], expression_text(node)
    assert isinstance(first, (Name, Call))
    java = java_member(node, scope)
    if java is not None:
        return EplUnsupportedError(f"Java's {java} is not supported", span=node.span, hint=method_call(java.rstrip("(…)").split(".")))
    if any(isinstance(link, Call) for link in node.links):
        names = [getattr(link, "name", "") for link in node.links]
        call = next(i for i, link in enumerate(node.links) if isinstance(link, Call))
        return EplValidationError(
            f"Failed to resolve '{'.'.join(names[:call + 1])}' to a property, single-row function, aggregation function, script, "
            "stream or class name",
            span=node.span, hint=method_call(names[:call + 1]))
    if len(node.links) > 1 and isinstance(node.links[1], Index) and literal_key(node.links[1]) is None:
        return EplValidationError(
            f"Failed to resolve '{first.name}' to a property, single-row function, aggregation function, script, stream or class "
            "name", span=node.span)
    if len(node.links) == 1 or isinstance(node.links[1], Index):
        known = [n for s in scope.streams if s.visible for n in s.event_type.names] if scope.unqualified else []
        message = f"Property named '{text}' is not valid in any stream{did_you_mean(text, known)}"
        return EplValidationError(message, span=node.span, hint=word_hint(FUNCTIONS, text))
    hint = dots_hint(node, scope)
    number = stream_by_name(first.name, scope)
    if number is None:
        names = [n for s in scope.streams if s.visible for n in (s.alias or s.event_type.name,)]
        suggestion = did_you_mean(first.name, names)
        if suggestion:
            return EplValidationError(f"Failed to find a stream named '{first.name}'{suggestion}", span=node.span, hint=hint)
        suggestion = did_you_mean(text, (n for s in scope.streams if s.visible for n in s.event_type.names))
        if suggestion:
            return EplValidationError(f"Property named '{text}' is not valid in any stream{suggestion}", span=node.span, hint=hint)
    return EplValidationError(
        f"Failed to resolve property '{text}' to a stream or nested property in a stream", span=node.span, hint=hint)


def _unknown_property(value: TypedExpression, event_type: EventType, name: str, node: Chain, scope: Scope) -> EplError:
    if isinstance(value, typed.Local):
        suggestion = did_you_mean(name, event_type.names)
        if suggestion:
            return EplValidationError(f"Property named '{name}' is not valid in stream '{value.name}'{suggestion}", span=node.span)
        return EplValidationError(
            f"Failed to resolve property '{expression_text(node)}' to a stream or nested property in a "
            "stream", span=node.span)
    if isinstance(value, (typed.StreamEvent, typed.StreamProperty, typed.PropertyOf, typed.ContextValue)):
        return _unknown(node, scope)
    return calls.unknown_method(value, name, (), node)


def _unknown_stream_property(number: int, name: str, node: Chain, scope: Scope) -> EplValidationError:
    stream = scope.streams[number]
    suggestion = did_you_mean(name, stream.event_type.names)
    if suggestion:
        shown = node.links[0].name if isinstance(node.links[0], Name) else ""
        return EplValidationError(f"Property named '{name}' is not valid in stream '{shown}'{suggestion}", span=node.span)
    return EplValidationError(
        f"Failed to resolve property '{expression_text(node)}' to a stream or nested property in a "
        "stream", span=node.span)


