"""The tuning page: how does a search for good settings go, what has it found, and which settings matter?

It follows the journal of a study that `mindscope tune` writes: its trials as a table, target and curves of all trials, workers
over time, and the command that repeats a trial by hand. The page starts and stops nothing.
"""

from __future__ import annotations

import json
import time
from functools import partial
from typing import Annotated, Any, Literal, TypedDict

import numpy as np
from dash import Input, State, html
from parsers.analysis.lineage.results import order
from parsers.tuning.importances import SHARES

from layouts.kit.callbacks import in_browser
from layouts.kit.elements import empty_state, toolbar
from layouts.kit.i18n import attributes, for_browser, t
from layouts.kit.page import Ids
from layouts.kit.page_parts import Answer, register_parts_in, stores
from layouts.kit.plain_html import markup
from layouts.kit.plot_cards import drawn_card, plot_card
from layouts.kit.recording import missing_data
from layouts.sources import Sources
from layouts.tuning.studies import OpenStudy, StudyFrames
from layouts.tuning.tuning import figures, sections, settings_figures
from layouts.tuning.tuning.asks import ASSOCIATION, StudyRequest
from layouts.tuning.tuning.study_style import Floats, best_trial, settings_of
from layouts.tuning.tuning.texts import TEXTS

PARTS = ("study", "curves", "settings", "importance")
PLOTS = ("progress", "curves", "pareto", "slice", "contour", "importance", "parallel", "workers")
PICKED = ("progress", "pareto", "slice", "contour")
"""Plots whose points choose a trial."""
MOST_CURVES = 2_000
"""Trials whose curves are drawn, the latest ones."""
def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    states = [
        html.Div(html.Div(className="ms-skeleton ms-tuning-skeleton"), **{"data-state": "reading"}),
        html.Div(missing_data("tuning.none", "study", page="tuning"), hidden=True, **{"data-state": "none"}),
        html.Div(empty_state("tuning.missing"), hidden=True, **{"data-state": "missing"}),
    ]
    skeleton = html.Div(className="ms-skeleton")
    cards = [
        html.Div(className="ms-tuning-damage", role="status", hidden=True, **{"data-section": "problems"}),
        html.Section(html.Div(skeleton, **{"data-section": "head"}), className="ms-card ms-tuning-head", tabIndex=-1,
                     **{"data-card": "head"}),
        *(_plot(ids, name) for name in PLOTS),
        _card("trials"),
        _card("trial"),
    ]  # fmt: skip
    return html.Div(
        [
            *stores(ids, PARTS),
            toolbar([], label="tuning.controls", class_name="ms-tuning-bar"),
            *states,
            html.Div(cards, className="ms-tuning-body", hidden=True),
        ],
        id=ids("root"),
        className="ms-tuning",
        **{
            "data-instance": ids.instance, "data-page": ids.page, "data-routes": routes,
            "data-texts": json.dumps(for_browser((*TEXTS, "lineage.axis_keys", "lineage.apart.missing"))),
        },
    )  # fmt: skip


def _plot(ids: Ids, name: str) -> html.Section:
    title, class_name = t(f"tuning.{name}"), f"ms-tuning-{name}"
    if name == "parallel":
        return drawn_card(html.Div(className="ms-plot"), name, title, class_name)
    return plot_card(ids(f"{name}-plot"), name, title, class_name)


def _card(name: str) -> html.Section:
    tools = html.Span(className="ms-tuning-tools", role="toolbar", **attributes(aria_label=f"tuning.{name}"))
    head = html.Header([html.H3(t(f"tuning.{name}"), className="ms-card-title"), tools], className="ms-card-head")
    content = html.Div(html.Div(className="ms-skeleton"), className="ms-tuning-content", **{"data-section": name})
    return html.Section([head, content], className=f"ms-card ms-tuning-{name}", tabIndex=-1, **{"data-card": name})


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    del routes
    answers: dict[str, Answer] = {
        "study": partial(answer_study, source), "curves": partial(answer_curves, source),
        "settings": partial(answer_settings, source), "importance": partial(answer_importance, source),
    }  # fmt: skip
    register_parts_in(app, ids, answers, "mindscope_tuning")
    call = in_browser(app, "mindscope_tuning")
    root = State(ids("root"), "id")
    call("plan", Input(ids("state"), "data"), Input(ids("version"), "data"), Input(ids("prefs"), "data"), root)
    for name in PICKED:
        call("picked", Input(ids(f"{name}-plot"), "clickData"), root, prevent_initial_call=True)


