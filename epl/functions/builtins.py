"""Where the built-in functions are asked for: see ``epl.functions.library``."""
from epl.functions.library import builtin_functions

__all__ = ["builtin_functions"]
