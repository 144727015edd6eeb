"""The text alternatives of figures of steps: the time of a step and of its parts, and steps that are marked."""

from __future__ import annotations

import numpy as np
from parsers.analysis import Breakdown

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import Figure, described, described_by, entry, joined, listed, marked
from layouts.kit.i18n import Text, both, define_texts

define_texts({
    "step_figures.steps": ("{n} steps", "{n} 个步骤"),
    "step_figures.parts": ("Parts: {said}", "各部分：{said}"),
    "step_figures.outliers": ("outliers", "离群步骤"),
    "step_figures.unsound": ("steps that cannot be broken down", "无法分解的步骤"),
    "step_figures.marks": ("{n} marked operators on {streams} streams", "{streams} 条流上有 {n} 个标记的算子"),
})  # fmt: skip


def duration(ns: float) -> str:
    """Write a time in ns."""
    return fmt.duration(ns / 1e9)


def with_steps(figure: Figure, title: Text, breakdown: Breakdown) -> Figure:
    """Return a figure of all steps with its alternative."""
    sound = breakdown.sound
    times = breakdown.time_ns[sound].astype(np.float64)
    whole = entry(both("composition.word.whole"), breakdown.whole_ns[sound].astype(np.float64), duration)
    parts = [
        entry(both(f"composition.part.{part}"), times[:, number], duration)
        for number, part in enumerate(breakdown.parts) if times[:, number].any()
    ]  # fmt: skip
    meta = figure["layout"]["meta"]
    marks = [(both(f"step_figures.{name}"), int(meta.get(name, 0))) for name in ("outliers", "unsound")]
    head = joined([title, both("step_figures.steps", n=fmt.count(len(breakdown)))])
    return described(figure, head, whole, listed(parts), marked(marks))


def with_streams(figure: Figure, title: Text) -> Figure:
    """Return a figure of one step over time with its alternative."""
    meta = figure["layout"]["meta"]
    marks = both("step_figures.marks", n=fmt.count(meta["marks"]), streams=fmt.count(meta["streams"]))
    parts = next(trace for trace in figure["data"] if trace["meta"]["role"] == "parts")
    said = [(text.replace("<b>", "").replace("</b><br>", " "),) * 2 for text in parts["hovertext"]]
    return described(figure, title, marks, listed(said))


def with_run(figure: Figure) -> Figure:
    """Return the figure of profiled steps over those of the run with its alternative."""
    names = {role: both(f"composition.word.{role}") for role in ("run", "profiled")}
    return described_by(figure, both("profile_overview.joined"), names)
