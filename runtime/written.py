"""What a statement offers to the generated function of an event type: its own steps as text."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

Place = Callable[[str], str]
"""A field of the event → the text of its value."""


@attrs.frozen
class Written:
    """Steps over an event ``e``, which need not be there where no line names it.

    ``before`` changes nothing and may end the function, ``then`` may raise. ``scope``: the objects that the lines name.
    """

    before: list[str]
    then: list[str]
    scope: dict[str, Any]


Write = Callable[[Place, dict[str, Any], str], Written]
"""write(place of a field, takes the objects that expressions name, the line that leaves the event to ``receive``) → the steps.

Only for a function of which the statement is the only receiver: the lines may call its listeners.
"""

__all__ = ["Place", "Write", "Written"]
