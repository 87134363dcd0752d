"""Which packages an extra of setup.cfg installs, and the errors where one is missing."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires

from epl.errors import EplRuntimeError, EplUnsupportedError

_REQUIREMENT = re.compile(r"(?P<package>[^;]+?)\s*;.*\bextra == [\"'](?P<extra>[\w-]+)[\"']")


class MissingPackage(EplRuntimeError, ModuleNotFoundError):
    """A call or an import needs a package that is not installed. ``except ImportError`` catches it, as for any other package."""


class UnsupportedWithout(EplUnsupportedError, ModuleNotFoundError):
    """The same, of what is supported only with the package."""


def install(extra: str) -> str:
    """Return the pip command that installs the packages of ``extra``.

    It names the packages themselves: that works wherever epl-spark came from, also where no package index has it.
    """
    try:
        stated = requires("epl-spark") or ()
    except PackageNotFoundError:  # a copy of the repository on the path, not installed
        stated = ()
    matches = [_REQUIREMENT.match(line) for line in stated]
    packages = [match["package"] for match in matches if match and match["extra"] == extra]
    if not packages:
        return f"pip install '.[{extra}]' in a copy of epl-spark's repository"
    return "pip install " + " ".join(f"'{package}'" if re.search(r"[^\w.-]", package) else package for package in packages)


__all__ = ["MissingPackage", "UnsupportedWithout", "install"]