def opened(source: Sources, ask: StudyRequest) -> OpenStudy:
    """Return the study that is asked for; without a name that with most running trials, else the one with most trials."""
    rows = source.studies.rows()
    if not ask.study and not rows:
        return OpenStudy("missing")
    key = ask.study or max(rows, key=lambda row: (row.running, row.trials)).key
    return source.studies.open(key)


def target_of(study: StudyFrames, ask: StudyRequest) -> str:
    """Return the target that is asked for, else the first one by `order`: a metric of an evaluation, then a loss."""
    names = [name for name, _ in study.targets]
    if ask.target in names:
        return ask.target
    noted = study.search.get("targets")
    groups = {one.get("name"): one.get("group") for one in noted if isinstance(one, dict)} if isinstance(noted, list) else {}
    return min(names, key=lambda name: order(f"metric/{name}" if groups.get(name) == "metric" else name))


class PendingStudy(TypedDict):
    """The studies, if none of them can be shown."""

    state: Literal["reading", "missing", "none"]
    studies: list[Annotated[list[Any], tuple[str, str, int, int]]]
    """key, name, number of trials, number of running trials"""


class ReadyStudy(TypedDict):
    """A study."""

    state: Literal["ready"]
    studies: list[Annotated[list[Any], tuple[str, str, int, int]]]
    study: str
    mark: str
    target: str
    targets: list[str]
    damaged: bool
    sections: dict[str, Annotated[Any, "Markup"]]
    """Head, table, chosen trial and problems."""
    figures: dict[str, Annotated[Any, "Figure"]]


class NoFigure(TypedDict):
    """There is no study."""

    state: Literal["missing"]


class ReadySettings(TypedDict):
    """Figures of target against settings, the names of all, and which ones are shown."""

    state: Literal["ready"]
    figures: dict[str, Annotated[Any, "Figure"]]
    settings: list[str]
    shown: list[str]


class StudyFigure(TypedDict):
    """A figure, while it is made that of what is known."""

    state: Literal["ready", "working"]
    figure: Annotated[Any, "Figure"]


def answer_study(source: Sources, asked: Any) -> ReadyStudy | PendingStudy:
    """Return sentence, table, chosen trial, target over trials and workers of a study."""
    ask = StudyRequest.read(asked)
    found = opened(source, ask)
    rows = [[row.key, row.name, row.trials, row.running] for row in source.studies.rows()]
    if found.study is None:
        if found.state == "reading":
            return {"state": "reading", "studies": rows}
        return {"state": "missing" if rows or ask.study else "none", "studies": rows}
    study, target = found.study, target_of(found.study, ask)
    runs = runs_of(source)
    best = best_trial(study, target)
    chosen = ask.trial if ask.trial >= 0 else best
    made = {
        "problems": sections.problems(found), "head": sections.head(study, target),
        "trials": sections.table(study, ask, target, chosen, runs), "trial": sections.trial(study, chosen),
    }  # fmt: skip
    curves = reported(study)
    return {
        "state": "ready", "studies": rows, "study": study.row.key, "mark": found.mark, "target": target,
        "targets": [name for name, _ in study.targets], "damaged": bool(made["problems"]),
        "sections": {name: markup(children) for name, children in made.items()},
        "figures": {
            "progress": figures.progress(study, target, curves, language=ask.language, dark=ask.dark),
            "workers": figures.worker_figure(study, time.time(), language=ask.language, dark=ask.dark),
        },
    }  # fmt: skip


def runs_of(source: Sources) -> dict[str, str]:
    """Return directory -> key of a run."""
    found: dict[str, str] = {}
    for row in source.runs.rows():
        for path in (row.path, row.real_path):
            found.setdefault(path, row.key)
    return found


