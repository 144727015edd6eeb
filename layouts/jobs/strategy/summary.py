"""Stages and grid of a job: the sentence, what is wrong with the files, a table of stages, and cells for the canvas."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.jobs.job_choices import offers
from parsers.analysis.jobs.strategy import DIMENSIONS, StageMap
from parsers.analysis.jobs.strategy.job_strategy import FILE, GROUP, OF_OPERATIONS, OF_RANKS, STAGE, JobStrategy, job_strategy
from parsers.cluster_frames import STAGES
from parsers.model import Floats
from parsers.profiler.groups import text_of
from parsers.profiler.strategy import MODES

from layouts.jobs.strategy.asks import FIRST, GridAsk
from layouts.kit import units as fmt
from layouts.kit.i18n import Text, both, t
from layouts.kit.names import middle
from layouts.kit.plain_html import markup
from layouts.kit.tables import COUNT, Cell, TableColumn, named_values, table
from layouts.profiles.links import address
from layouts.profiles.profile_choice import ProfileChoice
from layouts.profiles.step_plots import unit_of
from layouts.sources import ProfileSources

_COLUMNS = (
    TableColumn("strategy.stage"), TableColumn("strategy.ranks", class_name="ms-mono"), TableColumn("strategy.number", COUNT),
    TableColumn("strategy.with_file", class_name="ms-mono"),
)  # fmt: skip
FRAMES = ("stages", "groups", "cluster_steps")
"""Frames any of which the page needs. Only the first one is waited for; the others colour the grid when they are read."""
MOST_STAGES = 64
_LONGEST = 80


def summary(source: ProfileSources, ask: GridAsk) -> dict[str, Any]:
    """Return head and table of stages (sections), the grid, metrics, steps to choose from, and the picked rank."""
    found = {name: source.profiles.frame(*_key(ask.choice), name) for name in _frames(ask.metric)}
    files = source.profiles.job(*_key(ask.choice))
    job = job_strategy({name: one.frame for name, one in found.items() if one.frame is not None}, files)
    reading = any(one.state in ("reading", "waiting") for one in found.values())
    failed = next((one.text for one in found.values() if one.state == "failed"), "")
    metrics = job.metrics({file.kind for member in (files.members if files is not None else ()) for file in member.files})
    metric = ask.metric or (FIRST if FIRST in metrics else next(iter(metrics), ""))
    sections = {
        "head": head(job, reading=reading, failed=failed), "stages": stage_table(job), "picked": picked(source, ask, job),
        "grid-note": _note(reading=reading),
    }  # fmt: skip
    return {
        "state": "reading" if reading else "ready",
        "sections": {name: markup(content) for name, content in sections.items()},
        "metrics": [[name, list(metric_name(name))] for name in dict.fromkeys((*metrics, *([metric] if metric else [])))],
        "metric": metric,
        "grid": grid(job, metric, ask.step),
        "offered": offers(job.frames.get("groups"), job.frames.get("cluster_steps")),
        "stages": [[stage, list(members)] for stage, members in job.stages.files.items()],
    }


def _frames(metric: str) -> tuple[str, ...]:
    """Return the frames to ask for: those of whole ranks and of operations only for a value that they have."""
    return *FRAMES, *(("collectives",) if metric in OF_OPERATIONS else ()), *(("ranks",) if metric in OF_RANKS else ())


# Head ----------------------------------------------------------------------------------------------------------------


def head(job: JobStrategy, *, reading: bool, failed: str) -> list[Any]:
    """Return the sentences: mode, ranks and stages; dimensions; files that are missing or contradict each other.

    failed is why a frame could not be read, "" if none failed.
    """
    stages = job.stages
    total = fmt.count(len(job.ranks))
    said: list[Any]
    if not stages.stages:
        key = "strategy.head_told" if job.stage_count > 1 else "strategy.head_none"
        said = [html.P(t(key, ranks=total, stages=fmt.count(job.stage_count)), className="ms-strategy-said")]
    else:
        key = "strategy.head_one" if len(stages.stages) == 1 else "strategy.head"
        mode = stages.modes[0] if stages.modes and stages.modes[0] in MODES else "unknown"
        parts = both(f"strategy.mode.{mode}")
        numbers = {"ranks": total, "stages": fmt.count(len(stages.stages))}
        pair = [text.format(mode=parts[at], **numbers) for at, text in enumerate(both(key))]
        said = [html.P(_pair(pair), className="ms-strategy-said")]
    if STAGES.name not in job.frames and not reading:
        said.append(html.P(t("strategy.no_files"), className="ms-muted"))
    said.append(_dimensions(job))
    for name, size, listed in job.places.wrong:
        said.append(html.P(t("strategy.sizes_wrong", name=name, size=size, listed=listed), className="ms-strategy-wrong"))
    return [*said, *_wrong(job.stages, failed)]


def _pair(texts: Sequence[str]) -> html.Span:
    english, chinese = texts
    return html.Span(
        [html.Span(english, className="en", lang="en"), html.Span(chinese, className="zh", lang="zh-CN")], className="t"
    )


def _dimensions(job: JobStrategy) -> Any:
    places = job.places
    if not places.places:
        return html.P(t("strategy.no_sizes"), className="ms-muted")
    chips = []
    for name in places.places:
        told = both(f"strategy.told.{places.told[name]}")
        chips.append(
            html.Span(
                f"{name} {places.size(name)}", className="ms-badge", title=told[0],
                **{"data-en-title": told[0], "data-zh-title": told[1]},
            )
        )  # fmt: skip
    return html.P([html.Span(t("strategy.sizes"), className="ms-muted"), *chips], className="ms-strategy-sizes")


def _wrong(stages: StageMap, failed: str) -> list[Any]:
    having = sum(map(len, stages.files.values()))
    lines = []
    for name in ("missing", "outside", "differing", "moved", "renamed"):
        ranks = getattr(stages, name)
        if ranks and (name != "missing" or having):
            numbers = {"n": fmt.count(len(ranks)), "total": fmt.count(len(ranks) + having), "ranks": _short(text_of(ranks))}
            lines.append(html.P(t(f"strategy.{name}", **numbers), className="ms-strategy-wrong"))
    if len(stages.modes) > 1:
        lines.append(html.P(t("strategy.modes", modes=", ".join(stages.modes)[:_LONGEST]), className="ms-strategy-wrong"))
    if failed:
        lines.append(html.P(t("strategy.failed", text=failed), className="ms-strategy-wrong"))
    return lines


def _short(text: str) -> str:
    return middle(text, _LONGEST)


def stage_table(job: JobStrategy) -> list[Any]:
    """Return a row for each stage: its ranks, and those that have a file, which opens the graph."""
    stages = job.stages
    rows = []
    numbers = [*range(len(stages.stages)), *(stage for stage in stages.files if not 0 <= stage < len(stages.stages))]
    for stage in numbers[:MOST_STAGES]:
        ranks = stages.stages[stage] if 0 <= stage < len(stages.stages) else ()
        files = stages.files.get(stage, ())
        name = t("strategy.stage_n", n=stage) if stage >= 0 else t("strategy.stage_unknown")
        shown: Any = name
        if files:
            shown = html.Button(name, type="button", className="ms-strategy-link", **{"data-stage": str(stage)})
        rows.append((shown, _short(text_of(ranks)), len(ranks), _short(text_of(files))))
    if not rows:
        return []
    left = len(numbers) - MOST_STAGES
    more = [html.P(t("strategy.more_stages", n=fmt.count(left)), className="ms-muted")] if left > 0 else []
    return [table(_COLUMNS, rows, class_name="ms-strategy-table", scroll="ms-strategy-scrolled"), *more]


# The grid ------------------------------------------------------------------------------------------------------------


def metric_name(metric: str) -> Text:
    """Return the name of a colour in both languages."""
    if metric == STAGE:
        return both("strategy.stage")
    if metric == FILE:
        return both("strategy.metric.file")
    if metric.startswith(GROUP):
        return both("strategy.metric.group", dimension=metric.removeprefix(GROUP))
    return both(f"two_jobs.metric.{metric}")


def grid(job: JobStrategy, metric: str, step: int | None) -> Mapping[str, Any] | None:
    """Return the cells, row by row: rank (-1 for none) and value in the unit (None for unknown); names; None for no ranks."""
    if not len(job.ranks):
        return None
    values = job.values(metric, step) if metric else np.full(len(job.ranks), np.nan)
    scale, unit = _scale(metric, values)
    cells = job.grid.cells
    rows, columns = cells.shape
    padded = np.append(values / scale, np.nan)[cells]
    flat = padded.ravel().tolist()
    known = job.places.places
    return {
        "rows": rows, "columns": columns, "ranks": np.append(job.ranks, -1)[cells].ravel().tolist(),
        "values": [None if math.isnan(one) else float(f"{one:.6g}") for one in flat], "unit": unit, "form": job.grid.form,
        "named": _named(job),
        "rowNames": _rows_of(job), "columnNames": _columns_of(job),
        "places": {name: np.append(own, -1)[cells].ravel().tolist() for name, own in known.items()},
        "said": list(_said(job, metric, values, unit, scale)), "name": list(metric_name(metric)) if metric else ["", ""],
        "whole": metric in (FILE, STAGE) or metric.startswith(GROUP),
    }  # fmt: skip


def _scale(metric: str, values: Floats) -> tuple[float, str]:
    largest = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 0.0
    if not metric or metric in (FILE, STAGE) or metric.startswith(GROUP):
        return 1.0, ""
    if metric.startswith("peak_"):
        return fmt.size_unit(largest)
    if metric.startswith("flops"):
        return fmt.prefixed_unit(largest, "FLOPS" if metric == "flops_per_s" else "FLOPs")
    return unit_of(largest)


def _rows_of(job: JobStrategy) -> list[str]:
    if job.grid.form != "parallel":
        return [str(int(job.ranks[row[0]])) if row[0] >= 0 else "" for row in job.grid.cells]
    several = len({row[1] for row in job.grid.rows}) > 1
    return ["" if pp < 0 else f"pp {pp} · tp {tp}" if several else f"pp {pp}" for pp, tp in job.grid.rows]


def _columns_of(job: JobStrategy) -> list[str]:
    if not _named(job):
        return [f"+{column}" for column in job.grid.columns]
    context = job.places.places.get("cp")
    if context is None:
        return [f"dp {column}" for column in job.grid.columns]
    first = job.grid.cells.max(axis=0)  # ranks of a column have the same place
    return [f"dp {column} · cp {context[at]}" for column, at in zip(job.grid.columns, first.tolist(), strict=True)]


def _named(job: JobStrategy) -> bool:
    """Return whether the columns are places in the data dimension."""
    return job.grid.form == "parallel" and "dp" in job.places.places


def _said(job: JobStrategy, metric: str, values: Floats, unit: str, scale: float) -> Text:
    name = metric_name(metric) if metric else ("", "")
    known = np.isfinite(values)
    total = fmt.count(len(job.ranks))
    if not known.any():
        pair = both("strategy.grid_said_none", n=total, metric="{metric}")
    else:
        ends = {
            end: f"{int(job.ranks[at])} ({fmt.number(float(values[at]) / scale)} {unit})".replace(" )", ")")
            for end, at in (("most", int(np.nanargmax(values))), ("least", int(np.nanargmin(values))))
        }
        pair = both("strategy.grid_said", n=total, metric="{metric}", **ends)
    return pair[0].replace("{metric}", name[0]), pair[1].replace("{metric}", name[1])


def _note(*, reading: bool) -> list[Any]:
    return [html.P(t("strategy.reading"), className="ms-muted")] if reading else []


# The picked rank -----------------------------------------------------------------------------------------------------


def picked(source: ProfileSources, ask: GridAsk, job: JobStrategy) -> list[Any]:
    """Return where the picked rank is, its groups in each dimension, and links; nothing if none is picked."""
    rank = ask.picked
    if rank is None or rank not in job.ranks:
        return []
    places = job.places.at(rank)
    parts: list[Any] = [html.Strong(t("strategy.picked", n=rank))]
    parts += [html.Span(f"{name} {place}", className="ms-badge") for name, place in places.items()]
    stage = job.stages.stage_of(rank)
    if any(rank in members for members in job.stages.files.values()):
        attributes = {"data-stage": str(stage), "data-file": str(rank)}
        parts.append(html.Button(t("strategy.open_graph"), type="button", className="ms-strategy-link", **attributes))
    own = next((one for one in source.profiles.members(*_key(ask.choice)) if one[2] == rank), None)
    if own is not None and "cluster_steps" in job.frames:
        parts.append(html.A(t("strategy.open_cluster"), **address("cluster", ProfileChoice(*own), picked=rank)))
    rows = []
    for name in DIMENSIONS:
        members = job.places.group(rank, name)
        if len(members) > 1:
            many = t("strategy.group_ranks", n=fmt.count(len(members)))
            rows.append((name, Cell(_short(text_of(members)), class_name="ms-mono"), many))
    groups = [named_values(rows, class_name="ms-strategy-table")] if rows else []
    return [html.P(parts, className="ms-strategy-picked"), *groups]


def _key(choice: ProfileChoice) -> tuple[str, str, int]:
    return choice.run, choice.session, choice.rank
