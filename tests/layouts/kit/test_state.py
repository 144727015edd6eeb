"""The state comes from the browser: whatever it is, a decoder gives the right type or raises BadInput."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts.kit import state
from layouts.kit.state import BadInput

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


def test_without_a_state_the_defaults_hold() -> None:
    for empty in (None, {}, {"other": ["1"]}):
        assert state.text(empty, "q", "none") == "none"
        assert state.texts(empty, "q") == []
        assert state.number(empty, "q", 0.6, 0, 0.99) == 0.6
        assert state.flag(empty, "q", True) is True


def test_the_last_value_counts_for_one_and_all_for_many() -> None:
    given_state = {"a": ["x", "y", "x"], "n": ["1", "2.5"], "f": ["0", "1"]}
    assert state.text(given_state, "a") == "x"
    assert state.texts(given_state, "a") == ["x", "y"]
    assert state.number(given_state, "n", 0) == 2.5
    assert state.flag(given_state, "f") is True


@pytest.mark.parametrize("value", ["", "nan", "inf", "-1", "100", "1e999", "ten", "0x10"])
def test_a_number_is_finite_and_within_its_bounds(value: str) -> None:
    with pytest.raises(BadInput, match="smooth"):
        state.number({"smooth": [value]}, "smooth", 0, 0, 0.99)


def test_a_text_has_a_length_and_choices() -> None:
    with pytest.raises(BadInput, match="at most 3"):
        state.text({"x": ["four"]}, "x", limit=3)
    with pytest.raises(BadInput, match="one of step, relative"):
        state.text({"x": ["sideways"]}, "x", "step", choices=("step", "relative"))
    with pytest.raises(BadInput):
        state.flag({"x": ["yes"]}, "x")


@given(ANYTHING)
def test_anything_is_a_value_or_bad_input(anything: object) -> None:
    for given_state in (anything, {"k": anything}):
        for read in (
            lambda s: state.text(s, "k"),
            lambda s: state.texts(s, "k"),
            lambda s: state.number(s, "k", 0.0),
            lambda s: state.flag(s, "k"),
        ):
            try:
                assert isinstance(read(given_state), (str, list, float, int, bool))
            except BadInput:
                pass
