"""The tiles of the overview: for each kind of data a small picture of a run's newest value, or how to record such data."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from dash import html
from parsers import FormatError

from layouts.kit import elements as parts
from layouts.kit import units as fmt
from layouts.kit.i18n import attributes, both, t
from layouts.kit.recording import recording
from layouts.kit.theme import PALETTE
from layouts.runs.damage import damage
from layouts.runs.overview import pictures
from layouts.runs.overview.explained import explanations
from layouts.runs.overview.pictures import Picture
from layouts.runs.rows import RunRow
from layouts.sources import Sources, ValueSources

Draw = Callable[[Sources, str, RunRow, str, str], Sequence[Picture]]
"""(source, run, its row, routes, colour of the run) -> pictures."""

_PLAN = """landscape = SummaryLandscape({directory})
landscape.gen_landscapes_with_multi_process(callback_fn, [0])"""


@dataclass(frozen=True, slots=True)
class OverviewTile:
    """A tile about one kind of data.

    name: the page about such data; keys of texts contain it. always: shown with the code that records such data if the run has
    none. counted: a run can have several, under tags.
    """

    name: str
    kind: str
    draw: Draw
    counted: bool = True
    always: bool = True


TILES = (
    OverviewTile("scalars", "scalar", lambda source, run, row, _, colour: pictures.scalars(source, run, row, colour)),
    OverviewTile("histograms", "histogram", lambda source, run, row, _, colour: pictures.histograms(source, run, row, colour)),
    OverviewTile("images", "image", lambda source, run, row, routes, _: pictures.images(source, run, row, routes)),
    OverviewTile("tensors", "tensor", lambda source, run, row, _, __: pictures.tensors(source, run, row)),
    OverviewTile("landscape", "landscape", lambda source, run, row, _, colour: pictures.landscape(source, run, row, colour)),
    OverviewTile("text", "text", lambda source, run, row, _, __: pictures.texts(source, run, row), always=False),
    OverviewTile("graph", "graph", lambda source, run, row, _, __: pictures.graph(source, run, row), counted=False),
    OverviewTile("dataset", "dataset_graph", lambda source, run, row, _, __: pictures.dataset(source, run, row), counted=False),
    OverviewTile("saliency", "explain", lambda source, run, _, routes, __: explanations(source, run, routes), counted=False,
                 always=False),
)  # fmt: skip


def contents(tile: OverviewTile, source: Sources, run: str, row: RunRow, routes: str, colour: str = PALETTE[0][0]) -> list[Any]:
    """Draw the contents of a tile: a link to the page if the run has such data."""
    tags = source.runs.tags(run, tile.kind)
    if not tags:
        return _without(tile, source, run, source.runs.member(run) or row)
    drawn = html.Div(list(tile.draw(source, run, row, routes, colour)), className="ms-tile-pictures")
    shown = [_head(tile, len(tags) * tile.counted), drawn]
    return _linked(tile, run, shown)


def _without(tile: OverviewTile, source: ValueSources, run: str, row: RunRow) -> list[Any]:
    """A tile without data: still loading, the reason why there is none, or how to record some."""
    if not tile.always:
        return []
    if row.state in ("waiting", "loading"):
        return [_head(tile, 0), _waiting()]
    if row.state in ("unreadable", "outside"):
        return [_head(tile, 0), html.P(t(f"overview.{row.state}"), className="ms-tile-note")]
    damaged = damage(source, [run])
    if damaged:
        return [_head(tile, 0), html.P(t("overview.damaged"), className="ms-tile-note ms-tile-wrong", title=damaged[0][1])]
    planned = _planned(source, run) if tile.kind == "landscape" else None
    if planned is not None:
        return [*_linked(tile, run, [_head(tile, 0)]), planned]
    how = html.Details([html.Summary(t(f"overview.{tile.name}_none")), recording(tile.kind)], className="ms-tile-missing")
    return [_head(tile, 0), how]


def _planned(source: ValueSources, run: str) -> Any:
    """The call that computes a landscape from a run's checkpoints, or why it is not known; None if it collected none."""
    try:
        plan = source.values.landscape_plan(run)
    except FormatError as error:
        return html.P(str(error), className="ms-tile-note ms-tile-wrong", role="alert")
    if plan is None:
        return None
    directory = plan.path.rpartition("ckpt_dir")[0].rstrip("/\\")
    code = _PLAN.format(directory=json.dumps(directory, ensure_ascii=False))
    return parts.empty_state("overview.planned", code=code, values={"n": fmt.count(plan.checkpoints)})


def _linked(tile: OverviewTile, run: str, shown: list[Any]) -> list[Any]:
    """The contents as a link to the tile's page."""
    link = html.A(
        shown, href=f"{tile.name}?{urlencode({'run': run})}", className="ms-tile-link",
        **{"data-page": tile.name, "data-run": run}, **_names(tile),
    )  # fmt: skip
    return [link]


def _names(tile: OverviewTile) -> dict[str, Any]:
    english, chinese = both(f"overview.{tile.name}")
    sentence = both("overview.open")
    words = sentence[0].format(page=english.lower()), sentence[1].format(page=chinese)
    named: dict[str, Any] = {}
    for name in ("title", "aria-label"):
        named |= {name: words[0], f"data-en-{name}": words[0], f"data-zh-{name}": words[1]}
    return named


def _head(tile: OverviewTile, tags: int) -> html.Header:
    counted = t("overview.tag") if tags == 1 else t("overview.tags", n=fmt.count(tags))
    return html.Header(
        [
            parts.icon(tile.name),
            html.H3(t(f"overview.{tile.name}"), className="ms-card-title"),
            html.Span([html.Span(counted, className="ms-badge")] if tags else [], className="ms-card-badges"),
        ],
        className="ms-card-head",
    )


def _waiting() -> html.Div:
    return html.Div(className="ms-skeleton ms-tile-note", role="status", **attributes(aria_label="overview.reading"))
