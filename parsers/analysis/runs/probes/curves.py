"""Probes of scalars: what the rules of the insights say, and what changed at the step that they name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from parsers.analysis.curves.insights import RULES, Insight
from parsers.analysis.curves.segments import restarts
from parsers.analysis.runs.probes.model import (
    FOUND,
    NOT_JUDGED,
    NOTHING,
    Finding,
    ProbedRun,
    Where,
    not_recorded,
)
from parsers.analysis.runs.probes.roles import of_role
from parsers.model import Ints, Series


def insight(run: ProbedRun, *, kinds: Sequence[str], about: Sequence[str] = ("any",)) -> Finding:
    """Return the severest insight of some kinds into the scalars of some roles.

    Nothing is said to be found only if a scalar has the points that each of the rules needs.
    """
    tags = of_role(run.tags(), *about)
    if not tags:
        return not_recorded("no_scalar", role=about[0])
    found = [one for one in run.insights(tags) if one.kind in kinds]
    standing = run.stalled() if "stall" in kinds else None
    if standing is not None:
        found.append(standing)
    if found:
        return of_insight(_first(found), len(found))
    longest = max((series.step.size for tag in tags if (series := run.series(tag)) is not None), default=0)
    needed = max(RULES[kind].fewest for kind in kinds)
    told: dict[str, float | str] = {"tags": len(tags), "points": longest, "needed": needed}
    rule = f"insight.{kinds[0]}"
    if longest < needed:
        return Finding(NOT_JUDGED, "too_short", told, Where((tags[0],)), rule)
    return Finding(NOTHING, "no_insight", told, Where(tuple(tags[:1])), rule)


def of_insight(one: Insight, number: int = 1) -> Finding:
    """Return an insight as what was found; number is how many insights there are."""
    where = Where((one.tag,), one.step, one.last_step)
    severity = one.severity + _share(one.score)
    return Finding(FOUND, "insight", {"n": number}, where, f"insight.{one.kind}", one, severity=severity)


def _share(score: float) -> float:
    """Return a score as a number below 1 that grows with it."""
    return 1.0 - 1.0 / (1.0 + score) if math.isfinite(score) else 1.0


def _first(found: Sequence[Insight]) -> Insight:
    """Return the severest insight; of values that are not finite the earliest, of which the others follow."""
    bad = [one for one in found if one.kind == "non_finite"]
    return min(bad, key=lambda one: (one.step, one.tag)) if bad else found[0]


def first_bad(run: ProbedRun) -> Insight | None:
    """Return the earliest value that is not finite, of all scalars; None if all are finite."""
    bad = [one for one in run.insights(list(run.tags())) if one.kind == "non_finite"]
    return min(bad, key=lambda one: (one.step, one.tag), default=None)


def _without_bad(run: ProbedRun, tags: Sequence[str]) -> Finding:
    if not run.tags():
        return not_recorded("no_scalar", role="any")
    return Finding(NOTHING, "all_finite", {"tags": len(run.tags())}, Where(tuple(tags[:2])), "insight.non_finite")


def rates_at_bad(run: ProbedRun) -> Finding:
    """Return learning rate and loss scale at the first value that is not finite.

    Found: the loss scale had fallen by then, or the learning rate was at its highest.
    """
    tags = of_role(run.tags(), "learning_rate", "loss_scale")
    bad = first_bad(run)
    if bad is None:
        return _without_bad(run, tags)
    if not tags:
        known = _highest_rate(run)
        if known is None:
            return not_recorded("no_scalar", role="rates")
        return Finding(NOT_JUDGED, "rate_setting", {"tag": known[0], "value": known[1]}, Where(known[:1]), "rate_highest")
    told: dict[str, float | str] = {"step": bad.step}
    state = NOT_JUDGED
    for tag in tags:
        before = _until(run.series(tag), bad.step)
        if not before.size:
            continue
        state = NOTHING if state == NOT_JUDGED else state
        told |= {"tag": tag, "value": float(before[-1]), "before": float(before[0])}
        where = Where((tag, bad.tag), bad.step)
        if tag in of_role([tag], "loss_scale"):
            falls = int(np.count_nonzero(np.diff(before) < 0))
            if falls and before[-1] < before[0]:
                return Finding(FOUND, "scale_fell", told | {"n": falls}, where, "scale_fell", severity=2.0)
        elif before.size > 1 and before[-1] >= before.max() > before.min():
            return Finding(FOUND, "rate_highest", told, where, "rate_highest", severity=1.5)
    said = "rates_usual" if state == NOTHING else "no_value_at"
    return Finding(state, said, told, Where((*tags[:1], bad.tag), bad.step), "rate_highest")


def _until(series: Series | None, step: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the finite values of a scalar up to a step."""
    if series is None:
        return np.empty(0)
    values = series.value[series.step <= step].astype(np.float64)
    return values[np.isfinite(values)]


