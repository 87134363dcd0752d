"""One generated function in place of a statement's operators, for the plans it is worth it: window → aggregation → row → listeners of a
select, look-up → branches → delta of what changes a named window or table (``fuse_changes``).

``fuse(running)`` sets what the filter index calls, and what the window's timer calls. The functions work on the operators' own state, so
that snapshots, pages, iterators and restores see no difference. Whatever they are not made for, an expression that raises before anything
is changed included, they leave to the operators themselves.
"""

from runtime.fused.select_statement import fuse
from runtime.fused.store_changes import fuse_changes

__all__ = ["fuse", "fuse_changes"]
