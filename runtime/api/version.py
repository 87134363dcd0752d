"""The version of epl-spark, written down once: in setup.cfg."""
from __future__ import annotations

from configparser import ConfigParser
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path

SETUP = Path(__file__).resolve().parents[2] / "setup.cfg"


def version() -> str:
    """Return the version of the source tree this file is in, else of the installed package."""
    if SETUP.is_file():
        setup = ConfigParser(interpolation=None)
        setup.read(SETUP, encoding="utf-8")
        if setup.get("metadata", "name", fallback=None) == "epl-spark":
            return setup["metadata"]["version"]
    try:
        return installed("epl-spark")
    except PackageNotFoundError:
        return "unknown"


__version__ = version()

__all__ = ["__version__", "version"]
