"""Java's named character classes (``\\d``, ``\\h``, ``\\p{Alpha}``, ``\\p{Lu}``) as the inside of a Python class, by ranges of
characters."""
from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache

_HORIZONTAL = "\\t\\x20\\xa0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000"
_VERTICAL = "\\n\\x0b\\f\\r\\x85\\u2028\\u2029"
CLASS_SETS = {"d": "0-9", "w": "a-zA-Z_0-9", "s": "\\x20\\t\\n\\x0b\\f\\r", "h": _HORIZONTAL, "v": _VERTICAL}
_POSIX = {
    "Lower": "a-z", "Upper": "A-Z", "ASCII": "\\x00-\\x7f", "Alpha": "a-zA-Z", "Digit": "0-9", "Alnum": "a-zA-Z0-9",
    "Punct": "!-/:-@\\[-`{-~", "Graph": "!-~", "Print": "\\x20-~", "Blank": "\\x20\\t", "Cntrl": "\\x00-\\x1f\\x7f", "XDigit": "0-9a-fA-F",
    "Space": "\\x20\\t\\n\\x0b\\f\\r",
}
_SCRIPTS = {
    "Latin": "a-zA-Z\\xaa\\xba\\xc0-\\xd6\\xd8-\\xf6\\xf8-\\u02b8\\u1e00-\\u1eff", "Cyrillic": "\\u0400-\\u052f",
    "Greek": "\\u0370-\\u03ff\\u1f00-\\u1fff", "Hiragana": "\\u3041-\\u309f", "Katakana": "\\u30a0-\\u30ff",
        "Han": "\\u2e80-\\u2fd5\\u3005-\\u3007\\u3400-\\u9fff",
    "Arabic": "\\u0600-\\u06ff\\u0750-\\u077f", "Hebrew": "\\u0590-\\u05ff", "Hangul": "\\u1100-\\u11ff\\uac00-\\ud7a3",
        "Thai": "\\u0e00-\\u0e7f",
}
_BLOCKS = {"Greek": "\\u0370-\\u03ff", "Cyrillic": "\\u0400-\\u04ff", "BasicLatin": "\\x00-\\x7f", "Latin-1Supplement": "\\x80-\\xff",
    "Hebrew": "\\u0590-\\u05ff"}
_TESTS: dict[str, Callable[[str], bool]] = {
    "Alphabetic": str.isalpha, "Letter": str.isalpha, "Digit": str.isdecimal, "Uppercase": str.isupper, "Lowercase": str.islower,
    "White_Space": str.isspace, "WhiteSpace": str.isspace, "Punctuation": lambda c: unicodedata.category(c)[0] == "P",
}
_JAVA: dict[str, Callable[[str], bool]] = {
    "javaLowerCase": str.islower, "javaUpperCase": str.isupper, "javaLetter": str.isalpha, "javaDigit": str.isdecimal,
    "javaLetterOrDigit": lambda c: c.isalpha() or c.isdecimal(), "javaAlphabetic": str.isalpha,
    "javaWhitespace": lambda c: c.isspace() and c not in "\x85\xa0\u2007\u202f",
        "javaSpaceChar": lambda c: unicodedata.category(c)[0] == "Z",
}
_CATEGORIES = ["L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf",
    "Po", "S", "Sm", "Sc", "Sk", "So", "Z", "Zs", "Zl", "Zp", "C", "Cc", "Cf"]


def property_class(name: str) -> str | None:
    """Return the inside of the class that ``\\p{name}`` means, of characters of the basic plane; None for names that are not known."""
    if name in _POSIX:
        return _POSIX[name]
    if name in _JAVA:
        return _ranges(_JAVA[name])
    if name.startswith("In"):
        return _BLOCKS.get(name[2:].replace("_", ""))
    bare = name.removeprefix("Is").removeprefix("sc=").removeprefix("gc=")
    if bare in _CATEGORIES:
        return _category(bare)
    if bare in _TESTS and bare != name:
        return _ranges(_TESTS[bare])
    return _SCRIPTS.get(bare) if bare != name else None


@lru_cache(maxsize=64)
def _category(name: str) -> str:
    return _ranges(lambda c: unicodedata.category(c).startswith(name))


@lru_cache(maxsize=64)
def _ranges(test: Callable[[str], bool]) -> str:
    """Return the characters of the basic plane that pass, as ranges of escapes."""
    out: list[str] = []
    start = -1
    for code in range(0x10001):
        inside = code < 0x10000 and not 0xD800 <= code <= 0xDFFF and test(chr(code))
        if inside and start < 0:
            start = code
        elif not inside and start >= 0:
            out.append(f"\\u{start:04x}-\\u{code - 1:04x}" if code - 1 > start else f"\\u{start:04x}")
            start = -1
    return "".join(out)
