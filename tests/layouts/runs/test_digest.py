"""Digests in words: the sentences of known curves in both languages, and names that are hostile."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from layouts.runs.digest import curve_text, digest_texts, news_text
from parsers import discover, open_run
from parsers.analysis.curves.curve_digest import CurveFact, curve_digest
from parsers.analysis.curves.insights import RULES
from parsers.analysis.runs.run_news import NO_STEP
from tests.parsers.analysis.runs.test_run_digest import series
from tests.recorded import RECORDED
from tests.writers.dumps import Injection, write_dump


def test_a_curve_in_one_sentence() -> None:
    """From 2 to 1 in 400 steps of 0.25 s, three spikes, NaN at 300, and steps 398 on again."""
    values = np.linspace(2.0, 1.0, 400) + np.random.default_rng(37).normal(0, 0.01, 400)
    values[0], values[120], values[200], values[300], values[397] = 2.0, 5.0, 4.0, math.nan, 0.5
    steps = [*range(400), *range(398, 408)]
    english, chinese = curve_text(curve_digest("loss", series([*values, *np.full(9, 1.0), 1.25], steps)))
    assert english == (
        "loss fell from 2 to 1.250 (best 0.5000 at 397), first NaN at 300, 1 not finite, "
        "3 spikes (largest 5 at 120), 1 restart at 398, 4 steps/s."
    )
    assert chinese.startswith("loss 由 2 降至 1.250（最优 0.5000，步骤 397），步骤 300 首次出现 NaN")


@pytest.mark.parametrize(
    ("tag", "values", "wanted"),
    [
        ("accuracy", [0.1, 0.5, 0.4], "accuracy rose from 0.1000 to 0.4000 (best 0.5000 at 1), {} it has 3, 4 steps/s."),
        ("thing", [1, 3, 1], "thing ends at 1, where it began (from 1 to 3), {} it has 3, 4 steps/s."),
        ("loss", [2.5], "loss has one value, 2.500, {} it has 1."),
        ("loss", [math.nan], "loss has no finite value in 1 point, first NaN at 0, 1 not finite, {} it has 1."),
        (
            "loss", [2.0, 1.0, math.inf],
            "loss fell from 2 to 1 (best 1 at 1), last value +Inf at 2, first +Inf at 2, 1 not finite, {} it has 3, 4 steps/s.",
        ),
    ],
)  # fmt: skip
def test_short_curves(tag: str, values: list[float], wanted: str) -> None:
    assert curve_text(curve_digest(tag, series(values)))[0] == wanted.format("not judged: that takes 8 points,")


@pytest.mark.parametrize("kind", [*RULES, "restarts", NO_STEP])
def test_every_fact_that_arises_has_a_text_in_both_languages(kind: str) -> None:
    fact = CurveFact(
        "curve", "loss", kind, step=1234, last_step=2345, value=650.0, usual=2.0, measured=3.0, limit=2.0, points=7
    )
    english, chinese = news_text(fact)
    assert english != chinese
    for text in (english, chinese):
        assert "{" not in text
        assert "1,234" in text or kind == "unmoved"


@pytest.mark.parametrize("tag", ["{first}", "1", "%s", "</script>", "a\nb", "\u202eloss", "損失", "{0}{}", "1 steps"])
def test_names_stay_as_they_are(tag: str) -> None:
    for text in curve_text(curve_digest(tag, series([2.0, 1.0]))):
        assert text.startswith(f"{tag} ")
    assert news_text(CurveFact("curve", tag, "restarts", step=1))[0] == f"{tag}: restart at 1"


@pytest.mark.parametrize("source", discover(RECORDED), ids=lambda source: source.name)
def test_real_runs_have_a_sentence_for_each_scalar(source) -> None:
    run = open_run(source)
    texts = digest_texts(run.digest())
    tags = run.tags()
    assert len(texts) == len(tags)
    for tag, (english, chinese) in zip(tags, texts, strict=True):
        assert english.startswith(f"{tag} ")
        assert chinese.startswith(f"{tag} ")
        assert english.endswith(".")


def test_dumps_profiles_and_nothing(tmp_path: Path) -> None:
    net = write_dump(tmp_path / "dump", injection=Injection(3, 4, "nan"))
    name = net.operators[4].name.rpartition("/")[2]
    (said,) = digest_texts(open_run(tmp_path / "dump").digest())
    assert said[0] == f"In iteration 3, {name} made the first bad values (1 NaN); all its inputs are finite."
    write_dump(tmp_path / "healthy")
    (fine,) = digest_texts(open_run(tmp_path / "healthy").digest())
    assert fine[0].startswith("No bad values in ")
    profiled = open_run(Path(__file__).parents[2] / "data" / "mindspore_profiler" / "2.10_minddata")
    assert any("queue" in english for english, _ in digest_texts(profiled.digest()))
    run = open_run(RECORDED / "many_tags")
    assert digest_texts(run.digest("nothing"))[0][0] == f"None of its {len(run.tags())} tags is one of those asked for."
