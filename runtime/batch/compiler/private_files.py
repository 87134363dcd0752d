"""Which folders compiled code may come from, and files in them that no one else can have written.

Anyone who can put a file into the cache's folder has their code run. So the folder has to be the user's own, closed to writers, and each
file is stored after a keyed digest of its name and contents; the key is in a file of the same folder that no one else can read.
"""
from __future__ import annotations

import hmac
import os
import secrets
import stat
import tempfile
import warnings
from hashlib import blake2b
from pathlib import Path

DIGEST = 32
KEY = "key"
WRITERS, ENTERING = 0o022, 0o011
"""Bits of a mode: group and others may write; may enter."""
ROOT, UNKNOWN_USER = 0, 65534
"""Owners that are not taken for someone else. The second is what a container shows for all users of the machine that it does not know."""

_warned: set[str] = set()


def folder_fault(folder: Path) -> str | None:
    """Return why code in the folder is not to be trusted, None where only the user (and root) can write there."""
    if os.name == "nt":  # no such modes; folders in a profile are the user's
        return None
    status = os.stat(folder)
    if not stat.S_ISDIR(status.st_mode):
        return "it is not a folder"
    if status.st_uid != os.geteuid():
        return f"it belongs to another user (uid {status.st_uid})"
    if status.st_mode & WRITERS:
        return f"others may write to it (mode {stat.S_IMODE(status.st_mode):o})"
    return "others may write to a folder that it is in" if others_may_write(folder) else None


def others_may_write(path: Path) -> bool:
    """Return whether others may write to a folder and can get there, or may put another one in the place of it or of one that it is in."""
    if os.name == "nt":
        return False
    writable = False
    whole = path.resolve()
    for each in (whole, *whole.parents):
        status = os.stat(each)
        if status.st_uid not in (ROOT, UNKNOWN_USER, os.geteuid()):
            writable = True  # its owner opens it whenever he likes
        elif not status.st_mode & ENTERING:
            writable = False  # its contents are out of reach; whether it stays in its place is for the folders above to say
        elif status.st_mode & WRITERS and not status.st_mode & stat.S_ISVTX:
            writable = True
    return writable


def warn_once(path: Path, reason: str) -> None:
    """Warn once a path and process."""
    if str(path) not in _warned:
        _warned.add(str(path))
        warnings.warn(f"compiled code in {path} is not used: {reason}", RuntimeWarning, stacklevel=3)


def read_private(path: Path) -> bytes | None:
    """Return the contents of the user's own file, None where there is none. A link, a file of others or one that others may write: None,
    with a warning."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return None
    except OSError as error:
        warn_once(path, str(error))
        return None
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if os.name != "nt" and (status.st_uid != os.geteuid() or status.st_mode & WRITERS):
            warn_once(path, f"it belongs to another user or others may write to it (uid {status.st_uid}, {stat.S_IMODE(status.st_mode):o})")
            return None
        return file.read()


def write_private(path: Path, data: bytes) -> None:
    """Write the user's own file, whole or not at all: processes may share the folder. Raises OSError."""
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")  # mode 0600
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def sign(path: Path, data: bytes) -> bytes:
    """Return the data after its digest. Raise OSError where the folder takes no key."""
    return _digest(path, data, _folder_key(path.parent)) + data


def verify(path: Path, content: bytes) -> bytes | None:
    """Return the data of what ``sign`` gave for the same path; None for all else."""
    try:
        key = _folder_key(path.parent)
    except OSError:
        return None
    data = content[DIGEST:]
    return data if hmac.compare_digest(_digest(path, data, key), content[:DIGEST]) else None


def _digest(path: Path, data: bytes, key: bytes) -> bytes:
    return blake2b(path.name.encode() + b"\0" + data, key=key, digest_size=DIGEST).digest()


def _folder_key(folder: Path) -> bytes:
    """Return the folder's key, made at first; of several processes that make one, one wins."""
    path = folder / KEY
    if not path.exists():
        mine = folder / f"{KEY}.{secrets.token_hex(8)}"
        write_private(mine, secrets.token_bytes(DIGEST))
        try:
            os.link(mine, path)
        except FileExistsError:
            pass
        finally:
            mine.unlink()
    key = read_private(path)
    if key is None or len(key) != DIGEST:
        raise PermissionError(f"{path} is not a key")
    return key


__all__ = ["folder_fault", "others_may_write", "read_private", "sign", "verify", "warn_once", "write_private"]
