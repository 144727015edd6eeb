"""Sentences and tables of the page as elements."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

import numpy as np
from dash import html
from parsers.tuning.repeating import command_of

from layouts.kit import tables
from layouts.kit import units as fmt
from layouts.kit.elements import icon_button
from layouts.kit.i18n import attributes, t
from layouts.kit.plain_html import Plain, markup
from layouts.kit.tables import COUNT, NUMBER, SECONDS, TableColumn, TableRow, drawn_row, first_of
from layouts.tuning.studies import OpenStudy, StudyFrames
from layouts.tuning.tuning.asks import StudyRequest
from layouts.tuning.tuning.study_style import Floats, best_trial, goal_of, settings_of, values_of

MOST_ROWS = 200
"""Rows of the table; the file has all."""
SPACE = " "
_TRIAL, _STATE, _VALUE = TableColumn("tuning.trial", number=True), TableColumn("tuning.state"), TableColumn("", NUMBER)
_LAST = (
    TableColumn("tuning.duration", SECONDS), TableColumn("tuning.last_step", COUNT), TableColumn("tuning.reason"),
    TableColumn("tuning.run"),
)  # fmt: skip


def head(study: StudyFrames, target: str) -> list[Any]:
    """Return how the search stands: trials by state, the best one, sampler, pruner and budget."""
    counted = study.trials["state"].astype(str).value_counts()
    states = [html.Span(t(f"tuning.count.{name}", n=fmt.count(int(counted[name])))) for name in STATES if counted.get(name, 0)]
    said: list[Any] = [
        html.B(study.row.name), t("tuning.colon"), *(_commas(states) or [t("tuning.no_trials")]), t("tuning.stop"),
    ]  # fmt: skip
    found = ""
    best = best_trial(study, target)
    if best is not None and len(study.targets) == 1:
        value = float(values_of(study, target)[study.trials["trial"].to_numpy() == best][0])
        said += [html.B(t("tuning.best_is", n=best, target=target, value=fmt.number(value))), SPACE]
        found = _settings_of(study, best)
    facts = [t(f"tuning.goal.{goal}", target=name) for name, goal in study.targets]
    search = study.search
    if search.get("sampler"):
        facts.append(t("tuning.sampler", name=str(search["sampler"])))
    pruning = search.get("pruning")
    if isinstance(pruning, dict):
        facts.append(t("tuning.pruner", name=str(pruning.get("name")), tag=str(pruning.get("tag"))))
    if isinstance(search.get("trials"), int):
        facts.append(t("tuning.budget", n=fmt.count(search["trials"])))
    return [html.P(said, className="ms-tuning-said"),
            html.P([t("tuning.best_settings"), SPACE, html.Code(found)] if found else []),
            html.P(_commas(facts), className="ms-muted"),
            html.P(_suggested(study), className="ms-muted ms-tuning-next"),
            html.P(_copied(study), className="ms-muted")]  # fmt: skip


def _settings_of(study: StudyFrames, trial: int) -> str:
    """Return the settings of a trial in one line, those it does not have left out."""
    row = study.trials[study.trials["trial"] == trial]
    values = {name: _known(row[f"parameter/{name}"].tolist()[0]) for name in settings_of(study)}
    return _listed({name: value for name, value in values.items() if value is not None})


def _listed(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {_plainly(value)}" for name, value in settings.items())


def _copied(study: StudyFrames) -> list[Any]:
    """Return where a study lives that is shown by a copy, and of which time that is; the browser writes the time."""
    if not study.row.storage:
        return []
    time = html.Time(**{"data-seconds": f"{study.row.copied:.0f}"}) if np.isfinite(study.row.copied) else "?"
    return [t("tuning.copied", place=study.row.storage), SPACE, time]


def _suggested(study: StudyFrames) -> list[Any]:
    """Return the settings that a trial would get now, and what the sampler predicts."""
    noted = study.suggestion
    if not noted:
        goes_on = bool(study.trials["state"].isin(("running", "waiting")).any())
        return [t("tuning.no_suggestion")] if goes_on else []
    listed = html.Code(_listed(noted["settings"]))
    said: list[Any] = [t("tuning.next", n=noted["trial"]), SPACE, listed, t("tuning.stop")]
    sampler = noted["sampler"] or "?"
    if np.isfinite([noted[name] for name in ("mean", "low", "high")]).all():
        numbers = {name: fmt.number(noted[name]) for name in ("mean", "low", "high")}
        return [*said, t("tuning.next_value", sampler=sampler, target=study.targets[0][0], **numbers)]
    return [*said, t("tuning.next_start" if noted["why"] == "start" else "tuning.next_sampler", sampler=sampler)]


def _plainly(value: Any) -> str:
    if isinstance(value, float):
        return fmt.number(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


STATES = ("complete", "running", "pruned", "failed", "interrupted", "waiting", "skipped")


def _commas(parts: list[Any]) -> list[Any]:
    return [one for part in parts for one in (part, t("tuning.comma"))][:-1]


def problems(opened: OpenStudy) -> list[Any]:
    """Return the damage in the journal."""
    said = [html.Li(opened.text)] if opened.text else []
    said += [
        html.Li([t("tuning.at_byte", n=fmt.count(one.offset or 0)), SPACE, html.Span(one.text)]) for one in opened.problems[:20]
    ]
    return [html.P(t("tuning.damaged", n=fmt.count(len(opened.problems)))), html.Ul(said)] if said else []


def rows_of(study: StudyFrames, ask: StudyRequest, target: str) -> Any:
    """Return the places of the trials to list, in order."""
    state = study.trials["state"].astype(str).to_numpy()
    places = np.flatnonzero(state == ask.show) if ask.show else np.arange(len(state))
    if ask.sort == "newest":
        return places[::-1]
    values: Floats = values_of(study, target)[places]
    ranked = values if goal_of(study, target) == "minimize" else -values
    ranked = np.where(np.isnan(ranked), np.inf, ranked)
    unfit = ~study.trials["feasible"].to_numpy(np.bool_)[places]
    return places[np.lexsort((-places, ranked, unfit))]


def table(study: StudyFrames, ask: StudyRequest, target: str, chosen: int | None, runs: Mapping[str, str]) -> list[Any]:
    """Return the table of trials. runs maps directories to keys of runs."""
    frame, names = study.trials, settings_of(study)
    places = rows_of(study, ask, target)
    targets = [name for name, _ in study.targets]
    columns = [
        _TRIAL, _STATE, *(TableColumn([name], NUMBER) for name in (*targets, *names)),
        *_LAST,
    ]  # fmt: skip
    listed = frame.iloc[places[:MOST_ROWS]]
    values = {str(name): [_known(one) for one in listed[name].tolist()] for name in listed.columns}
    lines = [
        _line(
            values["trial"][row], values["state"][row], values["feasible"][row],
            tuple(values[f"target/{name}"][row] for name in targets),
            tuple((type(value := values[f"parameter/{name}"][row]).__name__, value) for name in names),
            values["duration"][row], values["step"][row], values["reason"][row] or "", values["trial"][row] == chosen,
            runs.get(values["run"][row] or "", ""),
        )
        for row in range(len(listed))
    ]  # fmt: skip
    if not len(frame):
        return [html.P(t("tuning.no_trials"), className="ms-muted")]
    shown = tables.table(columns, lines, class_name="ms-tuning-table", scroll="ms-tuning-scroll")
    return [shown, *first_of("tuning.rows", len(lines), len(places))]


def _known(value: Any) -> Any:
    """Return a value of a frame, None for a missing one."""
    return None if value is None or value != value else value


@lru_cache(maxsize=4 * MOST_ROWS)
def _line(
    number: int, state: str, feasible: bool, targets: tuple[float | None, ...], settings: tuple[tuple[str, Any], ...],
    seconds: float | None, step: int, reason: str, chosen: bool, run: str,
) -> Plain:  # fmt: skip
    """Return a row of the table; of most trials it stays the same while a study grows.

    settings are types and values: as keys of the cache 1 and True are equal.
    """
    pick = html.Button(
        str(number), type="button", className="ms-button ms-button-quiet ms-tuning-pick",
        **{"data-act": "trial", "data-trial": str(number), "aria-pressed": str(chosen).lower()},
        **attributes({"n": number}, title="tuning.pick", aria_label="tuning.pick"),
    )  # fmt: skip
    marks: list[Any] = [html.Span(t(f"tuning.state.{state}"), className=f"ms-tuning-state ms-tuning-state-{state}")]
    if not feasible:
        marks.append(html.Span(t("tuning.infeasible"), className="ms-badge ms-badge-plain"))
    cells = [pick, marks, *map(_number, targets), *(_setting(value) for _, value in settings), seconds,
             step if step >= 0 else None, html.Span(reason, className="ms-tuning-reason", title=reason), _run(run)]  # fmt: skip
    columns = (_TRIAL, _STATE, *[_VALUE] * (len(targets) + len(settings)), *_LAST)
    return Plain(markup(drawn_row(TableRow(cells, "ms-chosen" if chosen else ""), columns, heads=0))[0])


def _run(key: str) -> Any:
    if not key:
        return "–"
    query = urlencode({"run": key})
    return html.A(t("tuning.open_run"), href=f"scalars?{query}", **{"data-page": "scalars", "data-run": key})


def _number(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None


def _setting(value: Any) -> Any:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        return html.Span(str(value), className="ms-tuning-reason", title=str(value))
    return _number(value)


def trial(study: StudyFrames, chosen: int | None) -> list[Any]:
    """Return the chosen trial with the command that repeats it by hand."""
    found = study.trials[study.trials["trial"] == chosen]
    if chosen is None or not len(found):
        return [html.P(t("tuning.no_trial"), className="ms-muted")]
    values = {name: found[f"parameter/{name}"].array[0] for name in settings_of(study)}
    command = command_of(study.search, values, f"repeat_{study.row.name}_{chosen}")
    said: list[Any] = [html.P(html.B(t("tuning.trial_n", n=chosen)))]
    log = str(found["log"].array[0])
    if str(found["reason"].array[0]):
        said.append(html.P([t("tuning.reason"), ": ", html.Span(str(found["reason"].array[0]))]))
    if log:
        said.append(html.P([t("tuning.log"), ": ", html.Code(log)]))
    if not command:
        return [*said, html.P(t("tuning.no_command"), className="ms-muted")]
    copy = icon_button("copy", "shell.copy_code", class_name="ms-code-copy", **{"data-action": "copy-code"})
    code = html.Pre(html.Code(command), className="ms-code", tabIndex=0)
    return [*said, html.P(t("tuning.repeat")), html.Div([code, copy], className="ms-code-box")]
