"""Do explainers agree? 1 - Spearman's rank correlation of two heat maps: 0 for the same order of pixels, 2 for the reverse.

Ranks do not depend on how an explainer scales its map. Pixels of equal value have the mean of their ranks, as in
`scipy.stats.spearmanr`; because a map has 256 levels, ranks come from its histogram instead of from sorting.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from parsers.errors import PayloadError
from parsers.explanations.snapshot import Explanations
from parsers.model import Floats, Ints

Grey = NDArray[np.uint8]
_LEVELS = 256
_TOLD = 16
"""Groups of maps between two reports of progress."""


class MapProgress(Protocol):
    """Takes the progress of work; may raise Cancelled."""

    def __call__(self, done: int, total: int) -> None:
        """done of total groups of maps are finished."""
        ...


@dataclass(frozen=True, slots=True)
class Disagreements:
    """Mean disagreement of the explainers' maps, by sample and label; groups of fewer than two maps are left out.

    row is that of the sample in `samples`; value is NaN if no two maps of a group could be compared. unreadable is how many
    maps were left out because their file is missing or damaged.
    """

    row: Ints
    label: Ints
    value: Floats
    unreadable: int

    def by_sample(self, total: int, labels: Sequence[int] = ()) -> Floats:
        """Return the largest value of each of `total` samples, of these labels if there are any; NaN for none."""
        known = ~np.isnan(self.value)
        if labels:
            known &= np.isin(self.label, np.asarray(labels, np.int64))
        found = np.full(total, -np.inf)
        np.maximum.at(found, self.row[known], self.value[known])
        found[np.isinf(found)] = np.nan
        return found


def disagreement(maps: Sequence[Grey]) -> Floats:
    """Return 1 - Spearman's correlation of each two maps, shape (n, n); NaN where one of the two is constant.

    Maps of several sizes are compared at the largest height and width, each pixel of a smaller one repeated.
    """
    if not maps:
        return np.zeros((0, 0))
    height, width = (max(one.shape[axis] for one in maps) for axis in (0, 1))
    ranks = np.stack([_unit_ranks(_enlarged(one, height, width)) for one in maps])
    found: Floats = 1.0 - np.clip(ranks @ ranks.T, -1.0, 1.0)
    return found


def disagreements(found: Explanations, report: MapProgress) -> Disagreements:
    """Compare the maps of every sample and label. Takes about 0.3 ms per map of 112 x 112 pixels, so it is background work."""
    table = found.saliency
    place = np.searchsorted(found.samples["sample"].to_numpy(), table["sample"].to_numpy())
    label = table["label"].to_numpy()
    order = np.lexsort((label, place))
    changes = (np.diff(place[order]) != 0) | (np.diff(label[order]) != 0)
    starts = np.flatnonzero(np.append(np.ones(min(1, len(order)), np.bool_), changes))
    ends = np.append(starts[1:], len(order))
    several = ends - starts > 1
    starts, ends = starts[several], ends[several]
    paths = table["path"].array
    values, unreadable = np.full(len(starts), np.nan), 0
    for at, (first, last) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        if at % _TOLD == 0:
            report(at, len(starts))
        maps = []
        for one in order[first:last].tolist():
            try:
                maps.append(found.pictures.grey_values(str(paths[one])))
            except PayloadError:
                unreadable += 1
        values[at] = mean_disagreement(disagreement(maps))
    report(len(starts), len(starts))
    return Disagreements(place[order][starts], label[order][starts], values, unreadable)


def mean_disagreement(pairs: Floats) -> float:
    """Return the mean over all pairs of `disagreement` that could be compared; NaN if there is none."""
    above = [float(pairs[one, other]) for one, other in itertools.combinations(range(len(pairs)), 2)]
    known = [value for value in above if not np.isnan(value)]
    return sum(known) / len(known) if known else float("nan")


def _unit_ranks(grey: Grey) -> Floats:
    """Return the ranks of all pixels, centred and scaled to length 1; NaN for a constant map."""
    flat = grey.reshape(-1)
    counts = np.bincount(flat, minlength=_LEVELS)
    of_level = np.cumsum(counts) - (counts - 1) / 2.0 - (len(flat) + 1) / 2.0
    length = float(np.sqrt(np.sum(counts * of_level**2)))
    if not length:
        return np.full(len(flat), np.nan)
    found: Floats = (of_level / length)[flat]
    return found


def _enlarged(grey: Grey, height: int, width: int) -> Grey:
    if grey.shape == (height, width):
        return grey
    rows = np.arange(height) * grey.shape[0] // height
    columns = np.arange(width) * grey.shape[1] // width
    found: Grey = grey[rows[:, None], columns]
    return found
