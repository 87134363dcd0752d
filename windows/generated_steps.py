"""What a data window offers to the generated function of a whole statement: its own steps as source lines."""
from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

Expire = Callable[[Sequence[str], str, str], tuple[Sequence[str], Sequence[str]]]
"""expire(conditions, the text of the time, the line that leaves it to the window's call-back) → the lines that set ``o`` to the one event
that is due and change nothing, and the lines that let it go. ``conditions``, under which the call-back has to run, include ``guards``."""


@attrs.frozen(kw_only=True)
class WindowSteps:
    """``update`` of a window with one event ``e``, as lines over its ``objects()``.

    ``guards``: conditions under which ``update`` itself has to be called. ``oldest``: lines that set ``o`` to the event that leaves with
    this one, or None, and change nothing; no lines where none does. ``enter(time)``: the lines that take ``e`` and let ``o`` go; ``time``
    is the text of engine time. ``expire``: where the window's timer, its object ``timer``, lets one event go, if it can be written.
    """

    guards: Sequence[str] = ()
    oldest: Sequence[str] = ()
    enter: Callable[[str], Sequence[str]] = lambda time: ()
    expire: Expire | None = None


__all__ = ["WindowSteps"]
