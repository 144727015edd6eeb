"""Optuna's evaluators of importance beside our own: values, what is missing, when they are computed, and the page's answers."""

from __future__ import annotations

import importlib.util
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.store.store import Store
from app.tuning.importances import importances
from layouts.tuning.studies import Importances, OpenStudy
from layouts.tuning.tuning.page import answer_importance, answer_settings
from parsers.analysis import Range, variance_shares
from parsers.tuning.importances import FEW, METHODS, MOST, SHARES, question
from parsers.tuning.journal import StudyFile, StudyState
from tests.sources import MemorySource
from tests.waiting import when
from tests.writers.studies import begun, line, trial

optuna = pytest.importorskip("optuna")


def journal_of(path: Path, trials: int) -> Path:
    """A journal whose loss is 10 x ** 2 + a little of y; the mode does nothing."""
    rng = np.random.default_rng(3)
    text = begun()
    for number in range(trials):
        x, y = float(rng.random()), float(10 ** -rng.uniform(0, 4))
        text += trial(number, "complete", [10 * x**2 + 0.01 * y], x=x, y=y, mode=int(rng.integers(2)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + trial(trials, x=0.5))
    return path


def study_of(path: Path) -> StudyState:
    file = StudyFile(str(path))
    file.refresh()
    return file.studies[0]


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return journal_of(tmp_path / "runs/search/journal.log", 40)


@pytest.fixture
def store(journal: Path) -> Iterator[Store]:
    made = Store([journal.parents[1]], interval=0.01).start()
    made.studies.wait()
    yield made
    made.stop()


def awaited(store: Store, method: str) -> Importances:
    return when(lambda: store.studies.importances("search", "loss", method), lambda found: found.state != "working")


def text_of(figure: dict[str, Any]) -> str:
    return str(figure["layout"]["meta"]["alternative"][0])


@pytest.mark.parametrize("method", METHODS)
def test_shares_are_those_of_optuna_on_the_same_journal(journal: Path, method: str) -> None:
    """Optuna opens the journal itself."""
    backend = optuna.storages.journal.JournalFileBackend(str(journal))
    study = optuna.load_study(study_name="search", storage=optuna.storages.JournalStorage(backend))
    evaluators = optuna.importance
    evaluator = {
        "fanova": lambda: evaluators.FanovaImportanceEvaluator(seed=0),
        "mdi": lambda: evaluators.MeanDecreaseImpurityImportanceEvaluator(seed=0),
        "pedanova": evaluators.PedAnovaImportanceEvaluator,
    }[method]()
    wanted = evaluators.get_param_importances(study, evaluator=evaluator, params=["mode", "x", "y"])
    found = importances(json.loads(json.dumps(question(study_of(journal), 0, method))))["importance"]
    assert found == pytest.approx(wanted, abs=1e-9)
    assert max(found, key=found.__getitem__) == "x"
    assert sum(found.values()) == pytest.approx(1.0)


def test_only_complete_trials_with_finite_values_count_and_the_latest_of_many(tmp_path: Path) -> None:
    path = journal_of(tmp_path / "journal.log", MOST["fanova"] + 5)
    with path.open("a") as file:
        file.write(trial(MOST["fanova"] + 6, "complete", [float("inf")]) + trial(MOST["fanova"] + 7, "failed"))
    asked = question(study_of(path), 0, "fanova")
    assert len(asked["trials"]) == MOST["fanova"]
    assert len(question(study_of(path), 0, "mdi")["trials"]) == MOST["fanova"] + 5


def test_what_is_missing_is_named(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = question(study_of(journal), 0, "mdi")
    assert importances({**asked, "trials": asked["trials"][: FEW - 1]}) == {"reason": "few", "detail": "3"}
    same = [{**one, "distributions": {}, "settings": {}} for one in asked["trials"]]
    assert importances({**asked, "trials": same})["reason"] == "no_setting"
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "optuna" else find(name))
    assert importances(asked) == {"reason": "missing", "detail": "optuna"}


def test_settings_of_some_trials_only_are_left_out(tmp_path: Path) -> None:
    path = journal_of(tmp_path / "journal.log", 20)
    with path.open("a") as file:
        file.write(line(4, study_id=0, datetime_start="2026-01-01T01:00:00"))
        attributes = {"step": None, "low": 0.0, "high": 1.0, "log": False}
        described = json.dumps({"name": "FloatDistribution", "attributes": attributes})
        file.write(line(5, trial_id=21, param_name="x", param_value_internal=0.5, distribution=described))
        file.write(line(6, trial_id=21, state=1, values=[2.5], datetime_complete="2026-01-01T01:01:00"))
    assert set(importances(question(study_of(path), 0, "mdi"))["importance"]) == {"x"}


@pytest.mark.long
def test_a_program_computes_it_once_until_the_study_has_grown(
    store: Store, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import app.store.tuning.evaluations as evaluations

    started: list[Any] = []
    popen = evaluations.subprocess.Popen
    monkeypatch.setattr(evaluations.subprocess, "Popen", lambda *a, **k: started.append(a) or popen(*a, **k))
    assert store.studies.importances("search", "loss", "mdi").state == "working"
    found = awaited(store, "mdi")
    assert (found.state, found.trials, max(found.shares, key=found.shares.__getitem__)) == ("ready", 40, "x")
    wanted = importances(question(study_of(journal), 0, "mdi"))["importance"]
    assert found.shares == pytest.approx(wanted)
    assert store.studies.importances("search", "loss", "mdi") == found
    with journal.open("a") as file:
        file.write(trial(41, "complete", [1.0]))
    store.studies.wait()
    assert store.studies.importances("search", "loss", "mdi") == found
    assert len(started) == 1
    with journal.open("a") as file:
        file.write("".join(trial(number, "complete", [1.0]) for number in range(42, 46)))
    store.studies.wait()
    assert store.studies.importances("search", "loss", "mdi").state == "working"
    assert awaited(store, "mdi").trials == 45
    assert len(started) == 2


def test_a_program_that_fails_says_so_and_stopping_ends_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    import app.store.tuning.evaluations as evaluations

    monkeypatch.setattr(evaluations, "command", lambda _: ["/bin/false"])
    found = awaited(store, "fanova")
    assert (found.state, found.reason) == ("failed", "failed")
    monkeypatch.setattr(evaluations, "command", lambda _: ["/bin/sleep", "100"])
    store.studies.importances("search", "loss", "mdi")
    begin = time.monotonic()
    store.stop()
    assert time.monotonic() - begin < 20
    assert not [one for one in threading.enumerate() if one.name == "mindscope-importance"]


def test_answers_of_the_page(store: Store) -> None:
    ask = {"study": ["search"], "by": ["pedanova"]}
    assert "importance" not in answer_settings(store, ask)["figures"]
    assert "importance" not in answer_settings(store, {"study": ["search"]})["figures"]
    assert answer_settings(store, {"study": ["search"], "by": ["association"]})["figures"]["importance"] is not None
    source = MemorySource()
    source.searches = {"search": OpenStudy("ready", store.studies.open("search").study)}
    answer = answer_importance(source, ask)
    assert (answer["state"], text_of(answer["figure"])) == ("working", "PED-ANOVA (Optuna) is being computed ….")
    source.importance = Importances("ready", {"x": 0.75, "y": 0.25}, 40)
    answer = answer_importance(source, ask)
    (bars,) = answer["figure"]["data"]
    assert (answer["state"], bars["x"], answer["figure"]["layout"]["yaxis"]["ticktext"]) == ("ready", [0.25, 0.75], ["y", "x"])
    told = "Importance of settings for loss by PED-ANOVA (Optuna), 40 trials. x: 75.0 %; y: 25.0 %."
    assert text_of(answer["figure"]) == told
    source.importance = Importances(
        "ready", {"a": 0.5, "b": 0.45, "c": 0.3, "d": 0.001}, 40, fit=0.9, alone=("d",), tied=("a",), untried={"c": 0.41},
        ends={"a": (0.3, 0.7), "b": (0.3, 0.6), "c": (0.2, 0.4), "d": (0.0, 0.01)},
    )  # fmt: skip
    figure = answer_importance(source, {"study": ["search"], "lang": ["en"]})["figure"]
    (bars,) = figure["data"]
    assert figure["layout"]["yaxis"]["ticktext"] == ["d", "c", "b", "a"]
    assert [one.split("; ")[-1] for one in bars["hovertext"]] == [
        "its interval reaches 0, so it has no rank", "no trial lies in 41.0 % of its range, so it has no rank", "b: 45.0 %",
        "not surely more than the next one",
    ]  # fmt: skip
    said = figure["layout"]["xaxis"]["title"]["text"].replace("<br>", " ")
    assert "Not ranked, as no trial lies in a third of the range or more; they may matter more than shown: c" in said
    assert "Which of these matters most is not judged: a, b" in said
    reasons = {"missing": "not installed on the server: optuna", "few": "there are optuna", "failed": "failed: optuna"}
    for reason, said in reasons.items():
        source.importance = Importances("failed", {}, 3, reason, "optuna")
        answer = answer_importance(source, ask | {"lang": ["en"]})
        assert answer["state"] == "ready"
        assert said in answer["figure"]["layout"]["annotations"][0]["text"]
    assert answer_importance(store, {"study": ["search"], "by": ["association"]})["state"] == "missing"


def test_by_default_shares_are_shown_with_intervals_and_what_can_be_left_alone(store: Store, journal: Path) -> None:
    found = awaited(store, SHARES)
    assert (found.state, found.trials) == ("ready", 40)
    assert found.shares["x"] > 0.9
    assert found.fit > 0.9
    assert set(found.alone or ()) == {"y", "mode"}
    trials = question(study_of(journal), 0, SHARES)["trials"]
    table = pd.DataFrame([one["settings"] | {"metric/loss": one["value"]} for one in trials])
    told = {name: one["attributes"] for name, one in trials[0]["distributions"].items()}
    ranges = {name: Range(told[name]["low"], told[name]["high"], told[name]["log"]) for name in ("x", "y")}
    *_, same = variance_shares(table, "metric/loss", ["x", "y", "mode"], ranges=ranges)
    assert found.shares == pytest.approx(dict(zip(same.importance["setting"], same.importance["importance"], strict=True)))
    figure = answer_importance(store, {"study": ["search"], "lang": ["en"]})["figure"]
    (bars,) = figure["data"]
    assert figure["layout"]["yaxis"]["ticktext"][-1] == "x"
    assert bars["marker"]["color"][-1] != bars["marker"]["color"][0]
    assert "You can stop varying: " in figure["layout"]["xaxis"]["title"]["text"]
    few = importances({"method": SHARES, "trials": trials[:9]})
    assert few == {"reason": "few", "detail": "9"}
