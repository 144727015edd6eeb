"""What a search finds: direction and convergence on functions with a known optimum, pruning, and points of grid and qmc."""

from __future__ import annotations

import importlib.util
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

from app.tuning.pruners import pruner_of
from app.tuning.samplers import GridByNumber, halton, sampler_of
from app.tuning.settings import suggest
from parsers.tuning.config import read_tuning
from parsers.tuning.description import Target, TunedParameter, Tuning
from tests.amounts import long_after

warnings.filterwarnings("ignore", module="optuna")
optuna.logging.set_verbosity(optuna.logging.CRITICAL)
ROOT = Path(__file__).resolve().parents[3]

A = np.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]])
P = 1e-4 * np.array(
    [[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991], [2348, 1451, 3522, 2883, 3047, 6650],
     [4047, 8828, 8732, 5743, 1091, 381]]
)  # fmt: skip


def peak(p: Mapping[str, Any]) -> float:
    """An inner peak at 0.7, as on which the predecessor searched the wrong way."""
    return -math.exp(-(((p["x"] - 0.7) / 0.15) ** 2))


def branin(p: Mapping[str, Any]) -> float:
    x, y = p["x"], p["y"]
    curve = y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6
    return float(curve**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10)


def hartmann(p: Mapping[str, Any]) -> float:
    x = np.array([p[f"x{number}"] for number in range(6)])
    return -float((np.array([1, 1.2, 3, 3.2]) * np.exp(-(A * (x - P) ** 2).sum(1))).sum())


def categorical(p: Mapping[str, Any]) -> float:
    offset = {"a": 1.0, "b": 0.0, "c": 2.0, "d": 0.6}[p["kind"]]
    return float(offset + (math.log10(p["rate"]) + 2) ** 2)


def conditional(p: Mapping[str, Any]) -> float:
    return float((p["x"] - 0.3) ** 2 + 0.5 if p["kind"] == "plain" else (p["y"] - 0.8) ** 2 + (p["x"] - 0.5) ** 2)


def noisy(p: Mapping[str, Any]) -> float:
    return float((p["x"] - 2) ** 2 + (p["y"] + 1) ** 2)


def floats(low: float, high: float, *names: str) -> tuple[TunedParameter, ...]:
    return tuple(TunedParameter(name, "float", low, high) for name in names)


@dataclass(frozen=True)
class Problem:
    """A function, its smallest value, and the trials within which it is to be approached."""

    function: Callable[[Mapping[str, Any]], float]
    parameters: tuple[TunedParameter, ...]
    best: float
    budget: int
    noise: float = 0.0


PROBLEMS = {
    "peak": Problem(peak, floats(0, 1, "x"), -1.0, 40),
    "branin": Problem(branin, (*floats(-5, 10, "x"), *floats(0, 15, "y")), 0.397887, 60),
    "hartmann": Problem(hartmann, floats(0, 1, *(f"x{number}" for number in range(6))), -3.32237, 160),
    "categorical": Problem(
        categorical,
        (TunedParameter("rate", "float", 1e-5, 1.0, log=True), TunedParameter("kind", "choice", choices=tuple("abcd"))), 0.0,
        60,
    ),
    "conditional": Problem(
        conditional,
        (*floats(0, 1, "x"), TunedParameter("kind", "choice", choices=("plain", "more")),
         TunedParameter("y", "float", 0, 1, when={"kind": ("more",)})), 0.0, 60,
    ),
    "noisy": Problem(noisy, floats(-5, 5, "x", "y"), 0.0, 60, 0.3),
}  # fmt: skip


def tuning_of(parameters: tuple[TunedParameter, ...], goal: str, seed: int, sampler: str = "tpe") -> Tuning:
    target = Target("value", "scalar", goal)  # type: ignore[arg-type]
    return Tuning("/search.yaml", "s", "/runs", ("true",), sampler, (target,), parameters, seed=seed)


def median_of(problem: Problem) -> float:
    """The median value of random settings."""
    random = np.random.default_rng(1)

    def draw() -> float:
        settings: dict[str, Any] = {}
        for one in problem.parameters:
            if not one.applies(settings):
                continue
            if one.kind == "choice":
                settings[one.name] = one.choices[random.integers(len(one.choices))]
            elif one.log:
                settings[one.name] = math.exp(random.uniform(math.log(one.low), math.log(one.high)))
            else:
                settings[one.name] = random.uniform(one.low, one.high)
        return problem.function(settings)

    return float(np.median([draw() for _ in range(4_001)]))


def best_found(problem: Problem, goal: str, seed: int, enough: float) -> float:
    """Search until the true value is enough or the budget is used; return the best true value, to be minimised."""
    tuning = tuning_of(problem.parameters, goal, seed)
    study = optuna.create_study(direction=goal, sampler=sampler_of(tuning)[0])
    noise = np.random.default_rng(seed)
    best = math.inf
    for _ in range(problem.budget):
        trial = study.ask()
        value = problem.function(suggest(trial, problem.parameters))
        best = min(best, value)
        if best <= enough:
            break
        told = value + noise.normal(0, problem.noise) if problem.noise else value
        study.tell(trial, told if goal == "minimize" else -told)
    return best


