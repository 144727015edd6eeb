"""The probe of recorded tensors of float16: which of them overflowed before the loss was NaN, or came close to it."""

from __future__ import annotations

import numpy as np

from parsers.analysis.dumps.half_precision import LARGEST, NEAR
from parsers.analysis.runs.probes.curves import first_bad
from parsers.analysis.runs.probes.model import FOUND, NOT_JUDGED, NOTHING, Finding, ProbedRun, Where, not_recorded
from parsers.analysis.runs.probes.roles import of_role
from parsers.analysis.runs.probes.values import MOST_TAGS, place_before
from parsers.payloads.values import TensorValue


def half_recorded(run: ProbedRun) -> Finding:
    """Return the recorded tensor of float16 with the greatest absolute value, at the first bad step of the loss or before it.

    Inputs are left out: a value that a file holds is no overflow. Of each tag one record is read.
    """
    inputs = set(of_role(run.tags("tensor"), "input"))
    tags = [tag for tag in run.tags("tensor") if tag not in inputs]
    if not tags:
        return not_recorded("no_tensors")
    bad = first_bad(run)
    half = [one for tag in tags[:MOST_TAGS] if (one := _largest(run, tag, bad.step if bad else None)) is not None]
    told: dict[str, float | str] = {"n": len(half), "of": len(tags), "largest": LARGEST}
    if not half:
        return Finding(NOT_JUDGED, "no_half_recorded", told, Where((tags[0],)), "half_overflow")
    value, step, tag = max(half)
    hits = sum(one[0] == np.inf if value == np.inf else one[0] >= NEAR for one in half)
    told |= {"hits": hits, "name": tag, "step": step, "value": value}
    where = Where((tag,), step)
    if value == np.inf:
        return Finding(FOUND, "half_overflowed", told, where, "half_overflow", severity=1.9)
    if value >= NEAR:
        return Finding(FOUND, "half_near", told, where, "half_overflow", severity=1.4)
    return Finding(NOTHING, "half_fits", told, where, "half_overflow")


def _largest(run: ProbedRun, tag: str, step: int | None) -> tuple[float, int, str] | None:
    """Return the greatest absolute value of a tensor up to a step, NaN left out, the step of the record, and the tag.

    None if it is not of float16, or has no other values.
    """
    place, at = place_before(run, "tensor", tag, step)
    value = run.value("tensor", tag, place) if place >= 0 else None
    if not isinstance(value, TensorValue) or value.dtype != "float16" or np.isnan(value.data).all():
        return None
    return float(np.nanmax(np.abs(value.data.astype(np.float64)))), at, tag
