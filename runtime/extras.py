"""Which packages an extra of setup.cfg installs, for the hints where one is missing."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires

_REQUIREMENT = re.compile(r"(?P<package>[^;]+?)\s*;.*\bextra == [\"'](?P<extra>[\w-]+)[\"']")


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


__all__ = ["install"]