def norm_before_bad(run: ProbedRun) -> Finding:
    """Return the norm of gradients that changed first, before the step of the first value that is not finite.

    That it is not finite at that step, too, is no change before.
    """
    tags = of_role(run.tags(), "norm")
    bad = first_bad(run)
    if bad is None:
        return _without_bad(run, tags)
    if not tags:
        return not_recorded("no_scalar", role="norm")
    kinds = ("spike", "divergence", "shift", "non_finite")
    found = [one for one in run.insights(tags) if one.kind in kinds and one.step < bad.step]
    if found:
        return of_insight(min(found, key=lambda one: one.step), len(found))
    longest = max((series.step.size for tag in tags if (series := run.series(tag)) is not None), default=0)
    needed = max(RULES[kind].fewest for kind in kinds)
    told: dict[str, float | str] = {"tags": len(tags), "points": longest, "needed": needed}
    where = Where((tags[0], bad.tag), bad.step)
    state, said = (NOT_JUDGED, "too_short") if longest < needed else (NOTHING, "no_change_before")
    return Finding(state, said, told | {"step": bad.step}, where, "insight.divergence")


def changed_at(run: ProbedRun, *, what: str, kinds: Sequence[str], about: Sequence[str] = ("loss",)) -> Finding:
    """Return whether something changed where the severest insight of some kinds begins.

    what is "learning_rate" (its largest change so far is there), "restart" (the training went back to an earlier step there) or
    "epoch" (a recorded epoch begins there).
    """
    about_tags = of_role(run.tags(), *about)
    if not about_tags:
        return not_recorded("no_scalar", role=about[0])
    found = [one for one in run.insights(about_tags) if one.kind in kinds]
    if not found:
        return insight(run, kinds=kinds, about=about)
    one = _first(found)
    if what == "restart":
        return _restart_at(run, one)
    tags = of_role(run.tags(), what)
    if not tags:
        return not_recorded("no_scalar", role=what)
    series = run.series(tags[0])
    if series is None or series.step.size < 2:
        points = 0 if series is None else series.step.size
        return Finding(NOT_JUDGED, "too_short", {"tags": 1, "points": points, "needed": 2}, Where((tags[0], one.tag), one.step))
    at, change = _change_around(series, run.series(one.tag), one.step)
    told: dict[str, float | str] = {"tag": tags[0], "step": one.step}
    where = Where((one.tag, tags[0]), one.step)
    if at is not None and change and (what == "epoch" or change >= float(np.abs(np.diff(series.value[: at + 1])).max())):
        told |= {"before": float(series.value[at - 1]), "value": float(series.value[at]), "at": int(series.step[at])}
        return Finding(FOUND, f"{what}_changed", told, where, f"{what}_changed", severity=1.2)
    return Finding(NOTHING, "unchanged_at", told, where, f"{what}_changed")


def _change_around(series: Series, curve: Series | None, step: int) -> tuple[int | None, float]:
    """Return the place of the largest change between the point of a curve before a step and the step, and its size."""
    earlier = curve.step[curve.step < step] if curve is not None else series.step[:0]
    first = int(earlier[-1]) if earlier.size else int(series.step[0])
    places = np.flatnonzero((series.step[1:] >= first) & (series.step[1:] <= step)) + 1
    if not places.size:
        return None, 0.0
    changes = np.abs(np.diff(series.value))[places - 1]
    best = int(np.argmax(changes))
    return int(places[best]), float(changes[best])


def _restart_at(run: ProbedRun, one: Insight) -> Finding:
    recorded = run.recorded(one.tag)
    places = _begins(recorded) if recorded is not None else np.empty(0, np.int64)
    near = places[(places >= one.place - 1) & (places <= one.place + 1)]
    where = Where((one.tag,), one.step, one.last_step)
    told: dict[str, float | str] = {"step": one.step, "n": int(places.size), "tag": one.tag}
    if near.size:
        return Finding(FOUND, "restart_at", told, where, "restart_at", severity=1.4)
    return Finding(NOTHING, "no_restart_at", told, where, "restart_at")


