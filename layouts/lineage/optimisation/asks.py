"""Requests of the page to the server, parsed and validated: values from a browser are untrusted."""

from __future__ import annotations

from dataclasses import dataclass

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.runs.chosen_runs import selected_runs
from layouts.sources import RunSources

_LONGEST = 1 << 20
_SCALES = {"": None, "0": False, "1": True}


@dataclass(frozen=True, slots=True)
class ExplanationRequest(Request):
    """A request for an explanation of a result.

    target: the result, setting: the setting to draw it over; "" for the default of either. log: logarithmic axis, None to
    choose by the values. act: what to do with the fitting ("stop", "again" or ""). named: the runs as the state names them.
    """

    target: str = asked.word("target", limit=_LONGEST)
    setting: str = asked.word("setting", limit=_LONGEST)
    scale: str = asked.one_of("log", tuple(_SCALES))
    act: str = asked.one_of("act", ("", "stop", "again"))
    named: tuple[str, ...] = asked.words("run")

    @property
    def log(self) -> bool | None:
        """Whether the axis is logarithmic."""
        return _SCALES[self.scale]

    def runs(self, source: RunSources) -> frozenset[str] | None:
        """Return the runs to explain, None for all."""
        return frozenset(selected_runs({"run": list(self.named)}, source)) if self.named else None
