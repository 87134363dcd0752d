"""The one door for errors: code, sentence, position, hint.

A message begins with Esper's words where Esper refuses the same text, so that porting teams can search for it.
"""
from __future__ import annotations

from html import escape

from epl.spans import Span


class EplError(Exception):
    """What is wrong with EPL text, a deployment, an event or a call; the base of all errors. ``str(error)`` has message, line, column, the
    text with a caret, and the hint.

    Attributes:
        message: The sentence alone. It begins with Esper's words where Esper refuses the same text.
        code: ``syntax``, ``validation``, ``unsupported``, ``deployment`` or ``runtime``.
        span: Where in the text, in characters; ``position`` has line and column.
        text: The EPL text.
        hint: What to do, or None.

    Examples:
        >>> from runtime import Runtime
        >>> try:
        ...     Runtime().deploy("create schema A(x int); select y from A")
        ... except EplError as error:
        ...     print(error.code, error.position)
        ...     print(error.message)
        validation (1, 32)
        Failed to validate select-clause expression 'y': Property named 'y' is not valid in any stream (did you mean 'x'?)
    """

    code = "error"

    def __init__(self, message: str, *, span: Span | None = None, text: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.text = text
        self.hint = hint

    def within(self, text: str) -> EplError:
        """Return the same error, with the text that its span is in; a ``text`` that is known already is kept."""
        if self.text is None:
            self.text = text
        return self

    def public(self) -> EplError:
        """Return the same error as the class of this module that it is, where the compiler keeps kinds of its own."""
        public = next(kind for kind in type(self).__mro__ if kind.__module__ == __name__)
        return self if public is type(self) else public(self.message, span=self.span, text=self.text, hint=self.hint)

    @property
    def position(self) -> tuple[int, int] | None:
        """Line and column, both from 1; None if no text is known."""
        if self.span is None or self.text is None:
            return None
        return self.span.line_column(self.text)

    def __str__(self) -> str:
        parts = [self.message]
        if self.span is not None and self.text is not None:
            line, column = self.span.line_column(self.text)
            parts.append(f"  at line {line} column {column}")
            parts.extend("    " + row for row in self.span.caret(self.text).splitlines())
        if self.hint:
            parts.append(f"  hint: {self.hint}")
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        return f"<pre style='color:#a00'>{escape(type(self).__name__)}: {escape(str(self))}</pre>"


class EplWarning(UserWarning):
    """What an application should know of EPL text that runs all the same, such as an annotation without effect. It is a Python warning.

    Examples:
        >>> import warnings
        >>> from runtime import Runtime
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     deployment = Runtime().deploy("@Owner('me') create schema A(x int)")
        >>> [each.category.__name__ for each in caught]
        ['EplWarning']
    """


class EplSyntaxError(EplError):
    """The text is not EPL. The message begins with ``Incorrect syntax near``.

    Examples:
        >>> from epl.parse import parse_module
        >>> try:
        ...     parse_module("selec 1")
        ... except EplSyntaxError as error:
        ...     print(error.message, error.hint)
        Incorrect syntax near 'selec' did you mean 'select'?
    """

    code = "syntax"


class EplValidationError(EplError):
    """The text is EPL but has no meaning: unknown names, wrong types, wrong parameters.

    Examples:
        >>> from runtime import Runtime
        >>> Runtime().compile("select x from A")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
          ...
        epl.errors.EplValidationError: Failed to resolve event type, ...
    """

    code = "validation"


class AlreadyDeclaredError(EplValidationError):
    """A name that is taken: ``kind`` is event_type, variable, table or declaration. ``declared_by``, ``declared_at``: the id of the
    deployment that has declared it, and where in its module's text, where the runtime knows."""

    def __init__(self, message: str, kind: str, name: str, *, span: Span | None = None) -> None:
        super().__init__(message, span=span)
        self.kind = kind
        self.name = name
        self.declared_by: str | None = None
        self.declared_at: Span | None = None


class EplUnsupportedError(EplError):
    """Esper runs this text and epl-spark does not: it is refused when it is deployed, never ignored.

    Examples:
        >>> from runtime import Runtime
        >>> Runtime().compile("create dataflow D EventBusSource -> s {}")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
          ...
        epl.errors.EplUnsupportedError: ...
    """

    code = "unsupported"


class EplDeploymentError(EplError):
    """A module cannot be deployed or undeployed: dependencies, duplicates, missing parameters.

    Examples:
        >>> from runtime import Runtime
        >>> runtime = Runtime()
        >>> deployment = runtime.deploy("create schema A(x int)", name="types")
        >>> runtime.deploy("create schema B(x int)", name="types")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
          ...
        epl.errors.EplDeploymentError: ...
    """

    code = "deployment"


class EplRuntimeError(EplError):
    """An event, query or call that the runtime refuses. It had no effect.

    Examples:
        >>> from runtime import Runtime
        >>> Runtime().send("A", {})  # doctest: +ELLIPSIS
        Traceback (most recent call last):
          ...
        epl.errors.EplRuntimeError: no bus event type named 'A'
          hint: ...
    """

    code = "runtime"
