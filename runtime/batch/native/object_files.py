"""Object files in a folder, each behind a digest of it: what is damaged (a crash, a full disk) has not been kept."""
from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from pathlib import Path

DIGEST = hashlib.sha256().digest_size


def kept(path: Path) -> bytes | None:
    """What the file holds; None where there is none or it is damaged."""
    try:
        found = path.read_bytes()
    except OSError:
        return None
    data = found[DIGEST:]
    if hashlib.sha256(data).digest() == found[:DIGEST]:
        return data
    warnings.warn(f"{path} is damaged, so that it is compiled anew", RuntimeWarning, stacklevel=2)
    return None


def keep(path: Path, data: bytes) -> None:
    """Write the file at once or not at all; processes may share the folder. Where it cannot be written nothing is kept."""
    name = None
    try:
        with tempfile.NamedTemporaryFile("wb", dir=path.parent, suffix=".tmp", delete=False) as file:
            name = file.name
            file.write(hashlib.sha256(data).digest() + data)
        os.replace(name, path)
    except OSError as error:
        warnings.warn(f"{path} cannot be written: {error}", RuntimeWarning, stacklevel=2)
        if name is not None:
            Path(name).unlink(missing_ok=True)


__all__ = ["keep", "kept"]
