"""Finds anomalies in curves: NaN, divergence, frozen values, spikes, level shifts, plateaus, missing or slower steps, stalls.

Computed from the recorded scalars; nothing else has to be logged. `insights(run)` returns the frame of a whole run,
`insights_of(tag, series)` the insights of one series; RULES lists the rules.
"""

from __future__ import annotations

from parsers.analysis.curves.insights.finding import frame, insights, insights_of, insights_of_run, ranked, stalled
from parsers.analysis.curves.insights.rules import LEVELS, RULES, Insight, InsightRule

__all__ = [
    "LEVELS", "RULES", "Insight", "InsightRule", "frame", "insights", "insights_of", "insights_of_run", "ranked", "stalled"
]
