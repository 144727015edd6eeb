"""The state comes from the browser: whatever it is, a decoder gives the right type or raises BadInput."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.store.store import Store
from layouts.kit import state
from layouts.kit.state import BadInput
from layouts.kit.theme import PALETTE
from layouts.lineage.data_lineage.page import PAGE as PIPELINES
from layouts.lineage.model_lineage.page import PAGE as MODEL
from layouts.lineage.optimisation.page import PAGE as TARGET
from layouts.lineage.pipeline_columns import table
from tests.sources import MemorySource, row

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


def source() -> MemorySource:
    job = row("job", [f"job/rank_{n}" for n in range(3)])
    return MemorySource(rows=[row(f"run{n:02d}") for n in range(9)] + [job] + [row(f"old{n}") for n in range(5)])


def test_by_default_the_newest_ten_runs_are_on_screen() -> None:
    newest = [f"run{n:02d}" for n in range(9)] + ["job/rank_0", "job/rank_1", "job/rank_2"]
    assert state.selected_runs({}, source()) == newest
    assert state.selected_runs(None, source()) == newest


def test_by_default_a_page_shows_runs_that_have_what_it_needs_or_may_turn_out_to() -> None:
    rows = [row(f"new{n:02d}", tags={"scalar": 1}) for n in range(20)]
    rows += [row(f"old{n:02d}", tags={"image": n % 2}) for n in range(30)]
    given = MemorySource(rows=rows)
    assert state.selected_runs({}, given, ("image", "text")) == [f"old{n:02d}" for n in range(1, 20, 2)]
    assert state.selected_runs({}, given, ("text",)) == state.selected_runs({}, given) == [f"new{n:02d}" for n in range(10)]
    assert state.selected_runs({"run": ["new03"]}, given, ("image",)) == ["new03"]
    rows = [row("new", tags={"scalar": 1}), row("unread", tags={}, state="waiting"), row("old", tags={"image": 1})]
    assert state.selected_runs({}, MemorySource(rows=rows), ("image",)) == ["unread", "old"]


def test_pages_of_every_run_show_all_that_have_what_they_need() -> None:
    rows = [row(f"run{n:02d}", tags={"lineage": n % 2, "scalar": 1}) for n in range(40)]
    rows += [row("unread", tags={}, state="waiting")]
    given = MemorySource(rows=rows)
    wanted = [f"run{n:02d}" for n in range(1, 40, 2)] + ["unread"]
    assert state.selected_runs({}, given, ("lineage",), every=True) == wanted
    assert state.selected_runs({}, MemorySource(rows=rows[:1]), ("lineage",), every=True) == ["run00"]
    assert state.selected_runs({"run": ["run02"]}, given, ("lineage",), every=True) == ["run02"]


def test_they_are_the_runs_with_lineage(real_data: Path) -> None:
    store = Store([real_data / "summary"], interval=0).start()
    try:
        assert store.wait(60)
        every = {one.run for one in store.lineage.rows()}
        fed = {one.run for one in table(store, None).rows}
        for page, wanted in ((MODEL, every), (TARGET, every), (PIPELINES, fed)):
            assert page.every
            assert set(state.selected_runs({}, store, page.needs, every=True)) == wanted
    finally:
        store.stop()


def test_a_job_stands_for_its_ranks_and_unknown_runs_for_nothing() -> None:
    ranks = ["job/rank_0", "job/rank_1", "job/rank_2"]
    assert state.selected_runs({"run": ["job"]}, source()) == ranks
    assert state.selected_runs({"run": ["old1", "job/rank_1", "gone", "run00"]}, source()) == ["run00", "job/rank_1", "old1"]
    assert state.selected_runs({"run": [""]}, source()) == []
    assert len(state.selected_runs({"run": ["*"]}, source())) == 17


def test_every_run_has_a_colour_whatever_is_on_screen() -> None:
    drawn = source().runs.colours()
    assert set(drawn) == set(state.selected_runs({"run": ["*"]}, source()))
    single = [row.key for row in source().runs.rows() if len(row.members) == 1]
    assert all(drawn[run] in {shade for hue in PALETTE for shade in hue} for run in single)
