"""Which facts of a run that grows are new."""

from __future__ import annotations

import math
from collections.abc import Iterable

from parsers.analysis.curves.curve_digest import CurveDigest, CurveFact, insight_fact

NO_STEP = "no_step"
PATIENCE = 600.0
"""Seconds without a new step from which on it is a fact."""


class CurveNews:
    """The insights and restarts of a run's curves that have been reported.

    An insight is the same as an earlier one of its kind and tag if their steps overlap: where a plateau begins moves while the
    run grows.
    """

    def __init__(self) -> None:
        self._spans: dict[tuple[str, str], list[tuple[int, int]]] = {}
        self._restarts: dict[str, int] = {}

    def take(self, curves: Iterable[CurveDigest]) -> list[CurveFact]:
        """Return what is new since the last call."""
        return [fact for curve in curves for fact in (*self._insights(curve), *self._restarted(curve))]

    def _insights(self, curve: CurveDigest) -> list[CurveFact]:
        found = []
        for one in curve.insights:
            spans = self._spans.setdefault((one.tag, one.kind), [])
            span = min(one.step, one.last_step), max(one.step, one.last_step)
            known = next((place for place, other in enumerate(spans) if span[0] <= other[1] and other[0] <= span[1]), None)
            if known is None:
                spans.append(span)
                found.append(insight_fact(one))
            else:
                spans[known] = min(span[0], spans[known][0]), max(span[1], spans[known][1])
        return found

    def _restarted(self, curve: CurveDigest) -> list[CurveFact]:
        before, self._restarts[curve.tag] = self._restarts.get(curve.tag, 0), curve.restarts
        if curve.restarts <= before:
            return []
        return [CurveFact("curve", curve.tag, "restarts", step=curve.last_restarted, value=float(curve.restarts))]


class Standstill:
    """Tells that no step was recorded for a while: once, until there is a new one. Times are of one clock, in seconds."""

    def __init__(self, run: str, now: float, patience: float = PATIENCE) -> None:
        self._run, self._patience = run, patience
        self._since, self._told = now, False
        self._seen: tuple[int, int | None] = (0, None)

    def look(self, now: float, points: int, step: int | None) -> CurveFact | None:
        """Take the number of recorded points and the newest step; return the fact if it arises now."""
        if (points, step) != self._seen:
            self._seen, self._since, self._told = (points, step), now, False
            return None
        passed = now - self._since
        if self._told or not passed >= self._patience or math.isinf(self._patience):
            return None
        self._told = True
        return CurveFact("run", self._run, NO_STEP, step=step, value=passed, measured=passed, limit=self._patience, unit="s",
                         rule="seconds without a new step")  # fmt: skip