@pytest.mark.long
@pytest.mark.parametrize("goal", long_after(1, ["minimize", "maximize"]))
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_search_goes_the_right_way_and_comes_near(name: str, goal: str) -> None:
    problem = PROBLEMS[name]
    median = median_of(problem)
    enough = problem.best + 0.05 * (median - problem.best)
    found = [best_found(problem, goal, seed, enough) for seed in range(5)]
    assert max(found) < median
    assert sum(one <= enough for one in found) >= 4, found


@pytest.mark.parametrize("goal", ["minimize", "maximize"])
def test_the_gaussian_process_goes_the_right_way(goal: str) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    tuning = tuning_of(floats(0, 1, "x"), goal, 0, "gp")
    study = optuna.create_study(direction=goal, sampler=sampler_of(tuning)[0])
    for _ in range(20):
        trial = study.ask()
        value = peak(suggest(trial, tuning.parameters))
        study.tell(trial, value if goal == "minimize" else -value)
    assert abs(study.best_params["x"] - 0.7) < 0.05


@pytest.mark.parametrize("sampler", ["tpe", "random", "qmc", "grid"])
def test_equal_seeds_give_equal_searches(sampler: str) -> None:
    def search(seed: int) -> list[dict[str, Any]]:
        tuning = tuning_of((TunedParameter("x", "float", 0, 1, step=0.001), *floats(0, 1, "y")[: sampler != "grid"]),
                           "minimize", seed, sampler)  # fmt: skip
        study = optuna.create_study(sampler=sampler_of(tuning)[0])
        for _ in range(15):
            trial = study.ask()
            study.tell(trial, suggest(trial, tuning.parameters)["x"])
        return [one.params for one in study.get_trials()]

    assert search(3) == search(3) != search(4)


def test_the_grid_has_every_point_once_and_conditions_do_not_multiply_it() -> None:
    parameters = (
        TunedParameter("x", "int", 1, 3), TunedParameter("kind", "choice", choices=("a", [1, 2])),
        TunedParameter("y", "float", 0, 1, step=0.5, when={"kind": ("a",)}),
    )  # fmt: skip
    tuning = tuning_of(parameters, "minimize", 0, "grid")
    sampler = sampler_of(tuning)[0]
    assert isinstance(sampler, GridByNumber)
    assert len(sampler) == 3 * (3 + 1)
    study = optuna.create_study(sampler=sampler)
    found = []
    for _ in range(len(sampler)):
        trial = study.ask()
        found.append(suggest(trial, parameters))
        study.tell(trial, 0.0)  # the sampler of Optuna would raise here at the last point
    assert len({str(one) for one in found}) == 12
    assert [1, 2] in [one["kind"] for one in found]


def test_the_points_of_qmc_fill_every_dimension_evenly() -> None:
    for base in (2, 3, 5, 7):
        count = base**4 if base < 5 else base**3
        points = np.array([halton(place, base, 11) for place in range(count)])
        assert sorted(np.floor(points * count).astype(int)) == list(range(count))
    pairs = np.array([[halton(place, base, base) for base in (2, 3)] for place in range(6**3)])
    counts, _, _ = np.histogram2d(*pairs.T, bins=(8, 27), range=((0, 1), (0, 1)))
    assert (counts == 1).all()


@pytest.mark.long
def test_pruning_saves_steps_of_the_demo_and_finds_the_same_best(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("tune_train", ROOT / "examples" / "tune_train.py")
    assert spec is not None
    assert spec.loader is not None
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    tuning = read_tuning(str(ROOT / "examples" / "tune.yaml"))
    assert tuning.pruning is not None

    def search(*, pruned: bool) -> tuple[int, dict[str, Any]]:
        study = optuna.create_study(sampler=sampler_of(tuning_of(tuning.parameters, "minimize", 0, "random"))[0],
                                    pruner=pruner_of(tuning.pruning if pruned else None))  # fmt: skip
        steps = 0
        for _ in range(tuning.trials or 0):
            trial = study.ask()
            p = suggest(trial, tuning.parameters)
            for epoch, loss, _ in demo.train(p["learning_rate"], p["width"], p.get("momentum", 0.0)):
                steps += 1
                trial.report(loss, epoch)
                if trial.should_prune():
                    study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                    break
            else:
                study.tell(trial, loss)
        return steps, study.best_params

    all_steps, best = search(pruned=False)
    fewer, same = search(pruned=True)
    assert all_steps == 60 * 30
    assert same == best
    assert fewer <= 0.6 * all_steps, fewer
