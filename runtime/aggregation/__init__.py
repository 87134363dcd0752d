"""Aggregations at run time.

``GroupFactory(plans, environment, arity)`` compiles once; calling it makes an empty ``AccumulatorGroup``: ``enter(row)``, ``leave(row)``,
``clear()``, ``state()``,
``restore(state)``, and ``readers``, which is what compiled expressions take as ``aggregations`` (``readers[slot].value()``).
``evaluate_rows(factory, rows)``
gives the readers of a fixed list of rows. A row is an event, or a tuple of events where ``arity`` is above one.
"""

from runtime.aggregation.groups import AccumulatorGroup, GroupFactory, evaluate_rows

__all__ = ["AccumulatorGroup", "GroupFactory", "evaluate_rows"]
