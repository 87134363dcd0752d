"""epl-spark's engine. ``from runtime import Runtime``."""
from typing import TYPE_CHECKING

from runtime.api import siblings as siblings  # first: it checks what the others import

# isort: split
from epl.errors import (
    EplDeploymentError as EplDeploymentError,
)
from epl.errors import (
    EplError as EplError,
)
from epl.errors import (
    EplRuntimeError as EplRuntimeError,
)
from epl.errors import (
    EplSyntaxError as EplSyntaxError,
)
from epl.errors import (
    EplUnsupportedError as EplUnsupportedError,
)
from epl.errors import (
    EplValidationError as EplValidationError,
)
from epl.errors import (
    EplWarning as EplWarning,
)
from epl.plan import notebooks as _notebooks
from epl.settings import Settings as Settings
from runtime.api.contexts import ContextAccess as ContextAccess
from runtime.api.deployment import Deployment as Deployment
from runtime.api.engine import StatementMetrics as StatementMetrics
from runtime.api.runtime import Runtime as Runtime
from runtime.context.changes import ContextChange as ContextChange
from runtime.context.selectors import AllPartitions as AllPartitions
from runtime.context.selectors import ContextPartition as ContextPartition
from runtime.context.selectors import NestedPartitions as NestedPartitions
from runtime.context.selectors import PartitionsByCategory as PartitionsByCategory
from runtime.context.selectors import PartitionsByHash as PartitionsByHash
from runtime.context.selectors import PartitionsById as PartitionsById
from runtime.context.selectors import PartitionsByKey as PartitionsByKey
from runtime.context.selectors import PartitionSelector as PartitionSelector
from runtime.context.selectors import PartitionsWhere as PartitionsWhere
from runtime.conversion.rows import Row as Row
from runtime.conversion.rows import Rows as Rows
from runtime.event_loop.delivery import Condition as Condition
from runtime.event_loop.delivery import RowCounts as RowCounts
from runtime.historical.cache import ExpiryCache as ExpiryCache
from runtime.historical.cache import LruCache as LruCache
from runtime.statements.statement import Statement as Statement

__all__ = [
    "AllPartitions", "Condition", "ContextAccess", "ContextChange", "ContextPartition", "Deployment", "EplDeploymentError", "EplError",
    "EplRuntimeError", "EplSyntaxError", "EplUnsupportedError", "EplValidationError", "EplWarning", "ExpiryCache", "LruCache",
    "NestedPartitions", "PartitionSelector", "PartitionsByCategory", "PartitionsByHash", "PartitionsById", "PartitionsByKey",
    "PartitionsWhere", "Row", "RowCounts", "Rows", "Runtime", "Settings", "Statement", "StatementMetrics", "__version__", "sql",
]


def _picture(plan: object) -> str:
    from runtime.explain.notebook_html import picture_of_plan  # what draws is loaded where a notebook shows a plan

    return picture_of_plan(plan)


_notebooks.show_as(_picture)

sql = Runtime.sql
"""``Runtime.sql``, which needs no runtime."""

if TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name: str) -> str:
        """``__version__``, looked up when it is asked for: package metadata takes longer to load than a small module to compile."""
        if name != "__version__":
            raise AttributeError(f"module 'runtime' has no attribute {name!r}")
        from runtime.api.version import version

        return version()
