"""Target against settings as figures: one setting, two settings, association of each setting, several targets.

Nothing is a model of the sampler: the figures show trials that are complete, and a surface only where trials support it.
"""

from __future__ import annotations

import math
from textwrap import wrap
from typing import Any

import numpy as np
from parsers.analysis import importance
from parsers.analysis.lineage.shares import FEWEST_RUNS, NONE
from parsers.deferred import pandas as pd
from parsers.tuning.importances import FEW, MOST, SHARES

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import described, ends, entry, listed, named
from layouts.kit.figures.typed_arrays import typed
from layouts.kit.i18n import LANGUAGES, both
from layouts.kit.names import middle, shortened
from layouts.kit.plot_cards import plain
from layouts.lineage.parallel import LINEAR, LOG, axis, category_text, line_by_axis, parallel, usual_scale
from layouts.tuning.studies import Importances, StudyFrames
from layouts.tuning.tuning.study_style import (
    BEST,
    COLOURS,
    GREY,
    Floats,
    Mask,
    best_trial,
    is_logarithmic,
    layout_of,
    settings_of,
    values_of,
    word,
)
from layouts.values.landscapes import SCALES

CELLS = 40
"""Cells of the surface along each setting."""
REACH = 0.12
"""A cell has a value if a trial is this near, as a share of the range of the settings."""
LONGEST = 24
MOST_AXES = 30
TITLE_CHARACTERS = 60
"""Maximum length of a line of the title below the shares of settings."""


class Scaled:
    """One setting of the trials of `of`: places on an axis (logarithms of a logarithmic setting, numbers of categories)."""

    def __init__(self, study: StudyFrames, name: str, of: Mask) -> None:
        self.name = name
        column = study.trials[f"parameter/{name}"][of]
        self.there: Mask = column.notna().to_numpy(np.bool_)
        numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        self.categories: list[str] = []
        if numeric:
            values = column.to_numpy(np.float64, na_value=np.nan)
            self.logarithmic = is_logarithmic(study, name) and bool((values[self.there] > 0).all())
            with np.errstate(invalid="ignore"):
                self.places: Floats = np.log10(values) if self.logarithmic else values
        else:
            self.logarithmic = False
            texts = [category_text(one) if there else "" for one, there in zip(column.array, self.there, strict=True)]
            self.categories = sorted({one for one, there in zip(texts, self.there, strict=True) if there})
            place = {one: float(at) for at, one in enumerate(self.categories)}
            self.places = np.array([place.get(one, np.nan) if there else np.nan
                                    for one, there in zip(texts, self.there, strict=True)], np.float64)  # fmt: skip

    def drawn(self) -> Floats:
        """Return what plotly gets: values, as its axis takes the logarithm itself."""
        found: Floats = 10.0**self.places if self.logarithmic else self.places
        return found

    def axis(self) -> dict[str, Any]:
        """Return the axis."""
        axis: dict[str, Any] = {"zeroline": False, "title": {"text": plain(self.name), "standoff": 6}}
        if self.logarithmic:
            axis |= {"type": "log", "exponentformat": "power"}
            known = self.places[self.there]
            axis |= _ticks(float(known.min()), float(known.max())) if known.size else {}
        if self.categories:
            texts = [plain(self._short(one)) for one in self.categories]
            axis |= {"tickmode": "array", "tickvals": list(range(len(texts))), "ticktext": texts}
            axis |= {"range": [-0.6, len(texts) - 0.4]}
        return axis

    def text(self, value: float) -> str:
        """Write a value of the axis."""
        return plain(self._short(self.categories[int(value)])) if self.categories else fmt.number(value)

    def _short(self, category: str) -> str:
        return shortened(category, self.categories, LONGEST)


def _ticks(low: float, high: float) -> dict[str, Any]:
    """Return the ticks of a logarithmic axis between two powers of ten: plotly shortens 20 to "2", beside 10 and 100."""
    if high - low >= 3:
        return {"dtick": 1}
    digits = (1, 2, 5) if high - low > 0.7 else tuple(range(1, 10))
    every = [digit * 10.0**power for power in range(math.floor(low) - 1, math.ceil(high) + 1) for digit in digits]
    shown = [value for value in every if low - 0.1 <= math.log10(value) <= high + 0.1]
    return {"tickmode": "array", "tickvals": shown, "ticktext": [f"{value:g}" for value in shown]} if len(shown) > 1 else {}


