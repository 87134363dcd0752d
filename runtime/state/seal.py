"""The frame around everything that is stored: snapshots, pages, a job's files, the state of shards.

    EPLSPARK | version, 1 byte | seal, 1 byte | length of the payload, 8 bytes | checksum | payload

The seal is a CRC-32 (4 bytes), which finds damage, or with a ``snapshot_key`` an HMAC-SHA256 (32 bytes), which also finds what someone
without the key has written. Both cover the header and the name under which the payload is stored, so that one page or file cannot be used
in the place of another.
"""
from __future__ import annotations

import hmac
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from epl.errors import EplError, EplRuntimeError
from windows.protocol import Damaged

MAGIC = b"EPLSPARK"
VERSION = 4
"""Of all that is stored. A byte of every frame: other versions are refused by name."""

CHECKED, KEYED = 0, 1
SIZES = {CHECKED: 4, KEYED: 32}
HEAD = len(MAGIC) + 2 + 8


def seal_payload(payload: bytes, name: str, key: bytes | None = None) -> bytes:
    """Return the payload in its frame. ``name``: what it is stored as; ``key``: makes the seal one that only its owner can write.

    >>> unseal_payload(seal_payload(b"state", "a.state"), "a.state")
    b'state'
    """
    seal = CHECKED if check_key(key) is None else KEYED
    head = MAGIC + bytes([VERSION, seal]) + len(payload).to_bytes(8, "big")
    return head + _checksum(head, payload, name, key) + payload


def unseal_payload(data: bytes, name: str, key: bytes | None = None) -> bytes:
    """Return the payload of a frame. Raise EplRuntimeError, which names it, for any damage, another version, and a key that is not the
    one."""
    check_key(key)
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise EplRuntimeError(f"{name} is not an epl-spark snapshot: it is bytes, not {type(data).__name__}")
    data = bytes(data)
    if not data.startswith(MAGIC):
        raise EplRuntimeError(
            f"{name} is not an epl-spark snapshot: another program or an earlier version wrote it, or its beginning is damaged"
        )
    if len(data) < HEAD:
        raise EplRuntimeError(f"{name} is damaged: it is cut off")
    version, seal = data[len(MAGIC)], data[len(MAGIC) + 1]
    if version != VERSION:
        raise EplRuntimeError(f"{name}: snapshot version {version} is not known here; this is version {VERSION}")
    _check_seal(seal, name, key)
    start = HEAD + SIZES[seal]
    length = int.from_bytes(data[HEAD - 8 : HEAD], "big")
    if len(data) - start != length:
        raise EplRuntimeError(f"{name} is damaged: it has {max(len(data) - start, 0)} bytes of {length}")
    payload = data[start:]
    if not hmac.compare_digest(_checksum(data[:HEAD], payload, name, key), data[HEAD:start]):
        raise EplRuntimeError(
            f"{name} is damaged: its checksum is another one" if key is None
            else f"{name} is not sealed with this snapshot_key: it was with another key, or has changed since"
        )
    return payload


def page_name(key: str) -> str:
    """Return what a page is sealed as."""
    return f"page '{key}'"


def check_key(key: bytes | None) -> bytes | None:
    """Return the key as it is. Raise EplRuntimeError where it is neither None nor bytes, or empty."""
    if key is not None and (not isinstance(key, bytes) or not key):
        raise EplRuntimeError("snapshot_key is bytes, and not empty", hint="use secrets.token_bytes(32), and store it as a secret")
    return key


def _check_seal(seal: int, name: str, key: bytes | None) -> None:
    if seal not in SIZES:
        raise EplRuntimeError(f"{name} is damaged: seal {seal} is not known")
    if seal == KEYED and key is None:
        raise EplRuntimeError(f"{name} is sealed with a key that is not given", hint="snapshot_key=…, the one that it was written with")
    if seal == CHECKED and key is not None:
        raise EplRuntimeError(
            f"{name} is not sealed with a key, and a snapshot_key is given", hint="without a key, anyone could have written it"
        )


def _checksum(head: bytes, payload: bytes, name: str, key: bytes | None) -> bytes:
    front = head + name.encode("utf-8", "surrogatepass") + b"\0"
    if key is None:
        return zlib.crc32(payload, zlib.crc32(front)).to_bytes(4, "big")
    digest = hmac.new(key, front, "sha256")
    digest.update(payload)
    return digest.digest()


@contextmanager
def reading(what: Callable[[BaseException], str] | str) -> Iterator[None]:
    """Raise EplRuntimeError in place of whatever a payload of a wrong structure makes its reader raise, with that as its cause.

    A checksum without a key says nothing about who wrote the payload, so that any structure may come. ``what``: names the part.
    """
    try:
        yield
    except Damaged as error:
        raise EplRuntimeError(f"the snapshot is damaged: {_name_text(what, error)}: {error.message}", hint=error.hint) from error
    except EplRuntimeError:
        raise
    except EplError as error:
        raise EplRuntimeError(f"the snapshot cannot be restored: {_name_text(what, error)}: {error.message}", hint=error.hint) from error
    except Exception as error:  # of every kind: a reader fails in many ways where its input is not what it expects
        reason = f"{type(error).__name__}: {error}"[:REASON]
        raise EplRuntimeError(f"the snapshot is damaged: {_name_text(what, error)} cannot be read: {reason}") from error


def _name_text(what: Callable[[BaseException], str] | str, error: BaseException) -> str:
    return what if isinstance(what, str) else what(error)


REASON = 300
"""Characters of another error's text that are repeated."""

__all__ = ["VERSION", "check_key", "page_name", "reading", "seal_payload", "unseal_payload"]
