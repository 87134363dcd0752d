"""Object files in a folder: what is damaged (a crash, a full disk), or was written by someone else, has not been kept."""
from __future__ import annotations

import warnings
from pathlib import Path

from runtime.batch.compiler.private_files import read_private, sign, verify, write_private


def read_object(path: Path) -> bytes | None:
    """Return what ``keep`` has put there; None where there is nothing or it is not as it was."""
    content = read_private(path)
    if content is None:
        return None
    data = verify(path, content)
    if data is None:
        warnings.warn(f"{path} is damaged or was written by someone else, so that it is compiled again", RuntimeWarning, stacklevel=2)
    return data


def keep(path: Path, data: bytes) -> None:
    """Write the file at once or not at all; processes may share the folder. Where it cannot be written nothing is kept."""
    try:
        write_private(path, sign(path, data))
    except OSError as error:
        warnings.warn(f"{path} cannot be written: {error}", RuntimeWarning, stacklevel=2)


__all__ = ["keep", "read_object"]
