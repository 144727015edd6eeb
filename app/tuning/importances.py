"""How important settings are by several measures. A program of its own: it reads a question as JSON and prints the answer.

The question (`parsers.tuning.importances.question`) has the method, the goal, and the complete trials with settings and their
distributions. The answer is {"importance": {setting: share}} or {"reason": key, "detail": text}; of our own measure it also has
the ends of intervals, the R^2, which settings can be left alone, of which too little of the range was tried for a rank, and
which are tied with the next. Optuna and scikit-learn are
imported here alone, so that a server that shows a study does not need them and does not wait for them.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from parsers.analysis import Range, stoppable, variance_shares
from parsers.deferred import pandas as pd
from parsers.tuning.importances import FEW, METHODS, NEEDS, SHARES

SEED = 0
_TARGET = "value of the target"


def importances(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a question. Shares are not negative and have the sum 1."""
    method = asked["method"]
    if method == SHARES:
        return _shares(asked["trials"])
    if method not in METHODS:
        raise ValueError(f"expected one of {', '.join(METHODS)}, found {method!r}")
    missing = [name for module, name in NEEDS[method] if importlib.util.find_spec(module) is None]
    if missing:
        return {"reason": "missing", "detail": ", ".join(missing)}
    if len(asked["trials"]) < FEW:
        return {"reason": "few", "detail": str(len(asked["trials"]))}
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction=asked["goal"])
    study.add_trials([_trial(optuna, one) for one in asked["trials"]])
    names = {
        "fanova": "FanovaImportanceEvaluator", "mdi": "MeanDecreaseImpurityImportanceEvaluator",
        "pedanova": "PedAnovaImportanceEvaluator",
    }  # fmt: skip
    seeded = {} if method == "pedanova" else {"seed": SEED}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is experimental in Optuna
        evaluator = getattr(optuna.importance, names[method])(**seeded)
        common = optuna.search_space.intersection_search_space(study.get_trials(deepcopy=False))
        wanted = sorted(name for name, distribution in common.items() if not distribution.single())
        if not wanted:
            return {"reason": "no_setting", "detail": ""}
        found = optuna.importance.get_param_importances(study, evaluator=evaluator, params=wanted)
    return {"importance": {str(name): float(share) for name, share in found.items()}}


def _shares(trials: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the answer of our own measure, in which settings that are missing in some trials count, too."""
    names = list(dict.fromkeys(name for one in trials for name in one["settings"]))
    table = pd.DataFrame({name: [one["settings"].get(name) for one in trials] for name in names})
    table[_TARGET] = np.array([one["value"] for one in trials], np.float64)
    *_, found = variance_shares(table, _TARGET, names, ranges=_ranges(trials))
    if found.reason:
        return {"reason": "no_setting" if found.reason == "settings" else found.reason, "detail": str(found.runs)}
    columns = [found.importance[name].tolist() for name in ("setting", "importance", "low", "high")]
    alone = stoppable(found.importance, found.fit)
    rankless = found.importance[found.importance["reason"] == "untried"]
    return {
        "importance": dict(zip(columns[0], columns[1], strict=True)), "fit": found.fit,
        "ends": {name: [low, high] for name, _, low, high in zip(*columns, strict=True)},
        "alone": None if alone is None else alone[0],
        "untried": dict(zip(rankless["setting"].tolist(), rankless["untried"].tolist(), strict=True)),
        "tied": found.importance["setting"][found.importance["tied"]].tolist(),
    }  # fmt: skip


def _ranges(trials: list[Mapping[str, Any]]) -> dict[str, Range]:
    """Return the range of each setting that is a number: what all trials drew from."""
    found: dict[str, Range] = {}
    for one in trials:
        for name, described in one["distributions"].items():
            told = described.get("attributes", {})
            if "low" in told and "high" in told:
                step = told.get("step") or (1.0 if str(described.get("name")).startswith("Int") else 0.0)
                mine = Range(float(told["low"]), float(told["high"]), bool(told.get("log")), float(step))
                known = found.get(name, mine)
                found[name] = Range(min(known.low, mine.low), max(known.high, mine.high), known.log and mine.log,
                                    min(known.step, mine.step))  # fmt: skip
    return found


def _trial(optuna: Any, one: Mapping[str, Any]) -> Any:
    read = optuna.distributions.json_to_distribution
    distributions = {name: read(json.dumps(described)) for name, described in one["distributions"].items()}
    return optuna.trial.create_trial(params=one["settings"], distributions=distributions, value=one["value"])


def main() -> int:
    """Answer the question on standard input."""
    try:
        found = importances(json.load(sys.stdin))
    except (ArithmeticError, ImportError, LookupError, RuntimeError, TypeError, ValueError) as error:
        found = {"reason": "failed", "detail": f"{type(error).__name__}: {error}"[:500]}
    json.dump(found, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
