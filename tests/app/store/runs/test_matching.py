"""Patterns are stopped for certain, whatever they are."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.store.runs.matching import PatternError, UserPatterns, captured, matching
from app.store.runs.pattern_process import lowered
from tests.amounts import examples

NAMES = ["loss", "acc", "train/loss", "训练/损失", "a b", "<b>x</b>", "line\nbreak", "😀", ""]


@pytest.mark.parametrize("pattern", ["", "loss", "l.ss$", "^l", "[ab]", "训练|acc", r"\d", "(?i)LOSS", "b$", ".", "^$", "</"])
def test_as_re_finds_them(pattern) -> None:
    assert matching(pattern, NAMES) == [name for name in NAMES if re.search(pattern, name)]


PIECES = [
    "A", "b", "Op", "7", ".", "\\d", "\\D", "\\W", "\\s", "\\S", "\\b", "\\B", "\\A", "\\Z", "\\x41", "\\\\A", "\\",
    "[A-Z]", "[^a-z]", "[A-z]", "[X-b]", "[a-]", "[+-_]", "[\\a-z]", "[0-9]", "[\\W-z]", "[]A-z]", "[^]X-b]",
    "(?P<Aa>a)", "(?P=Aa)", "(?i)", "(?-i:A)", "(?:B|c)", "(?=A)", "(?<!B)", "(A)", "\\1",
    "*", "+?", "{1,2}", "|", "^", "$", "é", "K",
]  # fmt: skip
LETTERS = "AaBbZzOoPpKk7_-]^\\/ "


@settings(max_examples=examples(800), deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(PIECES), max_size=6).map("".join), st.lists(st.text(LETTERS, max_size=6), max_size=5))
def test_small_letters_find_what_any_case_does(pattern: str, names: list[str]) -> None:
    small = lowered(pattern)
    try:
        expression = re.compile(f"(?i){pattern}")
    except re.error:
        return
    if small is not None:
        found = [bool(re.search(small, name.lower())) for name in names]
        assert found == [bool(expression.search(name)) for name in names]


def test_plain_patterns_are_tried_in_small_letters() -> None:
    assert lowered(r"Dense/.*Op\d+$") == r"dense/.*op\d+$"
    assert lowered(r"\WOp[A-Z]") == r"\Wop[a-z]"
    for pattern in (r"\x41", "[A-z]", "(?P<a>b)", "é", r"(?i)\1"):
        assert lowered(pattern) is None


def test_any_case_in_names_of_any_letters() -> None:
    names = ["Loss", "LOSS\nb", "İ", "ſoft", "训练Loss", "\udc80oss"]
    for pattern in ("(?i)l.s", "(?i)S$", "(?i)^s.f", "(?i)[i-s]$", "(?i).OSS"):
        for some in (names, names[:1], names[2:]):
            assert matching(pattern, some) == [name for name in some if re.search(pattern, name)]
    assert matching("a.", []) == captured("a.", []) == []


def test_a_plain_text_needs_no_process(monkeypatch) -> None:
    monkeypatch.setattr("subprocess.run", lambda *_args, **_kwargs: pytest.fail("a process was started"))
    assert matching("loss", NAMES) == ["loss", "train/loss"]


@pytest.mark.parametrize("pattern", ["(", "[z-a]", "*", "(?P<x", "a{2,1}", "\\", "(?<=a+)b", "(" * 400])
def test_no_patterns(pattern) -> None:
    with pytest.raises(PatternError, match="expected a regular expression"):
        matching(pattern, NAMES)


@pytest.mark.parametrize("ask", [matching, captured])
def test_a_pattern_of_more_than_a_thousand_characters_is_refused(ask) -> None:
    assert ask("." * 1000, ["a" * 1000])
    for pattern in ("." * 1001, "a" * 1001):
        with pytest.raises(PatternError, match="at most 1000 characters, found 1001"):
            ask(pattern, NAMES)


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(a|a)*$", "(.*a){25}$", "(x+x+)+y|^(a|aa)+$"])
def test_patterns_that_never_end(pattern) -> None:
    begin = time.monotonic()
    with pytest.raises(PatternError, match=r"longer than 0.3 s and was stopped"):
        matching(pattern, ["a" * 100 + "!"], seconds=0.3)
    assert time.monotonic() - begin < 60  # they would take years


@pytest.mark.long
def test_a_pattern_that_eats_memory() -> None:
    with pytest.raises(PatternError, match="too much memory"):
        matching("^(?:(a)|(b))*c", ["ab" * 8_000_000], seconds=20)


def test_the_pattern_is_data(tmp_path) -> None:
    made = tmp_path / "made"
    code = f"__import__('pathlib').Path({str(made)!r}).touch()"
    assert matching(f"{code}|loss", ["loss"]) == ["loss"]
    assert captured(f"{code}|loss", ["loss"]) == ["loss"]
    assert not made.exists()
    eval(code)
    assert made.exists(), "where it is not data"


def test_many_names() -> None:
    names = [f"run_{number}/loss" for number in range(20_000)]
    assert matching(r"_1\d*/", names) == [name for name in names if re.search(r"_1\d*/", name)]


def test_what_a_pattern_finds_is_its_first_group_or_all_of_it() -> None:
    assert captured(r"lr([\d.]+)_s\d", ["lr0.1_s2", "lr1_s0", "adam"]) == ["0.1", "1", None]
    assert captured(r"lr\d", ["lr1_s0", "adam"]) == ["lr1", None]
    assert captured(r"(x)?lr\d", ["lr1_s0", "xlr2"]) == ["lr1", "x"]
    assert captured("^()", ["a"]) == [""]
    assert captured("lr", ["lr1", "adam"]) == ["lr", None]
    assert captured("训(.)", ["训练"]) == ["练"]


def test_the_same_question_is_tried_once(monkeypatch) -> None:
    asked: list[str] = []

    def ask(pattern, names):
        asked.append(pattern)
        if pattern == "(":
            raise PatternError("no")
        return [pattern] * len(names)

    monkeypatch.setattr("app.store.runs.matching.captured", ask)
    patterns = UserPatterns()
    for _ in range(3):
        assert patterns.captured("a.", ["x", "y"]) == ["a.", "a."]
        with pytest.raises(PatternError, match="no"):
            patterns.captured("(", ["x"])
    assert asked == ["a.", "("]
    assert patterns.captured("a.", ["x"]) == ["a."]
    for number in range(2 * UserPatterns.CACHED):
        patterns.captured(f"{number}.", ["x"])
    patterns.captured("a.", ["x", "y"])
    assert asked.count("a.") == 3
    monkeypatch.setattr(UserPatterns, "RETRY_SECONDS", -1.0)
    with pytest.raises(PatternError):
        patterns.captured("(", ["x"])
    assert asked.count("(") == 2
