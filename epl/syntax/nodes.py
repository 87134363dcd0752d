"""What all syntax nodes share: they are frozen, carry the span they were read from, and compare without it."""
from __future__ import annotations

import attrs

from epl.spans import Span


@attrs.frozen(kw_only=True)
class Node:
    """A piece of EPL as written. Equality ignores ``span``, so that parse(unparse(node)) == node can be said."""

    span: Span | None = attrs.field(default=None, eq=False, repr=False)


@attrs.frozen
class Body(Node):
    """What a statement does, without its annotations and declarations."""


@attrs.frozen
class Pattern(Node):
    """An EPL pattern (epl.syntax.patterns)."""
