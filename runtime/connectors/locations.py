"""Where files are: a path, or a URI that fsspec opens (``s3://bucket/trades.csv``, ``memory://a.jsonl``, ``file:///tmp/a.jsonl``)."""
from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from epl.errors import EplRuntimeError
from runtime.extras import MissingPackage, install

URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(::[A-Za-z][A-Za-z0-9+.-]+)*://")
"""A scheme has two letters at least: ``c:/trades.csv`` is a path of Windows."""
NEEDS = "stores other than local files need their own package beside fsspec (s3fs, gcsfs, adlfs)"


def is_uri(location: str) -> bool:
    """
    >>> is_uri("s3://bucket/a.csv"), is_uri("a.csv"), is_uri("c:/a.csv")
    (True, False, False)
    """
    return URI.match(location) is not None


def plain_path(location: str) -> Path | None:
    """Return the path of a file of this machine; None for other URIs.

    >>> plain_path("file:///tmp/a.csv").as_posix(), plain_path("s3://b/a.csv")
    ('/tmp/a.csv', None)
    """
    if not is_uri(location):
        return Path(location)
    parts = urlsplit(location)
    return Path(unquote(parts.path)) if parts.scheme == "file" and not parts.netloc else None


def location_name(location: str) -> str:
    """Return the last part of a location, which says what the file holds.

    >>> location_name("s3://bucket/day/trades.csv.gz")
    'trades.csv.gz'
    """
    return location.rstrip("/").rpartition("/")[2] if is_uri(location) else Path(location).name


def file_system(location: str) -> tuple[Any, str]:
    """Return fsspec's file system and the path there; raise EplRuntimeError without fsspec or the store's own package."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingPackage(f"{location} is a URI, and fsspec is not installed", hint=f"{install('files')}; {NEEDS}") from None
    try:
        system, path = url_to_fs(location)
    except (ImportError, ValueError) as error:
        raise EplRuntimeError(f"{location} cannot be opened: {error}", hint=NEEDS) from None
    return system, str(path)


def open_to_read(location: str) -> tuple[io.BufferedReader, int | None]:
    """Return the bytes of a file and how many there are, None where that is not known; raise OSError, or EplRuntimeError as above."""
    path = plain_path(location)
    if path is not None:
        return path.open("rb"), path.stat().st_size
    system, inner = file_system(location)
    size = system.size(inner)
    return io.BufferedReader(system.open(inner, "rb")), None if size is None else int(size)


def open_to_write(location: str) -> Any:
    """Return a binary file; raise OSError, or EplRuntimeError as above. Folders are made. In stores of objects it appears once closed."""
    path = plain_path(location)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("wb")
    system, inner = file_system(location)
    system.makedirs(inner.rpartition("/")[0] or inner, exist_ok=True)
    return system.open(inner, "wb")


def write_whole(location: str, content: bytes) -> None:
    """Write a file so that it is there as a whole or not at all, in the place of one that is there."""
    path = plain_path(location)
    if path is None:
        with open_to_write(location) as file:  # stores of objects show a file once it is closed
            file.write(content)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError:  # what it holds would fill a full disk
        partial.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def has_files(folder: str, prefix: str) -> bool:
    """Return whether a folder has a file whose name begins so."""
    path = plain_path(folder)
    if path is not None:
        return path.is_dir() and any(each.name.startswith(prefix) for each in path.iterdir())
    system, inner = file_system(folder)
    return bool(system.isdir(inner)) and any(str(each).rpartition("/")[2].startswith(prefix) for each in system.ls(inner, detail=False))


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


__all__ = ["file_system", "has_files", "is_uri", "location_name", "open_to_read", "open_to_write", "plain_path", "sync_folder",
    "write_whole"]
