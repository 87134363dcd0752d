"""epl-spark's engine. ``from runtime import Runtime``."""
from epl.catalog import Settings as Settings
from epl.errors import (
    EplDeploymentError as EplDeploymentError,
    EplError as EplError,
    EplRuntimeError as EplRuntimeError,
    EplSyntaxError as EplSyntaxError,
    EplUnsupportedError as EplUnsupportedError,
    EplValidationError as EplValidationError,
)
from runtime.engine import Runtime as Runtime
from runtime.rows import Row as Row, Rows as Rows

__all__ = ["EplDeploymentError", "EplError", "EplRuntimeError", "EplSyntaxError", "EplUnsupportedError", "EplValidationError", "Row", "Rows", "Runtime", "Settings"]
