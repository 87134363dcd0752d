"""One generated function in place of a select's operators, for the plans it is worth it: window → aggregation → row → listeners.

``fuse(running)`` sets what the filter index calls, and what the window's timer calls. The functions work on the operators' own state, so
that snapshots, pages, iterators and restores see no difference. Whatever they are not made for, an expression that raises before anything
is changed included, they leave to the operators themselves.
"""

from runtime.fused.select_statement import fuse

__all__ = ["fuse"]
