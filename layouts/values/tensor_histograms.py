"""Tensors over steps as histograms, in the views of the histograms page.

The histogram of a tensor is computed from all its values, which takes up to a second for millions of them. So a request
computes as many as fit into its time limit, spread over the training, and its figure says how many are still missing; the
browser asks again until none is. The source caches the histograms.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from parsers import HistogramValue, PayloadError

from layouts.kit.state import BadInput
from layouts.runs.chosen_runs import selected_runs
from layouts.sources import ValueSources
from layouts.values import histogram_figures as drawing
from layouts.values.histogram_asks import HistogramRequest

SECONDS = 0.4
"""Time limit of a request; the last histogram may exceed it."""
MOST = 240
"""Maximum number of histograms per card."""


def over_steps(source: ValueSources, data: Any, seconds: float = SECONDS) -> dict[str, Any]:
    """Return the figure of one tag over the steps of the chosen runs; layout.meta["waiting"] counts missing histograms."""
    ask = HistogramRequest.read(data)
    if ask.view == "step":
        raise BadInput("view: expected a view over steps; found step")
    runs = selected_runs(ask.state, source, ("tensor",))
    recorded = ((run, source.values.series(run, "tensor", ask.tag)) for run in runs)
    found = [(run, items) for run, items in recorded if items is not None and len(items)]
    making = _Making(source, ask.tag, [run for run, _ in found if run not in ask.hide], seconds)
    return drawing.draw(source, ask, found, read=making, columns=max(12, MOST // max(1, len(found))), in_browser=True)


class _Making:
    """Reads the distributions of tensors: all cached ones, and as many others as the time limit allows.

    Every run has its share of the time. At least one distribution is computed, so repeated requests come to an end.
    """

    def __init__(self, source: ValueSources, tag: str, runs: Sequence[str], seconds: float) -> None:
        self._source, self._tag = source, tag
        begin = time.monotonic()
        self._until = {run: begin + seconds * (number + 1) / len(runs) for number, run in enumerate(runs)}
        self._made = 0

    def __call__(self, run: str, places: Sequence[int]) -> list[HistogramValue | PayloadError | None]:
        """Return for each place its distribution, the reason why there is none, or None if the time was up."""
        found = [self._one(run, place, known=True) for place in places]
        for number in coarse_to_fine(len(places)):
            if found[number] is not None:
                continue
            if self._made and time.monotonic() > self._until[run]:
                break
            found[number] = self._one(run, places[number])
            self._made += 1
        return found

    def _one(self, run: str, place: int, *, known: bool = False) -> HistogramValue | PayloadError | None:
        try:
            return self._source.values.distribution(run, self._tag, place, known=known)
        except PayloadError as error:
            return error


def coarse_to_fine(count: int) -> list[int]:
    """Return the numbers below count, each once: the last, the first, the middle, then ever finer subdivisions."""
    order = dict.fromkeys([count - 1, 0] if count else [])
    stride = 1
    while stride < count:
        stride *= 2
    while stride:
        order |= dict.fromkeys(range(0, count, stride))
        stride //= 2
    return list(order)
