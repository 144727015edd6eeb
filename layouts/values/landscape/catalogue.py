"""The landscapes of the chosen runs, and what runs without any could compute from their checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parsers import FormatError, GrowingLandscape, LandscapePlan, LandscapeValue, PayloadError
from parsers.analysis.values.drawn_landscapes import is_line

from layouts.kit.state import stamped, texts
from layouts.runs.chosen_runs import elsewhere, label_of, selected_rows
from layouts.runs.damage import damage
from layouts.runs.rows import RunRow
from layouts.sources import ValueSources

NEEDS = ("landscape", "checkpoints", "growing")
MOST_RUNS = 50
"""Maximum number of runs whose landscapes are listed."""
MOST_PLANS = 5
MOST_ELSEWHERE = 5
_SHOWN_STEPS = 12
_EMPTY: Mapping[str, Any] = {
    "mark": "", "final": False, "line": False, "first": 0, "last": 0, "unit": "", "broken": "",
    "done": 0, "of": 0, "updated": 0.0,
}  # fmt: skip
"""A sheet of which nothing is known. done of `of` points are finished of a landscape that is being computed."""


def catalogue(source: ValueSources, state: Any, known: Any = None) -> dict[str, Any] | None:
    """Return landscapes by run, plans of runs without any, and the numbers of runs left out and not read yet.

    None if the digest is the known one. If no chosen run has a landscape, `elsewhere` names other runs that have one, and
    `damage` lists the problems of the chosen ones that may be the reason; then there are no plans.
    A landscape's mark changes when it is rewritten, a run's version when any of its data changes.
    """
    rows = selected_rows(state, source, NEEDS)
    runs = list(rows)
    source.runs.want(runs)
    having = [run for run in runs if source.runs.tags(run, "landscape") or growing(source, run)]
    drawn = source.runs.colours(texts(state, "run"))
    damaged = [] if having else damage(source, runs)
    found: dict[str, Any] = {
        "chosen": len(runs),
        "runs": [_run(source, run, rows[run]) | {"colour": drawn.get(run, "")} for run in having[:MOST_RUNS]],
        "left": max(0, len(having) - MOST_RUNS),
        "plans": [] if damaged else _plans(source, [run for run in runs if run not in set(having)], rows),
        "damage": damaged,
        "waiting": sum(rows[run].state in ("waiting", "loading") for run in runs),
        "elsewhere": [] if having else elsewhere(source, runs, "landscape", MOST_ELSEWHERE),
    }
    answer = stamped(found)
    return None if answer["digest"] == known else answer


def _run(source: ValueSources, run: str, row: RunRow) -> dict[str, Any]:
    sheets = [_sheet(source, run, tag) for tag in source.runs.tags(run, "landscape")]
    sheets += [_growing(one) for one in growing(source, run).values()]
    sheets.sort(key=lambda sheet: (sheet["of"] > 0, sheet["final"], sheet["line"], sheet["first"], sheet["last"]))
    return {"key": run, "name": label_of(run, row), "version": source.runs.version(run), "sheets": sheets}


def _sheet(source: ValueSources, run: str, tag: str) -> dict[str, Any]:
    items = source.values.series(run, "landscape", tag)
    mark = f"{len(items)}-{int(items.order[-1])}" if items is not None else ""
    sheet = dict(_EMPTY) | {"tag": tag, "name": tag, "mark": mark}
    try:
        value = newest(source, run, tag)
    except PayloadError as error:
        return sheet | {"broken": str(error)}
    return sheet | _covered(value)


def _growing(one: GrowingLandscape) -> dict[str, Any]:
    if one.problem and not one.total:
        return dict(_EMPTY) | {"tag": one.key, "name": one.tag, "broken": one.problem}
    named = {"tag": one.key, "name": one.tag, "mark": f"{one.done}", "done": one.done, "of": one.total, "updated": one.updated}
    return dict(_EMPTY) | named | _covered(one.value)


def _covered(value: LandscapeValue) -> dict[str, Any]:
    """What a landscape is of: the final weights, a path, or a line."""
    at, line = value.intervals, is_line(value)
    ends = {"first": int(at[0]), "last": int(at[-1]), "unit": value.unit} if len(at) else {}
    return {"final": not len(at) and not line, "line": line} | ends


def growing(source: ValueSources, run: str) -> dict[str, GrowingLandscape]:
    """Return the landscapes of a run that are being computed, by key."""
    return {one.key: one for one in source.values.growing_landscapes(run)}


def newest(source: ValueSources, run: str, tag: str) -> LandscapeValue:
    """Return the landscape written last under a tag. PayloadError if it cannot be shown."""
    value = source.values.value(run, "landscape", tag, -1)
    if not isinstance(value, LandscapeValue):
        raise PayloadError(f"landscape {tag}: expected a landscape, found {type(value).__name__}")
    return value


def _plans(source: ValueSources, runs: list[str], rows: Mapping[str, RunRow]) -> list[dict[str, Any]]:
    plans: list[dict[str, Any]] = []
    for run in runs[:MOST_RUNS]:
        row = rows[run]
        try:
            plan = source.values.landscape_plan(run)
        except FormatError as error:
            plans.append({"name": label_of(run, row), "problem": str(error)})
        else:
            if plan is not None:
                plans.append({"name": label_of(run, row), "problem": ""} | _described(plan))
        if len(plans) == MOST_PLANS:
            break
    return plans


def _described(plan: LandscapePlan) -> dict[str, Any]:
    directory = plan.path.rpartition("ckpt_dir")[0].rstrip("/\\")
    intervals = [f"{group[0]}–{group[-1]}" for group in plan.intervals[:_SHOWN_STEPS]]
    if len(plan.intervals) > _SHOWN_STEPS:
        intervals.append("…")
    return {
        "directory": directory, "checkpoints": plan.checkpoints, "intervals": ", ".join(intervals), "unit": plan.unit,
        "size": plan.size, "samples": plan.samples,
    }  # fmt: skip
