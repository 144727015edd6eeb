"""Values of two jobs as text, and sentences whose parts are words of both languages."""

from __future__ import annotations

import math
from typing import Any

from dash import html

from layouts.i18n import both
from layouts.kit import units as fmt

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
    sign, size = MINUS if value < 0 else "", abs(value)
    if metric.startswith("peak_"):
        return sign + fmt.size(size)
    if metric.endswith("bytes"):
        return sign + fmt.prefixed(size, "B")
    if metric in ("flops", "flops_per_s"):
        unit = "FLOPS" if metric == "flops_per_s" else "FLOPs"
        return f"{sign}{fmt.number(size * 1e-12)} T{unit}"
    if metric == "bandwidth":
        return f"{sign}{fmt.number(size * 1e-9, 4)} GB/s"
    if metric in ("count", "number", "size"):
        return sign + (fmt.count(int(size)) if size == int(size) else fmt.number(size))
    return sign + fmt.duration(size * 1e-9)


def signed(metric: str, value: float) -> str:
    """Return a difference with its sign."""
    text = quantity(metric, value)
    return f"+{text}" if math.isfinite(value) and value > 0 else text


def percent(share: float) -> str:
    """Return a relative difference with its sign: +2.8 %."""
    if not math.isfinite(share):
        return "–"
    digits = 1 if abs(share) < 0.9995 else 0
    text = f"{abs(share) * 100:,.{digits}f} %"
    return text if float(f"{abs(share) * 100:.{digits}f}") == 0 else f"{'+' if share > 0 else MINUS}{text}"
