"""The order of texts of ``java.text.Collator`` in the US: letters before case, accents between them.

A text's key is its letters and signs, then its accents, spaces and hyphens, then its case: ``a < A < á < b``, ``cd < c d < c-d < ce``.
Characters without a rule of the collator follow all others, in the order of their UTF-16 units.
"""
from __future__ import annotations

import unicodedata
from functools import lru_cache

Element = tuple[int, int, int]
"""Places of a character among the letters, accents and cases; 0 where it has none."""
_FIRST_IGNORABLE = 2
_IGNORABLE = (
    " \xa0\u2000\u2001\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u3000\ufeff\r\t\n\x0c\x0b\u0301\u0300\u0306\u0302\u030c\u030a\u030d"
    "\u0308\u030b\u0303\u0307\u0304\u0337\u0327\u0328\u0323\u0332\u0305\u0309\u030e\u030f\u0310\u0311\u0312\u0313\u0314\u0315\u0316\u0317"
    "\u0318\u0319\u031a\u031b\u031c\u031d\u031e\u031f\u0320\u0321\u0322\u0324\u0325\u0326\u0329\u032a\u032b\u032c\u032d\u032e\u032f\u0330"
    "\u0331\u0333\u0334\u0335\u0336\u0338\u0339\u033a\u033b\u033c\u033d\u033e\u033f\u0342\u0344\u0345\u0360\u0361\u0483\u0484\u0485\u0486"
    "\u20d0\u20d1\u20d2\u20d3\u20d4\u20d5\u20d6\u20d7\u20d8\u20d9\u20da\u20db\u20dc\u20dd\u20de\u20df\u20e0-\xad\u2010\u2011\u2012\u2013"
    "\u2014\u2015\u2212")
"""What makes a difference only where the letters are equal, in its order."""
_LETTERS = (
    "_\xaf,;:!\xa1?\xbf/.\xb4`^\xa8~\xb7\xb8'\"\xab\xbb()[]{}\xa7\xb6\xa9\xae@\xa4\u0e3f\xa2\u20a1\u20a2$\u20ab\u20ac\u20a3\u20a4\u20a5\u20a6"
    "\u20a7\xa3\u20a8\u20aa\u20a9\xa5*\\&#%+\xb1\xf7\xd7<=>\xac|\xa6\xb0\xb50123456789\xbc\xbd\xbeabcd\xf0efghijklmnopqrstuvwxyz")
_LOWER, _UPPER = 1, 2
_PAIRS = {"æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "þ": "th", "Þ": "th", "ß": "ss"}
"""Letters that stand for two; as cases the lower one is 3, 2 and the upper one 4, 2."""
_ACCENTED_PAIRS = {"ǣ": ("\u0304", _LOWER), "Ǣ": ("\u0304", _UPPER), "ǽ": ("\u0301", _LOWER), "Ǽ": ("\u0301", _UPPER)}
"""Java has these after z."""
_BEHIND_Z, _WITHOUT_RULE = len(_LETTERS) + 1, len(_LETTERS) + 2
_UNRULED = "ǮǯǾǿ"
"""Java has no rules for these, though it has for their letter and their accent."""


def _collation_elements() -> dict[str, tuple[Element, ...]]:
    ignored = (*range(9), *range(14, 32), *range(127, 160), *range(0x200B, 0x2010))
    elements: dict[str, tuple[Element, ...]] = {chr(code): () for code in ignored}
    elements |= {c: ((0, place, 3 if c == "-" else 0),) for place, c in enumerate(_IGNORABLE, _FIRST_IGNORABLE)}
    elements |= {"\u2002": elements["\u2000"], "\u2003": elements["\u2001"], "\u20e1": elements["-"]}
    for place, letter in enumerate(_LETTERS, 1):
        elements[letter] = ((place, 1, _LOWER),)
        if letter.isalpha() and letter != "\xb5":
            elements[letter.upper()] = ((place, 1, _UPPER),)
    for letter, pair in _PAIRS.items():
        first, second = (elements[each][0][0] for each in pair)
        elements[letter] = ((first, 1, 4 if letter.isupper() else 3), (second, 1, 2))
    for letter, (accent, case) in _ACCENTED_PAIRS.items():
        elements[letter] = ((_BEHIND_Z, 1, case), *elements[accent])
    return elements


_KNOWN = _collation_elements()


@lru_cache(maxsize=4096)
def _elements(character: str) -> tuple[Element, ...]:
    known = _KNOWN.get(character)
    if known is not None:
        return known
    parts = unicodedata.normalize("NFD", character)
    if parts != character and character not in _UNRULED and all(part in _KNOWN for part in parts):
        return tuple(element for part in parts for element in _KNOWN[part])
    units = character.encode("utf-16-be", "surrogatepass")
    return tuple(
        element for at in range(0, len(units), 2)
        for element in ((_WITHOUT_RULE, 1, 1), (int.from_bytes(units[at:at + 2], "big") + 1, 1, 1)))


@lru_cache(maxsize=4096)
def collation_key(text: str) -> tuple[int, ...]:
    """Return what compares as the collator compares the texts.

    >>> sorted(["b", "B", "á", "A", "a", "cd", "c-d", "ce", "c d"], key=collation_key)
    ['a', 'A', 'á', 'b', 'B', 'cd', 'c d', 'c-d', 'ce']
    """
    elements = [element for character in text for element in _elements(character)]
    return (
        *(letter for letter, _, _ in elements if letter), 0, *(accent for _, accent, _ in elements if accent), 0,
        *(case for _, _, case in elements if case))
