"""Where JSON text is wrong, in Esper's words: ``Expected ':' at 1:5``.

Only read when the text has been refused; columns and lines count from 1.
"""
from __future__ import annotations

import re

SPACE = re.compile(r"[ \t\r\n]*")
ESCAPE = re.compile(r'["\\/bfnrt]|u[0-9a-fA-F]{4}')
DIGITS = re.compile(r"[0-9]+")


class JsonFault(Exception):
    """The first fault of a text, with its position in the message."""


def find_fault(text: str) -> str | None:
    """Return the first fault of JSON text; None where there is none.

    >>> find_fault('{"c"}'), find_fault('{"c":01}'), find_fault('{"c":1}')
    ("Expected ':' at 1:5", "Expected ',' or '}' at 1:7", None)
    """
    try:
        _Reader(text).read()
    except JsonFault as fault:
        return str(fault)
    return None


class _Reader:
    """One pass over the text; every method starts at ``at`` and leaves it after what it has read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def read(self) -> None:
        self.skip()
        self.value()
        self.skip()
        if self.at < len(self.text):
            raise self.fault("Unexpected character")

    def fault(self, message: str) -> JsonFault:
        line = self.text.count("\n", 0, self.at) + 1
        column = self.at - self.text.rfind("\n", 0, self.at)
        return JsonFault(f"{message if self.at < len(self.text) else 'Unexpected end of input'} at {line}:{column}")

    def skip(self) -> None:
        match = SPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def has(self, character: str) -> bool:
        if not self.text.startswith(character, self.at):
            return False
        self.at += 1
        return True

    def need(self, character: str, words: str | None = None) -> None:
        if not self.has(character):
            raise self.fault(words or f"Expected '{character}'")

    def value(self) -> None:
        character = self.text[self.at:self.at + 1]
        if character == "{":
            self.object()
        elif character == "[":
            self.array()
        elif character == '"':
            self.string()
        elif character in ("t", "f", "n") and character:
            for letter in {"t": "true", "f": "false", "n": "null"}[character]:
                self.need(letter)
        elif character == "-" or character.isdigit():
            self.number()
        else:
            raise self.fault("Expected value")

    def object(self) -> None:
        self.at += 1
        self.skip()
        if self.has("}"):
            return
        while True:
            self.skip()
            if not self.text.startswith('"', self.at):
                raise self.fault("Expected name")
            self.string()
            self.skip()
            self.need(":")
            self.skip()
            self.value()
            self.skip()
            if not self.has(","):
                break
        self.need("}", "Expected ',' or '}'")

    def array(self) -> None:
        self.at += 1
        self.skip()
        if self.has("]"):
            return
        while True:
            self.skip()
            self.value()
            self.skip()
            if not self.has(","):
                break
        self.need("]", "Expected ',' or ']'")

    def string(self) -> None:
        self.at += 1
        while not self.has('"'):
            character = self.text[self.at:self.at + 1]
            if character == "\\":
                self.at += 1
                match = ESCAPE.match(self.text, self.at)
                if match is None:
                    raise self.fault("Expected valid escape sequence")
                self.at = match.end()
            elif character < " ":
                raise self.fault("Expected valid string character")
            else:
                self.at += 1

    def number(self) -> None:
        self.has("-")
        if not self.has("0"):
            self.digits()
        if self.has("."):
            self.digits()
        if self.has("e") or self.has("E"):
            if not self.has("+"):
                self.has("-")
            self.digits()

    def digits(self) -> None:
        match = DIGITS.match(self.text, self.at)
        if match is None:
            raise self.fault("Expected digit")
        self.at = match.end()


__all__ = ["find_fault"]
