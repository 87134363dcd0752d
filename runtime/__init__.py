"""epl-spark's engine. ``from runtime import Runtime``."""
from epl.catalog import Settings as Settings
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
from runtime.engine import Runtime as Runtime
from runtime.rows import Row as Row
from runtime.rows import Rows as Rows

__all__ = [
    "EplDeploymentError", "EplError", "EplRuntimeError", "EplSyntaxError", "EplUnsupportedError", "EplValidationError", "Row", "Rows",
    "Runtime", "Settings"
]
