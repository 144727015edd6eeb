"""Which runs a page shows, by its address and by what the page needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.store.store import Store
from layouts.curves.scalars.insights import marks
from layouts.graphs.graph.catalogue import catalogue as graphs
from layouts.kit.theme import PALETTE
from layouts.lineage.pipeline_columns import table
from layouts.lineage.two_runs.run_pair import pair_of
from layouts.profiles.catalogue import catalogue as profiles
from layouts.runs.chosen_runs import selected_runs, usual_runs
from layouts.runs.guides.page import shown as guided
from layouts.runs.rows import RunRow
from layouts.runs.symptoms.answering import SymptomAnswers
from layouts.shell.run_list import listing
from layouts.values.landscape.catalogue import catalogue as landscapes
from tests.pages import page_named
from tests.sources import MemorySource, row, series

PIPELINES = page_named("data_lineage")
MODEL = page_named("model_lineage")
TARGET = page_named("optimisation")


def source() -> MemorySource:
    job = row("job", [f"job/rank_{n}" for n in range(3)])
    return MemorySource(rows=[row(f"run{n:02d}") for n in range(9)] + [job] + [row(f"old{n}") for n in range(5)])


def test_by_default_the_newest_ten_runs_are_on_screen() -> None:
    newest = [f"run{n:02d}" for n in range(9)] + ["job/rank_0", "job/rank_1", "job/rank_2"]
    assert selected_runs({}, source()) == newest
    assert selected_runs(None, source()) == newest


def test_by_default_a_page_shows_runs_that_have_what_it_needs_or_may_turn_out_to() -> None:
    rows = [row(f"new{n:02d}", tags={"scalar": 1}) for n in range(20)]
    rows += [row(f"old{n:02d}", tags={"image": n % 2}) for n in range(30)]
    given = MemorySource(rows=rows)
    assert selected_runs({}, given, ("image", "text")) == [f"old{n:02d}" for n in range(1, 20, 2)]
    assert selected_runs({}, given, ("text",)) == selected_runs({}, given) == [f"new{n:02d}" for n in range(10)]
    assert selected_runs({"run": ["new03"]}, given, ("image",)) == ["new03"]
    rows = [row("new", tags={"scalar": 1}), row("unread", tags={}, state="waiting"), row("old", tags={"image": 1})]
    assert selected_runs({}, MemorySource(rows=rows), ("image",)) == ["unread", "old"]


def test_runs_that_a_page_names_are_chosen_too() -> None:
    given = source()
    assert selected_runs({"run": ["run01"], "of": ["old3"]}, given) == ["run01", "old3"]
    of_rank = {"run": ["run01"], "of": ["run01"], "with": ["job/rank_1|profiler|1"]}
    assert selected_runs(of_rank, given) == ["run01", "job/rank_1"]
    assert selected_runs({"run": ["run01"], "of": ["job"]}, given)[1:] == ["job/rank_0", "job/rank_1", "job/rank_2"]
    assert selected_runs({"run": [""], "of": ["old0"]}, given) == ["old0"]
    assert selected_runs({"run": ["run01"], "of": ["nobody", ""], "with": ["a|b|c"]}, given) == ["run01"]
    assert selected_runs({"of": ["old4"]}, given) == [*selected_runs({}, given), "old4"]


def test_pages_of_every_run_show_all_that_have_what_they_need() -> None:
    rows = [row(f"run{n:02d}", tags={"lineage": n % 2, "scalar": 1}) for n in range(40)]
    rows += [row("unread", tags={}, state="waiting")]
    given = MemorySource(rows=rows)
    wanted = [f"run{n:02d}" for n in range(1, 40, 2)] + ["unread"]
    assert selected_runs({}, given, ("lineage",), every=True) == wanted
    assert selected_runs({}, MemorySource(rows=rows[:1]), ("lineage",), every=True) == ["run00"]
    assert selected_runs({"run": ["run02"]}, given, ("lineage",), every=True) == ["run02"]


def test_they_are_the_runs_with_lineage(real_data: Path) -> None:
    store = Store([real_data / "summary"], interval=0).start()
    try:
        assert store.wait(60)
        every = {one.run for one in store.lineage.rows()}
        fed = {one.run for one in table(store, None).rows}
        for page, wanted in ((MODEL, every), (TARGET, every), (PIPELINES, fed)):
            assert page.every
            assert set(selected_runs({}, store, page.needs, every=True)) == wanted
    finally:
        store.stop()


def test_a_job_stands_for_its_ranks_and_unknown_runs_for_nothing() -> None:
    ranks = ["job/rank_0", "job/rank_1", "job/rank_2"]
    assert selected_runs({"run": ["job"]}, source()) == ranks
    assert selected_runs({"run": ["old1", "job/rank_1", "gone", "run00"]}, source()) == ["run00", "job/rank_1", "old1"]
    assert selected_runs({"run": [""]}, source()) == []
    assert len(selected_runs({"run": ["*"]}, source())) == 17


def test_every_run_has_a_colour_whatever_is_on_screen() -> None:
    drawn = source().runs.colours()
    assert set(drawn) == set(selected_runs({"run": ["*"]}, source()))
    single = [row.key for row in source().runs.rows() if len(row.members) == 1]
    assert all(drawn[run] in {shade for hue in PALETTE for shade in hue} for run in single)


def test_of_a_sweep_the_best_runs_are_on_screen_and_else_the_newest() -> None:
    values = [0.1 * number for number in range(12)] + [math.nan, math.inf]
    rows = [row(f"r{number}", main_tag="val/accuracy", main_value=value) for number, value in enumerate(values)]
    best = usual_runs(rows)
    assert best.best_by == "val/accuracy"
    assert best.keys == {f"r{number}" for number in range(2, 12)}
    less = usual_runs([replace(one, main_tag="loss") for one in rows])
    assert (less.best_by, less.keys) == ("loss", frozenset(f"r{number}" for number in range(10)))
    newest = frozenset(f"r{number}" for number in range(10))
    # A name that does not say what is better, runs of several kinds, and too few finite values.
    for others in (
        [replace(one, main_tag="speed") for one in rows],
        [replace(one, main_tag=f"loss{number // 3}") for number, one in enumerate(rows)],
        [replace(one, main_value=None if number < 5 else one.main_value) for number, one in enumerate(rows)],
    ):
        assert usual_runs(others) == (newest, "", 0)
    assert usual_runs(rows, every=True).keys == {one.key for one in rows}
    assert usual_runs(rows[:10]) == (newest, "", 0)
    assert usual_runs([]) == (frozenset(), "", 0)


def test_runs_without_scalars_do_not_change_what_the_list_of_runs_opens_with() -> None:
    sweep = [row(f"r{number}", main_tag="loss", main_value=float(number), tags={"scalar": 1}) for number in range(12)]
    others = [row(f"dump{number}", tags={"dump": 1}, main_tag="", main_value=None) for number in range(30)]
    assert usual_runs([*others, *sweep]) == usual_runs([*others, *sweep], ["scalar"]) == usual_runs(sweep)
    assert usual_runs([*others, *sweep], ["dump"]).best_by == ""
    assert usual_runs(others) == (frozenset(one.key for one in others[:10]), "", 0)


def test_a_run_of_one_point_is_not_the_best() -> None:
    rows = [row(f"r{number}", main_tag="loss", main_value=1.0 + number, main_points=5) for number in range(12)]
    rows += [row("begun", main_tag="loss", main_value=0.5, main_points=1)]
    assert usual_runs(rows).keys == {f"r{number}" for number in range(10)}
    # With too few curves it comes after them.
    assert "begun" in usual_runs([*rows[:9], *rows[12:], row("late", main_tag="speed")]).keys


def seeded(lr: int, seed: int) -> RunRow:
    """A run whose setting matters more than its seed."""
    return row(f"lr{lr}_seed{seed}", main_tag="loss", main_value=10.0 * lr + seed, main_points=5)


def test_of_runs_with_several_seeds_the_best_of_each_group_is_on_screen() -> None:
    rows = [seeded(lr, seed) for lr in range(4) for seed in range(8)]
    assert usual_runs(rows) == ({f"lr{lr}_seed0" for lr in range(4)}, "loss", 4)
    many = [seeded(lr, seed) for lr in range(15) for seed in range(2)]
    assert usual_runs(many) == ({f"lr{lr}_seed0" for lr in range(10)}, "loss", 15)
    # A best run that has only begun gives way to another one of its group.
    begun = [replace(one, main_points=1) if one.key == "lr2_seed0" else one for one in rows]
    assert usual_runs(begun).keys == {"lr0_seed0", "lr1_seed0", "lr2_seed1", "lr3_seed0"}
    # What was tried once is no group.
    assert usual_runs([*rows, row("baseline", main_tag="loss", main_value=-1.0, main_points=5)]) == usual_runs(rows)
    # One setting alone, settings that are mostly tried once, and names without seeds have no groups.
    once = [*(seeded(0, seed) for seed in range(3)), *(seeded(lr, 0) for lr in range(1, 12))]
    named = [replace(one, name=one.name.replace("seed", "linseed")) for one in rows]
    for others in ([seeded(0, seed) for seed in range(20)], once, named):
        best = usual_runs(others)
        assert (best.groups, len(best.keys)) == (0, 10)


@pytest.mark.parametrize("names", [
    ("lr0.1_seed1", "lr0.1_seed12"), ("seed1/lr0.1", "seed2/lr0.1"), ("a-seed=3", "a-seed=4"), ("a Seed 3 b", "a Seed 4 b"),
])  # fmt: skip
def test_names_that_differ_in_the_seed_alone(names: tuple[str, str]) -> None:
    rows = [replace(seeded(number, 0), key=f"{name}{number}", name=f"{name}/{number}") for name in names for number in range(6)]
    assert usual_runs(rows).groups == 6


def test_what_a_page_shows_by_default_is_what_it_says() -> None:
    rows = [row(f"r{number}", main_tag="val/accuracy", main_value=0.01 * number) for number in range(20)]
    source = MemorySource({one.key: {} for one in rows}, rows=rows)
    sent = listing(source, ("scalar",))
    assert sent["bestBy"] == "val/accuracy"
    assert sent["default"] == selected_runs({}, source, ("scalar",)) == [f"r{number}" for number in range(10, 20)]


@pytest.mark.parametrize("change", [-1, 1], ids=["deleted", "added"])
@pytest.mark.parametrize("make", [
    lambda source: profiles(source, {"run": ["*"]}), lambda source: graphs(source, {"run": ["*"]}),
    lambda source: landscapes(source, {"run": ["*"]}), lambda source: marks(source, {"run": ["*"], "tag": ["loss"]}),
    lambda source: pair_of(source, {"run": ["*"]}), lambda source: guided(source, SymptomAnswers(source), {"run": ["*"]}, None),
], ids=["profiles", "graphs", "landscapes", "insights", "two runs", "guides"])  # fmt: skip
def test_a_run_that_is_deleted_or_added_while_a_page_is_made_is_no_error(
    make: Callable[[MemorySource], object], change: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    curve = series(50)._replace(value=np.append(np.ones(49), np.nan))
    given = MemorySource({f"run{n:02}": {"scalar": {"loss": curve}} for n in range(24)})
    every = list(given.runs.rows())
    number = 12

    def rows() -> list[RunRow]:
        """Return the list, which has one run less or more the next time."""
        nonlocal number
        number += change if 2 < number < len(every) else 0
        return every[:number]

    monkeypatch.setattr(given.runs, "rows", rows)
    make(given)
    assert number != 12
