"""Frames of a study as figures: target over trials, curves, workers over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import described, entry, listed, named
from layouts.kit.figures.typed_arrays import numbers, typed
from layouts.kit.i18n import both
from layouts.kit.names import middle
from layouts.kit.plot_cards import plain
from layouts.tuning.studies import StudyFrames
from layouts.tuning.tuning.study_style import (
    BEST,
    COLOURS,
    Floats,
    best_so_far,
    best_trial,
    goal_of,
    layout_of,
    values_of,
    word,
)

Curves = Mapping[int, tuple[Floats, Floats]]
"""Number of a trial -> (steps, values) of the compared scalar."""
SYMBOLS = {"complete": "circle", "pruned": "x-thin-open", "running": "diamond-open"}
MOST_POINTS = 200
LEAST_POINTS = 40
ALL_POINTS = 60_000
"""Points that are drawn of a curve, and of all of them."""


def progress(study: StudyFrames, target: str, curves: Curves, *, language: str, dark: bool) -> dict[str, Any] | None:
    """Return target over trials with the best so far; trials that were pruned are where their curve ended. None without any."""
    values, goal = values_of(study, target), goal_of(study, target)
    feasible = study.trials["feasible"].to_numpy(np.bool_)
    number = study.trials["trial"].to_numpy()
    state = study.trials["state"].astype(str).to_numpy()
    first = study.targets[0][0] == target and _compares(study, target)
    lasts = {trial: float(y[-1]) for trial, (_, y) in curves.items() if len(y)} if first else {}
    data = []
    for name in ("pruned", "running", "complete"):
        of = np.flatnonzero(state == name)
        y = values[of] if name == "complete" else np.array([lasts.get(one, np.nan) for one in number[of].tolist()])
        there = np.isfinite(y)
        of, y = of[there], y[there]
        if len(of):
            opacity = np.where(feasible[of], 1.0, 0.35) if name == "complete" else np.full(len(of), 0.8)
            data.append({
                "type": "scatter", "mode": "markers", "name": word(f"tuning.state.{name}", language),
                "x": numbers(number[of].astype(np.float64)), "y": typed(y), "customdata": number[of].tolist(),
                "hoverinfo": "text", "hovertext": _tips(number[of].tolist(), y, name, target, language),
                "marker": {"color": COLOURS[name], "size": 7, "symbol": SYMBOLS[name], "opacity": opacity.tolist(),
                           "line": {"color": COLOURS[name], "width": 1.4 if "open" in SYMBOLS[name] else 0}},
                "meta": {"role": name},
            })  # fmt: skip
    if not data:
        return None
    best = best_so_far(values, feasible, goal)
    if np.isfinite(best).any():
        data.append({
            "type": "scatter", "mode": "lines", "name": word("tuning.best_line", language), "hoverinfo": "skip",
            "x": numbers(number.astype(np.float64)), "y": typed(best), "connectgaps": False,
            "line": {"color": BEST, "width": 2, "shape": "hv"}, "meta": {"role": "best"},
        })  # fmt: skip
    figure = {"data": data, "layout": layout_of(word("tuning.trial", language), target, dark=dark)}
    finite = best[np.isfinite(best)]
    said = entry(both("tuning.best_line"), finite) if len(finite) else None
    found = entry(target, values[np.isfinite(values)], ordered=False) if np.isfinite(values).any() else None
    title = both("tuning.progress_alt", target=middle(target, 80), n=fmt.count(len(study.trials)))
    return described(figure, title, said, found)


def _compares(study: StudyFrames, target: str) -> bool:
    """Return whether the compared scalar is the target."""
    pruning = study.search.get("pruning")
    return not isinstance(pruning, dict) or pruning.get("tag") == target


def _tips(trials: Sequence[int], values: Floats, state: str, target: str, language: str) -> list[str]:
    pattern = word("tuning.point", language)
    shown = word(f"tuning.state.{state}", language)
    return [
        pattern.format(n=trial, state=shown, target=plain(target), value=fmt.number(value))
        for trial, value in zip(trials, values.tolist(), strict=True)
    ]


def curve_figure(study: StudyFrames, curves: Curves, tag: str, *, language: str, dark: bool) -> dict[str, Any] | None:
    """Return the curves of the compared scalar of all trials, pruned and failed ones faint, the best one thick."""
    state = dict(zip(study.trials["trial"].tolist(), study.trials["state"].astype(str).tolist(), strict=True))
    best = best_trial(study, study.targets[0][0]) if len(study.targets) == 1 else None
    data = []
    for name, opacity, width in (("failed", 0.25, 1), ("pruned", 0.3, 1), ("complete", 0.55, 1.2), ("running", 0.9, 1.6)):
        of = [one for one in curves if one != best and state.get(one) == name]
        if of:
            data.append(_lines(curves, of, word(f"tuning.state.{name}", language), COLOURS[name], opacity, width, language))
            data[-1]["meta"] = {"role": name}
    if best is not None and best in curves:
        data.append(_lines(curves, [best], word("tuning.best_trial", language, n=best), BEST, 1.0, 2.4, language))
        data[-1]["meta"] = {"role": "best"}
    if not data:
        return None
    figure = {"data": data, "layout": layout_of(word("tuning.step", language), tag, dark=dark)}
    named = [best] if best is not None and best in curves else []
    named += [one for one in sorted(curves, reverse=True) if one != best]
    said = listed(
        (entry(both("tuning.trial_n", n=one), curves[one][1]) for one in named[:5] if len(curves[one][1])), len(curves)
    )
    return described(figure, both("tuning.curves_alt", tag=middle(tag, 80), n=fmt.count(len(curves))), said)


def _lines(
    curves: Curves, of: Sequence[int], name: str, colour: str, opacity: float, width: float, language: str
) -> dict[str, Any]:
    """Return several curves as one trace with gaps between them."""
    xs, ys, trials = [], [], []
    gap, most = np.array([np.nan]), max(LEAST_POINTS, min(MOST_POINTS, ALL_POINTS // len(curves)))
    for one in of:
        x, y = thinned(*curves[one], most)
        xs += [x, gap]
        ys += [y, gap]
        trials += [one] * (len(x) + 1)
    return {
        "type": "scatter", "mode": "lines" if any(len(curves[one][0]) > 1 for one in of) else "markers", "name": name,
        "x": typed(np.concatenate(xs)), "y": typed(np.concatenate(ys)), "text": trials,
        "hovertemplate": f"{word('tuning.trial_n', language, n='%{text}')}<br>%{{x}}: %{{y}}<extra></extra>",
        "connectgaps": False, "opacity": opacity, "line": {"color": colour, "width": width, "simplify": False},
        "marker": {"color": colour, "size": 5},
    }  # fmt: skip


def thinned(x: Floats, y: Floats, most: int = MOST_POINTS) -> tuple[Floats, Floats]:
    """Return about `most` points of a curve: lowest and highest of each stretch, the first and the last."""
    if len(x) <= most:
        return x, y
    size = -(-len(x) // max(most // 2, 1))
    rows = -(-len(x) // size)
    padded = np.full(rows * size, np.nan)
    padded[: len(y)] = y
    stretches, first = padded.reshape(rows, size), np.arange(rows) * size
    finite = np.isfinite(stretches)
    lowest = first + np.where(finite, stretches, np.inf).argmin(axis=1)
    highest = first + np.where(finite, stretches, -np.inf).argmax(axis=1)
    places = np.unique(np.concatenate([lowest, highest, [0, len(x) - 1]]))
    return x[places], y[places]


def worker_figure(study: StudyFrames, now: float, *, language: str, dark: bool) -> dict[str, Any] | None:
    """Return the trials by worker over time, a row for each trial at a time; None if no worker started one. now ends those
    that run."""
    frame = study.trials
    worker = frame["worker"].astype(str).to_numpy()
    begin = frame["started"].to_numpy(np.float64)
    state = frame["state"].astype(str).to_numpy()
    end = np.where(state == "running", now, frame["ended"].to_numpy(np.float64))
    of = np.flatnonzero((worker != "") & np.isfinite(begin) & np.isfinite(end))
    if not len(of):
        return None
    there = set(worker[of].tolist())
    names = list(dict.fromkeys([*(one for one in study.workers["worker"].tolist() if one in there), *worker[of].tolist()]))
    rows, lanes, ticks = np.zeros(len(frame)), 0, []
    for name in names:
        mine = of[worker[of] == name]
        placed = _lanes(begin[mine], end[mine])
        rows[mine] = lanes + placed
        ticks.append((lanes + placed.max() / 2, name))
        lanes += int(placed.max()) + 1
    number = frame["trial"].to_numpy()
    data = []
    for name, colour in COLOURS.items():
        some = of[state[of] == name]
        if not len(some):
            continue
        x = np.stack([begin[some], end[some], np.full(len(some), np.nan)], axis=1).ravel() * 1000.0
        y = np.repeat(rows[some], 3)
        tips = [word("tuning.span", language, n=trial, state=word(f"tuning.state.{name}", language), time=fmt.duration(time))
                for trial, time in zip(number[some].tolist(), (end - begin)[some].tolist(), strict=True)]  # fmt: skip
        data.append({
            "type": "scatter", "mode": "lines", "name": word(f"tuning.state.{name}", language), "x": typed(x), "y": typed(y),
            "hoverinfo": "text", "hovertext": [tip for tip in tips for _ in range(3)], "connectgaps": False,
            "line": {"color": colour, "width": max(3, min(12, 180 // lanes)), "simplify": False}, "meta": {"role": name},
        })  # fmt: skip
    layout = layout_of("", "", dark=dark, margin={"l": 130, "r": 18, "t": 30, "b": 30, "pad": 0})
    layout["xaxis"] = {"type": "date", "zeroline": False}
    layout["yaxis"] = {"zeroline": False, "showgrid": False, "range": [lanes - 0.4, -0.6], "tickmode": "array",
                       "tickvals": [at for at, _ in ticks],
                       "ticktext": [plain(middle(name, 18)) for _, name in ticks]}  # fmt: skip
    title = both("tuning.workers_alt", n=fmt.count(len(of)), workers=fmt.count(len(names)))
    counts = listed(
        both("tuning.worker_alt", name=middle(one, 40), n=fmt.count(int((worker[of] == one).sum()))) for one in names
    )
    ended = ((name, int((state[of] == name).sum())) for name in COLOURS)
    states = listed(named(both(f"tuning.state.{name}"), fmt.count(count)) for name, count in ended if count)
    return described({"data": data, "layout": layout}, title, counts, states)


def _lanes(begin: Floats, end: Floats) -> Floats:
    """Return a row for each span, so that spans in one row do not overlap."""
    free: list[float] = []
    rows = np.zeros(len(begin))
    for at in np.argsort(begin, kind="stable").tolist():
        row = next((row for row, until in enumerate(free) if until <= begin[at]), len(free))
        if row == len(free):
            free.append(0.0)
        free[row] = end[at]
        rows[at] = row
    return rows
