"""The table of the pipeline page: the times of each rank in a step, and its bubble."""

from __future__ import annotations

import math
from typing import Any

from dash import html
from parsers.analysis.jobs.job_pipeline import JobPipeline
from parsers.analysis.jobs.pipeline import BETWEEN_TWO
from parsers.analysis.jobs.waiting import RankTimes

from layouts.kit import units as fmt
from layouts.kit.i18n import attributes, t
from layouts.kit.tables import COUNT, SHARE, Quantity, TableColumn, TableRow, first_of, table

MOST_RANKS = 128
"""Ranks in the table; the CSV file has all."""
_TIPS = ("pairs", "collective", "idle", "hidden", "bubble")
_MS = Quantity(lambda ns: f"{ns / 1e6:,.3f}", lambda ns: f"{fmt.exact(ns)} ns")
_COLUMNS = (
    TableColumn("pipeline.col.stage"), TableColumn("pipeline.col.rank", COUNT),
    *(
        TableColumn(f"pipeline.col.{name}", _MS, tip=f"pipeline.tip_col.{name}" if name in _TIPS else "", missing="?")
        for name in ("total_ns", "computing", "pairs", "collective", "idle", "hidden", "bubble")
    ),
    TableColumn("pipeline.col.share", SHARE, missing="?"), TableColumn("pipeline.col.source"),
)  # fmt: skip


def times(pipeline: JobPipeline) -> list[Any]:
    """Return the table, and what is left out of it; nothing without ranks."""
    found = pipeline.times
    if not found:
        return [html.P(t("pipeline.none"), className="ms-muted")]
    listed = found[:MOST_RANKS]
    body = [_row(one, pipeline, first=not place or listed[place - 1].stage != one.stage) for place, one in enumerate(listed)]
    drawn = table(_COLUMNS, body, class_name="ms-pipeline-table", scroll="ms-pipeline-scroll")
    said: list[Any] = []
    steps = max(one.steps for one in found)
    if pipeline.step is None and steps > 1:
        said.append(html.P(t("pipeline.mean", n=fmt.count(steps)), className="ms-muted"))
    return [drawn, *said, *first_of("pipeline.shown", len(listed), len(found))]


def _row(one: RankTimes, pipeline: JobPipeline, *, first: bool) -> TableRow:
    own = pipeline.bands.get(one.rank)
    computes, communicates = (own.computes, own.communicates) if own is not None and one.steps else (False, False)
    stage: Any = t("pipeline.stage", n=one.stage) if one.stage >= 0 else t("pipeline.no_stage")
    pairs = sum(one.bands[name] for name in BETWEEN_TWO)
    whole = computes and communicates
    times_ns = [
        one.total_ns, one.computing_ns, pairs if whole else math.nan, one.bands["collective"] if whole else math.nan,
        one.idle_ns, one.bands["hidden"] if whole else math.nan, one.bubble_ns,
    ]  # fmt: skip
    tip = attributes(title=f"pipeline.source_tip.{one.source}") if one.source else {}
    source = html.Span(t(f"pipeline.source.{one.source or 'none'}"), **tip)
    numbers = [value if math.isfinite(value) else None for value in (*times_ns, one.share)]
    cells = (stage if first else "", one.rank, *numbers, source)
    return TableRow(cells, "ms-pipeline-first" if first else "", heads=int(first))
