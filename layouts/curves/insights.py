"""Insights as pages show them: a sentence with numbers, the place on the curve, and a link to it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, TypedDict
from urllib.parse import urlencode

from parsers import Insight, Series

from layouts.dumps.links import address, iteration_of
from layouts.kit import units as fmt
from layouts.kit.i18n import both
from layouts.runs.rows import RunRow
from layouts.sources import RunSources

AROUND = 40
"""Points that a link shows on either side of an insight."""
_TIMES = ("stall", "slower")
_CAUSED = ("non_finite", "divergence")
_LASTING = ("divergence", "unmoved", "overfitting", "oscillation", "noisier", "plateau", "slower", "speed", "shift")
_LARGEST = 1e6


class SentInsight(TypedDict):
    """An insight for the browser."""

    tag: str
    kind: str
    severity: int
    step: int
    last: int
    score: float
    text: Annotated[tuple[str, str], "Texts"]
    reason: Annotated[tuple[str, str], "Texts"]


def as_json(insight: Insight) -> SentInsight:
    """Return an insight for the browser: its text in both languages, its kind, score and place."""
    reason = both("insights.score", **_reason(insight, 0))[0], both("insights.score", **_reason(insight, 1))[1]
    return {
        "tag": insight.tag, "kind": insight.kind, "severity": insight.severity, "step": insight.step,
        "last": insight.last_step, "score": min(insight.score, _LARGEST), "text": sentence(insight), "reason": reason,
    }  # fmt: skip


def sentence(insight: Insight) -> tuple[str, str]:
    """Return one sentence in English and Chinese that describes the insight."""
    return both(f"insights.{insight.kind}", **_values(insight))


def view(insight: Insight, series: Series) -> str:
    """Return the steps around an insight in the form of a card's view: "from,to,,"."""
    first, last = max(0, insight.place - AROUND), min(series.step.size - 1, insight.last_place + AROUND)
    part = series.step[first : last + 1]
    low, high = int(part.min()), int(part.max())
    if insight.kind in _LASTING:
        # It lasts to the end of the run, so show everything from shortly before it begins.
        whole = int(series.step.max())
        low, high = max(int(series.step.min()), insight.step - max(1, (whole - insight.step) // 3)), whole
    return f"{low},{max(high, low + 1)},,"


def link(source: RunSources, run: str, insight: Insight) -> str:
    """Return the URL of the scalars page with the tag of an insight, zoomed to the steps around it."""
    series = source.curves.recorded(run, insight.tag)
    query = {"run": run, "tag": insight.tag}
    if series is not None:
        query["zoom"] = f"{view(insight, series)}:{insight.tag}"
    return f"scalars?{urlencode(query)}"


def cause_link(row: RunRow | None, insight: Insight, series: Series | None) -> Mapping[str, Any] | None:
    """Return the attributes of a link to the first cause of bad values in the dump of a run; None if it has no dump, or if the
    insight is not about NaN, Inf or a divergence."""
    if row is None or series is None or not row.tags.get("dump") or insight.kind not in _CAUSED:
        return None
    return address("first_cause", row.key, step=max(0, iteration_of(insight.step, int(series.step.min()))))


def _values(insight: Insight) -> Mapping[str, str]:
    number = fmt.duration if insight.kind in _TIMES else fmt.number
    gap = insight.kind == "gap"
    return {
        "tag": insight.tag,
        "step": fmt.count(insight.step),
        "last": fmt.count(insight.last_step),
        "n": fmt.count(insight.points),
        "value": fmt.count(int(insight.value)) if gap else number(insight.value),
        "usual": "" if math.isnan(insight.usual) else number(insight.usual),
        "measured": fmt.number(insight.measured, 3),
        "share": fmt.percent(insight.measured),
    }


def _reason(insight: Insight, language: int) -> Mapping[str, str]:
    return {
        "score": fmt.number(insight.score, 3), "measured": fmt.number(insight.measured, 3),
        "limit": fmt.number(insight.limit, 3), "unit": both(f"insights.unit.{insight.kind}")[language],
    }  # fmt: skip
