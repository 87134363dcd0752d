"""EPL in notebooks: ``%load_ext runtime.notebook`` adds ``%%epl``, ``%%events`` and ``%epl`` (docs/tools.md)."""

from __future__ import annotations

from typing import Any


def load_ipython_extension(shell: Any) -> None:
    """Register the magics; called by ``%load_ext``."""
    from runtime.notebook.magics import EplMagics

    EplMagics(shell).install()


def unload_ipython_extension(shell: Any) -> None:
    """Take the magics away; called by ``%unload_ext``. The runtime stays as it is."""
    from runtime.notebook.magics import EplMagics

    EplMagics.remove(shell)


__all__ = ["load_ipython_extension", "unload_ipython_extension"]
