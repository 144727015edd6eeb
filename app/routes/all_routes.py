"""The HTTP routes over one source, which curl can fetch as well as the pages: exports, lists of runs, health.

The module of a route is imported by the first request for it.

    <prefix>api/scalars.csv?run=KEY&tag=TAG      run and tag are repeatable; default: all
    <prefix>api/scalars.json?runs=REGEX&tags=REGEX&from=STEP&to=STEP
    <prefix>api/scalars.csv?expr=EXPRESSION      curves derived from tags (`app.routes.curves.expressions`)
    <prefix>api/scalars.csv?superseded=1         also values that were written again after a restart
    <prefix>api/scalars-final.csv, api/scalars-matrix.csv, api/scalars-groups.csv   (`app.routes.curves.scalar_groups`)
    <prefix>api/scalars-points                   every point of a card, by POST (`app.routes.curves.every_point`)
    <prefix>api/histograms.csv?run=KEY&tag=TAG   the same, one row per bucket
    <prefix>api/lineage.csv?col=COLUMN&run=KEY   settings and metrics in this order; default: all; also lineage.json
    <prefix>api/pipelines.csv?col=COLUMN&run=KEY pipeline parameters, likewise; also pipelines.json
    <prefix>api/insights.csv?run=KEY             insights into the scalars of runs; run is repeatable
    <prefix>api/runs.json?from=ROW&limit=ROWS    the list of runs, newest first
    <prefix>api/health
    <prefix>api/page-file.json                   (`app.routes.page_files`)
    <prefix>api/image, <prefix>api/text          (`app.routes.values.media`)
    <prefix>api/dataset.json?run=KEY             the data pipeline of one run
    <prefix>api/profile.csv                      (`app.routes.profiles.frames`)
    <prefix>api/dump.csv, api/dump.npy           (`app.routes.dumps.dumps`)
    <prefix>api/explanation/...                  (`app.routes.explanations.explanations`, `.explanation_tables`)
    <prefix>api/communication/...                (`app.routes.jobs.communication`)
    <prefix>api/pipeline/...                     (`app.routes.jobs.pipeline`)
    <prefix>api/shapes/types.csv, ...            (`app.routes.profiles.shapes`)
    <prefix>api/ranks/...                        (`app.routes.jobs.ranks`)
    <prefix>api/timeline/...                     (`app.routes.profiles.timeline`, `app.routes.profiles.timeline_links`)
    <prefix>api/tensor, api/tensor.npy, ...       (`app.routes.values.tensors`)
    <prefix>api/study/trials.csv, ...             (`app.routes.tuning.studies`)
    <prefix>api/conversion/nodes.csv, ...         (`app.routes.graphs.conversions`)
    <prefix>api/live.json, api/live              (`app.routes.dumps.live`, orders by POST)
    <prefix>api/note, api/view                    (`app.routes.runs.notes`, by POST)
    <prefix>api/board, api/board.json             (`app.routes.runs.boards`, changes by POST)
    <prefix>api/fetch                             (`app.routes.runs.mirrors`, by POST)
    <prefix>api/view-file, api/view-file.toml     (`app.routes.runs.view_files`, files to open by POST)

Columns, number formats and the apostrophe before cells that a spreadsheet would execute are those of `parsers.export`. A
request names known keys of runs and tags, never a path to open.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from flask import Blueprint

from app.routes.runs import listing
from layouts.sources import Sources

GET = {
    "exports": (
        "/scalars.csv", "/scalars.json", "/scalars-final.csv", "/scalars-matrix.csv", "/scalars-groups.csv", "/expression.json",
        "/histograms.csv", "/insights.csv",
    ),
    "page_files": ("/page-file.json",),
    "graphs.dataset": ("/dataset.json",),
    "lineage.tables": ("/lineage.csv", "/lineage.json", "/pipelines.csv", "/pipelines.json"),
    "values.media": ("/image", "/text", "/landscape.npz"),
    "values.tensors": (
        "/tensor", "/tensor-about", "/tensor-statistics", "/tensor-histograms", "/tensor-bad", "/tensor.npy", "/tensor.csv",
    ),
    "runs.boards": ("/board.json",),
    "runs.view_files": ("/view-file.toml",),
    "dumps.live": ("/live.json",),
    "graphs.conversions": ("/conversion/nodes.csv", "/conversion/values.csv", "/conversion/weights.csv"),
    "tuning.studies": ("/study/trials.csv", "/study/values.csv", "/study/parameters.csv", "/study/workers.csv"),
    "profiles.frames": ("/profile.csv",),
    "profiles.timeline": (
        "/timeline/tracks", "/timeline/view", "/timeline/names", "/timeline/strip", "/timeline/curve", "/timeline/slice",
        "/timeline/range", "/timeline/range.csv", "/timeline/gaps", "/timeline/gaps.csv", "/timeline/critical",
        "/timeline/critical.csv", "/timeline/flame", "/timeline/search", "/timeline/trace.json", "/timeline/difference",
        "/timeline/difference.csv", "/timeline/reading",
    ),
    "profiles.timeline_links": ("/timeline/first", "/timeline/related"),
    "profiles.shapes": (
        "/shapes/types.csv", "/shapes/operators.csv", "/shapes/steps.csv", "/shapes/shapes.csv", "/shapes/executions.csv",
    ),
    "profiles.efficiency": (
        "/efficiency/figures.csv", "/efficiency/types.csv", "/efficiency/shapes.csv", "/efficiency/slow.csv",
        "/efficiency/roofline.csv",
    ),
    "jobs.communication": (
        "/communication/matrix", "/communication/totals.csv", "/communication/operation.csv", "/communication/links.csv",
        "/communication/packets.csv", "/communication/contention.csv", "/communication/matrix.csv",
    ),
    "jobs.pipeline": ("/pipeline/view", "/pipeline/moment", "/pipeline/summary.csv", "/pipeline/bands.csv"),
    "jobs.ranks": (
        "/ranks/facts", "/ranks/view", "/ranks/operator", "/ranks/ranks.csv", "/ranks/operators.csv", "/ranks/memory",
    ),
    "jobs.what_if": ("/job/what_if.csv",),
    "dumps.dumps": ("/dump.csv", "/dump.npy"),
    "dumps.dump_tensors": ("/dump-values", "/dump-about", "/dump-bad"),
    "explanations.explanations": (
        "/explanation/image", "/explanation/heatmap", "/explanation/outcome", "/explanation/samples.csv",
        "/explanation/counterfactuals.csv", "/explanation/frame.csv",
    ),
    "explanations.explanation_tables": (
        "/explanation/confusion.csv", "/explanation/labels.csv", "/explanation/cell.csv", "/explanation/calibration.csv",
        "/explanation/changes.csv", "/explanation/scores.csv",
    ),
}  # fmt: skip
"""The routes of each module below `app.routes`."""
POST = {
    "runs.notes": ("/note", "/view", "/mark", "/colour", "/check", "/watchpoints"),
    "curves.every_point": ("/scalars-points",),
    "runs.boards": ("/board",),
    "runs.view_files": ("/view-file",),
    "dumps.live": ("/live",),
    "runs.mirrors": ("/fetch",),
}
"""The same for those that change something."""


def blueprint(source: Sources, name: str) -> Blueprint:
    """Build the routes over one source, to be registered below a URL prefix. The name must be unique per Flask application."""
    routes = Blueprint(name, __name__)
    listing.add_routes(routes, source)
    modules = {module: LaterRoutes(f"app.routes.{module}", source) for module in (*GET, *POST)}
    for method, table in (("GET", GET), ("POST", POST)):
        rules = {rule: module for module, some in table.items() for rule in some}
        for folder in dict.fromkeys(rule.rpartition("/")[0] for rule in rules):
            names = [f'"{rule.rpartition("/")[2]}"' for rule in rules if rule.rpartition("/")[0] == folder]
            # One rule of Flask for all names of a folder: to compile one takes 0.3 ms.
            view = partial(_respond, modules, rules, folder)
            endpoint = f"{method}{folder.replace('/', '-')}"
            routes.add_url_rule(f"{folder}/<any({','.join(names)}):name>", endpoint, view, methods=[method])
    return routes


def _respond(modules: Mapping[str, LaterRoutes], rules: Mapping[str, str], folder: str, name: str) -> Any:
    rule = f"{folder}/{name}"
    return modules[rules[rule]].view(rule)()


class LaterRoutes:
    """The routes of a module that is imported by the first request for one of them; `add_routes` of the module adds them."""

    def __init__(self, module: str, source: Any) -> None:
        self._module = module
        self._source = source
        self._views: dict[str, Callable[[], Any]] = {}
        self._lock = threading.Lock()

    def add_url_rule(
        self, rule: str, endpoint: str, view: Callable[[], Any], methods: Sequence[str] = ("GET",)  # noqa: ARG002 - as Flask has it
    ) -> None:
        """Add a route."""
        self._views[rule] = view

    def view(self, rule: str) -> Callable[[], Any]:
        """Return the view of a route."""
        with self._lock:
            if not self._views:
                import_module(self._module).add_routes(self, self._source)
        return self._views[rule]
