"""The table of the pipeline page: the times of each rank in a step, and its bubble."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dash import html
from parsers.analysis.jobs.pipeline import BETWEEN_TWO
from parsers.analysis.jobs.waiting import RankTimes

from layouts.jobs.pipeline_bands import Pipeline
from layouts.kit import units as fmt
from layouts.kit.elements import scrolled
from layouts.kit.i18n import attributes, t

MOST_RANKS = 128
"""Ranks in the table; the CSV file has all."""
_COLUMNS = ("stage", "rank", "total_ns", "computing", "pairs", "collective", "idle", "hidden", "bubble", "share", "source")
_TIPS = ("pairs", "collective", "idle", "hidden", "bubble")


def times(pipeline: Pipeline) -> list[Any]:
    """Return the table, and what is left out of it; nothing without ranks."""
    found = pipeline.times
    if not found:
        return [html.P(t("pipeline.none"), className="ms-muted")]
    head = html.Tr([
        html.Th(t(f"pipeline.col.{name}"), scope="col", className="" if name in ("stage", "source") else "ms-number",
                **(attributes(title=f"pipeline.tip_col.{name}") if name in _TIPS else {}))
        for name in _COLUMNS
    ])  # fmt: skip
    listed = found[:MOST_RANKS]
    body = [_row(one, pipeline, first=not place or listed[place - 1].stage != one.stage) for place, one in enumerate(listed)]
    whole = html.Table([html.Thead(head), html.Tbody(body)], className="ms-pipeline-table")
    said: list[Any] = []
    steps = max(one.steps for one in found)
    if pipeline.ask.step is None and steps > 1:
        said.append(html.P(t("pipeline.mean", n=fmt.count(steps)), className="ms-muted"))
    if len(found) > MOST_RANKS:
        said.append(html.P(t("pipeline.shown", n=fmt.count(MOST_RANKS), total=fmt.count(len(found))), className="ms-muted"))
    return [scrolled(whole, "ms-pipeline-scroll"), *said]


def _row(one: RankTimes, pipeline: Pipeline, *, first: bool) -> html.Tr:
    own = pipeline.bands.get(one.rank)
    computes, communicates = (own.computes, own.communicates) if own is not None and one.steps else (False, False)
    stage: Any = t("pipeline.stage", n=one.stage) if one.stage >= 0 else t("pipeline.no_stage")
    pairs = sum(one.bands[name] for name in BETWEEN_TWO)
    whole = computes and communicates
    cells = [
        one.total_ns, one.computing_ns, pairs if whole else math.nan, one.bands["collective"] if whole else math.nan,
        one.idle_ns, one.bands["hidden"] if whole else math.nan, one.bubble_ns,
    ]  # fmt: skip
    source = t(f"pipeline.source.{one.source or 'none'}")
    tip = attributes(title=f"pipeline.source_tip.{one.source}") if one.source else {}
    return html.Tr(
        [
            html.Th(stage, scope="row") if first else html.Td(""),
            html.Td(fmt.count(one.rank), className="ms-number"),
            *_numbers(cells),
            html.Td(fmt.percent(one.share) if math.isfinite(one.share) else "?", className="ms-number"),
            html.Td(html.Span(source, **tip)),
        ],
        className="ms-pipeline-first" if first else "",
    )


def _numbers(values: Sequence[float]) -> list[html.Td]:
    """Write ns as ms with three decimals; ? for unknown."""
    return [html.Td(f"{value / 1e6:,.3f}" if math.isfinite(value) else "?", className="ms-number") for value in values]
