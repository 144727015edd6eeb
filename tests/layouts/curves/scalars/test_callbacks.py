"""The callbacks as plain functions: what a card gets, when it is drawn again, and what is refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import orjson
import pytest
from dash import no_update
from hypothesis import given
from hypothesis import strategies as st

from layouts.curves.charts import MOST_LINES
from layouts.curves.scalar_asks import ChartRequest
from layouts.curves.scalars.page import CARDS, verdict
from layouts.kit.callbacks import listed
from layouts.kit.cards import cards
from layouts.kit.cards.catalogue import catalogue
from layouts.kit.state import BadInput
from tests.layouts.curves.scalars.conftest import START, arrays, series
from tests.layouts.curves.scalars.test_lines import mains, xs, ys
from tests.sources import MemorySource


def card(source: MemorySource, wanted: Any) -> tuple[Any, Any]:
    return cards.card(CARDS, source, wanted)


def ask(tag: str = "loss", **more: Any) -> dict[str, list[str]]:
    return {"tag": [tag]} | {key: value if isinstance(value, list) else [value] for key, value in more.items()}


def test_tags_most_runs_have_come_first_then_natural_order(source: MemorySource) -> None:
    found, digest = listed(catalogue(source, "scalar", {}, None))
    assert found["tags"] == ["loss", "layer2/w", "layer10/w", "lr"]
    assert found["runs"] == ["a", "b", "job/rank_0", "job/rank_1"] == source.wanted
    assert listed(catalogue(source, "scalar", {}, digest)) == (no_update, no_update)
    assert catalogue(source, "scalar", {"run": ["b"]}, digest)["tags"] == ["loss", "layer2/w"]
    source.data["b"]["row"] = {"state": "loading"}
    assert catalogue(source, "scalar", {"run": ["b"]}, None)["waiting"] == 1


@pytest.mark.parametrize("chosen", ["{", 5, ["a"], {"run": "a"}, {"run": [1]}, {"run": {"a": 1}}])
def test_wrong_choices_are_refused(source: MemorySource, chosen: Any) -> None:
    with pytest.raises(BadInput):
        catalogue(source, "scalar", chosen, None)


def test_a_card_has_a_line_per_run_in_the_run_s_colour(source: MemorySource) -> None:
    made, mark = card(source, ask())
    lines = mains(made)
    assert [t["meta"]["key"] for t in lines] == ["a", "b", "job/rank_0", "job/rank_1"]
    assert [t["meta"]["label"] for t in lines] == ["a", "b", "job/rank_0", "job/rank_1"]
    drawn = source.runs.colours()
    assert [t["line"]["color"] for t in lines] == [drawn[t["meta"]["key"]] for t in lines]
    assert made["layout"]["meta"]["tags"] == ["loss"]
    assert isinstance(mark, str)


def test_in_one_chart_every_tag_keeps_its_own_threshold(source: MemorySource) -> None:
    wanted = {"tag": ["loss", "lr"], "run": ["a"], "threshold": ["<1.5:loss", ">100:lr"]}
    meta = card(source, wanted)[0]["layout"]["meta"]
    assert [(fact["tags"], fact["text"]) for fact in meta["thresholds"]] == [(["loss"], "<1.5"), (["lr"], ">100.0")]
    loss, lr = (source.curves.series("a", tag).value for tag in ("loss", "lr"))
    assert [fact["satisfied"] for fact in meta["thresholds"]] == [int((loss < 1.5).sum()), int((lr > 100).sum())]
    (fact,) = card(source, wanted | {"threshold": [">0"]})[0]["layout"]["meta"]["thresholds"]
    assert fact["tags"] == ["loss", "lr"]


def test_hues_are_spread_over_the_chosen_runs(source: MemorySource) -> None:
    made, _ = card(source, ask(run=["b", "job"]))
    drawn = source.runs.colours(["b", "job"])
    assert {t["meta"]["key"]: t["line"]["color"] for t in mains(made)} == {
        key: drawn[key] for key in ("b", "job/rank_0", "job/rank_1")
    }


def test_cards_are_drawn_together_and_one_that_is_refused_says_why(source: MemorySource) -> None:
    good, bad = ask(), ask() | {"x": ["nonsense"]}
    found = cards.drawings(CARDS, source, {"cards": [[3, good], [0, bad]], "number": 7})
    assert found[0] == [3, *card(source, good)]
    assert found[1] == [0, None, "x: expected step, relative, absolute or tag:<name>; found 'nonsense'"]
    with pytest.raises(BadInput, match="found 'nonsense'"):
        cards.drawings(CARDS, source, {"cards": [[0, bad]]})


@pytest.mark.parametrize(
    "wanted",
    [None, 7, {}, {"cards": []}, {"cards": {}}, {"cards": [7]}, {"cards": [[1]]}, {"cards": [["1", ask()]]},
     {"cards": [[60, ask()]]}, {"cards": [[-1, ask()]]}, {"cards": [[0, None]]}, {"cards": [[0, ask()]] * 61}],
)  # fmt: skip
def test_a_request_that_is_none_is_refused(source: MemorySource, wanted: object) -> None:
    with pytest.raises(BadInput):
        cards.drawings(CARDS, source, wanted)


def test_a_job_stands_for_its_ranks_and_unknown_names_for_nothing(source: MemorySource) -> None:
    made, _ = card(source, ask(run=["job", "../../etc/passwd"]))
    assert [t["meta"]["key"] for t in mains(made)] == ["job/rank_0", "job/rank_1"]
    made, _ = card(source, ask("no such tag"))
    assert made["data"] == []


def test_the_axes(source: MemorySource) -> None:
    relative = mains(card(source, ask(run="a", x="relative"))[0])[0]
    assert xs(relative).tolist() == [10.0, 12.0, 14.0, 16.0]
    made = card(source, ask(run="a", x="absolute", zone="120"))[0]
    assert xs(mains(made)[0])[0] == (START + 10.0 + 7200.0) * 1000
    assert made["layout"]["xaxis"]["type"] == "date"
    over = mains(card(source, ask(run="a", x="tag:lr"))[0])[0]
    np.testing.assert_allclose(xs(over), [0.4, 0.3, 0.2, 0.1])


def test_an_absolute_view_is_in_seconds_of_utc(source: MemorySource) -> None:
    made, _ = card(source, ask(run="a", x="absolute", zone="60", view=f"{START},{START + 11},,"))
    assert made["layout"]["xaxis"]["range"] == [(START + 3600) * 1000, (START + 3611) * 1000]


def test_one_chart_of_several_tags(source: MemorySource) -> None:
    made, _ = card(source, {"tag": ["loss"], "right": ["lr"], "run": ["a"]})
    lines = mains(made)
    assert [t.get("yaxis", "y") for t in lines] == ["y", "y2"]
    assert len({t["line"]["color"] for t in lines}) == 2
    assert [item["tag"] for item in made["layout"]["meta"]["legend"]] == ["loss", "lr"]
    made, _ = card(source, {"tag": ["loss", "lr"]})
    assert {t["line"].get("dash", "solid") for t in mains(made)} == {"solid", "dash"}


def test_too_many_lines_are_counted_and_can_be_had() -> None:
    source = arrays({f"r{i}": {"acc": series([1.0, 2.0])} for i in range(MOST_LINES + 5)})
    made, _ = card(source, ask("acc", run="*"))
    assert (made["layout"]["meta"]["lines"], made["layout"]["meta"]["series"]) == (MOST_LINES, MOST_LINES + 5)
    made, _ = card(source, ask("acc", run="*", every="1"))
    assert len(mains(made)) == MOST_LINES + 5


def test_only_cards_with_new_points_are_drawn_again(source: MemorySource) -> None:
    asks = [ask("loss"), ask("lr"), None]
    marks = [card(source, one)[1] if one else None for one in asks]
    assert cards.grown_cards(CARDS, source, [0, 1, 2], asks, marks) == []
    source.data["a"]["scalar"]["loss"] = series([3.0, 2.0, 1.5, 1.0, 0.5])
    [[slot, drawing, stamp]] = cards.grown_cards(CARDS, source, [0, 1, 2], asks, marks)
    assert (slot, stamp) == (0, card(source, asks[0])[1])
    assert ys(mains(drawing)[0]).tolist() == [3.0, 2.0, 1.5, 1.0, 0.5]
    for shown in ([1, 2], []):  # what is not on screen is not drawn, but known to be outdated
        assert cards.grown_cards(CARDS, source, shown, asks, marks) == [[0, None, stamp]]
    for nothing in ((None, asks, marks), ([], None, None), ([0], asks, None)):  # the clock may tick before a card is drawn
        assert cards.grown_cards(CARDS, source, *nothing) == []


@pytest.mark.parametrize(
    ("shown", "asks", "drawn"),
    [([0], [ask()], 5), ([0], 5, [None]), ([0], [None], []), (5, 5, 5), ([0], [ask()], ["x", "y"]), ("x", [None], [None]),
     ([1], [None], [None]), ([-1], [None], [None]), (["0"], [None], [None])],
)  # fmt: skip
def test_unequal_lists_of_cards_are_refused(source: MemorySource, shown: Any, asks: Any, drawn: Any) -> None:
    with pytest.raises(BadInput):
        cards.grown_cards(CARDS, source, shown, asks, drawn)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"tag": []},
        {"tag": "loss"},
        {"tag": [1]},
        {"tag": [f"t{i}" for i in range(51)]},
        ask(x="sideways"),
        ask(smooth="1"),
        ask(smooth="-0.1"),
        ask(smooth="nan"),
        ask(smooth="x"),
        ask(log="yes"),
        ask(threshold=">2&<1"),
        ask(threshold="garbage"),
        ask(threshold="garbage:loss"),
        {"tag": ["loss"], "threshold": [f">{i}:t{i}" for i in range(51)]},
        ask(view="1,2"),
        ask(view="1,x,,"),
        ask(view="2,1,,"),
        ask(view="1,,,"),
        ask(view="nan,1,,"),
        ask(view="0,inf,,"),
        ask(columns="0"),
        ask(columns="1e9"),
        ask(zone="1e9"),
        ask(run={"a": 1}),
        {"tag": ["loss"], "run": "a"},
        [],
        "loss",
        7,
    ],
)
def test_wrong_asks_are_refused(source: MemorySource, wrong: Any) -> None:
    with pytest.raises(BadInput):
        card(source, wrong)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["tag", "run", "x", "smooth", "view", "threshold", "columns"]), inner, max_size=4),
        max_leaves=12,
    )
)  # fmt: skip
def test_any_json_is_an_ask_or_is_refused(data: Any) -> None:
    try:
        ChartRequest.read(data)
    except BadInput:
        return


def test_verdicts() -> None:
    assert verdict({"text": ">1&<2", "number": 3}) == {"text": ">1&<2", "number": 3, "reason": "", "threshold": ">1.0&<2.0"}
    assert verdict({"text": ">"})["reason"] == "empty"
    for wrong in (None, [], {"text": 5}, "x"):
        with pytest.raises(BadInput):
            verdict(wrong)


@pytest.mark.parametrize("axis", ["step", "relative", "absolute", "tag:wild"])
@pytest.mark.parametrize("more", [{}, {"smooth": "0.9", "log": "1", "threshold": "<1|>2"}, {"view": "0,1,,"}])
def test_numbers_no_training_would_write_are_drawn_or_left_out(axis: str, more: dict[str, str]) -> None:
    values = [1e308, -1e308, 5e-324, np.nan, 0.0, np.inf, -np.inf, 1.0] * 3
    steps = [2**63 - 1, -(2**63), 0, 1, 1, 0, 5, 2**53 + 1] * 3
    wild = series(values, step=steps)
    wild = wild._replace(wall_time=np.array([np.nan, np.inf, -np.inf, 1e300, -1e300, 0.0, START, START + 1] * 3))
    source = arrays({"w": {"wild": wild, "flat": series([7.0] * 24, step=steps)}})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for tag in ("wild", "flat"):
            orjson.dumps(card(source, ask(tag, x=axis, **more))[0])
