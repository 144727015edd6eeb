"""The uncertainty page against the frames of real runs and plain Python."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from layouts.explanations.explanation_choice import read_choice
from layouts.explanations.uncertainty import figures
from layouts.explanations.uncertainty.page import answer_plots, answer_tables, kept_rows
from parsers import open_run
from parsers.analysis.explanations.uncertainty import spread_of
from parsers.recording import ExplanationWriter, Uncertainty
from tests.sources import MemorySource


@pytest.fixture
def real(real_data: Path) -> MemorySource:
    names = ("summary_real", "summary_weak")
    return MemorySource({name: {"explain": open_run(str(real_data / "explain" / name)).explanations} for name in names})


def ask(**more: Any) -> dict[str, list[str]]:
    return {key: [str(one) for one in ([value] if not isinstance(value, list) else value)] for key, value in more.items()}


def decoded(spec: Any) -> list[float]:
    import base64

    return np.frombuffer(base64.b64decode(spec["bdata"]), np.dtype(spec["dtype"])).tolist() if isinstance(spec, dict) else spec


def traces(figure: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {trace["meta"]["outcome"]: trace for trace in figure["data"] if trace["meta"]["role"] == "points"}


def predictions(source: MemorySource, run: str) -> pd.DataFrame:
    found = source.explanations.open(run).explanations
    assert found is not None
    return found.predictions


def test_every_label_is_a_point_of_its_outcome(real: MemorySource) -> None:
    answer = answer_plots(real, ask(of="summary_weak"))
    found = traces(answer["against"])
    assert {name: len(trace["customdata"]) for name, trace in found.items()} == {"TP": 12, "FN": 2, "FP": 2}
    assert len({trace["marker"]["symbol"] for trace in found.values()}) == 3
    table = predictions(real, "summary_weak")
    missed = table[table["truth"] & (table["probability"] < 0.5)]
    assert found["FN"]["customdata"] == missed["sample"].tolist()
    np.testing.assert_allclose(decoded(found["FN"]["x"]), missed["probability"], rtol=1e-6)
    assert answer["against"]["layout"]["meta"]["logarithmic"] is True
    np.testing.assert_allclose(decoded(found["FN"]["y"]), np.log10(missed["sd"]), rtol=1e-6)
    (bars,) = answer["spread"]["data"]
    assert sum(decoded(bars["y"])) == len(table) == answer["points"] == answer["drawn"]
    assert f"{np.median(table['sd']):.4g}"[:5] in json.dumps(answer["sections"]["head"])


def test_a_threshold_changes_outcomes(real: MemorySource) -> None:
    found = traces(answer_plots(real, ask(of="summary_weak", t=0.94))["against"])
    table = predictions(real, "summary_weak")
    false = ~table["truth"]
    assert len(found["FP"]["customdata"]) == int((false & (table["probability"] >= 0.94)).sum())
    assert len(found["TN"]["customdata"]) == int((false & (table["probability"] < 0.94)).sum())


def test_a_selection_filters_the_samples(real: MemorySource) -> None:
    answer = answer_plots(real, ask(of="summary_weak", p="0,0.93", sd="0.001,1"))
    table = predictions(real, "summary_weak")
    chosen = table[(table["probability"] <= 0.93) & (table["sd"] >= 0.001)]
    assert (answer["total"], answer["all"]) == (chosen["sample"].nunique(), 14)
    bright = [
        sample for trace in traces(answer["against"]).values()
        for sample, opacity in zip(trace["customdata"], trace["marker"]["opacity"], strict=True) if opacity > 0.5
    ]  # fmt: skip
    assert sorted(bright) == sorted(chosen["sample"])
    assert f"{len(chosen)} labels of {chosen['sample'].nunique()} samples" in json.dumps(answer["sections"]["head"])
    tables = answer_tables(real, "/api/", ask(of="summary_weak", p="0,0.93", sd="0.001,1"))["sections"]
    assert {sample for name in tables for sample in samples_of(tables[name])} == set(chosen["sample"])


def test_tables_have_the_widest_and_narrowest_samples(real: MemorySource) -> None:
    answer = answer_tables(real, "/api/", ask(of="summary_weak"))
    assert answer["intervals"]
    table = predictions(real, "summary_weak")
    width = (table["high"] - table["low"]).groupby(table["sample"]).max().sort_values(kind="stable")
    rows = {name: samples_of(answer["sections"][name]) for name in ("widest", "narrowest")}
    assert rows["widest"] == width.index[::-1][:7].tolist()
    assert rows["narrowest"] == width.index[:7].tolist()


def samples_of(markup: list[Any]) -> list[int]:
    """The samples of a table, in order, from the addresses of its pictures."""
    found: list[int] = []

    def walk(one: Any) -> None:
        if isinstance(one, list) and len(one) == 3 and isinstance(one[0], str) and isinstance(one[1], dict):
            if one[0] == "img":
                found.append(int(one[1]["src"].rpartition("sample=")[2]))
            for child in one[2]:
                walk(child)

    for one in markup:
        walk(one)
    return found


def test_filters_of_labels_and_outcomes_apply_to_labels(real: MemorySource) -> None:
    found = real.explanations.open("summary_weak").explanations
    choice = read_choice(ask(of="summary_weak", outcome="fp"))
    assert found is not None
    assert choice is not None
    samples, rows = kept_rows(found, choice)
    table = found.predictions
    assert samples == 2
    assert rows.tolist() == np.flatnonzero(~table["truth"] & (table["probability"] >= 0.5)).tolist()


def test_a_run_without_uncertainty_and_one_without_intervals(tmp_path: Path) -> None:
    for name, certain in (("none", None), ("same", {0: Uncertainty(0.1, math.nan, math.nan)})):
        with ExplanationWriter(str(tmp_path / name), labels=["a"], seconds=1_700_000_000) as writer:
            for sample in range(3):
                writer.sample(sample, [[0.0, 1.0]], truth=[0], probabilities={0: 0.5}, uncertainty=certain)
    source = MemorySource({name: {"explain": open_run(str(tmp_path / name)).explanations} for name in ("none", "same")})
    empty = answer_plots(source, ask(of="none"))
    assert (empty["spread"], empty["against"]) == (None, None)
    assert samples_of(answer_tables(source, "/api/", ask(of="none"))["sections"]["widest"]) == []
    same = answer_plots(source, ask(of="same"))
    assert decoded(same["spread"]["data"][0]["y"]) == [3]
    assert len(traces(same["against"])["TP"]["customdata"]) == 3
    tables = answer_tables(source, "/api/", ask(of="same"))
    assert not tables["intervals"]
    assert samples_of(tables["sections"]["widest"]) == [0, 1]
    assert answer_plots(source, ask(of="other"))["state"] == "missing"


def test_of_many_points_one_of_each_spot_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "ALL", 10)
    rng = np.random.default_rng(0)
    with ExplanationWriter(str(tmp_path), labels=["<b>a", "b"], seconds=1_700_000_000) as writer:
        for sample in range(300):
            p = float(rng.choice([0.25, 0.75]))
            sd = float(rng.choice([0.1, 0.2]))
            writer.sample(sample, [[0.0]], truth=[0], probabilities={0: p}, uncertainty={0: Uncertainty(sd, 0.0, 1.0)})
    source = MemorySource({"run": {"explain": open_run(str(tmp_path)).explanations}})
    answer = answer_plots(source, ask(of="run"))
    assert (answer["points"], answer["drawn"]) == (300, 4)
    texts = [text for trace in traces(answer["against"]).values() for text in trace["hovertext"]]
    assert sum(int(text.rpartition("and ")[2].split()[0]) for text in texts) == 296
    assert all("&lt;b&gt;a" in text for text in texts)


@pytest.mark.parametrize("values", [[1e-6, 1e-2], [0.01, 0.02], [0.0, 0.5], [0.3], [0.001, 0.04, 0.0]])
def test_ticks_are_deviations(values: list[float]) -> None:
    spread = spread_of(np.array(values))
    figure = figures.spread_figure(spread, None, language="en", dark=False)
    assert figure is not None
    axis = figure["layout"]["xaxis"]
    if not spread.logarithmic:
        assert "tickvals" not in axis
        return
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    for at, text in zip(axis["tickvals"], axis["ticktext"], strict=True):
        leading, _, power = text.rpartition("10") if "10" in text and any(one in text for one in "⁻⁰¹²") else (text, "", "")
        value = float(leading.rstrip("·") or 1) * 10.0 ** int(power.translate(raised) or 0) if power else float(text)
        assert value == pytest.approx(10.0**at)
