"""The parts of the guides page: the list of symptoms, and the steps of the one that is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from dash import html
from parsers.analysis.runs.probes.model import FOUND, NO_FILE, NOT_RECORDED, NOTHING, Finding
from parsers.analysis.runs.probes.registry import PROBES

from layouts.kit import elements as parts
from layouts.kit import units as fmt
from layouts.kit.i18n import CATALOGUE, Text, both, t
from layouts.kit.plain_html import Plain, markup
from layouts.kit.recording import recording
from layouts.runs.checks import Checks, StepCheck
from layouts.runs.symptoms.answering import WORKING, Answer, Sign
from layouts.runs.symptoms.model import GUIDES, Symptom, SymptomQuestion
from layouts.runs.symptoms.registry import SYMPTOMS
from layouts.runs.symptoms.sentences import rule_of, sentence_of, state_key

NEEDS_OTHER = (
    "no_other_run", "no_session_before", "no_two_dumps", "no_two_pipelines", "no_two_graphs", "no_two_profiles",
    "no_two_traces", "no_two_histograms", "no_settings", "no_shared_scalar", "no_others", "one_pipeline",
    "setting_alone", "sharpness_alone",
)  # fmt: skip
"""What is said where a second run is missing, or has not the data."""
MOST_DRAWN = 1_000
"""Entries and steps that are kept as they were drawn."""
NO_WORKSPACE, READ_ONLY = "guides.no_workspace", "notes.read_only"
"""Text keys of reasons why checks cannot be saved; others come from the workspace as they are."""
OF_JOBS = ("one_rank", "no_scalar_of_ranks")
"""What is said of a run that is no job: each rank has to record."""


def said(text: tuple[str, str]) -> html.Span:
    """Return a text of both languages."""
    english, chinese = text
    if english == chinese:
        return html.Span(english)
    return html.Span(
        [html.Span(english, className="en", lang="en"), html.Span(chinese, className="zh", lang="zh-CN")], className="t"
    )


# The list --------------------------------------------------------------------------------------------------------------


def listed(signs: Sequence[Sign], opened: str, *, has_run: bool) -> list[Any]:
    """Return the list of symptoms: those found first, with their evidence, then the others by guide."""
    found = [one for one in signs if one.finding is not None]
    others = {one.symptom.name: one for one in signs if one.finding is None}
    groups: list[Any] = []
    if found:
        groups.append(_group("guides.found", [_entry(one.symptom, one, opened) for one in found], "found"))
    elif has_run:
        reading = any(one.is_reading for one in signs)
        groups.append(html.P(t("guides.reading" if reading else "guides.found_none"), className="ms-muted ms-guides-none"))
    for guide in GUIDES:
        entries = [
            _entry(symptom, others.get(symptom.name), opened) for symptom in SYMPTOMS.values()
            if symptom.guide == guide and not any(one.symptom is symptom for one in found)
        ]  # fmt: skip
        if entries:
            groups.append(_group(f"symptoms.guide.{guide}", entries, guide))
    return [*groups, html.P(t("guides.no_match"), className="ms-muted ms-guides-no-match", hidden=True)]


def _group(title: str, entries: Sequence[Any], name: str) -> html.Section:
    return html.Section(
        [html.H2(t(title), className="ms-guides-heading"), html.Ul(list(entries), className="ms-guides-entries")],
        className="ms-guides-group", **{"data-group": name},
    )  # fmt: skip


def _entry(symptom: Symptom, sign: Sign | None, opened: str) -> Plain:
    """Return an entry, which is shown again and again while others are read."""
    finding = sign.finding if sign is not None else None
    evidence = None if finding is None else sentence_of(finding)
    is_severe, is_reading = finding is not None and finding.severity >= 2, sign is not None and sign.is_reading
    return _made_entry(symptom.name, evidence, is_severe=is_severe, is_reading=is_reading, is_open=symptom.name == opened)


@lru_cache(maxsize=MOST_DRAWN)
def _made_entry(name: str, evidence: Text | None, *, is_severe: bool, is_reading: bool, is_open: bool) -> Plain:
    symptom = SYMPTOMS[name]
    words = " ".join((*symptom.title, *symptom.words, *(text for step in symptom.steps for text in step.question))).lower()
    children: list[Any] = [html.Span(said(symptom.title), className="ms-guides-title")]
    if evidence is not None:
        mark = "error" if is_severe else "hint"
        children.insert(0, html.Span(className=f"ms-guides-mark ms-guides-mark-{mark}", **{"aria-hidden": "true"}))
        children.append(html.Span(said(evidence), className="ms-guides-evidence"))
    elif is_reading:
        children.append(html.Span(t("guides.reading"), className="ms-guides-evidence ms-muted"))
    button = html.Button(
        children, type="button", className="ms-guides-entry",
        **{"data-symptom": name, "data-key": f"symptom-{name}", "aria-current": "true" if is_open else "false"},
    )  # fmt: skip
    return Plain(markup(html.Li(button, **{"data-words": words}))[0])


# The steps -------------------------------------------------------------------------------------------------------------


def steps(
    symptom: Symptom, answers: Sequence[Answer], links: Sequence[Mapping[str, Any]], checks: Checks, run: str, *, why_not: str
) -> list[Any]:
    """Return the open symptom: its steps with answers and links, in order. run is the name of the run, which paper shows;
    why_not says why checks cannot be saved."""
    found = sum(one.finding is not None and one.finding.state == FOUND for one in answers)
    head = html.Header(
        [
            html.Div(
                [
                    html.P(t(f"symptoms.guide.{symptom.guide}"), className="ms-guides-kicker"),
                    html.H2(said(symptom.title), className="ms-guides-name"),
                    html.P(run, className="ms-guides-of-run ms-name"),
                    html.P(t("guides.of", n=fmt.count(found), total=fmt.count(len(answers))), className="ms-muted"),
                ]
            ),
            parts.button("guides.copy", icon_name="copy", class_name="ms-guides-copy", **{"data-key": "copy"}),
        ],
        className="ms-guides-head",
    )
    entries = [
        _made_step(symptom.name, number, (one.state, one.finding, one.done, one.total, one.text), tuple(link.items()),
                   checks.of(f"{symptom.name}.{step.name}"), why_not)
        for number, (step, one, link) in enumerate(zip(symptom.steps, answers, links, strict=True))
    ]  # fmt: skip
    return [head, html.Ol(entries, className="ms-guides-steps")]


@lru_cache(maxsize=MOST_DRAWN)
def _made_step(
    symptom: str, number: int, answer: tuple[str, Finding | None, int, int, str], link: tuple[tuple[str, Any], ...],
    check: StepCheck, why_not: str,
) -> Plain:  # fmt: skip
    """Return a step, which is shown again and again while others are read; answer has the parts of an `Answer`."""
    return Plain(markup(_step(number, SYMPTOMS[symptom], Answer(*answer), dict(link), check, why_not))[0])


def _step(
    number: int, symptom: Symptom, answer: Answer, link: Mapping[str, Any], check: StepCheck, why_not: str
) -> html.Li:  # fmt: skip
    step = symptom.steps[number]
    name = f"{symptom.name}.{step.name}"
    state = answer.finding.state if answer.finding is not None else answer.state
    if state == NO_FILE and check.done:
        state = "done"
    body = [
        html.Div(
            [
                html.H3(t(symptom.key(step)), className="ms-guides-question"),
                html.Span(t(_badge(answer)), className="ms-guides-state"),
            ],
            className="ms-guides-row",
        ),
        *_answered(name, step, answer),
    ]  # fmt: skip
    if answer.finding is None or answer.finding.state not in (NOT_RECORDED, NOTHING):
        body.append(html.P([html.B(t("guides.do")), " ", t(f"{symptom.key(step)}.do")], className="ms-guides-do"))
    body += _ways(name, step, answer, link)
    if step.probe == "check":
        body.append(_check(name, check, why_not))
    return html.Li(
        [html.Span(str(number + 1), className="ms-guides-number", **{"aria-hidden": "true"}),
         html.Div(body, className="ms-guides-content")],
        className="ms-guides-step", **{"data-state": state.replace(" ", "-"), "data-step": name},
    )  # fmt: skip


def _badge(answer: Answer) -> str:
    if answer.finding is not None:
        return state_key(answer.finding.state)
    return {"ask": "symptoms.state.not_judged", "failed": "symptoms.state.not_judged"}.get(answer.state, "guides.reading")


def _answered(name: str, step: SymptomQuestion, answer: Answer) -> list[Any]:
    """Return what was found with the rule, or how far reading it is."""
    finding = answer.finding
    if finding is None:
        return _unanswered(name, step, answer)
    told = [html.P(said(sentence_of(finding)), className="ms-guides-said")]
    rule = rule_of(finding)
    if rule is not None:
        english, chinese = (both("guides.rule", rule=rule[at])[at] for at in (0, 1))
        told.append(html.P(said((english, chinese)), className="ms-guides-rule"))
    if finding.missing:
        told.append(html.P(t("guides.files", files=", ".join(finding.missing[:4])), className="ms-guides-rule"))
    return told


def _unanswered(name: str, step: SymptomQuestion, answer: Answer) -> list[Any]:
    if answer.state == "ask":
        look = parts.button("guides.look", class_name="ms-button-main", **{"data-look": name, "data-key": f"look-{name}"})
        return [html.P([look, " ", html.Span(t("guides.look_tip"), className="ms-muted")], className="ms-guides-said")]
    if answer.state in WORKING:
        shown: list[Any] = [t("guides.slow")]
        if answer.total:
            share = {"width": f"{100.0 * min(1.0, answer.done / answer.total):.1f}%"}
            shown.append(html.Span(html.Span(style=share), className="ms-guides-bar-track", role="presentation"))
            shown.append(t("guides.progress", done=fmt.count(answer.done), total=fmt.count(answer.total)))
        if PROBES[step.probe].slow or step.record == "graph":  # other work is that of pages, which go on with it
            shown.append(parts.button("guides.stop", **{"data-stop": name, "data-key": f"stop-{name}"}))
        return [html.P(shown, className="ms-guides-said ms-guides-progress", role="status")]
    again = parts.button("guides.again", **{"data-again": name, "data-key": f"again-{name}"})
    if answer.state == "cancelled":
        return [html.P([t("guides.stopped"), " ", again], className="ms-guides-said")]
    return [html.P([t("guides.failed", reason=answer.text or answer.state), " ", again], className="ms-guides-said")]


def _ways(name: str, step: SymptomQuestion, answer: Answer, link: Mapping[str, Any]) -> list[Any]:
    """Return how to go on: the page that shows it, the code that records what is missing, or the choice of another run."""
    finding = answer.finding
    ways: list[Any] = []
    missing = finding is not None and finding.state == NOT_RECORDED
    if link and not missing:
        page = link["data-page"] or "runs"
        title = CATALOGUE[f"{page}.title"]
        label = said((both("guides.open", page=title[0])[0], both("guides.open", page=title[1])[1]))
        ways.append(html.A([parts.icon(page), label], className="ms-button ms-guides-open",
                           **{"data-key": f"open-{name}"}, **link))  # fmt: skip
    if finding is not None and finding.said in NEEDS_OTHER:
        ways.append(parts.button("guides.choose_other", **{"data-other": "1", "data-key": f"other-{name}"}))
    shown = [html.P(ways, className="ms-guides-ways")] if ways else []
    if missing and finding is not None and finding.said not in ("no_other_run", "no_session_before"):
        summary = html.Summary(t("guides.record"), **{"data-key": f"record-{name}"})
        record = _made_recording("ranks" if finding.said in OF_JOBS else step.record)
        shown.append(html.Details([summary, record], className="ms-guides-record"))
    return shown


@lru_cache(maxsize=MOST_DRAWN)
def _made_recording(kind: str) -> Plain:
    """Return the code that records a kind of data, which many steps show."""
    return Plain(markup(recording(kind))[0])


def _check(name: str, check: StepCheck, why_not: str) -> html.Div:
    """Return the place of a check box and a remark, which assets/runs/guides/checks.js makes: dash.html has no inputs."""
    place = html.Div(
        className="ms-guides-fields",
        **{"data-check": name, "data-done": "1" if check.done else "0", "data-remark": check.remark,
           "data-version": check.version, "data-kept": "0" if why_not else "1"},
    )  # fmt: skip
    if not why_not:
        return html.Div(place, className="ms-guides-check")
    told = t(why_not) if why_not in (NO_WORKSPACE, READ_ONLY) else t("guides.not_kept", reason=why_not)
    return html.Div([place, html.P(told, className="ms-muted")], className="ms-guides-check")
