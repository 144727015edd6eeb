"""Which trials end early: Optuna's pruners, as the configuration names them."""

from __future__ import annotations

import warnings

from optuna.pruners import (
    BasePruner,
    HyperbandPruner,
    MedianPruner,
    NopPruner,
    PatientPruner,
    PercentilePruner,
    SuccessiveHalvingPruner,
    ThresholdPruner,
)  # fmt: skip

from parsers.tuning.description import Pruning


def pruner_of(pruning: Pruning | None, *, sign: int = 1) -> BasePruner:
    """Return the pruner. sign: -1 if values are reported negated, since the compared scalar has the other goal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is experimental in Optuna
        return NopPruner() if pruning is None else _made(pruning, sign)


def _made(pruning: Pruning, sign: int) -> BasePruner:
    if pruning.name == "median":
        return MedianPruner(pruning.startup_trials, pruning.warmup_steps, pruning.interval)
    if pruning.name == "percentile":
        return PercentilePruner(pruning.percentile, pruning.startup_trials, pruning.warmup_steps, pruning.interval)
    if pruning.name == "halving":
        return SuccessiveHalvingPruner(min_resource=pruning.min_resource, reduction_factor=pruning.reduction_factor)
    if pruning.name == "hyperband":
        return HyperbandPruner(pruning.min_resource, pruning.max_resource or "auto", pruning.reduction_factor)
    if pruning.name == "patient":
        return PatientPruner(None, patience=pruning.patience, min_delta=pruning.min_delta)
    low, high = pruning.lower, pruning.upper
    if sign < 0:
        low, high = (None if high is None else -high), (None if low is None else -low)
    return ThresholdPruner(low, high, pruning.warmup_steps, pruning.interval)
