"""Probe of the lengths of epochs: another length is other data, or another batch size."""

from __future__ import annotations

import numpy as np

from parsers.analysis.runs.probes.model import FOUND, NOT_JUDGED, NOTHING, Finding, ProbedRun, Where, not_recorded
from parsers.analysis.runs.probes.roles import of_role

_FEWEST = 2
"""Complete epochs that are needed to compare one with another."""


def epoch_length(run: ProbedRun) -> Finding:
    """Return the first complete epoch that has another number of steps than the one before it.

    Epochs begin where the whole part of the recorded epoch rises. Lengths are known to within the steps between two records,
    so only a larger difference counts. The first and the last epoch may be incomplete and are left out.
    """
    tags = of_role(run.tags(), "epoch")
    if not tags:
        return not_recorded("no_scalar", role="epoch")
    series, where = run.series(tags[0]), Where((tags[0],))
    finite = np.zeros(0, bool) if series is None else np.isfinite(series.value)
    told: dict[str, float | str] = {"tag": tags[0], "n": 0, "needed": _FEWEST}
    if series is None or not finite.any():
        return Finding(NOT_JUDGED, "few_epochs", told, where, "epoch_length")
    step, epoch = series.step[finite], np.floor(series.value[finite])
    rises = np.flatnonzero(np.diff(epoch) > 0.0)
    whole = np.diff(epoch)[rises] == 1.0
    begins, unsure = step[rises + 1], step[rises + 1] - step[rises] - 1
    lengths = np.diff(begins)
    told["n"] = int(lengths.size)
    if lengths.size < _FEWEST or not whole.all():  # an epoch between two records has no beginning of its own
        return Finding(NOT_JUDGED, "few_epochs", told, where, "epoch_length")
    changed = np.flatnonzero(np.abs(np.diff(lengths)) > unsure[:-2] + 2 * unsure[1:-1] + unsure[2:])
    if not changed.size:
        return Finding(NOTHING, "epochs_alike", told | {"value": int(lengths[0])}, where, "epoch_length")
    at = int(changed[0])
    told |= {"before": int(lengths[at]), "value": int(lengths[at + 1]), "step": int(begins[at + 1])}
    return Finding(FOUND, "epoch_changed_length", told, Where((tags[0],), int(begins[at + 1])), "epoch_length", severity=1.2)
