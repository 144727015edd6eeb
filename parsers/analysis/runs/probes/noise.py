"""Probe of the noise of the loss: whether the batch size explains it."""

from __future__ import annotations

import math

import numpy as np

from parsers.analysis.curves.insights import RULES
from parsers.analysis.curves.noise_level import expected_noise, noise_level
from parsers.analysis.lineage.results import main_tag
from parsers.analysis.runs.probes.model import FOUND, NOT_JUDGED, NOTHING, Finding, ProbedRun, Where, not_recorded
from parsers.analysis.runs.probes.roles import of_role
from parsers.analysis.runs.probes.structure import NAMES


def noise_of_batch(run: ProbedRun) -> Finding:
    """Return whether the loss is noisier than the batch sizes of the other runs on screen lead to expect.

    The expected noise falls with the square root of the batch size; of several other runs it is the median. Found if it is
    exceeded by the factor from which on a curve counts as noisier.
    """
    losses = of_role(run.tags(), "loss")
    if not losses:
        return not_recorded("no_scalar", role="loss")
    tag = main_tag(losses) or losses[0]
    batch = _batch_size(run)
    if batch is None:
        return not_recorded("no_setting_batch")
    rule, where = RULES["noisier"], Where((tag,))
    noise = _noise(run, tag, rule.fewest)
    told: dict[str, float | str] = {"tag": tag, "batch": batch}
    if noise is None:
        return Finding(NOT_JUDGED, "noise_unknown", told | {"needed": rule.fewest}, where, "noise_of_batch")
    told |= {"noise_share": noise}
    expected = [expected_noise(level, batch, size) for one in run.others if (size := _batch_size(one)) is not None
                and (level := _noise(one, tag, rule.fewest)) is not None]  # fmt: skip
    if not expected or not max(expected) > 0.0:
        return Finding(NOT_JUDGED, "noise_alone", told, where, "noise_of_batch")
    usual = float(np.median(expected))
    told |= {"expected_share": usual, "n": len(expected)}
    if noise > rule.limit * usual:
        return Finding(FOUND, "noise_of_batch", told, where, "noise_of_batch", severity=1.0)
    return Finding(NOTHING, "noise_of_batch", told, where, "noise_of_batch")


def _batch_size(run: ProbedRun) -> float | None:
    """Return the first recorded batch size that is a positive number; None without one."""
    for name, value in run.settings().items():
        known = NAMES["batch"].search(name) and isinstance(value, int | float) and not isinstance(value, bool)
        if known and math.isfinite(float(value)) and float(value) > 0.0:
            return float(value)
    return None


def _noise(run: ProbedRun, tag: str, fewest: int) -> float | None:
    series = run.series(tag)
    return None if series is None else noise_level(series.value, fewest)
