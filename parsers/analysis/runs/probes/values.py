"""Probes of large values: histograms of weights, gradients and activations, and what was recorded of the inputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from parsers.analysis.curves.final_values import last_value
from parsers.analysis.curves.insights.unmoved import GRADIENT
from parsers.analysis.runs.probes.curves import first_bad
from parsers.analysis.runs.probes.model import FOUND, NOT_JUDGED, NOTHING, Finding, ProbedRun, Where, not_recorded
from parsers.analysis.runs.probes.roles import of_role
from parsers.analysis.values.landscapes import sharpness
from parsers.payloads.values import HistogramValue, ImageValue, LandscapeValue, TensorValue

MOST_TAGS = 64
"""Tags that are read for one question; the answer says how many there are."""
_GRADIENT = re.compile(r"grad", re.IGNORECASE)
_ACTIVATION = re.compile(r"relu|gelu|silu|swish|sigmoid|tanh|activation", re.IGNORECASE)


def frozen_weights(run: ProbedRun) -> Finding:
    """Return the histograms of weights whose last record equals the first."""
    tags = [tag for tag in run.tags("histogram") if not _GRADIENT.search(tag) and not _ACTIVATION.search(tag)]
    if not tags:
        return not_recorded("no_histograms")
    judged, frozen = 0, []
    for tag in tags[:MOST_TAGS]:
        series = run.payloads("histogram", tag)
        if series is None or len(series) < 2:
            continue
        first, last = (run.value("histogram", tag, place) for place in (0, len(series) - 1))
        if isinstance(first, HistogramValue) and isinstance(last, HistogramValue):
            judged += 1
            if _same(first, last):
                frozen.append(tag)
    told: dict[str, float | str] = {"n": len(frozen), "judged": judged, "tags": len(tags)}
    if not judged:
        return Finding(NOT_JUDGED, "one_histogram", told, Where(tuple(tags[:1])), "frozen_weights")
    if frozen:
        return Finding(FOUND, "frozen_weights", told | {"tag": frozen[0]}, Where((frozen[0],)), "frozen_weights", severity=1.6)
    return Finding(NOTHING, "weights_move", told, Where(tuple(tags[:1])), "frozen_weights")


def _same(one: HistogramValue, other: HistogramValue) -> bool:
    return (one.min, one.max, one.sum) == (other.min, other.max, other.sum) and np.array_equal(one.count, other.count)


def zero_values(run: ProbedRun, *, of: str) -> Finding:
    """Return whether gradients or activations (of) were all 0 at their last record: histograms, and norms of gradients."""
    pattern = _GRADIENT if of == "gradients" else _ACTIVATION
    tags = [tag for tag in run.tags("histogram") if pattern.search(tag)]
    norms = of_role(run.tags(), "norm") if of == "gradients" else []
    zero, judged = [], 0
    for tag in tags[:MOST_TAGS]:
        series = run.payloads("histogram", tag)
        value = run.value("histogram", tag, len(series) - 1) if series is not None and len(series) else None
        if isinstance(value, HistogramValue) and value.finite:
            judged += 1
            zero += [tag] * (value.min == 0.0 == value.max)
    for tag in norms:
        curve = run.series(tag)
        if curve is not None and curve.step.size:
            judged += 1
            zero += [tag] * (last_value(curve).value == 0.0)
    if not tags and not norms:
        return not_recorded(f"no_{of}")
    told: dict[str, float | str] = {"n": len(zero), "judged": judged}
    first = (tags or norms)[0]
    if not judged:
        return Finding(NOT_JUDGED, "one_histogram", told, Where((first,)), "zero_values")
    if zero:
        return Finding(FOUND, f"zero_{of}", told | {"tag": zero[0]}, Where((zero[0],)), "zero_values", severity=1.7)
    return Finding(NOTHING, f"{of}_not_zero", told, Where((first,)), "zero_values")


def bad_inputs(run: ProbedRun) -> Finding:
    """Return whether a recorded input holds NaN or Inf at the first step of the loss that does, or shortly before it."""
    tags = of_role(run.tags("tensor"), "input")
    images = of_role(run.tags("image"), "input")
    bad = first_bad(run)
    if not tags and not images:
        return not_recorded("no_inputs")
    if bad is None and run.tags():
        return Finding(NOTHING, "all_finite", {"tags": len(run.tags())}, Where(tuple((*tags, *images)[:1])), "bad_inputs")
    read = 0
    for tag in tags[:MOST_TAGS]:
        place, step = place_before(run, "tensor", tag, bad.step if bad else None)
        value = run.value("tensor", tag, place) if place >= 0 else None
        if isinstance(value, TensorValue) and value.data.dtype.kind in "fc":
            read += 1
            wrong = int(np.count_nonzero(~np.isfinite(value.data)))
            if wrong:
                told: dict[str, float | str] = {"n": wrong, "of": int(value.data.size), "tag": tag, "step": step}
                return Finding(FOUND, "bad_inputs", told, Where((tag,), step), "bad_inputs", severity=2.0)
    if read:
        return Finding(NOTHING, "inputs_finite", {"n": read}, Where((tags[0],)), "bad_inputs")
    tag = (images or tags)[0]
    step = place_before(run, "image" if images else "tensor", tag, bad.step if bad else None)[1]
    return Finding(NOT_JUDGED, "look_at_inputs", {"tag": tag, "step": step}, Where((tag,), step), "bad_inputs")


def place_before(run: ProbedRun, kind: str, tag: str, step: int | None) -> tuple[int, int]:
    """Return place and step of the last value up to a step (None: of all); -1 for none."""
    series = run.payloads(kind, tag)
    if series is None or not len(series):
        return -1, -1
    places = np.arange(len(series)) if step is None else np.flatnonzero(series.step <= step)
    return (int(places[-1]), int(series.step[places[-1]])) if places.size else (-1, -1)


def repeated_batch(run: ProbedRun) -> Finding:
    """Return whether the inputs of consecutive records are the same, value by value."""
    tags = [(kind, tag) for kind in ("tensor", "image") for tag in of_role(run.tags(kind), "input")]
    if not tags:
        return not_recorded("no_inputs")
    for kind, tag in tags:
        values = [value for _, value in zip(range(3), _arrays(run, kind, tag), strict=False)]
        if len(values) < 2:
            continue
        told: dict[str, float | str] = {"tag": tag, "n": len(values)}
        if all(np.array_equal(values[0], one) for one in values[1:]):
            return Finding(FOUND, "repeated_batch", told, Where((tag,)), "repeated_batch", severity=1.8)
        return Finding(NOTHING, "batches_differ", told, Where((tag,)), "repeated_batch")
    return Finding(NOT_JUDGED, "one_input", {"tag": tags[0][1]}, Where((tags[0][1],)), "repeated_batch")


def _arrays(run: ProbedRun, kind: str, tag: str) -> Iterator[Any]:
    series = run.payloads(kind, tag)
    for place in range(0 if series is None else len(series)):
        yield array_of(run.value(kind, tag, place))


def array_of(value: object) -> Any:
    """Return what can be compared of a tensor or an image; an empty array of a value that cannot be read."""
    if isinstance(value, TensorValue):
        return value.data
    return np.frombuffer(value.data, np.uint8) if isinstance(value, ImageValue) else np.empty(0)


def ranks_inputs(run: ProbedRun) -> Finding:
    """Return whether two ranks were given the same inputs in the first step that both recorded."""
    return _beside_ranks(run, ("tensor", "image"), "inputs", "same_inputs", "inputs_of_ranks_differ", equal=True)


def ranks_weights(run: ProbedRun) -> Finding:
    """Return whether the histograms of a weight differ between ranks in the last step that both recorded."""
    return _beside_ranks(run, ("histogram",), "weights", "weights_of_ranks", "weights_of_ranks_equal", equal=False)


def _beside_ranks(run: ProbedRun, kinds: Sequence[str], of: str, said: str, fine: str, *, equal: bool) -> Finding:
    """Return the first pair of ranks whose values are equal (or differ), of those of the first rank that others share."""
    if len(run.ranks) < 2:
        return not_recorded("one_rank")
    (first, one), *rest = run.ranks.items()
    judged = 0
    for kind in kinds:
        tags = of_role(one.tags(kind), "input") if of == "inputs" else [
            tag for tag in one.tags(kind) if not _GRADIENT.search(tag) and not GRADIENT.search(tag)
        ]  # fmt: skip
        for tag in tags[:MOST_TAGS]:
            for rank, other in rest:
                pair = _at_one_step(one, other, kind, tag, last=of == "weights")
                if pair is None:
                    continue
                judged += 1
                if pair[1] is equal:
                    told: dict[str, float | str] = {"tag": tag, "rank": rank, "first": first, "step": pair[0]}
                    return Finding(FOUND, said, told, Where((tag,), pair[0], rank=rank), said, severity=1.7)
    if judged:
        return Finding(NOTHING, fine, {"n": judged, "of": len(run.ranks)}, rule=said)
    return not_recorded("no_inputs" if of == "inputs" else "no_histograms")


def _at_one_step(one: ProbedRun, other: ProbedRun, kind: str, tag: str, *, last: bool) -> tuple[int, bool] | None:
    """Return (step that both have, whether the values are equal); None if there is none."""
    here, there = one.payloads(kind, tag), other.payloads(kind, tag)
    if here is None or there is None:
        return None
    shared = np.intersect1d(here.step, there.step)
    if not shared.size:
        return None
    step = int(shared[-1 if last else 0])
    values = [side.value(kind, tag, place) for side, series in ((one, here), (other, there))
              if (place := series.find(step)) is not None]  # fmt: skip
    if kind == "histogram":
        first, second = values
        if not isinstance(first, HistogramValue) or not isinstance(second, HistogramValue):
            return None
        return step, _same(first, second)
    return step, bool(np.array_equal(array_of(values[0]), array_of(values[1])))


def data_after_restart(run: ProbedRun) -> Finding:
    """Return whether the inputs after a restart are those that training began with, value by value.

    A restart is where another file begins, or the steps of a recorded input go back.
    """
    tags = [(kind, tag) for kind in ("tensor", "image") for tag in of_role(run.tags(kind), "input")]
    if not tags:
        return not_recorded("no_inputs")
    again = 0
    for kind, tag in tags:
        series = run.payloads(kind, tag)
        if series is None or not len(series):
            continue
        first = array_of(run.value(kind, tag, 0))
        for place in (np.flatnonzero((np.diff(series.file) != 0) | (np.diff(series.step) < 0)) + 1).tolist():
            now = array_of(run.value(kind, tag, place))
            if not first.size or not now.size:
                continue
            again += 1
            if np.array_equal(first, now):
                step = int(series.step[place])
                return Finding(FOUND, "data_begins_anew", {"tag": tag, "step": step}, Where((tag,), step),
                               "data_after_restart", severity=1.4)  # fmt: skip
    where = Where((tags[0][1],))
    if again:
        return Finding(NOTHING, "data_goes_on", {"n": again, "tag": tags[0][1]}, where, "data_after_restart")
    return Finding(NOT_JUDGED, "inputs_of_one_start", {"tag": tags[0][1]}, where, "data_after_restart")


def initial_values(run: ProbedRun) -> Finding:
    """Compare the weights with which two runs begin, by their histograms of step 0; name the one whose range differs most.

    Weights first recorded at a later step have already been trained: their difference is shown and not judged.
    """
    if run.other is None:
        return not_recorded("no_other_run")
    shared = [tag for tag in run.tags("histogram") if tag in run.other.tags("histogram") and not _GRADIENT.search(tag)
              and not _ACTIVATION.search(tag)]  # fmt: skip
    if not shared:
        return not_recorded("no_two_histograms")
    judged, most, farthest = 0, None, -1.0
    for tag in shared[:MOST_TAGS]:
        one, other = _first_histogram(run, tag), _first_histogram(run.other, tag)
        if one is None or other is None:
            continue
        judged += 1
        if not _same(one, other):
            widths = sorted((one.max - one.min, other.max - other.min))
            apart = float("inf") if widths[0] <= 0.0 else widths[1] / widths[0]
            if apart > farthest:
                most, farthest = (tag, one, other), apart
    told: dict[str, float | str] = {"n": judged}
    if not judged:
        return Finding(NOT_JUDGED, "one_histogram", told, Where((shared[0],)), "initial_values")
    if most is None:
        return Finding(NOTHING, "initial_values_equal", told, Where((shared[0],)), "initial_values")
    tag, one, other = most
    told |= {"tag": tag, "low": one.min, "high": one.max, "other_low": other.min, "other_high": other.max}
    step = max(_first_step(side, tag) for side in (run, run.other))
    if step > 0:
        return Finding(NOT_JUDGED, "trained_values", told | {"step": step}, Where((tag,)), "initial_values")
    return Finding(FOUND, "initial_values", told, Where((tag,)), "initial_values", severity=0.9)


def _first_step(run: ProbedRun, tag: str) -> int:
    series = run.payloads("histogram", tag)
    return int(series.step[0]) if series is not None and len(series) else 0


def _first_histogram(run: ProbedRun, tag: str) -> HistogramValue | None:
    series = run.payloads("histogram", tag)
    value = run.value("histogram", tag, 0) if series is not None and len(series) else None
    return value if isinstance(value, HistogramValue) and value.finite else None


def landscape(run: ProbedRun) -> Finding:
    """Return how sharp the minimum of a loss landscape is, beside the other runs on screen: found if it is the sharpest."""
    tags = run.tags("landscape")
    if not tags:
        return not_recorded("no_landscape")
    own = _sharpness(run)
    where = Where((tags[0],))
    told: dict[str, float | str] = {"n": len(tags)}
    if own is None:
        return Finding(NOT_JUDGED, "look_at_landscape", told, where, "landscape")
    others = [found for one in run.others if (found := _sharpness(one)) is not None]
    told |= {"value": own, "n": len(others)}
    if not others:
        return Finding(NOT_JUDGED, "sharpness_alone", told, where, "landscape")
    told["high"] = max(others)
    if own > max(others):
        return Finding(FOUND, "sharpest", told, where, "landscape", severity=0.8)
    return Finding(NOTHING, "not_sharpest", told, where, "landscape")


def _sharpness(run: ProbedRun) -> float | None:
    """Return the sharpness of the last landscape with a point where training ended, as the page Loss landscape has it."""
    for tag in run.tags("landscape"):
        series = run.payloads("landscape", tag)
        for place in reversed(range(0 if series is None else len(series))):
            value = run.value("landscape", tag, place)
            if isinstance(value, LandscapeValue) and value.convergence is not None and value.z.ndim == 2:
                found = sharpness(value.x, value.y, value.z, value.convergence, float(np.finfo(np.float32).eps))
                if np.isfinite(found):
                    return found
    return None
