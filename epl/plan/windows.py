"""The base of window configs: frozen data in the plan; ``windows/`` has one a file."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epl.syntax import Expression


@attrs.frozen
class WindowArgument:
    """A window's parameter, bound: ``written`` as in the text, ``typed`` over the stream's events; ``descending`` for sort keys; wildcard has typed None."""

    written: Expression
    typed: TypedExpression | None
    descending: bool | None = None
    is_period: bool = False

    @property
    def is_constant(self) -> bool:
        """Whether the value is the same for every event (constants, variables, arithmetic of them)."""
        return self.typed is not None and not self.typed.streams


@attrs.frozen
class WindowConfig:
    """A data window or derived-value window in a plan.

    A subclass names itself (``names``: ``("length",)``; the namespace of the old syntax in ``namespace``: ``win``), makes itself from bound
    arguments or refuses in Esper's words (``from_arguments``), and builds its view (``build(context) -> windows.protocol.View``).
    """

    names: ClassVar[tuple[str, ...]] = ()
    namespace: ClassVar[str] = "win"
    is_data_window: ClassVar[bool] = True
    is_batch: ClassVar[bool] = False

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> WindowConfig:
        """Check the parameters; raises EplValidationError whose message is what stands behind ``Error in view 'name', ``."""
        raise NotImplementedError

    def output_type(self, event_type: EventType) -> EventType:
        """What the child sees: the same type for data windows, a type of its own for derived-value windows."""
        return event_type

    def build(self, context: Any) -> Any:
        """A fresh view: ``context`` is a windows.protocol.BuildContext, the result a windows.protocol.View."""
        raise NotImplementedError
