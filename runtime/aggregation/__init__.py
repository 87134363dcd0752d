"""Aggregations at run time.

``GroupFactory(plans, environment, arity)`` compiles once; calling it makes an empty ``Group``: ``enter(row)``, ``leave(row)``,
``clear()``, ``state()``,
``restore(state)``, and ``readers``, which is what compiled expressions take as ``aggregations`` (``readers[slot].value()``).
``evaluate_over(factory, rows)``
gives the readers of a fixed list of rows. A row is an event, or a tuple of events where ``arity`` is above one.
"""

from runtime.aggregation.groups import Group, GroupFactory, evaluate_over

__all__ = ["Group", "GroupFactory", "evaluate_over"]
