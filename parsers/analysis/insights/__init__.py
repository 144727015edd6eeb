"""What in a curve deserves a look: NaN, spikes, divergence, plateaus, missing steps, slower steps, runs that stand still.

Computed on read from what was recorded; nothing has to be logged for it. `insights(run)` is the frame of a whole run,
`insights_of(tag, series)` what one series has, RULES what is looked for.
"""

from __future__ import annotations

from parsers.analysis.insights.finding import frame, insights, insights_of, insights_of_run, ranked, stalled
from parsers.analysis.insights.rules import LEVELS, RULES, Insight, Rule

__all__ = ["LEVELS", "RULES", "Insight", "Rule", "frame", "insights", "insights_of", "insights_of_run", "ranked", "stalled"]