def _begins(series: Series) -> Ints:
    """Return the places at which the steps go back or another file begins."""
    files = np.flatnonzero(np.diff(series.file)) + 1
    return np.union1d(restarts(series.step), files).astype(np.int64)


def restarted(run: ProbedRun) -> Finding:
    """Return how often the steps of the longest scalar went back."""
    series, tag = _longest(run, run.tags())
    if series is None:
        return not_recorded("no_scalar", role="any")
    places = restarts(series.step)
    told: dict[str, float | str] = {"n": int(places.size), "points": series.step.size, "tag": tag}
    if places.size:
        step = int(series.step[places[0]])
        return Finding(FOUND, "restarted", told | {"step": step}, Where((tag,), step), "restarted", severity=1.1)
    if series.step.size < 2:
        return Finding(NOT_JUDGED, "too_short", {"tags": 1, "points": series.step.size, "needed": 2}, Where((tag,)))
    return Finding(NOTHING, "no_restart", told, Where((tag,)), "restarted")


def _longest(run: ProbedRun, tags: Sequence[str]) -> tuple[Series | None, str]:
    every = [(series, tag) for tag in tags if (series := run.recorded(tag)) is not None and series.step.size]
    return max(every, key=lambda one: one[0].step.size, default=(None, ""))


def rate_after_restart(run: ProbedRun) -> Finding:
    """Return whether the learning rate after a restart, or where another file begins, is higher than the last one before."""
    tags = of_role(run.tags(), "learning_rate")
    if not tags:
        return not_recorded("no_scalar", role="learning_rate")
    series, tag = _longest(run, tags)
    if series is None:
        return not_recorded("no_scalar", role="learning_rate")
    places = _begins(series)
    if not places.size:
        told: dict[str, float | str] = {"n": 0, "points": series.step.size, "tag": tag}
        return Finding(NOTHING, "no_restart", told, Where((tag,)), "rate_after_restart")
    for place in places.tolist():
        step = int(series.step[place])
        earlier = np.flatnonzero(series.step[:place] <= step)
        before = float(series.value[earlier[-1]]) if earlier.size else float(series.value[place - 1])
        now = float(series.value[place])
        if now > before:
            told = {"tag": tag, "step": step, "before": before, "value": now}
            losses = of_role(run.tags(), "loss")
            where = Where((tag, *losses[:1]), step)
            return Finding(FOUND, "rate_after_restart", told, where, "rate_after_restart", severity=1.8)
    told = {"n": int(places.size), "tag": tag}
    return Finding(NOTHING, "rate_kept", told, Where((tag,), int(series.step[places[0]])), "rate_after_restart")


def mixed_writers(run: ProbedRun) -> Finding:
    """Return whether two files of a run were written at the same time: ranks, or trainings, that share a directory."""
    series, tag = _longest(run, run.tags())
    if series is None:
        return not_recorded("no_scalar", role="any")
    files = np.unique(series.file)
    spans = sorted((float(series.wall_time[series.file == one].min()), float(series.wall_time[series.file == one].max()))
                   for one in files.tolist())  # fmt: skip
    if len(spans) > 1 and not np.isfinite(series.wall_time).all():
        return Finding(NOT_JUDGED, "no_times", {"tag": tag}, Where((tag,)), "mixed_writers")
    together = [later[0] for earlier, later in pairwise(spans) if later[0] < earlier[1]]
    told: dict[str, float | str] = {"n": len(spans), "tag": tag}
    if together:
        step = int(series.step[np.flatnonzero(series.wall_time >= together[0])[0]])
        return Finding(FOUND, "mixed_writers", told, Where((tag,), step), "mixed_writers", severity=1.3)
    return Finding(NOTHING, "one_writer", told, Where((tag,)), "mixed_writers")


def rate_beside_others(run: ProbedRun) -> Finding:
    """Return whether the highest learning rate lies outside those of the other runs on screen."""
    own = _highest_rate(run)
    if own is None:
        return not_recorded("no_scalar", role="learning_rate")
    tag, value = own
    others = [found[1] for other in run.others if (found := _highest_rate(other)) is not None]
    told: dict[str, float | str] = {"tag": tag, "value": value, "n": len(others)}
    if not others:
        return Finding(NOT_JUDGED, "no_others", told, Where((tag,)), "rate_beside_others")
    told |= {"low": min(others), "high": max(others)}
    if value > max(others) or value < min(others):
        return Finding(FOUND, "rate_outside", told, Where((tag,)), "rate_beside_others", severity=1.1)
    return Finding(NOTHING, "rate_inside", told, Where((tag,)), "rate_beside_others")


