"""The settings of the next trial: those that it gets, and what the Gaussian process predicts for them."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import optuna
import pytest

from app.tuning import preview as previews
from app.tuning.preview import preview
from app.tuning.samplers import sampler_of
from app.tuning.settings import suggest
from parsers import tuning_frames
from parsers.tuning.description import TunedParameter, Tuning
from tests.app.tuning.conftest import Search
from tests.app.tuning.test_searching import floats, tuning_of


def searched(tuning: Tuning, goal: str, trials: int, value: Callable[[dict[str, Any]], float]) -> optuna.Study:
    study = optuna.create_study(direction=goal, sampler=sampler_of(tuning)[0])
    for _ in range(trials):
        trial = study.ask()
        study.tell(trial, value(suggest(trial, tuning.parameters)))
    return study


@pytest.mark.parametrize("sampler", ["tpe", "random", "qmc", "grid"])
def test_the_next_trial_gets_what_was_shown_and_nothing_is_stored(sampler: str) -> None:
    parameters = (
        TunedParameter("x", "float", 0, 1, step=0.125), TunedParameter("n", "int", 1, 4),
        TunedParameter("mode", "choice", 0, 0, choices=("a", ["b", 1])),
    )  # fmt: skip
    tuning = tuning_of(parameters, "minimize", 3, sampler)
    study = searched(tuning, "minimize", 14, lambda found: found["x"] + found["n"])
    study.ask()  # one runs
    before = [(one.number, one.state, one.params, one.system_attrs) for one in study.get_trials()]
    shown = preview(study, tuning)
    assert [(one.number, one.state, one.params, one.system_attrs) for one in study.get_trials()] == before
    trial = study.ask()
    assert (shown["trial"], shown["settings"]) == (trial.number, suggest(trial, tuning.parameters))
    assert (shown["sampler"], shown["why"]) == (sampler, "sampler")
    assert "mean" not in shown


def test_settings_that_wait_are_next() -> None:
    tuning = tuning_of(floats(0, 1, "x"), "minimize", 3, "random")
    study = searched(tuning, "minimize", 3, lambda found: found["x"])
    study.enqueue_trial({"x": 0.25})
    shown = preview(study, tuning)
    assert (shown["trial"], shown["settings"]) == (3, {"x": 0.25})


def test_a_preview_is_made_after_a_change_and_takes_little_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now, used = [100.0], [0.0]
    monkeypatch.setattr(previews.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(previews.time, "thread_time", lambda: used[0])
    monkeypatch.setattr(previews, "preview", lambda *_: used.__setitem__(0, used[0] + 1.0) or {})
    study = optuna.create_study()
    found = previews.Previews()
    assert found.due(study)
    found.make(study, tuning_of(floats(0, 1, "x"), "minimize", 0, "random"))
    study.ask()
    for now[0], due in ((100.0 + previews.SHARE - 1, False), (100.0 + previews.SHARE + 1, True)):
        assert found.due(study) is due
    now[0] += previews.SHARE * 2
    assert not found.due(study)  # nothing has changed


@pytest.mark.parametrize("goal", ["minimize", "maximize"])
def test_the_gaussian_process_predicts_by_its_posterior(goal: str) -> None:
    """Compared with the formulas of its posterior, written out in numpy with the kernel that Optuna has fitted."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    tuning = tuning_of(floats(0, 1, "x", "y"), goal, 1, "gp")
    sign = 1 if goal == "minimize" else -1

    def value(found: dict[str, Any]) -> float:
        return sign * (3 * (found["x"] - 0.6) ** 2 + 0.5 * math.sin(4 * found["y"])) + 7

    study = searched(tuning, goal, 9, value)
    early = preview(study, tuning)
    assert (early["why"], early["sampler"], "mean" in early) == ("start", "gp", False)
    for _ in range(9):
        trial = study.ask()
        study.tell(trial, value(suggest(trial, tuning.parameters)))
    kept: list[Any] = []
    original = previews.predicted

    def spied(sampler: Any, copy: Any, settings: Any) -> dict[str, float]:
        kept.append(sampler)
        return original(sampler, copy, settings)

    previews.predicted = spied  # type: ignore[assignment]
    try:
        shown = preview(study, tuning)
    finally:
        previews.predicted = original
    (model,) = kept[0]._gprs_cache_list
    weights = model.inverse_squared_lengthscales.detach().numpy()
    scale, noise = float(model.kernel_scale), float(model.noise_var)

    def kernel(a: Any, b: Any) -> Any:
        square = ((a[:, None, :] - b[None, :, :]) ** 2 * weights).sum(-1)
        far = np.sqrt(5 * square)
        return scale * (1 + far + far**2 / 3) * np.exp(-far)

    trials = study.get_trials()
    points = np.array([[one.params["x"], one.params["y"]] for one in trials])
    values = np.array([one.value for one in trials])
    y = (values - values.mean()) / values.std()
    place = np.array([[shown["settings"]["x"], shown["settings"]["y"]]])
    inverse = np.linalg.inv(kernel(points, points) + noise * np.eye(len(points)))
    across = kernel(place, points)
    mean = (across @ inverse @ y).item() * values.std() + values.mean()
    reach = 1.959964 * math.sqrt((scale - across @ inverse @ across.T).item()) * values.std()
    assert shown["mean"] == pytest.approx(mean, rel=1e-6)
    assert (shown["low"], shown["high"]) == pytest.approx((mean - reach, mean + reach), rel=1e-5)
    assert abs(shown["mean"] - value(shown["settings"])) < 0.5
    assert shown["why"] == ""


def test_a_tuner_notes_the_next_settings_while_its_trials_run(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previews, "SECONDS", 0.0)
    monkeypatch.setattr(previews, "SHARE", 0.0)
    slow = search.directory / "slow.sh"
    slow.write_text(f"sleep 0.4; sh {search.directory}/trial.sh\n")
    search.write("budget: {trials: 4}\ntuner: {name: random}", command=f"sh {slow}")
    seen: list[Any] = []
    make = previews.Previews.make
    monkeypatch.setattr(previews.Previews, "make", lambda *them: seen.append(make(*them)) or seen[-1])
    assert search.tune("--jobs", 2) == 0
    study = search.study()
    assert seen
    assert study.attributes["mindscope:next"] == seen[-1]
    by_number = {one.number: one.parameters for one in study.trials}
    assert all(one["settings"] == by_number[one["trial"]] for one in seen if one["trial"] in by_number)
    assert any(one["trial"] in by_number for one in seen)
    assert seen[-1]["trial"] == 4
    assert tuning_frames.suggestion_of(study)["settings"] == seen[-1]["settings"]
    study.trials.append(study.trials[0])  # once trial 4 has started, it is past
    assert tuning_frames.suggestion_of(study) == {}
