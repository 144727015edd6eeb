"""Expressions over the scalars of a run: ``train/loss - val/loss``, ``log10(loss)``, ``mean(loss, 100 steps)``.

    sum       = product { ("+" | "-") product }
    product   = signed { ("*" | "/") signed }
    signed    = { "+" | "-" } value
    value     = number | tag | "(" sum ")" | function "(" sum [ "," sum ] ")" | "mean" "(" sum "," window ")"
    window    = whole number [ "points" | "steps" ]

A tag stands by itself if it begins with a letter or _ and goes on with letters, digits, _ and dots; a slash between two of
these, without spaces, belongs to the name. Any other tag is put in single or double quotes, and a quote in it is written twice:
``'grad-norm'``, ``"it's"``. So ``a/b`` is the tag a/b, and ``a / b`` divides. A name before "(" is that of a function.

An expression is kept as a program for a stack, so neither parsing nor evaluation (`parsers.analysis.curves.derived`) is deeper
than `MOST_DEPTH` brackets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from parsers.errors import FormatError

MOST_CHARACTERS = 2000
MOST_DEPTH = 30
"""Brackets in brackets."""
MOST_OPERATIONS = 100
MOST_TAGS = 20
MOST_WINDOW = 10**9

FUNCTIONS = ("abs", "diff", "exp", "log", "log10", "max", "mean", "min", "rate", "sqrt")
_OF_TWO = ("max", "min")
_OF_CURVES = ("diff", "mean", "rate")
"""Functions of more than one point: they need an argument with a tag."""
_RISING = ("exp", "log", "log10", "mean", "sqrt")
_UNITS = {"point": "points", "points": "points", "step": "steps", "steps": "steps"}
_SHOWN = 40
"""Characters of what was found that a message shows."""
_END = "end"

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<name>[^\W\d][\w.]*(?:/\w[\w.]*)*)
    |(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*")
    |(?P<open>['"])
    |(?P<sign>[-+*/(),])
    |(?P<other>\S))""",
    re.VERBOSE,
)
_BARE = re.compile(r"[^\W\d][\w.]*(?:/\w[\w.]*)*")
_WHOLE = re.compile("[0-9]{1,10}")

Expected = Literal[
    "value", "operator", "operator or )", "comma", "window", "points or steps", "function", "closing quote", "tag",
    "argument with a tag", "finite number", "fewer brackets", "fewer operations", "fewer tags", "fewer characters",
]  # fmt: skip

EXPECTED: Mapping[Expected, str] = {
    "value": "a tag, a number, a function or (",
    "operator": "+, -, *, / or the end",
    "operator or )": "+, -, *, / or )",
    "comma": "a comma and the second argument",
    "window": f"a whole number of points or steps from 1 to {MOST_WINDOW:,}, such as 20 or 100 steps",
    "points or steps": "points, steps or )",
    "function": f"one of the functions {', '.join(FUNCTIONS)}",
    "closing quote": "a closing quote",
    "tag": "at least one tag",
    "argument with a tag": "an argument with a tag",
    "finite number": "a finite number",
    "fewer brackets": f"at most {MOST_DEPTH} brackets in brackets",
    "fewer operations": f"at most {MOST_OPERATIONS} tags, numbers and operations",
    "fewer tags": f"at most {MOST_TAGS} different tags",
    "fewer characters": f"at most {MOST_CHARACTERS:,} characters",
}


def shown(found: str) -> str:
    """Return what was found as a message shows it."""
    return found if len(found) <= _SHOWN else f"{found[:_SHOWN]}..."


class ExpressionError(FormatError):
    """An invalid expression.

    column is the place of what is wrong, in characters from 1. expected is a key of what was expected there, found the text
    found there, "" for the end.
    """

    def __init__(self, column: int, expected: Expected, found: str) -> None:
        named = repr(shown(found)) if found else "the end"
        super().__init__(f"expression, column {column}: expected {EXPECTED[expected]}; found {named}")
        self.column, self.found = column, found
        self.expected: Expected = expected