def _highest_rate(run: ProbedRun) -> tuple[str, float] | None:
    """Return the highest learning rate of a run, as recorded step by step, else as a setting."""
    for tag in of_role(run.tags(), "learning_rate"):
        series = run.series(tag)
        if series is not None and np.isfinite(series.value).any():
            return tag, float(series.value[np.isfinite(series.value)].max())
    for name, value in run.settings().items():
        if of_role([name], "learning_rate") and isinstance(value, int | float) and not isinstance(value, bool):
            return name, float(value)
    return None


def gap(run: ProbedRun) -> Finding:
    """Return where a curve of an evaluation turned for the worse, with a curve of training to show beside it."""
    found = insight(run, kinds=("overfitting", "divergence"), about=("validation",))
    if found.state != FOUND:
        return found
    training = [tag for tag in of_role(run.tags(), "training") if tag != found.by.tag]
    return Finding(FOUND, found.said, found.told, Where((found.by.tag, *training[:1]), found.by.step, found.by.last_step),
                   found.rule, found.by, severity=found.severity)  # fmt: skip


def ranks_differ(run: ProbedRun) -> Finding:
    """Return the rank whose loss has a kind of insight that not all ranks have."""
    if len(run.ranks) < 2:
        return not_recorded("one_rank")
    by_rank = {rank: list(member.insights(of_role(member.tags(), "loss"))) for rank, member in run.ranks.items()
               if of_role(member.tags(), "loss")}  # fmt: skip
    if len(by_rank) < 2:
        return not_recorded("no_scalar_of_ranks", n=len(by_rank))
    everywhere = set.intersection(*({one.kind for one in found} for found in by_rank.values()))
    alone = [(rank, one) for rank, found in by_rank.items() for one in found if one.kind not in everywhere]
    if alone:
        rank, one = max(alone, key=lambda pair: (pair[1].severity, pair[1].score))
        told: dict[str, float | str] = {"rank": rank, "n": len({rank for rank, _ in alone}), "of": len(by_rank)}
        where = Where((one.tag,), one.step, one.last_step, rank)
        return Finding(FOUND, "rank_alone", told, where, f"insight.{one.kind}", one, severity=one.severity)
    lengths = [series.step.size for member in run.ranks.values() for tag in of_role(member.tags(), "loss")
               if (series := member.series(tag)) is not None]  # fmt: skip
    needed = RULES["shift"].fewest
    told = {"of": len(by_rank), "points": min(lengths, default=0), "needed": needed, "tags": len(by_rank)}
    if min(lengths, default=0) < needed:
        return Finding(NOT_JUDGED, "too_short", told, rule="insight.shift")
    return Finding(NOTHING, "ranks_alike", told, rule="insight.shift")


def data_time(run: ProbedRun) -> Finding:
    """Return the time for data as a share of the time of a step, as the training recorded both.

    Found if it is more than what is left of the step.
    """
    waits, steps = of_role(run.tags(), "data_time"), of_role(run.tags(), "step_time")
    if not waits or not steps:
        return not_recorded("no_scalar", role="data_time" if not waits else "step_time")
    data, whole = run.series(waits[0]), run.series(steps[0])
    where = Where((waits[0], steps[0]))
    unknown = Finding(NOT_JUDGED, "no_shared_steps", {"tag": waits[0]}, where, "data_time")
    if data is None or whole is None:
        return unknown
    shared, first, second = np.intersect1d(data.step, whole.step, return_indices=True)
    if not shared.size:
        return unknown
    wait, total = float(np.nanmedian(data.value[first])), float(np.nanmedian(whole.value[second]))
    if not total > 0.0 or not wait >= 0.0:
        return unknown
    told: dict[str, float | str] = {"taken_share": wait / total, "tag": waits[0], "points": int(shared.size)}
    if wait > total - wait:
        return Finding(FOUND, "data_time", told, where, "data_time", severity=1.6)
    return Finding(NOTHING, "data_time", told, where, "data_time")
