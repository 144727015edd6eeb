"""The composition of a step as a sentence, a bar and a table, for several pages. Times in, components out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from dash import html
from parsers.analysis import Average, Breakdown, Outliers, average, breakdowns, copies_and_fetching, drift, one_step, outliers
from parsers.analysis.profiles.steps import LEAST_STEPS

from layouts.kit import tables
from layouts.kit import units as fmt
from layouts.kit.i18n import CATALOGUE, LANGUAGES, attributes, both, t, texts_of
from layouts.kit.tables import SHARE, TIME_NS, Cell, TableColumn
from layouts.kit.theme import luminance
from layouts.profiles.step_plots import COLOURS

_WORDS = tuple(key.rpartition(".")[2] for key in texts_of("composition") if key.startswith("composition.word."))
_COLUMNS = (
    TableColumn("composition.column.part"), TableColumn("composition.column.time", TIME_NS),
    TableColumn("composition.column.share", SHARE),
    TableColumn("composition.column.usual", TIME_NS, missing=""), TableColumn("composition.column.change", number=True),
    TableColumn("composition.column.drift", number=True, tip="composition.drift_tip"),
)  # fmt: skip
_LEAST = 0.0005
"""Smaller shares are not mentioned in sentences."""
_WIDE = 0.06
"""A segment of the bar with at least this share has room for its percentage."""
MOST_OUTLIERS = 30


def words(language: str) -> dict[str, str]:
    """Return the words in figures about steps in one language, "en" or "zh"."""
    number = LANGUAGES.index(language)
    named = {part: CATALOGUE[f"composition.part.{part}"][number] for part in COLOURS}
    return named | {word: CATALOGUE[f"composition.word.{word}"][number] for word in _WORDS}


def trace_name(breakdown: Breakdown) -> str:
    """Return the name of a step trace in the state: its form, and its device if it has one."""
    return breakdown.form if breakdown.device < 0 else f"{breakdown.form}:{breakdown.device}"


def chosen_trace(steps: Any, name: str) -> tuple[Breakdown | None, tuple[Breakdown, ...]]:
    """Return (the step trace of this name or else the first one, all step traces) of a frame of STEPS or None."""
    found = breakdowns(steps) if steps is not None else ()
    return next((one for one in found if trace_name(one) == name), found[0] if found else None), found


def without_steps(steps: Any) -> str:
    """Return the text key of why steps, a frame or None, have no composition."""
    return "composition.no_steps" if steps is None or steps.empty else "composition.no_parts"


def sentence(usual: Average, step: int | None = None, key: str = "") -> html.P:
    """A sentence with the parts of the average, or of one step, longest first; key as for `sentence_texts`."""
    return html.P(_both_languages(usual, step, key), className="ms-breakdown-sentence")


def sentence_texts(usual: Average, step: int | None = None, key: str = "") -> tuple[str, str]:
    """Return the sentence in English and in Chinese; key: another pattern than that of a step, with {time} and {parts}."""
    if usual.whole_ns <= 0.0:
        return both("composition.sentence_empty")
    ranked = sorted(zip(usual.parts, usual.shares, strict=True), key=lambda pair: -pair[1])
    texts: list[list[str]] = [[], []]
    for part, share in ranked:
        if share >= _LEAST:
            names = both(f"composition.said.{part}")
            for number, pattern in enumerate(both("composition.said_share")):
                texts[number].append(pattern.format(share=fmt.percent(share), part=names[number]))
    joints = both("composition.said_joint")
    patterns = both(key or "composition.sentence" if key or step is None else "composition.sentence_one")
    time = fmt.duration(usual.whole_ns / 1e9)
    english, chinese = (
        pattern.format(time=time, parts=joint.join(parts), step="" if step is None else fmt.count(step))
        for pattern, joint, parts in zip(patterns, joints, texts, strict=True)
    )
    return english, chinese


def _both_languages(usual: Average, step: int | None, key: str) -> html.Span:
    english, chinese = sentence_texts(usual, step, key)
    return html.Span(
        [html.Span(english, className="en", lang="en"), html.Span(chinese, className="zh", lang="zh-CN")], className="t"
    )


def ink(colour: str) -> str:
    """Return black or white, whichever has the better contrast on a colour (WCAG 2)."""
    found = luminance(colour)
    return "#000000" if (found + 0.05) / 0.05 > 1.05 / (found + 0.05) else "#ffffff"


def bar(usual: Average) -> html.Div:
    """A bar with one segment per part, as wide as its share, and a legend with the numbers below it."""
    segments = []
    for part, share, time in zip(usual.parts, usual.shares, usual.time_ns, strict=True):
        if share <= 0.0:
            continue
        names = both(f"composition.part.{part}")
        english, chinese = (f"{name}: {fmt.duration(time / 1e9)}, {fmt.percent(share)}" for name in names)
        segments.append(html.Span(
            fmt.percent(share) if share >= _WIDE else "",
            style={"width": f"{100.0 * share:.4f}%", "background": COLOURS[part], "color": ink(COLOURS[part])},
            className="ms-breakdown-segment",
            **{"title": english, "data-en-title": english, "data-zh-title": chinese, "data-part": part},
        ))  # fmt: skip
    return html.Div([html.Div(segments, className="ms-breakdown-bar"), _legend(usual)], className="ms-breakdown-made")


def strip(shares: Sequence[tuple[str, float]]) -> html.Div:
    """A bar of (part, share) in the colours of parts, for a table that has their names and numbers."""
    segments = [
        html.Span(
            fmt.percent(share) if share >= _WIDE else "", className="ms-breakdown-segment",
            style={"width": f"{100.0 * share:.4f}%", "background": COLOURS[part], "color": ink(COLOURS[part])},
        )
        for part, share in shares if share > 0.0
    ]  # fmt: skip
    return html.Div(segments, className="ms-breakdown-bar", **{"aria-hidden": "true"})


def _legend(usual: Average) -> html.Ul:
    return html.Ul(
        [
            html.Li(
                [dot(part), t(f"composition.part.{part}"), html.Span(fmt.duration(time / 1e9), className="ms-number"),
                 html.Span(fmt.percent(share), className="ms-number ms-muted")],
                **attributes(title=f"composition.tip.{part}"),
            )
            for part, time, share in zip(usual.parts, usual.time_ns, usual.shares, strict=True)
        ],
        className="ms-breakdown-legend",
    )  # fmt: skip


def dot(part: str) -> html.Span:
    """A dot in the colour of a part."""
    return html.Span(className="ms-breakdown-dot", style={"background": COLOURS[part]})


def notes(breakdown: Breakdown, usual: Average) -> list[Any]:
    """Sentences about idle time, the steps in the average, outliers, and steps that are cut or cannot be broken down."""
    found: list[Any] = []
    if breakdown.form == "new":
        found += _on_device(usual)
    elif usual.idle >= _LEAST:
        found.append(html.P(t("composition.idle_between", share=fmt.percent(usual.idle))))
    found += within(breakdown)
    if len(breakdown) == 1:
        found.append(html.P(t("composition.of_one"), className="ms-muted"))
    elif usual.written:
        found.append(html.P(t("composition.of_written"), className="ms-muted"))
    else:
        without = usual.steps < int(breakdown.sound.sum())
        key = "composition.of_mean_without" if without else "composition.of_mean"
        found.append(html.P(t(key, n=fmt.count(usual.steps)), className="ms-muted"))
    out = outliers(breakdown)
    if out.row.size:
        furthest = int(out.row[np.argmax(np.abs(out.score))])
        values = {
            "n": fmt.count(int(out.row.size)), "total": fmt.count(len(breakdown)),
            "step": fmt.count(int(breakdown.step[furthest])), "time": fmt.duration(float(breakdown.whole_ns[furthest]) / 1e9),
        }  # fmt: skip
        found.append(html.P(t("composition.stand_out", **values)))
    elif len(breakdown) > 1:
        judged = int(np.count_nonzero(breakdown.judged))
        key = "composition.none_stands_out" if judged >= LEAST_STEPS else "composition.not_judged"
        found.append(html.P(t(key, n=fmt.count(judged), least=LEAST_STEPS), className="ms-muted"))
    found += [html.P(t("composition.cut", step=fmt.count(step))) for step in breakdown.cut]
    unsound = int(np.count_nonzero(~breakdown.sound))
    if unsound:
        found.append(html.P(t("composition.unsound", n=fmt.count(unsound)), className="ms-wrong-text"))
    return found


def within(breakdown: Breakdown, row: int | None = None) -> list[html.P]:
    """Say how much of the free time copies took, and how long the host fetched data: of the mean step or of one row."""
    whole = average(breakdown) if row is None else one_step(breakdown, row)
    least = _LEAST * whole.whole_ns if whole is not None else math.inf
    return [
        html.P(t(f"composition.{name}", time=fmt.duration(time / 1e9)))
        for name, time in zip(("copies", "fetching"), copies_and_fetching(breakdown, row), strict=True)
        if time > 0.0 and time >= least
    ]


def _on_device(usual: Average) -> list[Any]:
    """Say how long a step is without preparing, which is the step of pages about jobs, and how much of that is free."""
    whole, found = usual.on_device_ns, []
    if whole > 0.0 and usual.time_of("preparing") >= _LEAST * usual.whole_ns:
        found.append(html.P(t("composition.on_device", time=fmt.duration(whole / 1e9))))
    if whole > 0.0 and usual.time_of("free") >= _LEAST * whole:
        found.append(html.P(t("composition.idle", share=fmt.percent(usual.time_of("free") / whole))))
    return found


def table(breakdown: Breakdown, shown: Average) -> Any:
    """A table of the parts of the average or of one step, with the median and the drift over all steps."""
    judged = breakdown.time_ns[breakdown.judged]
    rows = []
    for number, part in enumerate(breakdown.parts):
        share = shown.shares[number]
        name = [dot(part), t(f"composition.part.{part}")]
        tip = attributes(title=f"composition.tip.{part}")
        rows.append(_row(name, shown.time_ns[number], share, judged[:, number], tip))
    whole = breakdown.whole_ns[breakdown.judged]
    rows.append(_row([t("composition.whole")], shown.whole_ns, 1.0 if shown.whole_ns else 0.0, whole, {}))
    return tables.table(_COLUMNS, rows, class_name="ms-breakdown-table", scroll="")


def _row(name: list[Any], time: float, share: float, history: Any, more: Mapping[str, Any]) -> Sequence[Any]:
    median = float(np.median(history)) if history.size else float("nan")
    # NaN, which an empty cell stands for, if there is no history.
    change, moved = time - median, drift(history)
    return (
        Cell(html.Span(name, className="ms-breakdown-name"), props=more), time, share, median,
        Cell(_signed(change) if history.size else "", props={"title": TIME_NS.exact(change)} if history.size else {}),
        "" if np.isnan(moved) else fmt.percent(moved, signed=True),
    )  # fmt: skip


def _signed(time: float) -> str:
    return fmt.duration(0.0 if abs(time) < 0.5 else time / 1e9, signed=True)


def outlier_list(breakdown: Breakdown, out: Outliers) -> list[dict[str, Any]]:
    """Return the steps furthest from the median in the order of the file, each with its text in both languages."""
    ranked = np.argsort(-np.abs(out.score), kind="stable")[:MOST_OUTLIERS]
    entries = []
    for at in np.sort(ranked).tolist():
        row = int(out.row[at])
        values = {
            "step": fmt.count(int(breakdown.step[row])), "time": fmt.duration(float(breakdown.whole_ns[row]) / 1e9),
            "change": _signed(float(out.change_ns[at])),
        }  # fmt: skip
        names = both(f"composition.part.{out.part[at]}")
        texts = [pattern.format(part=name, **values) for pattern, name in zip(both("composition.outlier"), names, strict=True)]
        entries.append({"step": int(breakdown.step[row]), "long": bool(out.score[at] > 0.0), "text": texts})
    return entries


def usual_of(breakdown: Breakdown | None) -> Average | None:
    """Return the average of a step trace, None for None."""
    return None if breakdown is None else average(breakdown)
