"""Groups, baselines and their figures against the arrays they are made of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layouts.curves.grouping import REST, REST_COLOUR, columns, grouping
from layouts.curves.scalars.page import draw, stamp
from layouts.kit.state import BadInput
from layouts.kit.theme import FIRST, PALETTE
from parsers import Series, Setting
from tests.amounts import examples
from tests.layouts.curves.scalars.conftest import START, arrays, series
from tests.layouts.curves.scalars.test_lines import mains, xs, ys
from tests.layouts.kit.figures.test_typed_arrays import read
from tests.sources import MemorySource

RNG = np.random.default_rng(5)


def described(data: Mapping[str, Mapping[str, Series]], settings: Mapping[str, Mapping[str, Setting]]) -> MemorySource:
    """Runs that were started one after the other, with settings."""
    source = arrays(data)
    for run, content in source.data.items():
        content["row"] = {"started": START - ord(run[0]), "updated": START}
    for run, recorded in settings.items():
        source.data[run]["settings"] = recorded
    return source


def walk(size: int = 50, **more: Any) -> Series:
    return series(RNG.normal(size=size).cumsum() + 100, **more)


@pytest.fixture
def sweep() -> MemorySource:
    names = [f"lr{lr}_s{seed}" for lr in (1, 10, 2) for seed in range(4)]
    data = {name: {"loss": walk(), "acc": walk()} for name in names} | {"other": {"loss": walk()}}
    return described(data, {name: {"lr": float(name[2:].split("_")[0]), "seed": int(name[-1])} for name in names})


def asked(**more: str) -> dict[str, list[str]]:
    return {"tag": ["loss"], "run": ["*"], "columns": ["600"]} | {key: [value] for key, value in more.items()}


def lines(made: dict[str, Any]) -> dict[str, np.ndarray]:
    return {trace["meta"]["label"]: ys(trace) for trace in mains(made)}


def stacked(source: MemorySource, begin: str, tag: str = "loss") -> np.ndarray:
    return np.array([content["scalar"][tag].value for run, content in source.data.items() if run.startswith(begin)])


@pytest.mark.parametrize("by", ["regex:lr(\\d+)", "column:lr"])
def test_groups_in_order_of_their_numbers_those_without_one_last(sweep: MemorySource, by: str) -> None:
    made = grouping(sweep, by)
    assert made is not None
    assert list(made.colour) == ["1", "2", "10", REST]
    assert made.label["lr10_s3"] == "10"
    assert made.label["other"] == REST
    assert made.colour[REST] == REST_COLOUR
    assert len(set(made.colour.values())) == 4


def test_ranks_and_jobs(source: MemorySource) -> None:
    assert grouping(source, "rank").label == {"a": REST, "b": REST, "job/rank_0": "rank_0", "job/rank_1": "rank_1"}
    assert grouping(source, "job").label == {"a": "a", "b": "b", "job/rank_0": "job", "job/rank_1": "job"}
    assert grouping(source, "") is None
    assert grouping(source, "regex:") is None


def test_settings_to_group_by_begin_with_those_that_differ(sweep: MemorySource) -> None:
    assert columns(sweep, list(sweep.data)) == ["lr", "seed"]
    assert columns(sweep, ["lr1_s0", "lr1_s1"]) == ["seed", "lr"]
    assert columns(sweep, ["other"]) == []


def test_hues_are_spread_over_the_groups_on_screen_and_stay_with_them(sweep: MemorySource) -> None:
    wanted = asked(group="regex:lr(\\d+)") | {"run": list(sweep.data)}
    every = {t["meta"]["label"]: t["line"]["color"] for t in mains(draw(sweep, wanted))}
    assert set(every.values()) <= {PALETTE[hue][0] for hue in FIRST} | {REST_COLOUR}
    assert len(set(every.values())) == len(every)
    sweep.data = {"new_lr5": {"loss": walk()}} | sweep.data
    assert {t["meta"]["label"]: t["line"]["color"] for t in mains(draw(sweep, wanted))} == every
    sweep.painted_groups = {("regex:lr(\\d+)", "2"): "#123456", ("column:lr", "1"): "#654321"}
    by_hand = {t["meta"]["label"]: t["line"]["color"] for t in mains(draw(sweep, wanted))}
    assert by_hand["2"] == "#123456"
    assert "#654321" not in by_hand.values()


@pytest.mark.parametrize("line", ["mean", "median"])
@pytest.mark.parametrize("band", ["range", "std", "interval", "none"])
def test_a_group_is_drawn_with_its_band_and_its_number(sweep: MemorySource, line: str, band: str) -> None:
    made = draw(sweep, asked(group="regex:lr(\\d+)", line=line, band=band))
    meta = made["layout"]["meta"]
    assert meta["grouped"]
    assert (meta["lines"], meta["series"], meta["points"]) == (4, 4, 13 * 50)
    trace = mains(made)[0]
    values = stacked(sweep, "lr1_")
    np.testing.assert_allclose(ys(trace), np.median(values, axis=0) if line == "median" else values.mean(axis=0), rtol=1e-12)
    assert xs(trace).tolist() == list(range(50))
    assert trace["meta"]["members"] == 4
    assert set(read(trace["meta"]["n"])) == {4}
    areas = [t for t in made["data"] if (t.get("meta") or {}).get("band")]
    # Four runs have no interval of the median, one run has no band but its own range.
    assert len(areas) == {"none": 0, "range": 4}.get(band, 0 if (line, band) == ("median", "interval") else 3)
    if band == "range":
        np.testing.assert_allclose(read(trace["meta"]["low"]), values.min(axis=0), rtol=1e-6)
        np.testing.assert_allclose(read(trace["meta"]["high"]), values.max(axis=0), rtol=1e-6)
    orjson.dumps(made)


def test_runs_are_smoothed_before_they_are_averaged(sweep: MemorySource) -> None:
    made = draw(sweep, asked(group="column:lr", smooth="0.6"))
    single = {t["meta"]["key"]: ys(t) for t in mains(draw(sweep, asked(smooth="0.6")))}
    wanted = np.mean([values for run, values in single.items() if run.startswith("lr2_")], axis=0)
    np.testing.assert_allclose(lines(made)["2"], wanted, rtol=1e-5)


def test_a_difference_to_a_run(sweep: MemorySource) -> None:
    made = draw(sweep, asked(base="run:lr1_s0"))
    base = sweep.data["lr1_s0"]["scalar"]["loss"].value
    assert made["layout"]["meta"]["base"] == "lr1_s0"
    assert not lines(made)["lr1_s0"].any()
    np.testing.assert_allclose(lines(made)["lr2_s1"], sweep.data["lr2_s1"]["scalar"]["loss"].value - base, atol=1e-9)
    made = draw(sweep, asked(base="run:lr1_s0", group="column:lr", threshold=">0"))
    np.testing.assert_allclose(lines(made)["10"], (stacked(sweep, "lr10_") - base).mean(axis=0), atol=1e-9)
    assert made["layout"]["meta"]["thresholds"] == []


def test_a_difference_to_a_group(sweep: MemorySource) -> None:
    made = draw(sweep, asked(base="group:1", group="column:lr", band="interval"))
    wanted = stacked(sweep, "lr2_").mean(axis=0) - stacked(sweep, "lr1_").mean(axis=0)
    np.testing.assert_allclose(lines(made)["2"], wanted, atol=1e-9)
    assert not lines(made)["1"].any()
    plain = draw(sweep, asked(group="column:lr", band="interval"))

    def width(figure: dict[str, Any]) -> np.ndarray:
        (trace,) = [t for t in mains(figure) if t["meta"]["label"] == "2"]
        return read(trace["meta"]["high"]) - read(trace["meta"]["low"])

    # The baseline's mean is not certain either.
    assert (width(made) > width(plain)).all()


def test_a_baseline_without_the_tag_leaves_nothing_to_compare(sweep: MemorySource) -> None:
    wanted = asked(base="run:other") | {"tag": ["acc"]}
    meta = draw(sweep, wanted)["layout"]["meta"]
    assert (meta["base"], meta["beyond"], meta["sent"]) == ("other", 12 * 50, 0)
    assert draw(sweep, wanted | {"base": ["run:gone"]})["layout"]["meta"]["sent"] == 0
    assert draw(sweep, wanted | {"base": ["group:1"]})["layout"]["meta"]["base"] is None  # there are no groups


def test_points_beyond_the_baseline_are_counted() -> None:
    source = arrays({"long": {"loss": series(range(10))}, "short": {"loss": series([1.0] * 5, step=[2, 3, 4, 5, 6])}})
    made = draw(source, asked(base="run:short"))
    assert made["layout"]["meta"]["beyond"] == 5
    assert lines(made)["long"].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_a_restart_counts_once_in_a_group() -> None:
    again = series([1, 1, 1, 9, 9, 2, 2], step=[0, 1, 2, 3, 4, 3, 4])
    source = arrays({"a": {"loss": again}, "b": {"loss": series([0.0] * 5)}})
    made = draw(source, asked(group="regex:^()", band="range"))
    assert lines(made)[REST].tolist() == [0.5, 0.5, 0.5, 1.0, 1.0]
    np.testing.assert_allclose(read(mains(made)[0]["meta"]["high"]), [1, 1, 1, 2, 2])


def test_values_that_are_not_finite_are_still_marked() -> None:
    source = arrays({"a": {"loss": series([1, np.nan, 3])}, "b": {"loss": series([1, 2, np.inf])}})
    meta = draw(source, asked(group="regex:^()"))["layout"]["meta"]
    assert (meta["nan"], meta["above"]) == (1, 1)
    assert meta["first"]["label"] == "a"


@pytest.mark.parametrize("axis", ["relative", "absolute", "tag:acc"])
def test_other_axes(sweep: MemorySource, axis: str) -> None:
    made = draw(sweep, asked(group="column:lr", x=axis, log="1"))
    assert len(mains(made)) >= 3
    for trace in mains(made):
        assert np.isfinite(ys(trace)).any() or (axis == "tag:acc" and trace["meta"]["label"] == REST)
        assert (np.diff(xs(trace)) > 0).all()


def test_several_tags_in_one_chart(sweep: MemorySource) -> None:
    made = draw(sweep, {"tag": ["loss"], "right": ["acc"], "run": ["*"], "group": ["column:lr"]})
    assert [(t["meta"]["tag"], t["meta"]["label"], t.get("yaxis", "y")) for t in mains(made)][:4] == [
        ("loss", "1", "y"), ("loss", "2", "y"), ("loss", "10", "y"), ("loss", REST, "y"),
    ]  # fmt: skip
    assert {t["line"].get("dash") for t in mains(made)} == {None, "dash"}
    one = draw(sweep, {"tag": ["loss", "acc"], "run": ["lr1_s0", "lr1_s1"], "group": ["column:lr"]})
    assert len({t["line"]["color"] for t in mains(one)}) == 2


def test_a_pattern_that_cannot_be_tried_draws_the_runs_and_says_why(sweep: MemorySource) -> None:
    def refused(pattern: str, names: Any) -> Any:
        raise ValueError("wanted a regular expression: missing )")

    sweep.patterns.captured = refused  # type: ignore[method-assign]
    meta = draw(sweep, asked(group="regex:("))["layout"]["meta"]
    assert meta["refused"] == "wanted a regular expression: missing )"
    assert meta["lines"] == 13
    assert stamp(sweep, asked(group="regex:("))


def test_a_card_is_drawn_again_when_groups_or_baseline_change(sweep: MemorySource) -> None:
    by_column, to_run = asked(group="column:lr"), asked(base="run:other") | {"run": ["lr1_s0"]}
    before = stamp(sweep, by_column), stamp(sweep, to_run)
    sweep.data["other"]["settings"] = {"lr": 7.0}
    sweep.data["other"]["scalar"]["loss"] = walk(60)
    assert before[0] != stamp(sweep, by_column)
    assert before[1] != stamp(sweep, to_run)


@pytest.mark.parametrize(
    "wrong", [{"group": ["shape"]}, {"line": ["mode"]}, {"band": ["all"]}, {"base": ["x"]}, {"group": [1]}]
)
def test_wrong_words_are_refused(sweep: MemorySource, wrong: Any) -> None:
    with pytest.raises(BadInput):
        draw(sweep, asked() | wrong)


VALUE = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.just(0.0), st.floats(-10, 10))


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.lists(st.tuples(st.integers(-50, 50), VALUE), min_size=1, max_size=20), min_size=1, max_size=6),
    st.fixed_dictionaries({}, optional={
        "x": st.sampled_from(["step", "relative", "absolute", "tag:acc"]), "log": st.just("1"), "smooth": st.just("0.9"),
        "band": st.sampled_from(["range", "std", "interval", "none"]), "line": st.sampled_from(["mean", "median"]),
        "base": st.sampled_from(["run:r0", "group:0", "run:none"]), "group": st.sampled_from(["regex:r(\\d)", "job", "rank"]),
        "view": st.sampled_from(["-5,5,,", "0,1,0,1"]), "columns": st.just("50"),
    }),
)  # fmt: skip
def test_whatever_runs_hold_a_figure_is_made(runs: list[list[tuple[int, float]]], more: dict[str, str]) -> None:
    source = arrays({
        f"r{number}": {tag: series([v for _, v in points], step=[s for s, _ in points]) for tag in ("loss", "acc")}
        for number, points in enumerate(runs)
    })  # fmt: skip
    made = draw(source, asked(**more))
    json.loads(orjson.dumps(made))
    for trace in mains(made):
        sizes = {read(trace["meta"][name]).size for name in ("n", "low", "high") if name in trace["meta"]}
        assert sizes <= {ys(trace).size}


def test_the_mean_of_a_group_is_broken_where_runs_become_nan_and_says_how_many() -> None:
    calm, bad = np.full(20, 0.4), np.concatenate((np.linspace(0.4, 2.0, 10), np.full(10, np.nan)))
    source = arrays({**{f"a_{n}": {"loss": series(calm)} for n in range(4)}, "a_4": {"loss": series(bad)}})
    (trace,) = mains(draw(source, asked(group="regex:^(.)", columns="600")))
    values = read(trace["y"])
    assert np.flatnonzero(np.isnan(values)).tolist() == [10]
    assert trace["meta"]["members"] == 5
    assert read(trace["meta"]["lost"]).tolist() == [0] * 10 + [1] * 11
    assert read(trace["meta"]["n"]).tolist() == [5] * 10 + [4] * 11
    (whole,) = mains(draw(source, asked(group="regex:^(.)", line="worst")))
    assert read(whole["y"]).tolist() == pytest.approx([0.4] * 20)