def complete(study: StudyFrames, target: str) -> Mask:
    """Return which trials have a finite value of a target."""
    found: Mask = np.isfinite(values_of(study, target))
    return found


def slice_figure(study: StudyFrames, target: str, name: str, *, language: str, dark: bool) -> dict[str, Any] | None:
    """Return target over one setting, a point per complete trial, later ones darker; None without any."""
    of = complete(study, target)
    values, number = values_of(study, target)[of], study.trials["trial"].to_numpy()[of]
    scaled = Scaled(study, name, of)
    there = scaled.there
    if not there.any():
        return None
    x, y, number = scaled.drawn()[there], values[there], number[there]
    best = best_trial(study, target)
    age = 0.35 + 0.65 * (np.arange(len(x)) + 1) / len(x)
    trace = {
        "type": "scatter", "mode": "markers", "x": typed(x), "y": typed(y), "customdata": number.tolist(), "hoverinfo": "text",
        "hovertext": [word("tuning.slice_point", language, n=n, setting=plain(name), x=scaled.text(a), target=plain(target),
                           value=fmt.number(b)) for n, a, b in zip(number.tolist(), x.tolist(), y.tolist(), strict=True)],
        "marker": {"color": [BEST if n == best else COLOURS["complete"] for n in number.tolist()], "size": 7,
                   "opacity": np.where(number == best, 1.0, age).tolist(), "line": {"width": 0}},
        "meta": {"role": "points"},
    }  # fmt: skip
    layout = layout_of(name, target, dark=dark, showlegend=False) | {"xaxis": scaled.axis()}
    title = both("tuning.slice_alt", target=middle(target, 60), setting=middle(name, 60), n=fmt.count(len(x)))
    low, high = int(np.argmin(y)), int(np.argmax(y))
    where = listed([
        both("tuning.slice_low", value=fmt.number(float(y[low])), x=scaled.text(float(x[low]))),
        both("tuning.slice_high", value=fmt.number(float(y[high])), x=scaled.text(float(x[high]))),
    ])  # fmt: skip
    return described({"data": [trace], "layout": layout}, title, where)


