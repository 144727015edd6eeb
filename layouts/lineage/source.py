"""The interface between pages and the lineage of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from parsers import LineageRow, Setting
from parsers.analysis import Forest


@dataclass(frozen=True, slots=True)
class Growth:
    """The progress of fitting a forest.

    state: "waiting" (for others), "growing", "done", "stopped" or "failed".
    forest is the result of the latest refit, refits the total number of refits, text the reason of a failure.
    """

    state: str
    refits: int = 0
    forest: Forest | None = None
    text: str = ""


class LineageSource(Protocol):
    """Recorded settings and results of runs, and forests that explain the results."""

    def settings(self, run: str) -> Mapping[str, Setting]:
        """Return the settings and results of a member run by column of LINEAGE; those not recorded are missing."""
        ...

    def rows(self) -> tuple[LineageRow, ...]:
        """Return the settings and results of every member run that recorded any, newest first; `run` of a row is its key.

        The object is another one whenever its content may differ.
        """
        ...

    def growth(self, rows: Sequence[LineageRow], target: str, act: str = "") -> Growth:
        """Return the progress of the forest that explains a result over these rows of `lineage`.

        The first call starts it in the background; it ends if there are no calls for a while. Changed rows are used a minute
        after the forest over the previous ones. act is "stop", "again" (from the beginning), or "" for neither.
        """
        ...