def answer_curves(source: Sources, asked: Any) -> StudyFigure | NoFigure:
    """Return the curves of all trials: what was reported to the pruner, else what their runs recorded."""
    ask = StudyRequest.read(asked)
    study = opened(source, ask).study
    if study is None:
        return {"state": "missing"}
    tag = tag_of(study)
    curves = reported(study)
    runs = runs_of(source)
    rest = study.trials.iloc[-MOST_CURVES:]
    for trial, run in zip(rest["trial"].tolist(), rest["run"].tolist(), strict=True):
        key = runs.get(run) if trial not in curves else None
        series = source.curves.series(key, tag) if key else None
        if series is not None and len(series.step):
            curves[trial] = series.step.astype(np.float64), series.value.astype(np.float64)
    return {"state": "ready", "figure": figures.curve_figure(study, curves, tag, language=ask.language, dark=ask.dark)}


def answer_settings(source: Sources, asked: Any) -> ReadySettings | NoFigure:
    """Return target against settings: by default against those that are most surely associated with it.

    The second one has numbers by default, since only two of these have a surface.
    """
    ask = StudyRequest.read(asked)
    study = opened(source, ask).study
    if study is None:
        return {"state": "missing"}
    target, names, language, dark = target_of(study, ask), settings_of(study), ask.language, ask.dark
    of_two: list[str] = []
    if names:
        usual = [str(name) for name in settings_figures.ranked(study, target)["setting"]]
        usual += [name for name in names if name not in usual]
        x = ask.x if ask.x in names else next(name for name in usual if name != ask.y or len(names) == 1)
        numeric = set(study.parameters["parameter"][study.parameters["kind"].astype(str) != "choice"])
        others = sorted((name for name in usual if name != x), key=lambda name: name not in numeric)
        of_two = [x, ask.y if ask.y in others else next(iter(others), "")]
    made: dict[str, Any] = dict.fromkeys(("slice", "contour", "importance"))
    if of_two:
        made["slice"] = settings_figures.slice_figure(study, target, of_two[0], language=language, dark=dark)
        if ask.by == ASSOCIATION:
            made["importance"] = settings_figures.importance_figure(study, target, language=language, dark=dark)
    if of_two and of_two[1]:
        made["contour"] = settings_figures.contour_figure(study, target, *of_two, language=language, dark=dark)
    made["parallel"] = settings_figures.parallel_figure(study, target, dark=dark)
    made["pareto"] = settings_figures.pareto_figure(study, language=language, dark=dark)
    if ask.by != ASSOCIATION:
        del made["importance"]
    return {"state": "ready", "figures": made, "settings": names, "shown": of_two}


def answer_importance(source: Sources, asked: Any) -> StudyFigure | NoFigure:
    """Return what a measure says of the settings; "working" while it is computed."""
    ask = StudyRequest.read(asked)
    study = opened(source, ask).study
    if study is None or ask.by == ASSOCIATION:
        return {"state": "missing"}
    target, method = target_of(study, ask), ask.by or SHARES
    found = source.studies.importances(study.row.key, target, method)
    figure = settings_figures.evaluated_figure(found, target, method, language=ask.language, dark=ask.dark)
    return {"state": "working" if found.state == "working" else "ready", "figure": figure}


def tag_of(study: StudyFrames) -> str:
    """Return the scalar that is compared while trials run."""
    pruning = study.search.get("pruning")
    return str(pruning["tag"]) if isinstance(pruning, dict) and pruning.get("tag") else study.targets[0][0]


def reported(study: StudyFrames) -> dict[int, tuple[Floats, Floats]]:
    """Return the values reported to the pruner by trial."""
    number = study.values["trial"].to_numpy()
    step, value = study.values["step"].to_numpy(np.float64), study.values["value"].to_numpy(np.float64)
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    ends = [*starts[1:].tolist(), len(number)] if len(number) else []
    return {
        int(number[begin]): (step[begin:end], value[begin:end])
        for begin, end in zip(starts.tolist(), ends, strict=True)
    }  # fmt: skip
