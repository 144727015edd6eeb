"""Short forms of names: told apart, cut at separators, with every setting that differs. The browser's are the same."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from layouts.kit.names import CUT, NameSet, by_separators, fits, longest_common, middle, shortened
from tests.amounts import examples

CASES = json.loads(Path(__file__).with_name("names.json").read_text(encoding="utf-8"))
WORDS = st.one_of(
    st.text("ab01", min_size=1, max_size=4), st.sampled_from(["lr0.1", "lr0.01", "1e-3", "ResNet50", "实验", "é"])
)  # fmt: skip
NAMES = st.lists(
    st.lists(st.tuples(WORDS, st.sampled_from("/_-. =")), min_size=1, max_size=6).map(
        lambda parts: "".join(word + separator for word, separator in parts)
    ), min_size=1, max_size=6, unique=True,
)  # fmt: skip
ANY = st.lists(st.text("ab_/0. A…\u0301", max_size=12), min_size=1, max_size=6, unique=True)
SETTINGS = [
    ("adam", "sgd", "lamb"), ("lr0.1", "lr0.01", "lr0.003", "lr0.001", "lr0.0003"), ("wd0.0", "wd0.0001"), ("b32", "b64"),
    tuple(f"seed{seed}" for seed in range(1, 6)),
]  # fmt: skip
SWEEP = ["project_imagenet_resnet50_" + "_".join(chosen) for chosen in itertools.product(*SETTINGS)]


def meant(form: str, names: list[str]) -> list[str]:
    """The names that a reader could take a form for, found without the code under test."""
    pattern = re.compile(".*".join(re.escape(piece) for piece in form.split(CUT)), re.DOTALL)
    return [name for name in names if pattern.fullmatch(name)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["names"][0][:24])
def test_the_cases_of_both_languages(case: dict[str, list[str]]) -> None:
    names = NameSet(case["names"])
    assert [names.short(name, case["room"]) for name in case["names"]] == case["short"]  # type: ignore[arg-type]


@settings(max_examples=examples(200))
@given(st.one_of(NAMES, ANY), st.integers(1, 24))
def test_a_short_form_is_of_one_name_only(names: list[str], room: int) -> None:
    together = NameSet(names)
    forms = {name: together.short(name, room) for name in names}
    assert len(set(forms.values())) == len(names)
    for name, form in forms.items():
        assert len(name) > room or form == name
        assert form not in set(names) - {name}
        assert CUT in name or (CUT in form) == (form != name)
        if form != name:
            assert name in meant(form, names)
        if CUT not in name and len(names) > 1:
            assert meant(form, names) == [name]


@settings(max_examples=examples(200))
@given(NAMES, st.integers(1, 24))
def test_a_form_wider_than_its_room_is_needed(names: list[str], room: int) -> None:
    """More room never leads to a wider form than it has, once one was found that fits."""
    together = NameSet(names)
    for name in names:
        form = together.short(name, room)
        if len(form) > room:
            assert len(together.short(name, len(form))) <= len(form)


@settings(max_examples=examples(200))
@given(st.lists(st.sampled_from(["big", "old", "new", "x1", "y22"]), min_size=2, max_size=4, unique=True), st.integers(8, 40))
def test_what_differs_is_kept_and_the_ends_where_there_is_room(differ: list[str], room: int) -> None:
    names = [f"project_of_november_{one}_with_many_words_end" for one in differ]
    together = NameSet(names)
    for name, one in zip(names, differ, strict=True):
        words = re.split(f"[{CUT}_]+", together.short(name, room))
        assert one in words
        if room >= len(f"project_{CUT}_{one}_{CUT}_end"):
            assert (words[0], words[-1]) == ("project", "end")


def test_every_setting_of_a_sweep_is_kept() -> None:
    together = NameSet(SWEEP)
    for name in SWEEP:
        settings = name.split("_")[3:]
        assert [word for word in re.split(f"[{CUT}_]+", together.short(name, 35)) if word in settings] == settings
        assert together.telling(name) == f"{CUT}_{'_'.join(settings)}"
    for room in (30, 20, 8):
        assert len({together.short(name, room) for name in SWEEP}) == len(SWEEP) == 300


def test_points_and_signs_within_a_number_separate_nothing() -> None:
    assert by_separators("lr=1e-3,wd0.01/v-2.5.ckpt")[0] == ("lr", "1e-3", "wd0.01", "v", "2.5", "ckpt")
    assert by_separators("/a//b/") == (("a", "b"), ("/", "//", "/"))


@given(st.lists(st.sampled_from("abc"), max_size=6), st.lists(st.sampled_from("abc"), max_size=6))
def test_common_words_are_in_both(one: list[str], other: list[str]) -> None:
    found = longest_common(one, other)
    subsequences = {
        chosen for size in range(len(one) + 1) for chosen in itertools.combinations(one, size)
    } & {chosen for size in range(len(other) + 1) for chosen in itertools.combinations(other, size)}  # fmt: skip
    assert found in subsequences
    assert len(found) == max(map(len, subsequences))


def test_hostile_names_stay_text() -> None:
    names = ["<b>run</b>_1_of_many", "<b>run</b>_2_of_many", "\u202erun_1_of_many_more"]
    forms = [shortened(name, names, 12) for name in names]
    assert len(set(forms)) == 3
    assert all(len(form) <= 12 for form in forms)


@given(st.text(max_size=30), st.integers(1, 30))
def test_a_text_alone_has_its_room(text: str, most: int) -> None:
    assume(CUT not in text)
    assert len(middle(text, most)) <= most
    assert fits(middle(text, most), text)
