"""`format_module` writes a module in the project's style; its meaning and its comments stay (docs/tools.md describes the style).

Only the space between words changes, and keywords become lower case. Each statement is read again after it is formatted; where it would
not read the same it stays as it was written.
"""

from __future__ import annotations

from os import PathLike

import attrs

from epl import syntax as S
from epl.errors import EplError
from epl.formatting.documents import Document, render
from epl.formatting.layout import StatementLayout
from epl.formatting.pieces import Comment, Piece, join_pieces, read
from epl.formatting.spacing import keyword_choices, lower_keywords
from epl.parse import parse_module, parse_statement
from epl.texts import load_text

WIDTH = 100


def format_module(text: str | PathLike[str], width: int = WIDTH) -> str:
    """Return a module in the project's style. Its meaning and its comments stay.

    Args:
        text: The module, or the path of its file.
        width: The longest line, in characters. Strings, comments and names that are longer stay whole.

    Raises:
        EplError: The text is not EPL.

    Examples:
        >>> print(format_module("SELECT symbol,count(*)  FROM Trade#time( 10 sec ) where price>10"), end="")
        select symbol, count(*)
        from Trade#time(10 sec)
        where price > 10
    """
    text = load_text(text).removeprefix("\ufeff")
    module = parse_module(text)
    statements = {statement.span.start: statement for statement in module.statements if statement.span is not None}
    *pieces, last = read(text, module)
    output: list[str] = []
    ended = False
    start = 0
    while start < len(pieces):
        if pieces[start].key == ";":
            _move_comments(pieces, start, last)
            start += 1
            continue
        end = next((i for i in range(start, len(pieces)) if pieces[i].key == ";"), len(pieces))
        ended = end < len(pieces)
        item = pieces[start:end]
        written = _statement(item, statements.get(item[0].start), text, width) + _inline(pieces[end] if ended else None)
        _separate(output, item[0], "\n" in written)
        output.append(written + (";" if ended else ""))
        start = end + 1
    _separate(output, last, False)
    return "".join(output).strip("\n") + "\n" if any(output) else ""


def _move_comments(pieces: list[Piece], index: int, last: Piece) -> None:
    """Drop a semicolon after no statement of its own; the comments before it move before what comes next."""
    following = pieces[index + 1] if index + 1 < len(pieces) else last
    following.comments = join_pieces(pieces[index].comments, following.comments)


def _inline(semicolon: Piece | None) -> str:
    return "" if semicolon is None else "".join(f" {comment.text}" for comment in semicolon.comments)


def _separate(output: list[str], piece: Piece, is_long: bool) -> None:
    """Write what is between two items: comments in the line of the first, empty lines, comments on lines of their own."""
    comments = list(piece.comments)
    blank = is_long or (bool(output) and "\n" in output[-1])
    if output:
        while comments and not comments[0].own_line:
            output.append(f"{'  ' if comments[0].text.startswith('//') else ' '}{comments.pop(0).text}")
        if not comments and piece.kind == "end":
            return
        after_blank = comments[0].after_blank if comments else piece.after_blank
        output.append("\n\n" if after_blank or (blank and piece.kind != "end") else "\n")
    _write_comments(output, comments, piece)


def _write_comments(output: list[str], comments: list[Comment], piece: Piece) -> None:
    for number, comment in enumerate(comments):
        output.append(comment.text)
        following = comments[number + 1] if number + 1 < len(comments) else None
        if following is None:
            after_blank, ends_line = piece.after_blank, comment.ends_line
        else:
            after_blank, ends_line = following.after_blank, following.own_line
        if ends_line or comment.text.startswith("//"):
            output.append("\n\n" if after_blank else "\n")
        elif following is not None or piece.kind != "end":
            output.append(" ")


def _statement(pieces: list[Piece], statement: S.Statement | None, text: str, width: int) -> str:
    """Return one statement or header, without its semicolon."""
    pieces = [attrs.evolve(pieces[0], comments=()), *pieces[1:]]
    if statement is None:
        pieces = lower_keywords(pieces, frozenset({"module", "uses", "import"}))
        return render(StatementLayout(pieces).flat(0, len(pieces)), width)
    for words in keyword_choices():
        try:
            candidate = render(_document(lower_keywords(pieces, words), statement), width)
            if parse_statement(candidate) == statement:
                return candidate
        except EplError:
            continue
        except RecursionError:
            break
    return text[pieces[0].start : pieces[-1].end]


def _document(pieces: list[Piece], statement: S.Statement) -> Document:
    body = statement.body.span
    assert body is not None
    index = {piece.start: number for number, piece in enumerate(pieces)}
    start = index[body.start]
    if start and pieces[start - 1].key == "create":
        start -= 1
    heads = {0, start, *(index[node.span.start] for node in (*statement.annotations, *statement.declarations) if node.span is not None)}
    heads.update(number for number, piece in enumerate(pieces[:start]) if piece.key == "inlined_class")
    if statement.context is not None:
        heads.add(start - 2)
    return StatementLayout(pieces).statement(sorted(heads), _kind(statement.body))


def _kind(body: S.Body) -> str:
    """Return which clauses the statement has (`Layout.clause_starts`)."""
    if isinstance(body, S.CreateContext):
        return "context"
    if isinstance(body, S.OnMerge):
        return "merge"
    name = type(body).__name__
    return "create" if name.startswith("Create") else "on" if name.startswith(("On", "Update")) else "select"
