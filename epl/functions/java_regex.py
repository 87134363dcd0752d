"""Java's regular expressions in Python's words.

``translate`` rewrites what is written differently (``(?<n>…)``, ``\\z``, ``\\h``, ``\\R``, ``\\p{Alpha}``, ``\\Q…\\E``, class
intersections …) and
refuses by name what Python cannot do. In Java ``\\d \\w \\s \\b`` are ASCII unless ``(?U)`` comes first, ``.`` stops at more line ends
and
``$`` knows more of them; so do the translations.
"""
from __future__ import annotations

import re
import sys
from functools import lru_cache
from math import inf

import attrs

from epl.errors import EplUnsupportedError
from epl.functions.java_values import JavaException
from epl.functions.regex_classes import CLASS_SETS, property_class

_LINE_ENDS = "\\n\\r\\u0085\\u2028\\u2029"
_NOT_LINE_END = f"[^{_LINE_ENDS}]"
_LINE_BREAK = "(?:\\r\\n|[\\n\\x0b\\f\\r\\x85\\u2028\\u2029])"
_FINAL_BREAK = "(?:\\r\\n|(?<!\\r)\\n|[\\r\\u0085\\u2028\\u2029])?"
_ESCAPES = {"t": "\\t", "n": "\\n", "r": "\\r", "f": "\\f", "a": "\\x07", "e": "\\x1b"}
_REPETITION = re.compile(r"\d+(?:,\d*)?\}")
LONGEST_PATTERN = 20_000
DEEPEST = 100
"""Groups and classes within one another."""
_HAS_POSSESSIVE = sys.version_info >= (3, 11)
_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}


class UnsupportedPattern(EplUnsupportedError):
    """A Java pattern that Python's engine cannot run."""


def pattern_error(message: str, pattern: str) -> JavaException:
    return JavaException(f"java.util.regex.PatternSyntaxException: {message} near index {len(pattern) - 1 if pattern else 0}\n{pattern}")


def too_deep() -> UnsupportedPattern:
    return UnsupportedPattern("regular expressions whose groups are nested this deeply are not supported")


@lru_cache(maxsize=1024)
def translate(pattern: str) -> tuple[re.Pattern[str], Cost]:
    """Return the compiled Python pattern of a Java pattern, and what bounds its steps.

    Raises UnsupportedPattern for what cannot be translated, JavaException (a PatternSyntaxException) for what Java refuses too.

    >>> translate("(?<year>\\\\d{4})\\\\z")[0].fullmatch("2024")["year"]
    '2024'
    >>> pattern, cost = translate("[a-z&&[^aeiou]]+")
    >>> bool(pattern.fullmatch("xyz")), bool(pattern.fullmatch("abc")), cost.repetitions
    (True, False, 1)
    """
    try:
        translator = Translator(pattern)
        translated, flags = translator.run()
        if len(translated) > 10 * LONGEST_PATTERN:
            raise UnsupportedPattern("A regular expression with so many character classes is not supported")
        return re.compile(translated, flags), translator.cost
    except RecursionError as error:
        raise too_deep() from error
    except re.error as error:
        raise pattern_error(str(error.msg).capitalize(), pattern) from error


@attrs.define
class Cost:
    """What bounds the steps of a backtracking engine.

    ``repetitions``: quantifiers and back-references, each of which multiplies the ways by the text's length. ``ways``: those of the
    alternations, multiplied. ``nested``: whether something is repeated that can be taken in several ways, so that the ways multiply with
    each character. ``empty_loop``: whether something is repeated that may be empty.
    """

    repetitions: int = 0
    ways: float = 1.0
    nested: bool = False
    empty_loop: bool = False

    def whole(self, length: int) -> float:
        """Return how many steps are needed at most for a match of a whole text of that length."""
        return self._steps(length, max(self.repetitions, 1))

    def anywhere(self, length: int) -> float:
        """Return how many steps are needed at most for all matches within a string of that length."""
        return self._steps(length, self.repetitions + 1)

    def _steps(self, length: int, power: int) -> float:
        try:
            steps = self.ways * float(length + 1) ** power
            return steps * (self.ways * 2.0**self.repetitions) ** length if self.nested else steps
        except OverflowError:
            return inf


