"""Whether there is a space between two pieces of one line, and which words are keywords."""

from __future__ import annotations

from epl.formatting.pieces import Piece
from epl.grammar.lexis import RESERVED, first_token_end
from epl.parse import keywords

OPENING, CLOSING = frozenset({"(", "[", "{", "-["}), frozenset({")", "]", "}"})
_BEFORE_OPERAND = """and or not in like regexp between is select from where having by as on when then else case set every until while output
limit offset distinct istream rstream irstream insert into values escape return new update delete any all some join using measures define
partition pattern initiated terminated start coalesce group after at for with merge"""
_BRACKET_APART = """and or not in like regexp between is select from where having by as on when then else case every until while values
match_recognize any all some sets return pattern limit offset set start end initiated terminated at into insert output update delete"""
_SQUARE_APART = "pattern in every not until and or where on start end by initiated terminated"

BEFORE_OPERAND = frozenset(_BEFORE_OPERAND.split())
"""Words after which an operand begins: a ``-``, ``*`` or ``?`` there is no operator between two values."""
BRACKET_APART, SQUARE_APART = frozenset(_BRACKET_APART.split()), frozenset(_SQUARE_APART.split())
"""Words with a space before a bracket after them; other words are called or indexed."""
_OPERATORS = frozenset(["+", "-", "*", "/", "%", "&", "|", "^", "||", "=", "!=", "<>", "==", "<", "<=", ">", ">=", "->", "=>", "-["])


def ends_operand(piece: Piece) -> bool:
    """Return whether a value, name or closed bracket ends with it, so that an operator or a clause may follow."""
    if piece.kind == "symbol":
        return piece.key in (")", "]", "}", "?", "*")
    return piece.key not in BEFORE_OPERAND


def is_space_needed(before: Piece, after: Piece, previous: Piece | None) -> bool:
    """Return whether a space is between the two; ``previous`` is what is before the first of them."""
    apart = _apart(before, after, previous)
    return apart or first_token_end(before.text + after.text) != len(before.text)


def _apart(before: Piece, after: Piece, previous: Piece | None) -> bool:
    if after.key in (",", ";", ")", "]", ".") or before.key in ("(", "[", ".", "@", "#", "-["):
        return False
    if before.key == ",":
        return not before.rows or (after.key != "}" and after.kind != "integer")
    if before.rows or after.rows:
        special = _in_rows(before, after)
        if special is not None:
            return special
    if before.role == "block" or after.role == "block":
        return True
    if before.key == "{" or after.key == "}":
        return False
    if after.role == "tag" or before.role == "tag" or after.role == "label":
        return False
    if before.role == "label":
        return True
    if before.tight and after.tight and not (_is_word(before) and _is_word(after)):
        return after.key == "@" and before.key != "="
    if before.key == ":" or after.key == ":":
        return False
    return _at_brackets_and_signs(before, after, previous)


def _at_brackets_and_signs(before: Piece, after: Piece, previous: Piece | None) -> bool:
    if after.key == "(":
        return before.kind in ("symbol", "string") or (before.key in BRACKET_APART and (previous is None or previous.key != "."))
    if after.key == "[":
        return before.key in _OPERATORS or before.key in SQUARE_APART or (previous is not None and previous.key == ":")
    if after.key == "#":
        return not ends_operand(before)
    if after.key == "?":
        return not ends_operand(before)
    if before.key == "?":
        return after.kind != "string" and after.key not in ("(", "[")
    if before.key == "]" and after.key == ">":
        return False
    if before.key in ("-", "+") and (previous is None or not ends_operand(previous) or previous.key == "*"):
        return False
    return True


def _in_rows(before: Piece, after: Piece) -> bool | None:
    """Return whether a space is needed in a row pattern: quantifiers follow their variable, and alternatives are apart; None where the
    usual rules hold."""
    if after.rows and after.key in ("*", "+", "?", "{", "}"):
        return False
    if before.rows and before.key == "{":
        return False
    if before.rows and after.rows and after.key == "(":
        return before.key != "match_recognize_permute" and before.key != "("
    return None


def _is_word(piece: Piece) -> bool:
    return piece.kind in ("word", "quoted", "string", "integer", "float")


def lower_keywords(pieces: list[Piece], words: frozenset[str]) -> list[Piece]:
    """Return the pieces with these keywords in lower case, where they cannot be names as far as their neighbours show."""
    result = []
    for index, piece in enumerate(pieces):
        before = pieces[index - 1] if index else None
        after = pieces[index + 1].key if index + 1 < len(pieces) else ""
        is_name = piece.tight or piece.key not in words or (before is not None and before.key in (".", "@"))
        if piece.key not in RESERVED:
            is_name = is_name or not piece.text.isupper() or after == "." or (after == "(" and piece.key not in BRACKET_APART)
        if piece.kind == "word" and not is_name and piece.text != piece.key:
            piece = Piece(piece.key, piece.key, piece.kind, piece.start, piece.end, piece.comments, piece.after_blank, role=piece.role)
        result.append(piece)
    return result


def keyword_choices() -> tuple[frozenset[str], ...]:
    """Return which words to write in lower case: the first choice under which the text keeps its meaning."""
    return keywords(), RESERVED, frozenset()
