"""Splits text in Graphviz's DOT language into tokens: words, quoted texts, labels in angle brackets, and marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from parsers.graphs.wire import text as text_of

_TOKEN = re.compile(
    rb"(?P<space>\s++|//[^\n]*|/\*.*?\*/|^#[^\n]*)"
    rb"|(?P<text>\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\")"
    rb"|(?P<mark>->|--|[{}\[\];,=:+])"
    rb"|(?P<html><)"
    rb"|(?P<word>(?!/\*)[^\s\"{}\[\];,=:<>+-]++(?:-(?![->])[^\s\"{}\[\];,=:<>+-]*+)*+|-?[\d.]+|[>+-])",
    re.DOTALL | re.MULTILINE,
)
_BRACKET = re.compile(rb"[<>]")


class Token(NamedTuple):
    """One token: its kind (text, mark, html, word or end), its text without quotes, and its first byte in the file."""

    kind: str
    text: str
    begin: int


END = Token("end", "", 0)


class Tokens:
    """Tokens of a text, with one token of lookahead."""

    def __init__(self, data: bytes) -> None:
        self._found = _tokens(data)
        self.next = END
        self.take()

    def take(self) -> Token:
        """Consume the next token and return it."""
        last, self.next = self.next, next(self._found, END)
        return last

    def at(self, *marks: str) -> bool:
        """Return whether one of these marks is next."""
        return self.next.kind == "mark" and self.next.text in marks

    def skip(self, mark: str) -> bool:
        """Consume a mark if it is next."""
        return self.at(mark) and self.take() is not END


def _tokens(data: bytes) -> Iterator[Token]:
    pos, end, match = 0, len(data), _TOKEN.match
    while pos < end:
        found = match(data, pos)
        if found is None:
            return  # a quote or a comment that is never closed
        kind, begin, pos = found.lastgroup or "", pos, found.end()
        if kind == "html":
            pos = _after_html(data, begin)
            yield Token("html", text_of(data, begin + 1, pos - 1), begin)
        elif kind == "text":
            yield Token(kind, text_of(data, begin + 1, pos - 1).replace('\\"', '"').replace("\\\n", ""), begin)
        elif kind != "space":
            yield Token(kind, text_of(data, begin, pos), begin)


def _after_html(data: bytes, begin: int) -> int:
    """Return the end of a label in angle brackets, searched for because MindSpore does not escape brackets in names."""
    if data.startswith(b"<<table", begin):
        close = data.find(b"</table>>", begin)
        return len(data) if close < 0 else close + len(b"</table>>")
    depth = 0
    for found in _BRACKET.finditer(data, begin):
        depth += 1 if found[0] == b"<" else -1
        if not depth:
            return found.end()
    return len(data)
