"""GET routes for the tables that pages compute from explanations, as CSV.

    <prefix>explanation/confusion.csv?run=KEY&t=0.5          samples by true and predicted label; of runs whose samples have
                                                             several true labels, by pairs of labels
    <prefix>explanation/labels.csv?run=KEY&t=0.5             each label against the rest
    <prefix>explanation/cell.csv?run=KEY&t=0.5&cell=0,2      labels of the samples of one cell; cell=0,none without a prediction
    <prefix>explanation/calibration.csv?run=KEY&question=top&bins=10    reliability by bins; question=each for each label
    <prefix>explanation/changes.csv?run=KEY&with=KEY&t=0.5   outcomes that are not the same in all runs; with is repeatable
    <prefix>explanation/scores.csv?run=KEY&weight=METRIC:25  scores of explainers with totals; weight (hundredths) is repeatable

run is the key of a member run; q restricts the first five to samples with this text in id or path.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from flask import Blueprint, Response, request

from app.routes.csv_files import csv_answer, table_name
from app.routes.explanations.explanations import answering, opened_explanations, parameters
from app.routes.refusals import Unusable
from layouts.explanations.confusion_asks import ConfusionRequest
from layouts.explanations.explanation_counts import named_cells, named_changes, samples_of, scores_with_totals
from layouts.explanations.score_asks import read_weights
from layouts.explanations.tables import sample_table
from layouts.sources import Sources
from parsers.analysis.explanations import calibration
from parsers.analysis.explanations.changes import changes
from parsers.analysis.explanations.confusion import by_label, members

_STATE = ("t", "q", *ConfusionRequest.keys())


def add_routes(routes: Blueprint, source: Sources) -> None:
    """Add the routes of this module to a blueprint."""
    made: dict[str, Callable[[Sources], Response]] = {
        "confusion": cells, "labels": labels, "cell": cell, "calibration": reliability, "changes": changed, "scores": scores,
    }  # fmt: skip
    for name, make in made.items():
        routes.add_url_rule(f"/explanation/{name}.csv", f"explanation-{name}-csv", answering(source, make))


def cells(source: Sources) -> Response:
    """Respond with the cells of the matrix that have samples."""
    ask = _ask(("run", "t", "q"))
    found = samples_of(opened_explanations(source, ask.choice.run), ask.choice)
    return csv_answer(named_cells(found, ask.choice.threshold), table_name(ask.choice.run, "confusion"))


def labels(source: Sources) -> Response:
    """Respond with each label against the rest."""
    ask = _ask(("run", "t", "q"))
    found = samples_of(opened_explanations(source, ask.choice.run), ask.choice)
    return csv_answer(by_label(found, ask.choice.threshold), table_name(ask.choice.run, "confusion", "labels"))


def cell(source: Sources) -> Response:
    """Respond with the labels of the samples of one cell."""
    ask = _ask(("run", "t", "q", "cell"))
    if ask.cell is None:
        raise Unusable("expected the parameter cell, found none")
    explained = opened_explanations(source, ask.choice.run)
    ids = members(samples_of(explained, ask.choice), ask.choice.threshold, *ask.cell)
    rows = np.searchsorted(explained.samples["sample"].to_numpy(), ids)
    return csv_answer(sample_table(explained, rows, ask.choice), table_name(ask.choice.run, "confusion", "cell"))


def reliability(source: Sources) -> Response:
    """Respond with the bins of the reliability diagram."""
    ask = _ask(("run", "q", "question", "bins"))
    counted = samples_of(opened_explanations(source, ask.choice.run), ask.choice)
    top = ask.question == "top" or (not ask.question and counted.single)
    found = (calibration.top_label if top else calibration.each_label)(counted, ask.bins)
    return csv_answer(found.bins, table_name(ask.choice.run, "confusion", "calibration"))


def changed(source: Sources) -> Response:
    """Respond with the outcomes that are not the same in all runs."""
    ask = _ask(("run", "t", "q", "with"))
    if not ask.others:
        raise Unusable("expected the parameter with, found none")
    runs = (ask.choice.run, *ask.others)
    found = changes([samples_of(opened_explanations(source, run), ask.choice) for run in runs], ask.choice.threshold)
    return csv_answer(named_changes(found, runs), table_name(ask.choice.run, "confusion", "changes"))


def scores(source: Sources) -> Response:
    """Respond with the scores of explainers and their weighted totals."""
    asked = parameters(("run", "weight"), many=("weight",))
    chosen = read_weights({"weight": request.args.getlist("weight")})
    table = scores_with_totals(opened_explanations(source, asked["run"]), chosen)
    return csv_answer(table, table_name(asked["run"], "scores"))


def _ask(known: tuple[str, ...]) -> ConfusionRequest:
    asked = parameters(known, many=("with",))
    state = {name: request.args.getlist(name) for name in _STATE if name in asked}
    ask = ConfusionRequest.read_any(state | {"of": [asked["run"]]})
    if ask is None:
        raise Unusable("run: expected the key of a run, found nothing")
    return ask
