"""GET routes for the pipeline page: the bands of a job over time, and its tables as CSV.

    <prefix>pipeline/view?run=KEY&session=NAME&rank=N&step=13&columns=1500    binary (`JobPipeline.view`)
    <prefix>pipeline/moment?...&of=2&at=1500000      the band of a rank at a moment, as JSON
    <prefix>pipeline/summary.csv?...   also bands.csv

Parameters are those of the page's address (`layouts.jobs.pipeline_request.PipelineRequest`); columns is the width of the chart.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from flask import Blueprint, Response, request

from app.routes.csv_files import csv_answer
from app.routes.profiles.frames import chosen_frame
from app.routes.refusals import answered, asked
from app.routes.values.media import safe_name
from layouts.jobs.pipeline_request import COLUMNS, PipelineRequest, pipeline_of
from layouts.kit.state import number
from layouts.sources import ProfileSources
from parsers.analysis.jobs.job_pipeline import JobPipeline

_LARGEST_RANK = 1e9
_LONGEST_NS = 2.0**53


def add_routes(routes: Blueprint, source: ProfileSources) -> None:
    """Add the routes to a blueprint."""
    answers: dict[str, tuple[Callable[[JobPipeline, dict[str, Any]], Response], tuple[str, ...]]] = {
        "view": (_view, ("columns",)), "moment": (_moment, ("of", "at")),
        "summary.csv": (partial(_table, name="summary"), ()), "bands.csv": (partial(_table, name="bands"), ()),
    }  # fmt: skip
    for name, (make, more) in answers.items():
        rule = f"/pipeline/{name}"
        routes.add_url_rule(rule, f"pipeline-{name.replace('.', '-')}", partial(answered, partial(_answer, source, make, more)))


def _answer(
    source: ProfileSources, make: Callable[[JobPipeline, dict[str, Any]], Response], more: tuple[str, ...]
) -> Response:
    ask = asked(PipelineRequest, more)
    return make(pipeline_of(source, ask, partial(chosen_frame, source, ask.choice)), request.args.to_dict(flat=False))


def _view(pipeline: JobPipeline, given: dict[str, Any]) -> Response:
    columns = int(number(given, "columns", 1_000.0, *COLUMNS))
    return Response(pipeline.view(columns), mimetype="application/octet-stream")


def _moment(pipeline: JobPipeline, given: dict[str, Any]) -> Response:
    rank = int(number(given, "of", 0.0, 0.0, _LARGEST_RANK))
    found = pipeline.moment(rank, int(number(given, "at", 0.0, 0.0, _LONGEST_NS)))
    return Response(msgspec.json.encode(found), mimetype="application/json")


def _table(pipeline: JobPipeline, given: dict[str, Any], name: str) -> Response:
    found = pipeline.summary() if name == "summary" else pipeline.listed()
    step = "" if pipeline.step is None else f"-step{pipeline.step}"
    run = safe_name(given["run"][0]) or "run"
    return csv_answer(found, f"{run}-pipeline-{name}{step}")
