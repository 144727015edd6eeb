"""What the figures of the page have in common: colours of states, axes, names, and the values of a target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from layouts.curves.smoothed_lines import WRONG
from layouts.kit.i18n import LANGUAGES, both
from layouts.kit.plot_cards import LAYOUT, hover_label, plain
from layouts.kit.theme import PALETTE
from layouts.tuning.studies import StudyFrames

if TYPE_CHECKING:
    from pandas import DataFrame

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
GREY = "#8b95a1"
BEST = PALETTE[2][0]
COLOURS: Mapping[str, str] = {
    "complete": PALETTE[0][0], "running": PALETTE[4][0], "pruned": GREY, "failed": WRONG, "interrupted": PALETTE[6][0],
    "waiting": PALETTE[5][0], "skipped": PALETTE[9][0],
}  # fmt: skip
"""State of a trial -> colour."""


def layout_of(x: str, y: str, *, dark: bool, **more: Any) -> dict[str, Any]:
    """Return the layout of a figure with these titles of its axes, which are texts from files."""
    return LAYOUT | {
        "hoverlabel": hover_label(dark=dark), "margin": LAYOUT["margin"] | {"t": 30},
        "xaxis": {"zeroline": False, "title": {"text": plain(x), "standoff": 6}},
        "yaxis": {"zeroline": False, "title": {"text": plain(y), "standoff": 6}},
        "showlegend": True,
        "legend": {"orientation": "h", "entrywidth": 104, "x": 0, "xanchor": "left", "yref": "container", "y": 1,
                   "yanchor": "top", "itemclick": False, "itemdoubleclick": False},
    } | more  # fmt: skip


def word(key: str, language: str, **values: object) -> str:
    """Return a text of the page in one language."""
    return both(key, **values)[LANGUAGES.index(language)]


def values_of(study: StudyFrames, target: str) -> Floats:
    """Return the values of a target of all trials; NaN for those that are not complete."""
    found: Floats = study.trials[f"target/{target}"].to_numpy(np.float64)
    return found


def goal_of(study: StudyFrames, target: str) -> str:
    """Return "minimize" or "maximize"."""
    return dict(study.targets)[target]


def best_so_far(values: Floats, feasible: NDArray[np.bool_], goal: str) -> Floats:
    """Return the best feasible finite value up to each trial, NaN before the first one."""
    sign = 1.0 if goal == "minimize" else -1.0
    usable = np.where(feasible & np.isfinite(values), sign * values, np.inf)
    running = np.minimum.accumulate(usable) if len(usable) else usable
    found: Floats = np.where(np.isfinite(running), sign * running, np.nan)
    return found


def best_trial(study: StudyFrames, target: str) -> int | None:
    """Return the number of the best feasible trial, the first of several; None if there is none."""
    values, feasible = values_of(study, target), study.trials["feasible"].to_numpy(np.bool_)
    usable = np.flatnonzero(feasible & np.isfinite(values))
    if not len(usable):
        return None
    ranked = values[usable] if goal_of(study, target) == "minimize" else -values[usable]
    return int(study.trials["trial"].to_numpy()[usable[int(np.argmin(ranked))]])


def settings_of(study: StudyFrames) -> list[str]:
    """Return the names of the settings."""
    return [str(name).removeprefix("parameter/") for name in study.trials.columns if str(name).startswith("parameter/")]


def setting(study: StudyFrames, name: str) -> DataFrame:
    """Return the row of `parameters` of a setting; empty if it is not described."""
    return study.parameters[study.parameters["parameter"] == name]


def is_logarithmic(study: StudyFrames, name: str) -> bool:
    """Return whether a setting was searched on a logarithmic scale."""
    return bool(setting(study, name)["log"].any())
