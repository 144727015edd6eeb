"""The last value of a curve as lists, tables and charts show it: one text, red if it is not finite, with its step on hover.

`parsers.analysis.curves.final_values.last_value` says which value that is.
"""

from __future__ import annotations

import math
from typing import Annotated, TypedDict

from parsers.analysis.curves.final_values import LastValue, last_value

from layouts.kit import units as fmt
from layouts.kit.i18n import Text, both, define_texts
from layouts.sources import RunSources

TEXTS = define_texts({
    "last.at": ("{exact} at step {step}", "{exact}，步骤 {step}"),
    "last.finite": (
        "{value} at step {step}. Last finite value: {finite} at step {finite_step}",
        "步骤 {step} 为 {value}。最后一个有限值：{finite}（步骤 {finite_step}）",
    ),
    "last.none": ("{value} at step {step}. No value is finite", "步骤 {step} 为 {value}。没有有限值"),
})


class ShownLast(TypedDict):
    """The last value of a curve."""

    text: str
    wrong: bool
    """It is not finite."""
    tip: Annotated[list[str], "Texts"]


def shown_last(one: LastValue) -> ShownLast:
    """Return the texts of a last value."""
    return {"text": fmt.number(one.value), "wrong": not math.isfinite(one.value), "tip": list(tip_of(one))}


def tip_of(one: LastValue) -> Text:
    """Return the exact value and its step; of one that is not finite also the last finite value."""
    step = fmt.count(one.step)
    if math.isfinite(one.value):
        return both("last.at", exact=fmt.exact(one.value), step=step)
    if one.finite_step < 0:
        return both("last.none", value=fmt.number(one.value), step=step)
    found = {"finite": fmt.number(one.finite), "finite_step": fmt.count(one.finite_step)}
    return both("last.finite", value=fmt.number(one.value), step=step, **found)


def attributes_of(one: LastValue) -> dict[str, str]:
    """Return `tip_of` as the title of a component, in both languages."""
    english, chinese = tip_of(one)
    return {"title": english, "data-en-title": english, "data-zh-title": chinese}


def last_of(source: RunSources, run: str, tag: str) -> LastValue | None:
    """Return the last value of a scalar of a member run, None if it has none."""
    series = source.curves.series(run, tag)
    return last_value(series) if series is not None and series.step.size else None
