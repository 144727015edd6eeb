"""The text alternative of histograms: of each run its newest step drawn, with the ends and the mean of its values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import MOST_NAMED, in_both, listed, marked
from layouts.kit.i18n import Text, both, define_texts
from layouts.values.histogram_plots import RunHistograms

define_texts({
    "distributions.of": ("Histograms of {tag}, {view}", "{tag} 的直方图，{view}"),
    "distributions.view.heat": ("heat map over steps", "随步骤的热力图"),
    "distributions.view.ridge": ("one behind the other", "前后排列"),
    "distributions.view.overlay": ("overlaid", "叠加"),
    "distributions.view.step": ("single steps", "单个步骤"),
    "distributions.view.numbers": ("minimum, mean and maximum over steps", "最小值、平均值、最大值随步骤的变化"),
    "distributions.run": (
        "{name}: newest of {n} at step {step}, values from {low} to {high}, mean {mean}",
        "{name}：{n} 个中最新的位于步骤 {step}，值从 {low} 到 {high}，平均 {mean}",
    ),
    "distributions.run_empty": (
        "{name}: newest of {n} at step {step}, no finite value", "{name}：{n} 个中最新的位于步骤 {step}，没有有限值",
    ),
})  # fmt: skip


def of_histograms(
    tag: str, view: str, runs: Sequence[RunHistograms], found: int, bad: Sequence[int]
) -> tuple[Text | None, ...]:
    """Return the sentences about a card; found is the number of runs that have the tag, bad are those of NaN, +Inf and -Inf."""
    kinds = both(f"distributions.view.{view}")
    named = in_both(tag)
    title = tuple(
        pattern.format(tag=name, view=kind) for pattern, name, kind in zip(both("distributions.of"), named, kinds, strict=True)
    )
    said = [_said(run) for run in runs if run.step.size][:MOST_NAMED]
    kinds_of = zip(("NaN", "+Inf", "-Inf"), bad, strict=True)
    return (title[0], title[1]), listed(said, found) if said else None, marked(kinds_of)


def _said(run: RunHistograms) -> Text:
    at = int(np.argmax(run.step))
    value = run.values[at]
    facts = {"n": fmt.count(len(run.values)), "step": fmt.count(int(run.step[at]))}
    key = "run_empty"
    if value.finite > 0:
        key = "run"
        facts |= {"low": fmt.number(value.min), "high": fmt.number(value.max), "mean": fmt.number(value.mean)}
    return both(f"distributions.{key}", name=in_both(run.label)[0], **facts)
