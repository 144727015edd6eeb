"""A result and its association with settings, serialized for the browser."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parsers import LineageRow, better
from parsers.analysis import Shares, importance, nearest_change, settings_of, single_changes, stoppable, targets_of
from parsers.analysis.lineage.results import main_target, order
from parsers.analysis.lineage.settings import is_seed, is_text
from parsers.deferred import pandas as pd

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import described
from layouts.lineage.alternatives import of_result
from layouts.lineage.model_columns import label
from layouts.lineage.optimisation.asks import ExplanationRequest
from layouts.lineage.optimisation.drawing import Direction, direction, distribution
from layouts.lineage.parallel import brief, category_text
from layouts.lineage.source import Fitting
from layouts.lineage.table import LineageTable
from layouts.sources import RunSources

MOST_PAIRS = 50


@dataclass(frozen=True, slots=True)
class ChosenTarget:
    """The requested runs as rows and as a frame, the number of all runs, the possible targets and the chosen one."""

    rows: tuple[LineageRow, ...]
    frame: pd.DataFrame
    total: int
    targets: tuple[str, ...]
    target: str

    @property
    def result(self) -> NDArray[np.float64]:
        """The values of the chosen target, NaN for none."""
        found: NDArray[np.float64] = self.frame[self.target].to_numpy(np.float64, na_value=np.nan)
        return found

    @property
    def settings(self) -> list[str]:
        """Settings for which any of the runs has a value."""
        return [name for name in settings_of(self.frame) if bool(self.frame[name].notna().any())]

    @property
    def comparable(self) -> list[str]:
        """Settings that two runs can share: all but texts that are unique to each run, such as names."""
        return [name for name in self.settings if not (is_text(self.frame[name]) and self.frame[name].dropna().is_unique)]


def choose(source: RunSources, table: LineageTable, ask: ExplanationRequest) -> ChosenTarget:
    """Select the requested runs and result; the main result (`main_target`) if the requested one does not exist."""
    runs = ask.runs(source)
    places = [at for at, row in enumerate(table.rows) if runs is None or row.run in runs]
    frame = table.frame if len(places) == len(table.rows) else table.frame.iloc[places].reset_index(drop=True)
    targets = tuple(sorted(targets_of(frame), key=order))
    target = ask.target if ask.target in targets else main_target(frame, targets)
    return ChosenTarget(tuple(table.rows[at] for at in places), frame, len(table.rows), targets, target)


def sheet(chosen: ChosenTarget, damage: list[list[str]], jobs: int) -> dict[str, Any]:
    """Return the choices, the distribution of the result and the strengths of settings, with a stamp of the contents.

    damage is shown where no result is: what may have taken it. jobs is the number of runs that the chosen rows are of, where a
    job of several ranks, which has as many rows, is one run.
    """
    found: dict[str, Any] = {
        "total": chosen.total, "chosen": len(chosen.rows), "jobs": jobs, "target": chosen.target,
        "targets": [{"name": name, "label": label(name)} for name in chosen.targets], "rows": [], "settings": {},
        "damage": [] if chosen.target else damage,
    }  # fmt: skip
    if chosen.target:
        values = chosen.result
        finite = values[np.isfinite(values)]
        found |= {
            "runs": len(finite), "figure": described(distribution(finite), *of_result(chosen.rows, values, chosen.target)),
            "summary": [fmt.number(float(value)) for value in np.quantile(finite, [0.0, 0.5, 1.0])],
            "rows": _setting_rows(chosen, values), "best": best_run(chosen),
        }  # fmt: skip
        names = {row["setting"] for row in found["rows"]} | {row["with"] for row in found["rows"]} - {""}
        found["settings"] = {name: [brief(one) for one in label(name)] for name in sorted(names)}
    content = json.dumps(found, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return found | {"stamp": hashlib.blake2b(content, digest_size=12).hexdigest()}


def best_run(chosen: ChosenTarget) -> dict[str, Any] | None:
    """Return the run with the best finite result, the first of equal ones: its key, the result, its settings, how many
    others are equal, and the next of them. None if the name of the result does not tell whether more or less is better.
    """
    wanted, values = better(chosen.target), chosen.result
    finite = np.flatnonzero(np.isfinite(values))
    if not wanted or not len(finite):
        return None
    best = float(values[finite].max() if wanted == "max" else values[finite].min())
    places = finite[values[finite] == best].tolist()
    first, *others = [_with_settings(chosen, place) for place in places[:2]]
    return {**first, "value": fmt.number(best), "equal": len(places) - 1, "other": others[0] if others else None}


def _with_settings(chosen: ChosenTarget, place: int) -> dict[str, Any]:
    row = chosen.rows[place]
    return {"run": row.run, "settings": {name: _text(row.values.get(name)) for name in chosen.settings}}


def _setting_rows(chosen: ChosenTarget, result: NDArray[np.float64]) -> list[dict[str, Any]]:
    rows = importance(chosen.frame, chosen.target, chosen.settings).to_dict("records")
    together: dict[str, list[str]] = {}
    for row in rows:
        if row["reason"] == "confounded":
            together.setdefault(row["confounded"], []).append(row["setting"])
    return [_setting_row(row, chosen.frame, result) | {"for": together.get(row["setting"], [])} for row in rows]


def _setting_row(row: dict[Any, Any], frame: pd.DataFrame, result: NDArray[np.float64]) -> dict[str, Any]:
    def ends(name: str) -> list[float | None]:
        values = (row[name], row[f"{name}_low"], row[f"{name}_high"])
        return [None if value != value else round(float(value), 6) for value in values]

    eta = row["kind"] == "categorical" and row["levels"] > 2
    found = Direction("", []) if row["reason"] else direction(frame[row["setting"]], result)
    return {
        "setting": row["setting"], "levels": int(row["levels"]), "runs": int(row["runs"]), "text": row["kind"] == "categorical",
        "eta": eta, "seed": is_seed(row["setting"]), "reason": str(row["reason"]),
        "linear": ends("pearson"), "rank": ends("spearman"),
        "shape": found.shape, "tried": found.tried,
        "with": row["confounded"] or row["entangled"],
        "strength": None if row["confounded"] or not row["entangled"] else round(float(row["entangled_strength"]), 3),
    }  # fmt: skip


def fitted(fitting: Fitting) -> dict[str, Any]:
    """Serialize the progress of shares for the browser."""
    shares: Shares | None = fitting.shares
    by_setting: dict[str, list[float | None]] = {}
    if shares is not None and shares.judged:
        columns = shares.importance[["setting", "importance", "low", "high"]]
        for setting, *values in columns.itertuples(index=False):
            by_setting[str(setting)] = [None if value != value else round(float(value), 6) for value in values]
    found = stoppable(shares.importance, shares.fit) if shares is not None and shares.refits > 1 else None
    return {
        "tied": [] if shares is None else shares.importance["setting"][shares.importance["tied"]].tolist(),
        "alone": None if found is None else found[0], "unsure": [] if found is None else found[1],
        "state": fitting.state, "total": fitting.refits, "text": fitting.text, "shares": by_setting,
        "done": shares.refits if shares else 0, "reason": shares.reason if shares else "",
        "judged": shares is not None and shares.judged,
        "fit": None if shares is None or shares.fit != shares.fit else round(shares.fit, 4),
    }  # fmt: skip


# Pairs -------------------------------------------------------------------------------------------------------------


def pairs(chosen: ChosenTarget, setting: str) -> dict[str, Any]:
    """Return pairs of runs that differ in one setting only, the largest difference of the result first; else the nearest pair.

    also: the other settings in which the nearest pair differs. total: number of all pairs.
    """
    values = chosen.frame[chosen.target].to_numpy(np.float64, na_value=np.nan)
    rows = np.flatnonzero(np.isfinite(values))
    frame = chosen.frame.iloc[rows].reset_index(drop=True)
    names = list(dict.fromkeys([*chosen.comparable, setting]))
    single = single_changes(frame, names)
    mine = single[single["setting"] == setting]
    also: list[str] = []
    found = list(zip(mine["first"].tolist(), mine["second"].tolist(), strict=True))
    if not found and (nearest := nearest_change(frame, setting, names)) is not None:
        first, second, also = nearest
        found = [(first, second)]
    found.sort(key=lambda pair: -abs(values[rows[pair[1]]] - values[rows[pair[0]]]))
    shown = [_pair(chosen, setting, values, [int(rows[place]) for place in pair]) for pair in found[:MOST_PAIRS]]
    return {"pairs": shown, "total": len(found), "also": [[brief(one) for one in label(name)] for name in also]}


def _pair(chosen: ChosenTarget, setting: str, values: Any, places: list[int]) -> dict[str, Any]:
    first, second = (float(values[place]) for place in places)
    return {
        "runs": [chosen.rows[place].run for place in places],
        "values": [_text(chosen.rows[place].values.get(setting)) for place in places],
        "results": [fmt.number(first), fmt.number(second)],
        "difference": fmt.number(second - first, signed=True),
    }


def _text(value: Any) -> str:
    if value is None:
        return ""
    return brief(category_text(value))


