"""Values of two jobs as text, and sentences whose parts are words of both languages."""

from __future__ import annotations

import math
from typing import Any

from dash import html

from layouts.kit import units as fmt
from layouts.kit.i18n import both

MINUS = "\u2212"


def said(key: str, **values: Any) -> html.Span:
    """Return a sentence in both languages; a value that is a pair has one text for each of them."""
    patterns = both(key)
    texts = [
        pattern.format(**{name: value[place] if isinstance(value, tuple) else value for name, value in values.items()})
        for place, pattern in enumerate(patterns)
    ]
    return html.Span(
        [html.Span(texts[0], className="en", lang="en"), html.Span(texts[1], className="zh", lang="zh-CN")], className="t"
    )


def metric_name(metric: str) -> tuple[str, str]:
    """Return the name of a metric in both languages."""
    return both(f"two_jobs.metric.{metric}")


def quantity(metric: str, value: float) -> str:
    """Return a value of a metric, or of a column of operations and links, with its unit."""
    if not math.isfinite(value):
        return "–"
    if metric.startswith("peak_"):
        return fmt.size(value)
    if metric.endswith("bytes"):
        return fmt.prefixed(value, "B")
    if metric in ("flops", "flops_per_s"):
        return fmt.prefixed(value, "FLOPS" if metric == "flops_per_s" else "FLOPs")
    if metric == "bandwidth":
        return fmt.rate(value, "B")
    if metric in ("count", "number", "size"):
        return fmt.count(value)
    return fmt.duration(value * 1e-9)


def signed(metric: str, value: float) -> str:
    """Return a difference with its sign."""
    text = quantity(metric, value)
    return f"+{text}" if math.isfinite(value) and value > 0 else text


def percent(share: float) -> str:
    """Return a relative difference with its sign: +2.81 %."""
    return fmt.percent(share, signed=True) if math.isfinite(share) else "–"
