"""What is asked of measures of importance, and what their answer means: shared by who asks and who computes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from parsers.tuning.journal import StudyState

SHARES = "shares"
"""Our own measure, `parsers.analysis.variance_shares`, which the page of results over runs shows, too."""
METHODS = ("fanova", "mdi", "pedanova")
"""fANOVA (Hutter et al. 2014), mean decrease of impurity of a random forest, PED-ANOVA (Watanabe et al. 2023)."""
NEEDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "fanova": (("optuna", "optuna"), ("sklearn", "scikit-learn")), "mdi": (("optuna", "optuna"), ("sklearn", "scikit-learn")),
    "pedanova": (("optuna", "optuna"), ("scipy", "scipy")),
}  # fmt: skip
"""Method -> modules it needs, with the packages that have them."""
FEW = 4
"""Fewer complete trials than this tell nothing."""
MOST: Mapping[str, int] = {SHARES: 1_000, "fanova": 400, "mdi": 2_000, "pedanova": 2_000}
"""Trials that are evaluated, the latest ones. The time of fANOVA grows with their square: 26 s of CPU for 1,000.

Of our own measure a refit takes fewer of them (`parsers.analysis.lineage.shares.MOST_RUNS`).
"""


def question(study: StudyState, target: int, method: str) -> dict[str, Any]:
    """Return the question about a target by its number: complete trials with a finite value of it, the latest ones."""
    usable = [
        one for one in study.trials
        if one.state == "complete" and len(one.values) > target and math.isfinite(one.values[target]) and one.distributions
    ][-MOST[method] :]  # fmt: skip
    trials = [{"settings": one.parameters, "distributions": one.distributions, "value": one.values[target]} for one in usable]
    return {"method": method, "goal": study.goals[target], "trials": trials}
