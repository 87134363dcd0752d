"""epl-spark's engine. ``from runtime import Runtime``."""
from importlib import import_module
from typing import TYPE_CHECKING, Any

from runtime.api import siblings as siblings  # first: it checks what the others import

# isort: split
from epl.plan import notebooks as _notebooks

if TYPE_CHECKING:
    from epl.errors import (
        EplDeploymentError,
        EplError,
        EplRuntimeError,
        EplSyntaxError,
        EplUnsupportedError,
        EplValidationError,
        EplWarning,
    )
    from epl.settings import Settings
    from runtime.api.contexts import ContextAccess
    from runtime.api.counts import StatementMetrics
    from runtime.api.deployment import Deployment
    from runtime.api.runtime import Runtime, sql
    from runtime.api.statement import Statement
    from runtime.context.changes import ContextChange
    from runtime.context.selectors import (
        AllPartitions,
        ContextPartition,
        NestedPartitions,
        PartitionsByCategory,
        PartitionsByHash,
        PartitionsById,
        PartitionsByKey,
        PartitionSelector,
        PartitionsWhere,
    )
    from runtime.conversion.rows import Row, Rows
    from runtime.event_loop.delivery import Condition, RowCounts
    from runtime.historical.cache import ExpiryCache, LruCache

    __version__: str

__all__ = [
    "AllPartitions", "Condition", "ContextAccess", "ContextChange", "ContextPartition", "Deployment", "EplDeploymentError", "EplError",
    "EplRuntimeError", "EplSyntaxError", "EplUnsupportedError", "EplValidationError", "EplWarning", "ExpiryCache", "LruCache",
    "NestedPartitions", "PartitionSelector", "PartitionsByCategory", "PartitionsByHash", "PartitionsById", "PartitionsByKey",
    "PartitionsWhere", "Row", "RowCounts", "Rows", "Runtime", "Settings", "Statement", "StatementMetrics", "__version__", "sql",
]

_MODULES = {
    "epl.errors": [
        "EplDeploymentError", "EplError", "EplRuntimeError", "EplSyntaxError", "EplUnsupportedError", "EplValidationError", "EplWarning",
    ],
    "epl.settings": ["Settings"],
    "runtime.api.contexts": ["ContextAccess"],
    "runtime.api.deployment": ["Deployment"],
    "runtime.api.counts": ["StatementMetrics"],
    "runtime.api.runtime": ["Runtime", "sql"],
    "runtime.api.version": ["__version__"],
    "runtime.context.changes": ["ContextChange"],
    "runtime.context.selectors": [
        "AllPartitions", "ContextPartition", "NestedPartitions", "PartitionSelector", "PartitionsByCategory", "PartitionsByHash",
        "PartitionsById", "PartitionsByKey", "PartitionsWhere",
    ],
    "runtime.conversion.rows": ["Row", "Rows"],
    "runtime.event_loop.delivery": ["Condition", "RowCounts"],
    "runtime.historical.cache": ["ExpiryCache", "LruCache"],
    "runtime.api.statement": ["Statement"],
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import the module of a public name when the name is first used: ``import runtime`` alone loads no engine."""
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'runtime' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _show_plan(plan: object) -> str:
    from runtime.explain.notebook_html import plan_html  # what draws is loaded where a notebook shows a plan

    return plan_html(plan)


_notebooks.register_drawing(_show_plan)
