"""The grammar of expressions: what they mean, where names need quotes, and what an error says of its place."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.analysis.curves.expressions import (
    MOST_CHARACTERS,
    MOST_DEPTH,
    MOST_OPERATIONS,
    MOST_TAGS,
    ExpressionError,
    parse_expression,
    quoted,
)


def program(text: str) -> str:
    """The program of an expression, a word for each step."""
    words = []
    for kind, number, tag, window, steps in parse_expression(text).program:
        named = f"{kind}{window}{'s' if steps else 'p'}" if kind == "mean" else kind
        words.append(tag if kind == "tag" else f"{number:g}" if kind == "number" else named)
    return " ".join(words)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("train/loss - val/loss", "train/loss val/loss -"),
        ("'train/loss' - \"val/loss\"", "train/loss val/loss -"),
        ("a/b", "a/b"),
        ("a / b", "a b /"),
        ("a /b", "a b /"),
        ("(a)/b", "a b /"),
        ("2/a", "2 a /"),
        ("a/0/w.x", "a/0/w.x"),
        ("a-b", "a b -"),
        ("'a-b'", "a-b"),
        ("'it''s'", "it's"),
        ('"a""b\'c"', "a\"b'c"),
        ("''", ""),
        ("步骤/损失 * 2", "步骤/损失 2 *"),
        ("a + b * c", "a b c * +"),
        ("(a + b) * c", "a b + c *"),
        ("a - b - c", "a b - c -"),
        ("a / b / c", "a b / c /"),
        ("-a * b", "a negative b *"),
        ("--a + +b", "a b +"),
        ("- - -a", "a negative"),
        ("log10(abs(a))", "a abs log10"),
        ("abs", "abs"),
        ("abs (abs)", "abs abs"),
        ("min(a, 2) + max(1e-3, b)", "a 2 min 0.001 b max +"),
        ("mean(a, 20)", "a mean20p"),
        ("mean(a, 20 points)", "a mean20p"),
        ("mean(a - b, 100 steps)", "a b - mean100s"),
        ("diff(a) + rate(b)", "a diff b rate +"),
        (".5 * a", "0.5 a *"),
    ],
)
def test_expressions(text: str, wanted: str) -> None:
    assert program(text) == wanted


@pytest.mark.parametrize(
    ("text", "column", "expected", "found"),
    [
        ("", 1, "value", ""),
        ("  ", 3, "value", ""),
        ("a +", 4, "value", ""),
        ("a + * b", 5, "value", "*"),
        ("(", 2, "value", ""),
        ("a b", 3, "operator", "b"),
        ("2a", 2, "operator", "a"),
        ("a)", 2, "operator", ")"),
        ("a ^ 2", 3, "operator", "^"),
        ("损失 ＋ a", 4, "operator", "＋"),
        ("(a", 3, "operator or )", ""),
        ("abs(a, b)", 6, "operator or )", ","),
        ("mean(a)", 7, "comma", ")"),
        ("min(a)", 6, "comma", ")"),
        ("mean(a, b)", 9, "window", "b"),
        ("mean(a, 2.5)", 9, "window", "2.5"),
        ("mean(a, 0)", 9, "window", "0"),
        ("mean(a, 1000000001)", 9, "window", "1000000001"),
        ("mean(a, ٣)", 9, "window", "٣"),
        ("mean(a, 20 seconds)", 12, "points or steps", "seconds"),
        ("mean(a, 20 steps", 17, "operator or )", ""),
        ("x + tan(a)", 5, "function", "tan"),
        ("a/b(c)", 1, "function", "a/b"),
        ("a - 'b", 7, "closing quote", ""),
        ("a - 'it's'", 11, "closing quote", ""),
        ("1 + 2", 1, "tag", "1 + 2"),
        ("mean(2, 20)", 6, "argument with a tag", "2"),
        ("a * 1e999", 5, "finite number", "1e999"),
        ("(" * (MOST_DEPTH + 1) + "a", MOST_DEPTH + 1, "fewer brackets", "("),
    ],
)
def test_an_error_says_where_and_what_was_expected(text: str, column: int, expected: str, found: str) -> None:
    with pytest.raises(ExpressionError, match=f"expression, column {column}: expected .*; found") as caught:
        parse_expression(text)
    assert (caught.value.column, caught.value.expected, caught.value.found) == (column, expected, found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" " * MOST_CHARACTERS + "a", "fewer characters"),
        (" + ".join(f"t{i}" for i in range(MOST_TAGS + 1)), "fewer tags"),
        (" + ".join("a" for _ in range(MOST_OPERATIONS)), "fewer operations"),
    ],
)
def test_expressions_are_bounded(text: str, expected: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_expression(text)
    assert caught.value.expected == expected


def test_depth_is_bounded_far_below_the_stack() -> None:
    assert parse_expression("-(" * MOST_DEPTH + "a" + ")" * MOST_DEPTH).tags == ("a",)
    assert program("-" * 1001 + "a") == "a negative"
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    try:
        parse_expression("abs(" * MOST_DEPTH + "b" + ")" * MOST_DEPTH)
    finally:
        sys.setrecursionlimit(limit)


@given(st.text(max_size=30))
def test_every_tag_can_be_named(tag: str) -> None:
    parsed = parse_expression(f"2 * {quoted(tag)} - abs({quoted(tag)})")
    assert parsed.tags == (tag,)


PARTS = [*"ab'\"()+-*/,. 1２٣", "mean(", "20 steps", "diff(", "1e", "a/b", "''", "\ud800", "\x00"]


@given(st.lists(st.sampled_from(PARTS), max_size=40))
def test_any_text_is_parsed_or_refused_at_a_column_in_it(parts: list[str]) -> None:
    text = "".join(parts)
    wrong = refusal(text)
    if wrong is None:
        assert parse_expression(text).tags
        return
    assert 1 <= wrong.column <= len(text) + 1
    assert text[wrong.column - 1 :].startswith(wrong.found) or wrong.expected == "tag"
    str(wrong).encode()


def refusal(text: str) -> ExpressionError | None:
    try:
        parse_expression(text)
    except ExpressionError as error:
        return error
    return None


@pytest.mark.parametrize("text", ["mean(+20 steps", "mean(1 + 2, 3)"])
def test_an_argument_without_a_tag_is_shown_from_its_first_sign_on(text: str) -> None:
    wrong = refusal(text)
    assert wrong is not None
    assert (wrong.column, wrong.found) == (6, text[5])
