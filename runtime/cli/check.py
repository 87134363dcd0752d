"""``epl check PATH…``: what would be refused, as compilers say it, and a porting report.

Each file is a module of its own, which sees what the modules declare that it ``uses``, and those of ``--with``; with ``--together`` all
files share one namespace. Each statement is checked on its own, so that one refusal does not hide the next; what an accepted statement
declares is seen by all later ones. No file ends the run.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import warnings
from pathlib import Path

import attrs

from epl.analysis.statements.annotations import annotation_warning
from epl.errors import AlreadyDeclaredError, EplError, EplWarning
from epl.spans import Span
from runtime.api.preconditions import locate
from runtime.api.runtime import Runtime
from runtime.cli.diagnostics import CheckReport, Diagnostic
from runtime.cli.texts import build_runtime, config_plugins, decode_text, deploy_first, display_name, module_files, not_utf8, read_bytes
from runtime.tools.checking import check_piece, plugin_calls, register_placeholders
from runtime.tools.missing_types import properties_read
from runtime.tools.modules import ModulePiece, pieces, used_files

UNRESOLVED = re.compile("could not be found|Failed to resolve|could not be resolved|is not valid in any stream|has not been declared")
UNDECLARED = re.compile(r"Failed to resolve event type, named window or table by name '(\w+)'")
QUOTED_NAME = re.compile(r"'(\w+)'")


def _suspect_names(text: str, error: EplError) -> list[str]:
    """Return the names that the error may be about, if it says that something is not known: those it quotes, and what is at its place."""
    if UNRESOLVED.search(error.message) is None:
        return []
    at = "" if error.span is None else text[error.span.start : error.span.end].split("(")[0].strip()
    return [at, *reversed(QUOTED_NAME.findall(error.message))]


class Check:
    """The checks of one run. ``texts``: of the files that can be read."""

    def __init__(self, options: argparse.Namespace, report: CheckReport) -> None:
        self.options = options
        self.report = report
        self.is_quiet = options.format != "text"
        self.texts: dict[Path, str] = {}
        self._accepted: dict[Path, list[tuple[str, str]]] = {}
        """By file: (deployment id, text) of what has been accepted."""
        self._files: dict[str, Path] = {}
        """By deployment id."""
        self._declared: dict[str, tuple[Path, int, int]] = {}
        """Names that statements of all files seem to declare: where the first one is."""
        self._missing: dict[str, str] = {}
        """Names that refused statements would have declared: where those are."""

    def read(self, paths: list[Path]) -> None:
        """Read the files; those that cannot be read are reported."""
        for path in paths:
            try:
                text = self.texts[path] = decode_text(read_bytes(path))
            except OSError as error:
                self._unreadable(Diagnostic(path, "error", "unreadable", f"cannot read the file: {error.strerror or error}"))
                continue
            except UnicodeDecodeError as error:
                self._unreadable(Diagnostic(path, "error", "encoding", *not_utf8(error), *_place(error)))
                continue
            for piece in pieces(text):
                for name in piece.declares:
                    self._declared.setdefault(name, (path, *Span(piece.start, piece.start).line_column(text)))

    def _unreadable(self, diagnostic: Diagnostic) -> None:
        self.report.unreadable += 1
        self._add(diagnostic)

    def files(self) -> None:
        """Check the files, each after those that it uses."""
        used = used_files(self.texts)
        shared = self._runtime((), None) if self.options.together else None
        for path in used:
            self.report.files += 1
            self._accepted[path] = []
            self._file(self._runtime(used[path], path) if shared is None or self._first(path) is not None else shared, path)

    def _first(self, path: Path | None) -> int | None:
        """Return which of the files of ``--with`` it is."""
        files = [each.resolve() for each in self.options.with_files]
        return files.index(path.resolve()) if path is not None and path.resolve() in files else None

    def _runtime(self, used: tuple[Path, ...], path: Path | None) -> Runtime:
        """Return what a file is checked in: the modules of ``--with`` (before it, where it is one of them) and those that it uses."""
        runtime = build_runtime(self.options, register_placeholders)
        deploy_first(runtime, self.options.with_files[: self._first(path)])
        for deployment, text in (each for other in used for each in self._accepted[other] if self._first(other) is None):
            runtime.deploy(text, name=deployment)
        return runtime

    def _file(self, runtime: Runtime, path: Path) -> None:
        headers: list[ModulePiece] = []
        waiting = list(reversed(list(pieces(self.texts[path]))))
        while waiting:
            piece = waiting.pop()
            if piece.is_header:
                headers.append(piece)
            else:
                waiting += reversed(self._statement(runtime, path, headers, piece))

    def _statement(self, runtime: Runtime, path: Path, headers: list[ModulePiece], piece: ModulePiece) -> tuple[ModulePiece, ...]:
        """Check one statement. Gives the two that it is where a semicolon is missing: each is then checked by itself."""
        line, column = Span(piece.start, piece.start).line_column(self.texts[path])
        deployment = f"{display_name(path)}:{line}:{column}"
        checked = check_piece(runtime, self.texts[path], headers, piece, deployment)
        if checked.is_accepted:
            self.report.accepted += not piece.is_counted
            self._accepted[path].append((deployment, checked.text))
            self._files[deployment] = path
        else:
            self._report_refusal(path, checked.text, checked.errors, checked.whole, runtime)
            if checked.internal is not None:
                self._internal(path, checked.text, checked.internal, checked.whole)
            self.report.refused += not piece.is_counted
            if not checked.halves and checked.internal is None:
                self._missing.update(dict.fromkeys(piece.declares, deployment))
        for annotation in checked.unknown_annotations:
            self._add(Diagnostic.at(path, checked.text, annotation.span or checked.whole, "warning", "annotation",
                annotation_warning(annotation)))
        for each in checked.doubts:
            self._add(Diagnostic.at(path, checked.text, each.span or checked.whole, "warning", each.code, each.message, each.hint))
        return checked.halves

    def _internal(self, path: Path, text: str, error: Exception, whole: Span) -> None:
        """Report an exception that should have been an EplError."""
        message = f"internal error: {type(error).__name__}: {error}"
        self._add(diagnostic := Diagnostic.at(path, text, whole, "error", "internal", message, "please report it with the statement"))
        self.report.causes[diagnostic.cause()] += 1

    def _report_refusal(self, path: Path, text: str, errors: list[EplError], whole: Span, runtime: Runtime | None = None) -> None:
        for error in errors:
            if isinstance(error, AlreadyDeclaredError) and runtime is not None:
                locate(error, runtime.deployments.values())
            needed = next((name for name in _suspect_names(text, error) if name in self._missing), None)
            if needed is not None:
                self._depends(path, text, error.span or whole, needed)
                continue
            self._locate(path, text, error)
            undeclared = UNDECLARED.match(error.message)
            if undeclared is not None:
                self.report.undeclare(undeclared[1], properties_read(text[whole.start : whole.end], undeclared[1]))
            untyped = plugin_calls(text[whole.start : whole.end], config_plugins(self.options)) if error.hint is None else []
            if untyped:
                error.hint = f"'{untyped[0]}' is Java's, its type is unknown here: a module of --setup registers one with types"
            if error.span is not None and not whole.start <= error.span.start <= whole.end:
                error.span = whole  # its place is in the text of a declared expression, which is elsewhere
            self._add(diagnostic := Diagnostic.of(path, text, error, whole))
            self.report.causes["needs the type of a function of Java's" if untyped else diagnostic.cause()] += 1

    def _depends(self, path: Path, text: str, span: Span, name: str) -> None:
        """Report in one line that a statement needs one that is refused itself."""
        message = f"needs '{name}': {self._missing[name]} is refused"
        self._add(attrs.evolve(Diagnostic.at(path, text, span, "error", "dependent", message), excerpt=()))
        self.report.causes["needs what a refused statement declares"] += 1

    def _locate(self, path: Path, text: str, error: EplError) -> None:
        """Say where a name is declared that is taken, or that is in another file."""
        if isinstance(error, AlreadyDeclaredError) and error.declared_by in self._files and error.declared_at is not None:
            file = self._files[error.declared_by]
            line, column = error.declared_at.line_column(self.texts[file])
            error.hint = f"declared in {display_name(file)}:{line}:{column}"
            return
        file_at = next((self._declared[name] for name in _suspect_names(text, error) if name in self._declared), None)
        if file_at is not None and file_at[0] != path and not self.options.together:
            where = f"{display_name(file_at[0])}:{file_at[1]}:{file_at[2]}"
            error.hint = f"declared in {where}: check the files --together, or give that one by --with"

    def _add(self, diagnostic: Diagnostic) -> None:
        self.report.diagnostics.append(diagnostic)
        if not self.is_quiet and self.report.is_news(diagnostic):
            print("\n".join(diagnostic.lines()), file=sys.stderr)


def _place(error: UnicodeDecodeError) -> tuple[tuple[int, int], tuple[int, int]]:
    """Line and column of the byte that is wrong, and of the one after it."""
    before = error.object[: error.start].decode("utf-8-sig")
    line, column = before.count("\n") + 1, len(before.rsplit("\n", 1)[-1]) + 1
    return (line, column), (line, column + 1)


def run(options: argparse.Namespace) -> int:
    """Return 0 where everything is accepted, 1 where anything is refused or unreadable, 2 where a path leads to no file."""
    paths, wrong = module_files(options.paths)
    report = CheckReport()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EplWarning)
        if not deploy_first(build_runtime(options, register_placeholders), options.with_files):
            return 1
        check = Check(options, report)
        check.read(paths)
        check.files()
    if options.format == "github":
        print("".join(f"{line}\n" for line in report.github()), end="")
    elif options.format != "text":
        print(json.dumps(report.json() if options.format == "json" else report.sarif(), ensure_ascii=False, indent=1))
    elif paths:
        print("\n".join(report.summary(", ".join(display_name(p) for p in options.paths))))
    return wrong or (0 if report.is_clean else 1)