class _Group:
    """What the pass knows of an open group: whether it can be taken in several ways, and whether it may be empty."""

    __slots__ = ("ambiguous", "empty", "pending", "consumes", "branches")

    def __init__(self) -> None:
        self.ambiguous = False
        self.empty = False
        self.pending = self.consumes = False
        self.branches = 0

    def atom(self, consumes: bool) -> None:
        """Add an element; ``pending`` until it is known that no quantifier makes it optional."""
        self.consumes |= self.pending
        self.pending = consumes

    def end_branch(self) -> None:
        self.atom(False)
        self.empty |= not self.consumes
        self.consumes = False
        self.branches += 1


class Translator:
    """One left-to-right pass over a Java pattern; what another engine writes differently is a method without underscore."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.flags = re.RegexFlag(0)
        self.unicode = False
        self.dot_all = [False]
        self.multi_line = [False]
        self.cost = Cost()
        self._groups = [_Group()]
        self._last: _Group | None = None  # the group that has just ended: a quantifier may follow
        self._depth = 0

    def run(self) -> tuple[str, re.RegexFlag]:
        self._leading_flags()
        out: list[str] = []
        while self.position < len(self.pattern):
            out.append(self._element())
        for group in self._groups:
            group.end_branch()
            self.cost.ways *= group.branches
        return "".join(out), self.flags

    # Leading flags hold for the whole pattern: Python takes them as compile flags.
    def _leading_flags(self) -> None:
        while match := re.compile(r"\(\?([a-zA-Z]+)\)").match(self.pattern, self.position):
            for letter in match[1]:
                self._set_flag(letter)
            if "i" in match[1] and "u" not in match[1]:
                self.flags |= re.ASCII
            self.position = match.end()

    def _set_flag(self, letter: str) -> None:
        if letter == "U":
            self.unicode = True
        elif letter == "s":
            self.dot_all[-1] = True
        elif letter == "m":
            self.multi_line[-1] = True
        elif letter in "ixu":
            self.cost.nested |= letter == "x"  # blanks are between what is repeated and its quantifier
            self.flags |= _FLAGS.get(letter, re.RegexFlag(0))
        else:
            raise UnsupportedPattern(f"Flag '(?{letter})' of a regular expression is not supported")

    def _peek(self, offset: int = 0) -> str:
        index = self.position + offset
        return self.pattern[index] if index < len(self.pattern) else ""

    def _element(self) -> str:
        character = self._peek()
        self.position += 1
        if character == "(":
            return self._group()
        if character == ")":
            return self._group_end()
        if character == "|":
            return self._branch()
        if character in "*+?{":
            return self._quantifier(character)
        self._last = None
        if character in "^$":
            return self.anchor(character)
        self._groups[-1].atom(consumes=character != "\\" or self._peek() not in "bBAzZGEQ")
        if character == "\\":
            return self._escape()
        if character == "[":
            return self.class_text(self._character_class())
        return self.any_character() if character == "." else character

    # How an engine writes it.

    def anchor(self, character: str) -> str:
        if character == "^":
            return f"(?:(?<=[{_LINE_ENDS}])(?!\\Z)|(?<![\\s\\S]))" if self.multi_line[-1] else "(?<![\\s\\S])"
        return f"(?=[{_LINE_ENDS}]|(?![\\s\\S]))" if self.multi_line[-1] else f"(?={_FINAL_BREAK}(?![\\s\\S]))"

    def any_character(self) -> str:
        return "(?s:.)" if self.dot_all[-1] else _NOT_LINE_END

    def group_start(self, start: str) -> str:
        return "(" + start

    def class_text(self, characters: _CharacterSet) -> str:
        return _class_text(characters)

    def literal(self, text: str) -> str:
        return re.escape(text)

    def reference(self, reference: str) -> str:
        self.cost.repetitions += 1
        return reference

    def possessive(self, character: str) -> str:
        if not _HAS_POSSESSIVE:
            raise UnsupportedPattern("Possessive quantifiers of regular expressions need Python 3.11 or later")
        return character + "+"

    def atomic(self) -> str:
        if not _HAS_POSSESSIVE:
            raise UnsupportedPattern("Atomic groups of regular expressions need Python 3.11 or later")
        return "(?>"

    # ---------------------------------------------------------- quantifiers, groups

    def _quantifier(self, character: str) -> str:
        if character == "{":
            match = _REPETITION.match(self.pattern, self.position)
            if not match:
                raise pattern_error("Illegal repetition", self.pattern)
            character += match[0]
            self.position = match.end()
        group, last = self._groups[-1], self._last
        repeats = character != "?"
        if last is not None and last.ambiguous and repeats:
            self.cost.nested = True
        if last is not None and last.empty and repeats:
            self.cost.empty_loop = True
        if character in "*?" or character.startswith("{0"):
            group.pending = False
        group.ambiguous = True
        self.cost.repetitions += 1
        if self._peek() == "?":
            self.position += 1
            return character + "?"
        if self._peek() == "+":
            self.position += 1
            return self.possessive(character)
        return character

    def _branch(self) -> str:
        self._last = None
        self._groups[-1].ambiguous = True
        self._groups[-1].end_branch()
        return "|"

    def _group_end(self) -> str:
        if len(self.dot_all) > 1:
            self.dot_all.pop()
            self.multi_line.pop()
        if len(self._groups) > 1:
            ended = self._groups.pop()
            ended.end_branch()
            self.cost.ways *= ended.branches
            self._groups[-1].ambiguous |= ended.ambiguous
            self._groups[-1].atom(not ended.empty)
            self._last = ended
        return ")"

    def _group(self) -> str:
        self._groups.append(_Group())
        if len(self._groups) + len(self.dot_all) > 2 * DEEPEST:
            raise too_deep()
        self.dot_all.append(self.dot_all[-1])
        self.multi_line.append(self.multi_line[-1])
        if self._peek() != "?":
            return "("
        for start in ("?=", "?!", "?<=", "?<!", "?:"):
            if self.pattern.startswith(start, self.position):
                self.position += len(start)
                self._groups[-1].empty = start != "?:"
                return self.group_start(start)
        if self._peek(1) == ">":
            self.position += 2
            return self.atomic()
        if named := re.compile(r"\?<([a-zA-Z][a-zA-Z0-9]*)>").match(self.pattern, self.position):
            self.position = named.end()
            return f"(?P<{named[1]}>"
        return self._flag_group()

    def _flag_group(self) -> str:
        match = re.compile(r"\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])").match(self.pattern, self.position)
        if not match:
            raise pattern_error("Unknown inline modifier", self.pattern)
        self.position = match.end()
        on, off, end = match[1], match[2] or "", match[3]
        if end == ")":
            self._groups.pop()
            return self._rest_of_group(on, off)
        return self._open_with_flags(on, off)

    def _rest_of_group(self, on: str, off: str) -> str:
        """``(?i)`` amid a pattern holds to the end of the group around it: what is left of that group is put into one of its own."""
        self.dot_all.pop()
        self.multi_line.pop()
        depth = len(self.dot_all)
        opened = self._open_with_flags(on, off, push=True)
        out = [opened]
        while self.position < len(self.pattern) and not (self._peek() == ")" and len(self.dot_all) == depth + 1):
            if self._peek() == "|" and len(self.dot_all) == depth + 1:
                self.position += 1
                out.append(")" + self._branch() + opened)
                continue
            out.append(self._element())
        self.dot_all.pop()
        self.multi_line.pop()
        return "".join(out) + ")"

    def _open_with_flags(self, on: str, off: str, push: bool = False) -> str:
        if push:
            self.dot_all.append(self.dot_all[-1])
            self.multi_line.append(self.multi_line[-1])
        for letters, value in ((on, True), (off, False)):
            self.dot_all[-1] = value if "s" in letters else self.dot_all[-1]
            self.multi_line[-1] = value if "m" in letters else self.multi_line[-1]
            unknown = set(letters) - set("imsux")
            if unknown:
                raise UnsupportedPattern(f"Flag '(?{min(unknown)})' within a regular expression is not supported")
        self.cost.nested |= "x" in on
        return self.flags_group(on, off)

    def flags_group(self, on: str, off: str) -> str:
        plus, minus = ("".join(c for c in letters if c in "ix") for letters in (on, off))
        ascii_only = "a" if "i" in on and "u" not in on else ""
        return f"(?{ascii_only}{plus}{'-' + minus if minus else ''}:"

    # -------------------------------------------------------------- escapes

    def _escape(self) -> str:
        letter = self._peek()
        self.position += 1
        if letter == "":
            raise pattern_error("Unexpected internal error", self.pattern)
        if letter == "Q":
            return self._quotation()
        if letter == "k":
            return self._group_reference()
        if letter == "R":
            self._last = _Group()
            self._last.ambiguous = self._groups[-1].ambiguous = True
        boundary = self._boundary(letter)
        if boundary is not None:
            return boundary
        characters = self._set_escape(letter)
        if characters is not None:
            return self.class_text(characters)
        if letter.isdigit() and letter != "0":
            return self.reference(f"(?:\\{letter})" if self._peek().isdigit() else "\\" + letter)
        return self._literal_escape(letter)

    def _boundary(self, letter: str) -> str | None:
        if letter in "bB" and self._peek() == "{":
            raise UnsupportedPattern("'\\b{g}' of regular expressions is not supported")
        if letter in ("G", "X"):
            raise UnsupportedPattern(f"'\\{letter}' of regular expressions is not supported")
        return self.boundary(letter)

    def boundary(self, letter: str) -> str | None:
        if letter in "bB":
            return "(?u:\\b)" if letter == "b" else "(?!(?u:\\b))"
        fixed = {"A": "\\A", "z": "(?![\\s\\S])", "Z": f"(?={_FINAL_BREAK}(?![\\s\\S]))", "R": _LINE_BREAK}
        return fixed.get(letter)

    def _set_escape(self, letter: str) -> _CharacterSet | None:
        """``\\d \\W \\h \\p{…}`` as a set of characters."""
        lower = letter.lower()
        if lower in CLASS_SETS:
            text = "\\" + lower if self.unicode and lower in "dws" else CLASS_SETS[lower]
            return _CharacterSet(text, negated=letter != lower)
        if lower == "p":
            return self._property(negated=letter == "P")
        return None

    def _property(self, negated: bool) -> _CharacterSet:
        if self._peek() == "{":
            end = self.pattern.find("}", self.position)
            if end < 0:
                raise pattern_error("Unclosed character family", self.pattern)
            name = self.pattern[self.position + 1:end]
            self.position = end + 1
        else:
            name = self._peek()
            self.position += 1
        inside = property_class(name)
        if inside is None:
            raise UnsupportedPattern(f"Character class '\\p{{{name}}}' of regular expressions is not supported")
        return _CharacterSet(inside, negated=negated)

    def _quotation(self) -> str:
        end = self.pattern.find("\\E", self.position)
        text = self.pattern[self.position:] if end < 0 else self.pattern[self.position:end]
        self.position = len(self.pattern) if end < 0 else end + 2
        for _ in text:
            self._groups[-1].atom(consumes=True)
        return self.literal(text)

    def _group_reference(self) -> str:
        match = re.compile(r"<([a-zA-Z][a-zA-Z0-9]*)>").match(self.pattern, self.position)
        if not match:
            raise pattern_error("\\k is not followed by '<' for named capturing group", self.pattern)
        self.position = match.end()
        return self.reference(f"(?P={match[1]})")

    def _literal_escape(self, letter: str) -> str:
        """``\\t \\x41 \\u0041 \\x{1F600} \\012 \\cA \\.`` as one escaped character."""
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        if letter in "xu":
            match = re.compile(r"\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{4})" if letter == "u" else r"\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2})").match(
                self.pattern, self.position)
            if not match:
                raise pattern_error("Illegal hexadecimal escape sequence", self.pattern)
            self.position = match.end()
            return re.escape(chr(int(match[1] or match[2], 16)))
        if letter == "0":
            match = re.compile(r"[0-3]?[0-7]{1,2}").match(self.pattern, self.position)
            if not match:
                raise pattern_error("Illegal octal escape sequence", self.pattern)
            self.position = match.end()
            return re.escape(chr(int(match[0], 8)))
        if letter == "c":
            self.position += 1
            return re.escape(chr(ord(self.pattern[self.position - 1]) ^ 64))
        if letter.isascii() and letter.isalpha():
            raise pattern_error("Illegal/unsupported escape sequence", self.pattern)
        return re.escape(letter)

    # -------------------------------------------------------------- character classes

    def _character_class(self) -> _CharacterSet:
        """Return what follows ``[``: a union of items, intersected at ``&&``."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise too_deep()
        characters = self._class_items()
        self._depth -= 1
        return characters

    def _class_items(self) -> _CharacterSet:
        negated = self._peek() == "^"
        self.position += negated
        operands: list[list[_CharacterSet]] = [[]]
        first = True
        while True:
            character = self._peek()
            if character == "":
                raise pattern_error("Unclosed character class", self.pattern)
            if character == "]" and not first:
                self.position += 1
                break
            if self.pattern.startswith("&&", self.position):
                self.position += 2
                operands.append([])
            else:
                operands[-1].append(self._class_item())
            first = False
        return _combine([o for o in operands if o], negated)

    def _class_item(self) -> _CharacterSet:
        character = self._peek()
        self.position += 1
        if character == "[":
            return self._character_class()
        if character == "\\":
            letter = self._peek()
            self.position += 1
            characters = self._set_escape(letter)
            if characters is not None:
                return characters
            low = self._class_quotation() if letter == "Q" else self._literal_escape(letter)
            if letter == "Q":
                return _CharacterSet(low)
        else:
            low = _in_class(character)
        return self._range(low)

    def _class_quotation(self) -> str:
        end = self.pattern.find("\\E", self.position)
        text = self.pattern[self.position:end if end >= 0 else len(self.pattern)]
        self.position = len(self.pattern) if end < 0 else end + 2
        return "".join(map(_in_class, text))

    def _range(self, low: str) -> _CharacterSet:
        if self._peek() != "-" or self._peek(1) in ("]", "", "[") or self.pattern.startswith("-&&", self.position):
            return _CharacterSet(low)
        self.position += 1
        character = self._peek()
        self.position += 1
        if character == "\\":
            letter = self._peek()
            self.position += 1
            high = self._literal_escape(letter)
        else:
            high = _in_class(character)
        return _CharacterSet(f"{low}-{high}")


class _CharacterSet:
    """Characters as the inside of a Python class, or (``assertion``) as a look-ahead that one character must pass."""

    def __init__(self, inside: str, negated: bool = False, assertion: str | None = None) -> None:
        self.inside = inside
        self.negated = negated
        self.assertion = assertion


def _class_text(characters: _CharacterSet) -> str:
    """Return one character of the set, as Python writes it."""
    if characters.assertion is not None:
        return f"(?:{characters.assertion}[\\s\\S])"
    if not characters.inside:
        return "[\\s\\S]" if characters.negated else "(?!)"
    return f"[{'^' if characters.negated else ''}{characters.inside}]"


def _combine(operands: list[list[_CharacterSet]], negated: bool) -> _CharacterSet:
    if len(operands) == 1 and not any(c.negated or c.assertion is not None for c in operands[0]):
        return _CharacterSet("".join(c.inside for c in operands[0]), negated)
    if len(operands) == 1 and len(operands[0]) == 1 and operands[0][0].assertion is None:
        only = operands[0][0]
        return _CharacterSet(only.inside, only.negated != negated)
    tests = "".join(f"(?={_union(items)})" for items in operands)
    return _CharacterSet("", assertion=f"(?!{tests})" if negated else tests)


def _union(items: list[_CharacterSet]) -> str:
    return "|".join(_class_text(c) for c in items) or "(?!)"


def _in_class(character: str) -> str:
    return "\\" + character if character in "\\]^-[&~|" else character
