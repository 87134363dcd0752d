"""The one door for errors: code, sentence, position, hint.

A message begins with Esper's words where Esper refuses the same text, so that porting teams can search for it.
"""
from __future__ import annotations

from html import escape

from epl.spans import Span


class EplError(Exception):
    """What is wrong with EPL text, a deployment or an event.

    ``message`` is the sentence alone; ``str(error)`` adds line, column, caret and hint where they are known.
    """

    code = "error"

    def __init__(self, message: str, *, span: Span | None = None, text: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.text = text
        self.hint = hint

    def within(self, text: str) -> EplError:
        """Return the same error, knowing the text its span points into; keeps a text that is known already."""
        if self.text is None:
            self.text = text
        return self

    def public(self) -> EplError:
        """Return the same error as the class of this module that it is, where the compiler keeps kinds of its own."""
        public = next(kind for kind in type(self).__mro__ if kind.__module__ == __name__)
        return self if public is type(self) else public(self.message, span=self.span, text=self.text, hint=self.hint)

    @property
    def position(self) -> tuple[int, int] | None:
        """Line and column, both from 1; None where no text is known."""
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
    """What an application should know of EPL text that runs all the same."""


class EplSyntaxError(EplError):
    """The text is not EPL. The message begins with ``Incorrect syntax near``."""

    code = "syntax"


class EplValidationError(EplError):
    """The text is EPL but cannot mean anything: unknown names, wrong types, wrong parameters."""

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
    """Esper runs this and we do not: refused at deploy, never ignored."""

    code = "unsupported"


class EplDeploymentError(EplError):
    """A deployment cannot be made or taken back: dependencies, duplicates, missing parameters."""

    code = "deployment"


class EplRuntimeError(EplError):
    """An event, query or call that the runtime cannot take."""

    code = "runtime"
