"""Reading module files and printing errors the way compilers do."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import attrs

from epl.errors import EplError, EplWarning
from epl.settings import Settings
from runtime.api.deployment import Deployment
from runtime.api.runtime import Runtime
from runtime.cli import UsageError
from runtime.tools.setup import SetupFault, registering

if TYPE_CHECKING:
    from runtime.esper_config import Plugins


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes, or those of standard input for ``-``."""
    return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()


def decode_text(content: bytes) -> str:
    """Return the text of a module, with line ends as Python has them; UnicodeDecodeError where it is not UTF-8."""
    return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def not_utf8(error: UnicodeDecodeError) -> tuple[str, str]:
    """Return (what is wrong, what to do)."""
    message = f"not UTF-8: byte 0x{error.object[error.start]:02x} at offset {error.start}"
    wide = error.object[:2] in (b"\xff\xfe", b"\xfe\xff")
    return message, f"convert it: iconv -f {'UTF-16' if wide else 'ISO-8859-1'} -t UTF-8 FILE"


def read_text(path: Path) -> str:
    """Return a file's text, or standard input for ``-``; UsageError where it cannot be read."""
    try:
        return decode_text(read_bytes(path))
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {path}: {'; '.join(not_utf8(error))}") from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None


def display_name(path: Path | str) -> str:
    return "<stdin>" if str(path) == "-" else str(path)


def print_error(path: Path, text: str, error: EplError, to: TextIO | None = None) -> None:
    """Print ``path:line:column: error: message [code]``, the line with a caret, the hint."""
    out = to or sys.stderr
    position = error.within(text).position
    where = f":{position[0]}:{position[1]}" if position else ""
    print(f"{display_name(path)}{where}: error: {error.message} [{error.code}]", file=out)
    if position is not None and error.span is not None and error.text is not None:
        for row in error.span.caret(error.text).splitlines():
            print(f"    {row}", file=out)
    if error.hint:
        print(f"    hint: {error.hint}", file=out)


def build_runtime(
    options: argparse.Namespace, prepare: Callable[[Runtime, Plugins], None] | None = None, **options_of_runtime: Any
) -> Runtime:
    """Return a runtime that has what ``--config`` and ``--setup`` say, and whose modules import what ``--import`` names; UsageError for a
    file or module that cannot be read or declared. What has no effect is printed as a warning. ``prepare`` is called before ``--setup``, if
    the configuration declares functions of Java's."""
    register = load_setup(options)
    runtime = _configure(options, options_of_runtime)
    if prepare is not None and (plugins := config_plugins(options)) is not None:
        prepare(runtime, plugins)
    register(runtime)
    return runtime


def config_plugins(options: argparse.Namespace) -> Plugins | None:
    """Return the functions of Java's that the file of ``--config`` declares, once it has been read."""
    return getattr(options, "plugins", None)


def load_setup(options: argparse.Namespace) -> Callable[[Runtime], None]:
    """Return the function that registers what the modules of ``--setup`` give; UsageError for a module that cannot."""
    try:
        return registering(options.setup)
    except SetupFault as fault:
        raise UsageError(f"--setup {fault}") from None


def _configure(options: argparse.Namespace, options_of_runtime: dict[str, Any]) -> Runtime:
    path = getattr(options, "config", None)
    if path is None:
        return Runtime(settings=Settings(imports=tuple(options.imports)), **options_of_runtime)
    from runtime.esper_config import read_esper_config

    try:
        config = read_esper_config(path)
        settings = attrs.evolve(config.settings, imports=(*config.settings.imports, *options.imports))
        runtime = config.runtime(warn=False, settings=settings, **options_of_runtime)
    except OSError as error:
        raise UsageError(f"--config: cannot read {path}: {error.strerror or error}") from None
    except EplError as error:
        raise UsageError(f"--config: {error.message}" + (f" ({error.hint})" if error.hint else "")) from None
    options.plugins = config.plugins
    if not getattr(options, "remarked", False):
        options.remarked = True
        for remark in config.remarks:
            if remark.kind != "no effect":
                print(f"{path}:{remark.line}:{remark.column}: warning: {remark.message}", file=sys.stderr)
                if remark.hint:
                    print(f"    hint: {remark.hint}", file=sys.stderr)
    return runtime


def deploy_text(runtime: Runtime, path: Path, text: str, name: str | None = None) -> Deployment | None:
    """Deploy a module, printing its warnings; None, with the error printed, where it is refused."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EplWarning)
        try:
            return runtime.deploy(text, name=name)
        except EplError as error:
            print_error(path, text, error)
            return None
        finally:
            for warning in caught:
                print(f"{display_name(path)}: warning: {warning.message}", file=sys.stderr)


def deploy_first(runtime: Runtime, files: Iterable[Path]) -> bool:
    """Deploy the modules of ``--with``; False (with the error printed) where one is refused."""
    return all(deploy_text(runtime, path, read_text(path), str(path)) is not None for path in files)


def module_files(paths: Iterable[Path]) -> tuple[list[Path], int]:
    """Return the files, and those below the folders, each once; and 2 where a path leads to no file, which is printed, else 0."""
    files: list[Path] = []
    code = 0
    for path in paths:
        below = sorted(path.rglob("*.epl")) if path.is_dir() else [path]
        if str(path) == "-" or (path.exists() and below):
            files += below
        else:
            reason = f"no .epl files in {path}" if path.is_dir() else f"cannot read {path}: no such file or folder"
            print(f"epl: {reason}", file=sys.stderr)
            code = 2
    return list(dict.fromkeys(files)), code
