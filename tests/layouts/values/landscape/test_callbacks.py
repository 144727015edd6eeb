"""The callbacks as plain functions: what there is, what is drawn of it, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pytest
from dash import no_update

from layouts.kit.state import BadInput
from layouts.values.landscape import page as callbacks
from layouts.values.landscape.catalogue import MOST_ELSEWHERE, MOST_PLANS, MOST_RUNS, catalogue
from parsers import FormatError, LandscapePlan
from tests.layouts.values.landscape.landscapes import bowl, landscape_source
from tests.sources import MemorySource, row, series

ODD = '<b>odd</b> "run"/%2F/名称 🚀'


def source() -> MemorySource:
    path = "/data/runs/plan/ckpt_dir/train_metadata.json"
    files = {step: f"net_{step}.ckpt" for step in (1, 2, 3, 4, 6)}
    plan = LandscapePlan(path, ((1, 2, 3), (4, 6)), files, "step", 15, 40, 2048, True, True)
    return landscape_source(
        [row(key, tags={"scalar": 1}) for key in ("one", ODD, "plan", "broken", "none")],
        {(key, "loss"): series(60) for key in ("one", "plan")},
        {
            ("one", "landscape_[30]"): bowl(),
            ("one", "landscape_[16, 30]"): bowl([16, 20, 30]),
            ("one", "landscape_[1, 15]"): bowl([1, 8, 15]),
            ("one", "landscape_[bad]"): "record at byte 12: cut",
            (ODD, "landscape_[4]"): bowl([1, 4], unit="epoch"),
        },
        {"plan": plan, "broken": FormatError("train_metadata.json: wanted JSON")},
    )


def ask(*sheets: tuple[str, str], **more: str) -> dict[str, list[str]]:
    return {"sheet": [json.dumps(sheet) for sheet in sheets]} | {key: [value] for key, value in more.items()}


def test_landscapes_are_listed_by_their_steps_the_final_one_last() -> None:
    given = source()
    found = catalogue(given, {})
    digest = found["digest"]
    assert [run["key"] for run in found["runs"]] == ["one", ODD]
    broken, *sheets = found["runs"][0]["sheets"]
    assert [sheet["tag"] for sheet in sheets] == ["landscape_[1, 15]", "landscape_[16, 30]", "landscape_[30]"]
    assert [sheet["final"] for sheet in sheets] == [False, False, True]
    assert broken["broken"] == "record at byte 12: cut"
    assert catalogue(given, {}, digest) is None
    assert catalogue(given, {"run": ["one"]}, digest)["chosen"] == 1
    orjson.dumps(found)


def test_runs_with_checkpoints_alone_say_what_they_allow() -> None:
    found = catalogue(source(), {})
    plan, broken = found["plans"]
    assert plan["directory"] == "/data/runs/plan"
    assert (plan["checkpoints"], plan["intervals"], plan["size"]) == (5, "1–3, 4–6", 40)
    assert broken == {"name": "broken", "problem": "train_metadata.json: wanted JSON"}


def test_many_runs_are_listed_in_part() -> None:
    keys = [f"run_{n}" for n in range(MOST_RUNS + 7)]
    given = landscape_source([row(key) for key in keys], {}, {(key, "landscape_[1]"): bowl() for key in keys})
    found = catalogue(given, {"run": ["*"]})
    assert len(found["runs"]) == MOST_RUNS
    assert found["left"] == 7
    bad = landscape_source([row(key) for key in keys], {}, {}, {key: FormatError("bad") for key in keys})
    assert len(catalogue(bad, {"run": ["*"]}, None)["plans"]) == MOST_PLANS


def test_a_figure_names_its_landscapes_and_what_is_wrong_with_them() -> None:
    wanted = ask(("one", "landscape_[1, 15]"), ("one", "landscape_[bad]"), ("gone", "landscape_[1]"))
    found = callbacks.drawn(source(), wanted)
    meta = found["layout"]["meta"]
    assert [sheet["tag"] for sheet in meta["sheets"]] == ["landscape_[1, 15]"]
    assert [point[0] for point in meta["sheets"][0]["path"]] == [1, 8, 15]
    assert meta["problems"] == ["one: record at byte 12: cut", "gone: no such landscape"]
    assert callbacks.drawn(source(), None) is no_update
    orjson.dumps(found)


def test_numbers_json_has_no_word_for_are_texts() -> None:
    given = source()
    path = np.array([1.0, np.nan, np.inf])
    given.data["one"]["landscape"]["landscape_[1, 3]"] = [(1, replace(bowl([1, 2, 3]), path_z=path))]
    meta = callbacks.drawn(given, ask(("one", "landscape_[1, 3]")))["layout"]["meta"]
    assert [point[3] for point in meta["sheets"][0]["path"]] == [1.0, "NaN", "+Inf"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_words_and_colours_are_the_readers(theme: str, language: str) -> None:
    found = callbacks.drawn(source(), ask(("one", "landscape_[30]"), view="surface", theme=theme, lang=language))
    assert found["layout"]["scene"]["zaxis"]["title"]["text"] == {"en": "Loss", "zh": "损失"}[language]
    assert found["layout"]["font"]["color"] == {"light": "#1b2027", "dark": "#e3e6ea"}[theme]


def test_steps_of_the_landscape_are_marked_on_the_curve() -> None:
    curve, facts = callbacks.side(source(), ask(("one", "landscape_[16, 30]")))
    bands = {band["tag"]: (band["from"], band["to"], band["chosen"]) for band in curve["layout"]["meta"]["bands"]}
    assert bands == {"landscape_[1, 15]": (1, 15, False), "landscape_[16, 30]": (16, 30, True)}
    assert len(curve["data"]) == 1
    assert len(curve["layout"]["shapes"]) == 2
    text = str(facts.to_plotly_json())
    assert "9 × 11" in text
    assert "16 – 30" in text


def test_epochs_are_counted_in_steps_and_shown_without_a_curve() -> None:
    curve, _ = callbacks.side(source(), ask((ODD, "landscape_[4]")))
    (band,) = curve["layout"]["meta"]["bands"]
    assert (band["from"], band["to"]) == (15, 60)
    low, high = curve["layout"]["xaxis"]["range"]
    assert low < 15 < 60 < high


def test_several_runs_have_a_column_and_a_line_each() -> None:
    curve, facts = callbacks.side(source(), ask(("one", "landscape_[30]"), (ODD, "landscape_[4]")))
    assert curve["layout"]["meta"]["bands"] == []
    assert ODD in str(facts.to_plotly_json())


@pytest.mark.parametrize(
    "bad",
    [
        {}, [], "text", 3, {"sheet": []}, {"sheet": "x"}, {"sheet": [1]}, {"sheet": ["not json"]}, {"sheet": ['["one"]']},
        {"sheet": ['["one", 3]']}, {"sheet": ["[" * 100_000]}, ask(*[("one", str(n)) for n in range(4)]),
        ask(("one", "t"), view="svg"), ask(("one", "t"), map="jet"), ask(("one", "t"), lines="1e9"),
        ask(("one", "t"), opacity="nan"), ask(("one", "t"), lang="fr"), ask(("one", "t"), theme="x"),
    ],
)  # fmt: skip
def test_what_no_page_sends_is_refused(bad: Any) -> None:
    with pytest.raises(BadInput):
        callbacks.drawn(source(), bad)


@pytest.mark.parametrize("bad", [3, "text", {"run": "one"}, {"run": [3]}])
def test_runs_that_are_no_state_are_refused(bad: Any) -> None:
    with pytest.raises(BadInput):
        catalogue(source(), bad)


def test_a_choice_without_landscapes_names_runs_that_have_some() -> None:
    has = {f"has {n}": {"landscape": {"landscape_[1]": [(1, bowl())]}} for n in range(7)}
    given = MemorySource({"none": {"scalar": {"loss": series(3)}}, **has})
    found = catalogue(given, {"run": ["none"]})
    assert found["elsewhere"] == [{"key": f"has {n}", "name": f"has {n}"} for n in range(MOST_ELSEWHERE)]
    assert catalogue(given, {"run": ["has 1"]}, None)["elsewhere"] == []


def rows_of(table: Any) -> dict[str, str]:
    """Label -> text of the first column of facts, in English."""

    def words(part: Any) -> str:
        if isinstance(part, (list, tuple)):
            return "".join(map(words, part))
        if getattr(part, "lang", None) == "zh" or getattr(part, "className", "") == "zh":
            return ""
        return words(part.children) if hasattr(part, "children") else str(part or "")

    *_, body = table.children
    return {words(row.children[0]): words(row.children[1]) for row in body.children}


def test_facts_say_how_the_run_was_trained() -> None:
    given = source()
    given.data["one"]["settings"] = {
        "network": "LeNet<b>5", "optimizer": "Momentum", "learning_rate": 0.0123456, "epoch": 12, "batch_size": 4096,
        "loss_function": "CrossEntropy", "user_defined/secret": "not a fact",
    }  # fmt: skip
    _, facts = callbacks.side(given, ask(("one", "landscape_[30]")))
    rows = rows_of(facts)
    wanted = {"Network": "LeNet<b>5", "Optimizer": "Momentum", "Learning rate": "0.0123456", "Epochs": "12",
              "Batch size": "4,096", "Loss function": "CrossEntropy"}  # fmt: skip
    assert {label: rows[label] for label in wanted} == wanted
    assert "not a fact" not in str(rows)


def test_the_sharpness_is_that_of_the_paraboloid() -> None:
    """z = x² + 2 y² + 0.5: the eigenvalues of its Hessian are 2 and 4."""
    _, facts = callbacks.side(source(), ask(("one", "landscape_[30]")))
    assert float(rows_of(facts)["Sharpness, per squared unit"]) == pytest.approx(4.0, rel=1e-6)


def test_facts_of_a_run_without_lineage_leave_those_rows_out() -> None:
    _, facts = callbacks.side(source(), ask(("one", "landscape_[30]")))
    assert not {"Network", "Optimizer", "Learning rate"} & set(rows_of(facts))
