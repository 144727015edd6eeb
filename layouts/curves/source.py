"""The interface between pages and the scalars of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from parsers import Derived, Insight, Series


class CurveSource(Protocol):
    """Scalars of runs, curves derived from them, and insights into them.

    Every method answers from memory within milliseconds, except `insights`, which takes up to `seconds`.
    """

    def series(self, run: str, tag: str) -> Series | None:
        """Return one scalar series of one member run with restarts resolved, or None. This is what pages show.

        The name of a derived curve, "=" and an expression over tags, is a tag here and for `insights`, although `tags` does not
        list it. If the run recorded a tag of this name, it is that one.
        """
        ...

    def recorded(self, run: str, tag: str) -> Series | None:
        """Return the same with the values that later ones supersede, in the order they were written; `insights` count in it."""
        ...

    def derived(self, run: str, expression: str) -> Derived | None:
        """Return what an expression gives for one member run, None for an unknown run; ExpressionError if it is invalid."""
        ...

    def insights(self, run: str, tags: Sequence[str] | None = None, seconds: float = 0.1) -> tuple[Sequence[Insight], int]:
        """Return (insights into these scalars of one member run, number of tags not analysed yet).

        tags None: all tags, and whether the run has stalled. After `seconds` of CPU time no further series is analysed: ask
        again.
        """
        ...
