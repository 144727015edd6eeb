"""Words and numbers of figures in the language of the reader; units of metrics."""

from __future__ import annotations

from layouts.jobs.cluster.asks import OF_RANKS
from layouts.kit import units as fmt
from layouts.kit.i18n import LANGUAGES, both
from layouts.profiles.step_plots import unit_of

_FLOPS = ("FLOPs", "FLOPS")


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
        return fmt.size_unit(largest)
    return fmt.prefixed_unit(largest, _FLOPS[metric == "flops_per_s"])


def text_of(metric: str, value: float) -> str:
    """Format a value of a metric with its unit; empty for unknown."""
    if value != value:
        return ""
    if is_time(metric):
        return fmt.duration(value / 1e9)
    if metric.startswith("peak_"):
        return fmt.size(value)
    return fmt.prefixed(value, _FLOPS[metric == "flops_per_s"])