def surface(x: Floats, y: Floats, values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return places along x, along y, and values between points by the inverse square of their distance (Shepard 1968).

    Distances are shares of the range of each setting; cells further than REACH from every point are NaN.
    """
    grid_x, grid_y = np.linspace(x.min(), x.max(), CELLS), np.linspace(y.min(), y.max(), CELLS)
    dx = (grid_x[:, None] - x) / ((x.max() - x.min()) or 1.0)
    dy = (grid_y[:, None] - y) / ((y.max() - y.min()) or 1.0)
    found = np.empty((CELLS, CELLS))
    for row in range(CELLS):
        square = dx * dx + dy[row] ** 2
        weight = 1.0 / np.maximum(square, 1e-9)
        found[row] = np.where(square.min(axis=1) <= REACH**2, weight @ values / weight.sum(axis=1), np.nan)
    return grid_x, grid_y, found


def contour_figure(
    study: StudyFrames, target: str, first: str, second: str, *, language: str, dark: bool
) -> dict[str, Any] | None:  # fmt: skip
    """Return target over two settings: the trials, and between two settings with numbers a surface where trials are near."""
    of = complete(study, target)
    one, other = Scaled(study, first, of), Scaled(study, second, of)
    there = one.there & other.there
    if not there.any():
        return None
    values, number = values_of(study, target)[of][there], study.trials["trial"].to_numpy()[of][there]
    low, high = (float(end) for end in np.quantile(values, [0.0, 0.95 if len(values) > 20 else 1.0]))
    stops = SCALES["viridis"]
    scale = [[at / (len(stops) - 1), stop] for at, stop in enumerate(stops)]
    colours = {"colorscale": scale, "zmin": low, "zmax": high if high > low else low + 1.0}
    data: list[dict[str, Any]] = []
    if not one.categories and not other.categories and there.sum() >= 4:
        x, y, z = surface(one.places[there], other.places[there], values)
        data.append(colours | {
            "type": "contour", "x": typed(10.0**x if one.logarithmic else x), "y": typed(10.0**y if other.logarithmic else y),
            "z": typed(z), "hoverinfo": "skip", "connectgaps": False, "opacity": 0.75, "ncontours": 14, "line": {"width": 0.4},
            "colorbar": {"thickness": 10, "outlinewidth": 0, "tickfont": {"size": 10}}, "meta": {"role": "surface"},
        })  # fmt: skip
    a, b = one.drawn()[there], other.drawn()[there]
    data.append({
        "type": "scatter", "mode": "markers", "x": typed(a), "y": typed(b), "customdata": number.tolist(), "hoverinfo": "text",
        "hovertext": [word("tuning.contour_point", language, n=n, first=plain(first), x=one.text(p), second=plain(second),
                           y=other.text(q), target=plain(target), value=fmt.number(v))
                      for n, p, q, v in zip(number.tolist(), a.tolist(), b.tolist(), values.tolist(), strict=True)],
        "marker": {"color": typed(values), "colorscale": scale, "cmin": low, "cmax": colours["zmax"], "size": 7,
                   "showscale": not data, "colorbar": {"thickness": 10, "outlinewidth": 0, "tickfont": {"size": 10}},
                   "line": {"width": 1, "color": "#ffffff"}},
        "meta": {"role": "points"},
    })  # fmt: skip
    layout = layout_of(first, second, dark=dark, showlegend=False) | {"xaxis": one.axis(), "yaxis": other.axis()}
    title = both("tuning.contour_alt", target=middle(target, 50), first=middle(first, 50), second=middle(second, 50),
                 n=fmt.count(int(there.sum())))  # fmt: skip
    return described({"data": data, "layout": layout}, title, entry(target, values, ordered=False))


def ranked(study: StudyFrames, target: str) -> pd.DataFrame:
    """Return the association of each setting with a target over complete trials (schema IMPORTANCE), the surest one first."""
    of = complete(study, target)
    names = settings_of(study)
    table = pd.DataFrame({name: study.trials[f"parameter/{name}"][of] for name in names}).reset_index(drop=True)
    table["target of the study"] = values_of(study, target)[of]
    return importance(table, "target of the study", names)


def importance_figure(study: StudyFrames, target: str, *, language: str, dark: bool) -> dict[str, Any] | None:
    """Return bars of the association (Spearman, of categories the correlation ratio) with its 95 % interval; None without."""
    table = ranked(study, target)
    numeric = table["spearman"].notna().to_numpy(np.bool_)
    strength = np.abs(np.where(numeric, table["spearman"], table["pearson"]).astype(np.float64))
    known = np.isfinite(strength)
    if not known.any():
        return None
    low = np.where(numeric, table["spearman_low"], table["pearson_low"]).astype(np.float64)
    high = np.where(numeric, table["spearman_high"], table["pearson_high"]).astype(np.float64)
    order = [at for at in np.argsort(np.where(known, strength, -1.0), kind="stable").tolist() if known[at]]
    names = [str(table["setting"].array[at]) for at in order]
    strength, low, high = strength[order], np.abs(low[order]), np.abs(high[order])
    low, high = np.minimum(low, high), np.maximum(low, high)
    tips = [word("tuning.importance_point", language, setting=plain(name), value=fmt.number(value))
            for name, value in zip(names, strength.tolist(), strict=True)]  # fmt: skip
    trace = {
        "type": "bar", "orientation": "h", "x": typed(strength), "y": list(range(len(names))), "hoverinfo": "text",
        "hovertext": tips, "textposition": "none", "marker": {"color": COLOURS["complete"], "line": {"width": 0}},
        "error_x": {"type": "data", "symmetric": False, "array": np.nan_to_num(np.maximum(high - strength, 0.0)).tolist(),
                    "arrayminus": np.nan_to_num(np.maximum(strength - low, 0.0)).tolist(), "color": GREY, "thickness": 1.2},
        "meta": {"role": "importance"},
    }  # fmt: skip
    layout = layout_of(word("tuning.strength", language), "", dark=dark, showlegend=False)
    layout["margin"] = layout["margin"] | {"l": 130}
    layout["xaxis"] |= {"range": [0, 1.02]}
    layout["yaxis"] = {"tickmode": "array", "tickvals": list(range(len(names))), "fixedrange": True,
                       "ticktext": [plain(shortened(name, names, 18)) for name in names]}  # fmt: skip
    title = both("tuning.importance_alt", target=middle(target, 60), n=fmt.count(int(complete(study, target).sum())))
    said = listed(named(name, fmt.number(value)) for name, value in zip(names[::-1], strength[::-1].tolist(), strict=True))
    return described({"data": [trace], "layout": layout}, title, said)


def evaluated_figure(found: Importances, target: str, method: str, *, language: str, dark: bool) -> dict[str, Any]:
    """Return bars of the shares that a measure gives the settings, with their intervals, or why there are none."""
    name = word(f"tuning.by.{method}", language)
    if found.state != "ready":
        key = "tuning.by_working" if found.state == "working" else f"tuning.by_{found.reason}"
        said = both(key, method=name, detail=middle(found.detail, 200), few=FEWEST_RUNS if method == SHARES else FEW)
        note = {"text": plain(said[LANGUAGES.index(language)]), "showarrow": False, "xref": "paper", "yref": "paper", "x": 0.5,
                "y": 0.5, "font": {"size": 12}}  # fmt: skip
        blank = {"visible": False, "fixedrange": True}
        layout = layout_of("", "", dark=dark, showlegend=False) | {"xaxis": blank, "yaxis": blank, "annotations": [note]}
        return described({"data": [], "layout": layout}, said)
    unsure = {one for one, (low, _) in found.ends.items() if low < NONE} | set(found.untried)
    order = sorted(found.shares, key=lambda one: (one not in unsure, found.shares[one]))[-MOST_AXES:]
    shares = [max(0.0, found.shares[one]) for one in order]
    trials = fmt.count(min(found.trials, MOST[method]))
    trace: dict[str, Any] = {
        "type": "bar", "orientation": "h", "x": shares, "y": list(range(len(order))), "hoverinfo": "text",
        "hovertext": [_share_text(found, one, share, language=language) for one, share in zip(order, shares, strict=True)],
        "textposition": "none", "meta": {"role": "importance"},
        "marker": {"color": [GREY if one in unsure else COLOURS["complete"] for one in order], "line": {"width": 0}},
    }  # fmt: skip
    if found.ends:
        ends = [found.ends[one] for one in order]
        trace["error_x"] = {
            "type": "data", "symmetric": False, "color": GREY, "thickness": 1.2,
            "array": [max(0.0, high - share) for share, (_, high) in zip(shares, ends, strict=True)],
            "arrayminus": [max(0.0, share - max(0.0, low)) for share, (low, _) in zip(shares, ends, strict=True)],
        }  # fmt: skip
    remarks = _said(found, method)
    told = [line for one in remarks for line in wrap(one[LANGUAGES.index(language)], TITLE_CHARACTERS)]
    lines = [word("tuning.by_share", language, method=name, n=trials), *told]
    layout = layout_of("", "", dark=dark, showlegend=False)
    layout["margin"] = layout["margin"] | {"l": 130} | ({"b": 46 + 18 * len(told)} if told else {})
    layout["xaxis"] |= {"range": [0, 1.02], "tickformat": ".0%"}
    layout["xaxis"]["title"] = {"text": "<br>".join(map(plain, lines)), "standoff": 6, "font": {"size": 12}}
    layout["yaxis"] = {"tickmode": "array", "tickvals": list(range(len(order))), "fixedrange": True,
                       "ticktext": [plain(shortened(one, order, 18)) for one in order]}  # fmt: skip
    title = both("tuning.by_alt", target=middle(target, 60), method=name, n=trials)
    listed_shares = listed(named(one, fmt.percent(share)) for one, share in zip(order[::-1], shares[::-1], strict=True))
    return described({"data": [trace], "layout": layout}, title, *remarks, listed_shares)


def _share_text(found: Importances, setting: str, share: float, *, language: str) -> str:
    """Write a share, and why it has no rank or whether the next setting may have as much."""
    low, _ = found.ends.get(setting, (1.0, 1.0))
    if low < NONE:
        key = "tuning.by_unranked"
    elif setting in found.untried:
        key = "tuning.by_untried"
    else:
        key = "tuning.by_tied" if setting in found.tied else "tuning.by_point"
    part = fmt.percent(found.untried.get(setting, 0.0))
    return word(key, language, setting=plain(setting), value=fmt.percent(share), part=part)


def _said(found: Importances, method: str) -> list[tuple[str, str]]:
    """Return which settings need not be varied any more, and of which the rank or the order is not judged.

    Nothing of Optuna's evaluators, which do not say how sure they are.
    """
    if method != SHARES:
        return []
    fit = f"{found.fit:.2f}"
    if found.alone is None:
        said = [both("tuning.alone_not_judged", fit=fit)]
    elif not found.alone:
        said = [both("tuning.alone_none", fit=fit)]
    else:
        said = [both("tuning.alone", names=middle(", ".join(found.alone), 80), fit=fit)]
    if found.untried:
        said.append(both("tuning.untried", names=middle(", ".join(found.untried), 80)))
    ranked = sorted((one for one in found.shares if found.ends[one][0] >= NONE and one not in found.untried),
                    key=lambda one: -found.shares[one])  # fmt: skip
    if len(ranked) > 1 and ranked[0] in found.tied:
        said.append(both("tuning.tied", names=middle(", ".join(ranked[:2]), 80)))
    return said


def parallel_figure(study: StudyFrames, target: str, *, dark: bool) -> dict[str, Any] | None:
    """Return settings and target of complete trials as lines over parallel axes, coloured by the target; None without any."""
    of = complete(study, target)
    if not of.any():
        return None
    frame = study.trials[of]
    axes = []
    for name in settings_of(study)[: MOST_AXES - 1]:
        column = frame[f"parameter/{name}"]
        axes.append(axis(name, column, column.notna().to_numpy(np.bool_), scale=LOG if is_logarithmic(study, name) else LINEAR))
    values = frame[f"target/{target}"]
    axes.append(axis(target, values, np.ones(len(frame), np.bool_), scale=usual_scale(values.to_numpy(np.float64))))
    figure = parallel(axes, [str(one) for one in frame["trial"].tolist()], line_by_axis(axes[-1], dark=dark))
    figure["layout"] |= {"paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)"}
    title = both("tuning.parallel_alt", n=fmt.count(len(frame)), axes=fmt.count(len(axes)))
    return described(figure, title, entry(target, values.to_numpy(np.float64), ordered=False))


def front_of(values: Floats, goals: list[str]) -> Mask:
    """Return which rows are on the Pareto front: no other row is at least as good everywhere and better somewhere."""
    signed = values * np.array([1.0 if goal == "minimize" else -1.0 for goal in goals])
    found = np.zeros(len(values), np.bool_)
    for at in np.flatnonzero(np.isfinite(signed).all(axis=1)).tolist():
        found[at] = not ((signed <= signed[at]).all(axis=1) & (signed < signed[at]).any(axis=1)).any()
    return found


def pareto_figure(study: StudyFrames, *, language: str, dark: bool) -> dict[str, Any] | None:
    """Return the first two targets of all complete feasible trials with their Pareto front; None for a single target."""
    if len(study.targets) < 2:
        return None
    (first, one), (second, other) = study.targets[:2]
    values = np.stack([values_of(study, first), values_of(study, second)], axis=1)
    usable = np.isfinite(values).all(axis=1) & study.trials["feasible"].to_numpy(np.bool_)
    if not usable.any():
        return None
    values, number = values[usable], study.trials["trial"].to_numpy()[usable]
    front = front_of(values, [one, other])
    data = []
    for name, of, colour in (("others", ~front, GREY), ("front", front, BEST)):
        at = np.flatnonzero(of)
        at = at[np.argsort(values[at, 0], kind="stable")]
        if len(at):
            data.append({
                "type": "scatter", "mode": "lines+markers" if name == "front" else "markers",
                "name": word(f"tuning.pareto.{name}", language), "x": typed(values[at, 0]), "y": typed(values[at, 1]),
                "customdata": number[at].tolist(), "hoverinfo": "text",
                "hovertext": [word("tuning.pareto_point", language, n=n, first=plain(first), x=fmt.number(x), y=fmt.number(y),
                                   second=plain(second))
                              for n, (x, y) in zip(number[at].tolist(), values[at].tolist(), strict=True)],
                "marker": {"color": colour, "size": 7}, "line": {"color": colour, "width": 1.2}, "meta": {"role": name},
            })  # fmt: skip
    figure = {"data": data, "layout": layout_of(first, second, dark=dark)}
    title = both("tuning.pareto_alt", n=fmt.count(int(front.sum())), total=fmt.count(len(values)))
    spans = [(name, values[front, at]) for at, (name, _) in enumerate(study.targets[:2])]
    said = listed(ends(name, float(some[-1]), (float(some.min()), float(some.max())), (len(some), 0), ordered=False)
                  for name, some in spans)  # fmt: skip
    return described(figure, title, said)
