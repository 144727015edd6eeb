"""How important settings are by Optuna's evaluators. A program of its own: it reads a question as JSON and prints the answer.

The question (`parsers.tuning.importances.question`) has the method, the goal, and the complete trials with settings and their
distributions. The answer is {"importance": {setting: share}} or {"reason": key, "detail": text}. Optuna and scikit-learn are
imported here alone, so that a server that shows a study does not need them and does not wait for them.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import warnings
from collections.abc import Mapping
from typing import Any

from parsers.tuning.importances import FEW, METHODS, NEEDS

SEED = 0


def importances(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a question. Shares are not negative and have the sum 1."""
    method = asked["method"]
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
