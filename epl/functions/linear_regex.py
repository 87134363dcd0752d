"""Java's regular expressions in RE2's words: the same answers in time linear in the text, for texts of which ``takes`` says so."""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from epl.functions.java_regex import Translator

LINE_ENDS = "\n\r\x85\u2028\u2029"
_LINE_ENDS = "\\n\\r\\x{85}\\x{2028}\\x{2029}"
_CODE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))")


class NotLinear(Exception):
    """RE2 does not have it, or means something else by it."""


class LinearPattern:
    """A pattern of RE2. ``finds_alike``: whether its matches within a text are Java's too."""

    __slots__ = ("finds_alike", "_whole", "_compiled", "_ascii", "_ends", "_folds")

    def __init__(self, whole: Any, compiled: Any, translator: _LinearTranslator) -> None:
        self._whole, self._compiled = whole, compiled
        self._ascii, self._ends, self._folds = translator.ascii_only, translator.has_end, translator.folds
        self.finds_alike = not translator.cost.empty_loop

    def takes(self, text: str) -> bool:
        """Return whether the pattern means the same to RE2 for this text: ``$`` is its end, ``\\b`` is one of ASCII, two letters beyond
        ASCII are ASCII ones in another case (the signs of Kelvin and the long s), and a lone surrogate is not a character.
        """
        if text.isascii():
            return not (self._ends and text[-1:] in ("\n", "\r"))
        if self._ascii or (self._ends and text[-1:] in LINE_ENDS) or (self._folds and ("\u212a" in text or "\u017f" in text)):
            return False
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
        return True

    def matches(self, text: str) -> bool:
        return self._whole.fullmatch(text.encode()) is not None

    def finditer(self, text: str, start: int = 0) -> Iterator[Any]:
        before = (-1, -1)
        for match in self._compiled.finditer(text, start):
            if match.span() != before:  # a match of no length may come twice
                yield match
            before = match.span()


def linear(pattern: str) -> LinearPattern:
    """Compile the pattern for RE2. Raise NotLinear for what RE2 cannot do, and where RE2 is not installed."""
    try:
        import re2
    except ImportError:
        raise NotLinear from None
    translator = _LinearTranslator(pattern)
    translated, flags = translator.run()
    if flags & re.VERBOSE or translator.unicode:
        raise NotLinear
    if flags & re.IGNORECASE:
        translator.folds = True
        translated = f"(?i:{translated})"
    if translator.folds and (translator.wide or not pattern.isascii()):
        raise NotLinear
    options, without_groups = re2.Options(), re2.Options()
    options.log_errors = without_groups.log_errors = False
    without_groups.never_capture = True  # and bytes, whose places need not be counted as characters: much faster
    try:
        return LinearPattern(re2.compile(translated.encode(), without_groups), re2.compile(translated, options), translator)
    except (re2.error, UnicodeEncodeError):
        raise NotLinear from None


class _LinearTranslator(Translator):
    """The same pass as for Python, with RE2's spelling. ``ascii_only``, ``has_end``, ``folds``: which texts it holds for;
    ``wide``: whether a class has characters beyond ASCII."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.ascii_only = self.folds = self.wide = False
        self.has_end = False

    def anchor(self, character: str) -> str:
        if self.multi_line[-1]:
            raise NotLinear
        if character == "^":
            return "\\A"
        self.has_end = True
        return "\\z"

    def any_character(self) -> str:
        return "(?s:.)" if self.dot_all[-1] else f"[^{_LINE_ENDS}]"

    def group_start(self, start: str) -> str:
        if start != "?:":
            raise NotLinear
        return "(?:"

    def possessive(self, character: str) -> str:
        raise NotLinear

    def atomic(self) -> str:
        raise NotLinear

    def reference(self, reference: str) -> str:
        raise NotLinear

    def flags_group(self, on: str, off: str) -> str:
        if set(on + off) & set("ux"):
            raise NotLinear
        if "i" in on:
            self.folds = True
        on, off = ("i" if "i" in letters else "" for letters in (on, off))
        return f"(?{on}{'-' + off if off else ''}:"

    def boundary(self, letter: str) -> str | None:
        if letter in ("b", "B"):
            self.ascii_only = True
            return "\\" + letter
        if letter == "Z":
            return self.anchor("$") if not self.multi_line[-1] else self._end_of_all()
        return {"A": "\\A", "z": "\\z", "R": "(?:\\r\\n|[\\n\\x0b\\f\\r\\x{85}\\x{2028}\\x{2029}])"}.get(letter)

    def _end_of_all(self) -> str:
        self.has_end = True
        return "\\z"

    def class_text(self, characters: Any) -> str:
        if characters.assertion is not None:
            raise NotLinear
        if not characters.inside:
            return "(?s:.)" if characters.negated else "[^\\x00-\\x{10FFFF}]"
        self.wide |= "\\u" in characters.inside or not characters.inside.isascii()
        return f"[{'^' if characters.negated else ''}{_codes(characters.inside)}]"

    def literal(self, text: str) -> str:
        return "".join(f"\\x{{{ord(c):x}}}" for c in text)


def _codes(inside: str) -> str:
    """Return the inside of a class as RE2 writes it: characters by their codes, ``\\d`` and ranges as they are."""
    return _CODE.sub(lambda m: f"\\x{{{m[1] or m[2]}}}" if m[1] or m[2] else m[0], inside)
