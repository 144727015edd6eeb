"""The text alternative of loss landscapes: the range of the loss, and where the path of training begins and ends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import Figure, described, in_both, listed
from layouts.kit.i18n import Text, both, define_texts
from layouts.values.landscapes import LandscapeSheet

define_texts({
    "landscapes.of": ("Loss landscapes: {n}", "损失地形：{n} 个"),
    "landscapes.sheet": ("{name}: loss from {low} to {high}", "{name}：损失从 {low} 到 {high}"),
    "landscapes.path": (
        "{name}: loss from {low} to {high}, path of {n} points from loss {start} to {end}",
        "{name}：损失从 {low} 到 {high}，路径共 {n} 个点，损失从 {start} 变为 {end}",
    ),
    "landscapes.none": ("{name}: no finite loss", "{name}：没有有限的损失"),
})  # fmt: skip


def with_landscapes(figure: Figure, sheets: Sequence[LandscapeSheet]) -> Figure:
    """Return the figure of landscapes with its alternative."""
    return described(figure, both("landscapes.of", n=fmt.count(len(sheets))), listed([_said(sheet) for sheet in sheets]))


def _said(sheet: LandscapeSheet) -> Text:
    value, name = sheet.value, in_both(sheet.label)[0]
    known = value.z[np.isfinite(value.z)]
    if not known.size:
        return both("landscapes.none", name=name)
    ends = {"low": fmt.number(float(known.min())), "high": fmt.number(float(known.max()))}
    if not len(value.path_z):
        return both("landscapes.sheet", name=name, **ends)
    start, end = (fmt.number(float(value.path_z[at])) for at in (0, -1))
    return both("landscapes.path", name=name, n=fmt.count(len(value.path_z)), start=start, end=end, **ends)
