"""The pipeline page: what does each stage do when, and how much of a step do its ranks wait for other stages?

Sentences and the table are computed here; the bands over time come from a plain route as bytes (app/routes/jobs/pipeline.py)
and are drawn on a canvas (assets/jobs/pipeline/chart.js).
"""

from __future__ import annotations

from typing import Any

from dash import Input, Output, State, dcc, html, no_update
from parsers.analysis.jobs.job_choices import offers
from parsers.analysis.jobs.job_pipeline import JobPipeline
from parsers.analysis.jobs.pipeline import BANDS, HIDDEN

from layouts.jobs.pipeline.bilingual import in_both
from layouts.jobs.pipeline.story import story
from layouts.jobs.pipeline.tables import times
from layouts.jobs.pipeline.texts import TEXTS
from layouts.jobs.pipeline_request import FRAMES, PipelineRequest, pipeline_of
from layouts.kit import units as fmt
from layouts.kit.body import damage
from layouts.kit.callbacks import in_browser
from layouts.kit.elements import icon_button, toolbar
from layouts.kit.figures.alternatives import listed, named
from layouts.kit.i18n import Text, both, t
from layouts.kit.page import Ids
from layouts.kit.plain_html import still
from layouts.profiles.body import body, register_body
from layouts.sources import ProfileSources

COLOURS = {
    "forward": "#4e95df", "backward": "#1c5792", "computing": "#3880c9", "send": "#e9a23b", "receive": "#b06a12",
    "exchange": "#d0851c", "collective": "#2b9c78", HIDDEN: "#895dd6",
}  # fmt: skip
"""Colours of bands; idle and unknown time have those of the theme."""


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    children: list[Any] = [
        *(dcc.Store(id=ids(part)) for part in ("draw", "facts")),
        html.Section(html.Div(id=ids("head"), className="ms-pipeline-head"), className="ms-card", tabIndex=-1),
        toolbar([], label="pipeline.controls", class_name="ms-pipeline-bar"),
        html.Section(
            [
                html.Header(
                    [html.H3(t("pipeline.chart"), className="ms-card-title"), html.Span(className="ms-card-badges"),
                     html.Span(_tools(), className="ms-card-tools")],
                    className="ms-card-head",
                ),
                html.Ul(className="ms-pipeline-legend"),
                html.P(className="ms-pipeline-note ms-muted", hidden=True),
                html.Div(className="ms-pipeline-chart"),
            ],
            className="ms-card ms-pipeline-card", tabIndex=-1, **{"data-card": "chart"},
        ),
        html.Section(
            [
                html.Header(html.H3(t("pipeline.table"), className="ms-card-title"), className="ms-card-head"),
                html.Div(id=ids("table"), className="ms-pipeline-body"),
            ],
            className="ms-card", tabIndex=-1, **{"data-card": "table"},
        ),
        damage(),
    ]  # fmt: skip
    return body(
        ids, routes, children, title="pipeline.title", frames=FRAMES, keys=PipelineRequest.keys(),
        choices=("step",), texts=tuple(TEXTS),
        class_name="ms-pipeline",
    )  # fmt: skip


def _tools() -> list[Any]:
    names = (("zoom_out", "minus"), ("zoom_in", "plus"), ("whole", "zoom"), ("png", "download"), ("full", "full"))
    return [icon_button(icon, f"pipeline.{act}", **{"data-act": act}) for act, icon in names]


def register(app: Any, source: ProfileSources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    register_body(app, source, ids, FRAMES)

    def draw(data: Any) -> tuple[Any, Any, Any]:
        ask = PipelineRequest.read_any(data)
        return (no_update,) * 3 if ask is None else drawn(pipeline_of(source, ask))

    app.callback(
        Output(ids("head"), "children"), Output(ids("table"), "children"), Output(ids("facts"), "data"),
        Input(ids("draw"), "data"), prevent_initial_call=True,
    )(draw)  # fmt: skip
    call = in_browser(app, "mindscope_pipeline")
    root = State(ids("root"), "id")
    call("plan", Output(ids("draw"), "data"), Input(ids("ask"), "data"), State(ids("draw"), "data"), root,
         prevent_initial_call=True)  # fmt: skip
    call("told", Input(ids("facts"), "data"), root, prevent_initial_call=True)


def drawn(pipeline: JobPipeline) -> tuple[Any, Any, Any]:
    """Return sentences and table (components), and facts for the scripts."""
    return still(story(pipeline)), still(times(pipeline)), facts(pipeline)


def facts(pipeline: JobPipeline) -> dict[str, Any]:
    """Return what the scripts need: steps to offer, colours, stages, micro batches that files tell, and what is said."""
    known = pipeline.micro_batches
    return {
        "offers": {**offers(None, None), "steps": pipeline.steps}, "colours": COLOURS, "bands": [*BANDS, HIDDEN],
        "stages": sorted({one.stage for one in pipeline.times}), "ranks": len(pipeline.ranks),
        "micro": known.number if known.source != "typed" else 0, "staged": pipeline.stage_count > 1,
        "clocks": pipeline.clocks_differ, "found": pipeline.length_ns > 0, "said": said(pipeline),
    }  # fmt: skip


def said(pipeline: JobPipeline) -> Text:
    """Return what the chart shows: the mean shares of computing, sending and receiving, collectives and idle time by stage."""
    step = pipeline.step
    of = both("pipeline.said_all") if step is None else both("pipeline.said_step", n=step)
    by_stage: dict[int, list[dict[str, float]]] = {}
    for one in pipeline.times:
        whole = sum(one.bands[name] for name in BANDS)
        if whole:
            by_stage.setdefault(one.stage, []).append({name: one.bands[name] / whole for name in BANDS})
    parts = []
    for stage, shares in by_stage.items():
        mean = {name: sum(one[name] for one in shares) / len(shares) for name in BANDS}
        told = [named(both(f"pipeline.band.{name}"), fmt.percent(share)) for name, share in mean.items() if share >= 0.005]
        name = both("pipeline.stage", n=stage) if stage >= 0 else both("pipeline.no_stage")
        parts.append(named(name, listed(told, len(told))))
    title = in_both("pipeline.said", step=of)
    every = listed(parts)
    return f"{title[0]}. {every[0]}.", f"{title[1]}。{every[1]}。"
