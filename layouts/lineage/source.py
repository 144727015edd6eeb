"""The interface between pages and the lineage of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from parsers import LineageRow, Setting
from parsers.analysis import Shares


@dataclass(frozen=True, slots=True)
class Fitting:
    """The progress of fitting shares.

    state: "waiting" (for others), "fitting", "done", "stopped" or "failed".
    shares are the result of the latest refit, refits the total number of refits, text the reason of a failure.
    """

    state: str
    refits: int = 0
    shares: Shares | None = None
    text: str = ""


class LineageSource(Protocol):
    """Recorded settings and results of runs, and the shares of settings in results."""

    def settings(self, run: str) -> Mapping[str, Setting]:
        """Return the settings and results of a member run by column of LINEAGE; those not recorded are missing."""
        ...

    def rows(self) -> tuple[LineageRow, ...]:
        """Return the settings and results of every member run that recorded any, newest first; `run` of a row is its key.

        The object is another one whenever its content may differ.
        """
        ...

    def fitting(self, rows: Sequence[LineageRow], target: str, act: str = "") -> Fitting:
        """Return the progress of the shares of settings in a result over these rows of `lineage`.

        The first call starts it in the background; it ends if there are no calls for a while. Changed rows are used a minute
        after the shares over the previous ones. act is "stop", "again" (from the beginning), or "" for neither.
        """
        ...
