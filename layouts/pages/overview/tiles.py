"""The tiles of the overview: a small picture of what one run recorded of each kind, or how to record it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from dash import html
from parsers import FormatError

from layouts import format as fmt
from layouts.components import elements as parts
from layouts.i18n import attributes, both, t
from layouts.pages.overview import pictures
from layouts.pages.overview.pictures import Picture
from layouts.sources import FrameSource, RunRow, ValueSource

Draw = Callable[[FrameSource, str, RunRow, str], Sequence[Picture]]

_COLLECT = """summary = SummaryCollector("summary/run_1"{more})
model.train(epochs, dataset, callbacks=[summary])"""
_OPERATOR = """self.{name} = ops.{operator}()  # in __init__
self.{name}("{tag}", {value})  # in construct"""
_LANDSCAPE = """model.train(epochs, dataset, callbacks=[SummaryCollector("summary/run_1")])
landscape = SummaryLandscape("summary/run_1")
landscape.gen_landscapes_with_multi_process(callback_fn, [0])"""
_PLAN = """landscape = SummaryLandscape({directory})
landscape.gen_landscapes_with_multi_process(callback_fn, [0])"""


@dataclass(frozen=True, slots=True)
class Tile:
    """What one tile shows: data of a kind.

    name is that of the page about such data, and its texts are named after it; record are the lines that record such data,
    "" for what MindSpore's summaries do not hold: such a tile is there only if the run has the data. counted: of this kind
    a run may have several, under tags.
    """

    name: str
    kind: str
    record: str
    draw: Draw
    counted: bool = True


def _collect(what: str) -> str:
    return _COLLECT.format(more=f", collect_specified_data={{{what}}}" if what else "")


TILES = (
    Tile("scalars", "scalar", _collect(""), lambda source, run, row, _: pictures.scalars(source, run, row)),
    Tile("histograms", "histogram", _collect('"histogram_regular": ".*"'),
         lambda source, run, row, _: pictures.histograms(source, run, row)),
    Tile("images", "image", _OPERATOR.format(name="image", operator="ImageSummary", tag="input", value="x"),
         pictures.images),
    Tile("tensors", "tensor", _OPERATOR.format(name="tensor", operator="TensorSummary", tag="logits", value="x"),
         lambda source, run, row, _: pictures.tensors(source, run, row)),
    Tile("landscape", "landscape", _LANDSCAPE, lambda source, run, row, _: pictures.landscape(source, run, row)),
    Tile("text", "text", "", lambda source, run, row, _: pictures.texts(source, run, row)),
    Tile("graph", "graph", _collect(""),
         lambda source, run, row, _: pictures.graph(source, run, row), counted=False),
    Tile("dataset", "dataset_graph", _collect(""),
         lambda source, run, row, _: pictures.dataset(source, run, row), counted=False),
)  # fmt: skip


def tile(what: Tile, source: FrameSource, run: str, row: RunRow, routes: str) -> list[Any]:
    """The contents of one tile: a link to the kind's page where the run has data."""
    tags = source.tags(run, what.kind)
    if not tags:
        return _without(what, source, run, source.member(run) or row)
    drawn = html.Div(list(what.draw(source, run, row, routes)), className="ms-tile-pictures")
    shown = [_head(what, len(tags) * what.counted), drawn]
    return _linked(what, run, shown)


def _without(what: Tile, source: ValueSource, run: str, row: RunRow) -> list[Any]:
    """A tile without data: that it is on its way, why there is none, or how to record some."""
    if not what.record:
        return []
    if row.state in ("waiting", "loading"):
        return [_head(what, 0), _waiting()]
    if row.state == "unreadable":
        return [_head(what, 0), html.P(t("overview.unreadable"), className="ms-tile-note")]
    planned = _planned(source, run) if what.kind == "landscape" else None
    if planned is not None:
        return [*_linked(what, run, [_head(what, 0)]), planned]
    return [_head(what, 0), parts.empty_state(f"overview.{what.name}_none", code=what.record)]


def _planned(source: ValueSource, run: str) -> Any:
    """What the checkpoints of a run allow to compute, or why that is not known; None where it collected none."""
    try:
        plan = source.landscape_plan(run)
    except FormatError as error:
        return html.P(str(error), className="ms-tile-note ms-tile-wrong", role="alert")
    if plan is None:
        return None
    directory = plan.path.rpartition("ckpt_dir")[0].rstrip("/\\")
    code = _PLAN.format(directory=json.dumps(directory, ensure_ascii=False))
    return parts.empty_state("overview.planned", code=code, values={"n": fmt.count(plan.checkpoints)})


def _linked(what: Tile, run: str, shown: list[Any]) -> list[Any]:
    """As a link to the page of the kind."""
    link = html.A(
        shown, href=f"{what.name}?{urlencode({'run': run})}", className="ms-tile-link",
        **{"data-page": what.name, "data-run": run}, **_names(what),
    )  # fmt: skip
    return [link]


def _names(what: Tile) -> dict[str, Any]:
    english, chinese = both(f"overview.{what.name}")
    sentence = both("overview.open")
    words = sentence[0].format(page=english.lower()), sentence[1].format(page=chinese)
    named: dict[str, Any] = {}
    for name in ("title", "aria-label"):
        named |= {name: words[0], f"data-en-{name}": words[0], f"data-zh-{name}": words[1]}
    return named


def _head(what: Tile, tags: int) -> html.Header:
    counted = t("overview.tag") if tags == 1 else t("overview.tags", n=fmt.count(tags))
    return html.Header(
        [
            parts.icon(what.name),
            html.H3(t(f"overview.{what.name}"), className="ms-card-title"),
            html.Span([html.Span(counted, className="ms-badge")] if tags else [], className="ms-card-badges"),
        ],
        className="ms-card-head",
    )


def _waiting() -> html.Div:
    return html.Div(className="ms-skeleton ms-tile-note", role="status", **attributes(aria_label="overview.reading"))
