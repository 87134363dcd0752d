"""Checked before anything else is imported: that ``epl`` and ``windows`` are epl-spark's own packages.

A folder or file of an application that has one of these names, and is before the installed packages on ``sys.path``, would hide them.
"""
from __future__ import annotations

import importlib
import importlib.util


def check(*modules: str) -> None:
    """Import one module of each package; raise ImportError, naming what hides the package, where that fails."""
    for module in modules:
        package = module.partition(".")[0]
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name not in (module, package):
                raise
            spec = importlib.util.find_spec(package)
            where = None if spec is None else spec.origin or next(iter(spec.submodule_search_locations or ()), None)
            reason = f"{where} hides it: rename that" if where else "it is not installed"
            raise ImportError(f"epl-spark's package '{package}' cannot be imported: {reason}") from error


check("epl.errors", "windows.event")