class ProgramStep(NamedTuple):
    """One step of a program: push a number or a tag, or replace the values on top of the stack by a result.

    kind is "number", "tag", "negative", one of + - * /, or one of FUNCTIONS. window is that of "mean", in steps or points.
    """

    kind: str
    number: float = 0.0
    tag: str = ""
    window: int = 0
    steps: bool = False


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression: its text, its program, and its tags in order of appearance."""

    text: str
    program: tuple[ProgramStep, ...] = field(repr=False)
    tags: tuple[str, ...]


def quoted(tag: str) -> str:
    """Return a tag as an expression names it: by itself if that is possible, else in quotes."""
    return tag if _BARE.fullmatch(tag) else "'" + tag.replace("'", "''") + "'"


@lru_cache(maxsize=512)
def parse_expression(text: str) -> Expression:
    """Parse an expression; ExpressionError, with the column and what was expected there, if it is invalid."""
    if len(text) > MOST_CHARACTERS:
        raise ExpressionError(MOST_CHARACTERS + 1, "fewer characters", f"{len(text):,} characters")
    parser = _ExpressionParser(text)
    if not parser.whole():
        raise ExpressionError(1, "tag", text.strip()[:40])
    return Expression(text, tuple(parser.program), tuple(parser.tags))


def ordered_like(expression: Expression) -> str | None:
    """Return the tag whose order the values have, since only functions that rise are applied to it; else None."""
    first, *others = expression.program
    return first.tag if first.kind == "tag" and all(one.kind in _RISING for one in others) else None


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


def _tokens(text: str) -> list[_Token]:
    found, place = [], 0
    while (match := _TOKEN.match(text, place)) is not None:
        kind = match.lastgroup or ""
        column = match.start(kind) + 1
        if kind == "open":
            raise ExpressionError(len(text) + 1, "closing quote", "")
        found.append(_Token(kind, match.group(kind), column))
        place = match.end()
    return [*found, _Token(_END, "", len(text) + 1)]


class _ExpressionParser:
    """Each method reads a part of the grammar, appends to the program, and returns whether the part has a tag."""

    def __init__(self, text: str) -> None:
        self.program: list[ProgramStep] = []
        self.tags: dict[str, None] = {}
        self._tokens = _tokens(text)
        self._place = 0
        self._depth = 0

    def whole(self) -> bool:
        """Read the expression up to its end."""
        has_tag = self._sum()
        if self._next.kind != _END:
            raise self._wrong("operator")
        return has_tag

    def _sum(self) -> bool:
        has_tag = self._product()
        while (sign := self._taken("+", "-")) is not None:
            has_tag |= self._product()
            self._emit(ProgramStep(sign.text), sign)
        return has_tag

    def _product(self) -> bool:
        has_tag = self._signed()
        while (sign := self._taken("*", "/")) is not None:
            has_tag |= self._signed()
            self._emit(ProgramStep(sign.text), sign)
        return has_tag

    def _signed(self) -> bool:
        negative = None
        while (sign := self._taken("+", "-")) is not None:
            negative = negative if sign.text == "+" else sign if negative is None else None
        has_tag = self._value()
        if negative is not None:
            self._emit(ProgramStep("negative"), negative)
        return has_tag

    def _value(self) -> bool:
        token = self._next
        if token.kind == "number":
            self._push_number()
            return False
        if token.kind in ("name", "quoted"):
            self._place += 1
            if token.kind == "name" and self._next.text == "(":
                return self._call(token)
            self._push_tag(token)
            return True
        if token.text != "(":
            raise self._wrong("value")
        return self._in_brackets(self._sum)

    def _push_number(self) -> None:
        token = self._next
        number = float(token.text)
        if not math.isfinite(number):
            raise self._wrong("finite number")
        self._place += 1
        self._emit(ProgramStep("number", number=number), token)

    def _push_tag(self, token: _Token) -> None:
        quote = token.text[0]
        tag = token.text[1:-1].replace(quote * 2, quote) if token.kind == "quoted" else token.text
        self.tags[tag] = None
        if len(self.tags) > MOST_TAGS:
            raise ExpressionError(token.column, "fewer tags", token.text)
        self._emit(ProgramStep("tag", tag=tag), token)

    def _call(self, name: _Token) -> bool:
        if name.text not in FUNCTIONS:
            raise ExpressionError(name.column, "function", name.text)
        return self._in_brackets(lambda: self._arguments(name))

    def _arguments(self, name: _Token) -> bool:
        first = self._next
        has_tag = self._sum()
        if name.text in _OF_CURVES and not has_tag:
            raise ExpressionError(first.column, "argument with a tag", first.text)
        window, steps = 0, False
        if name.text in _OF_TWO or name.text == "mean":
            if self._taken(",") is None:
                raise self._wrong("comma")
            if name.text == "mean":
                window, steps = self._window()
            else:
                has_tag |= self._sum()
        self._emit(ProgramStep(name.text, window=window, steps=steps), name)
        return has_tag

    def _window(self) -> tuple[int, bool]:
        token = self._next
        if not _WHOLE.fullmatch(token.text) or not 1 <= int(token.text) <= MOST_WINDOW:
            raise self._wrong("window")
        self._place += 1
        unit = self._next
        if unit.kind != "name":
            return int(token.text), False
        if unit.text not in _UNITS:
            raise self._wrong("points or steps")
        self._place += 1
        return int(token.text), _UNITS[unit.text] == "steps"

    def _in_brackets(self, inside: Callable[[], bool]) -> bool:
        if self._depth == MOST_DEPTH:
            raise self._wrong("fewer brackets")
        self._depth += 1
        self._place += 1
        has_tag = inside()
        if self._taken(")") is None:
            raise self._wrong("operator or )")
        self._depth -= 1
        return has_tag

    @property
    def _next(self) -> _Token:
        return self._tokens[self._place]

    def _taken(self, *signs: str) -> _Token | None:
        """Take the next token if it is one of these signs."""
        token = self._next
        if token.kind != "sign" or token.text not in signs:
            return None
        self._place += 1
        return token

    def _emit(self, operation: ProgramStep, token: _Token) -> None:
        if len(self.program) == MOST_OPERATIONS:
            raise ExpressionError(token.column, "fewer operations", token.text)
        self.program.append(operation)

    def _wrong(self, expected: Expected) -> ExpressionError:
        return ExpressionError(self._next.column, expected, self._next.text)
