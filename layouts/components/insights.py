"""Insights as the pages tell them: sentences with numbers, places on a curve, and links to it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from parsers import Insight, Series

from layouts import format as fmt
from layouts.i18n import both
from layouts.sources import RunSource

AROUND = 40
"""A link shows so many points to either side."""
_TIMES = ("stall", "slower")
_LARGEST = 1e6


def told(insight: Insight) -> dict[str, Any]:
    """An insight for the browser: its text in both languages, its kind, score and place."""
    words = sentence(insight)
    reason = both("insights.score", **_reason(insight, 0))[0], both("insights.score", **_reason(insight, 1))[1]
    return {
        "tag": insight.tag, "kind": insight.kind, "severity": insight.severity, "step": insight.step,
        "last": insight.last_step, "score": min(insight.score, _LARGEST), "text": words, "reason": reason,
    }  # fmt: skip


def sentence(insight: Insight) -> tuple[str, str]:
    """One sentence why, in English and Chinese."""
    return both(f"insights.{insight.kind}", **_values(insight))


def view(insight: Insight, series: Series) -> str:
    """The steps around an insight as a card's view: "from,to,,"."""
    first, last = max(0, insight.place - AROUND), min(series.step.size - 1, insight.last_place + AROUND)
    part = series.step[first : last + 1]
    low, high = int(part.min()), int(part.max())
    if insight.kind in ("divergence", "plateau", "slower"):
        # What goes on to the end is seen from before its beginning.
        whole = int(series.step.max())
        low, high = max(int(series.step.min()), insight.step - max(1, (whole - insight.step) // 3)), whole
    return f"{low},{max(high, low + 1)},,"


def link(source: RunSource, run: str, insight: Insight) -> str:
    """The scalars page at the tag of an insight, the steps around it in view."""
    series = source.series(run, insight.tag)
    query = {"run": run, "tag": insight.tag}
    if series is not None:
        query["zoom"] = f"{view(insight, series)}:{insight.tag}"
    return f"scalars?{urlencode(query)}"


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
        "share": f"{100 * insight.measured:.0f} %",
    }


def _reason(insight: Insight, language: int) -> Mapping[str, str]:
    return {
        "score": fmt.number(insight.score, 3), "measured": fmt.number(insight.measured, 3),
        "limit": fmt.number(insight.limit, 3), "unit": both(f"insights.unit.{insight.kind}")[language],
    }  # fmt: skip
