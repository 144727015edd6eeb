"""Words and numbers of figures in the language of the reader; units of metrics."""

from __future__ import annotations

from layouts.figures.steps import unit_of
from layouts.i18n import LANGUAGES, both
from layouts.kit import units as fmt
from layouts.pages.cluster.asks import OF_RANKS

_BYTES = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
_MANY = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def word(language: str, key: str, **values: object) -> str:
    """Return the text of a key of this page in one language."""
    return both(f"cluster.{key}", **values)[LANGUAGES.index(language)]


def is_time(metric: str) -> bool:
    """Return whether a metric is a time in ns."""
    return metric not in OF_RANKS or metric == "operators"


def scale_of(metric: str, largest: float) -> tuple[float, str]:
    """Return (value of one unit, unit) in which a metric up to the largest value is drawn."""
    if is_time(metric):
        return unit_of(largest)
    if metric.startswith("peak_"):
        size, unit = next((pair for pair in _BYTES if largest >= pair[0]), _BYTES[-1])
        return float(size), unit
    size_of, prefix = next((pair for pair in _MANY if largest >= pair[0]), _MANY[-1])
    return size_of, f"{prefix}FLOP/s" if metric == "flops_per_s" else f"{prefix}FLOP"


def text_of(metric: str, value: float) -> str:
    """Format a value of a metric with its unit; empty for unknown."""
    if value != value:
        return ""
    if is_time(metric):
        return fmt.duration(value / 1e9)
    if metric.startswith("peak_"):
        return fmt.size(value)
    size, unit = scale_of(metric, abs(value))
    return f"{fmt.number(value / size)} {unit}"
