"""Where does the network look: how concentrated heat maps are, and how much of them lies in the middle of the picture.

Of each sample the maps for its most probable label count, which say why the network predicts what it predicts. The grey values
of a map are taken as amounts: what share of their sum is in the tenth of the pixels with the highest values (0.1 if all are
equal, 1 if a tenth has it all), and what share in the middle third of height and width (1/9 if all are equal). A map is scaled
by its explainer, which shares do not depend on; a zero that is not the producer's zero makes them smaller, never larger.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from parsers.analysis.explanations.agreement import Grey, MapProgress
from parsers.errors import PayloadError
from parsers.explanations.snapshot import Bools, Explanations
from parsers.model import Floats, Ints

TENTH = 0.1
"""The part of the pixels that `top` is about: the most marked tenth."""
MIDDLE = 1.0 / 9.0
"""Part of a picture that is its middle."""
FEWEST = 5
"""With fewer maps than this no median is given."""
MOST_SAMPLES = 1_000
"""Samples whose maps are read, spread evenly over all: about 1 s of processor time for three maps of 112 x 112 pixels each."""
_TOLD = 16


@dataclass(frozen=True, slots=True)
class MapShares:
    """Medians over maps, 0 to 1: the share in the highest tenth of the pixels, and in the middle; NaN for fewer than FEWEST."""

    maps: int
    top: float
    middle: float


@dataclass(frozen=True, slots=True)
class Attention:
    """Shares of the maps by explainer: of all samples, of those predicted right, and of those predicted wrong.

    samples is how many have a map that was read, of the `looked` ones of all `total`; right and wrong, how many of these have a
    true label that is, or is not, the most probable one. unreadable: maps whose file is missing or damaged; empty: maps that
    are zero everywhere.
    """

    every: Mapping[str, MapShares]
    of_right: Mapping[str, MapShares]
    of_wrong: Mapping[str, MapShares]
    samples: int
    right: int
    wrong: int
    looked: int
    total: int
    unreadable: int
    empty: int

    @property
    def judged(self) -> bool:
        """Whether any explainer has enough maps."""
        return any(one.maps >= FEWEST for one in self.every.values())


def map_shares(grey: Grey) -> tuple[float, float]:
    """Return the shares of a map, shape (height, width): in the highest tenth of its pixels, and in its middle.

    NaN for a map that is zero everywhere. A pixel on the border of tenth or middle counts with the part of it that is inside.
    """
    values = grey.astype(np.float64)
    total = float(values.sum())
    if not total:
        return math.nan, math.nan
    ordered = np.sort(values, axis=None)[::-1]
    exact = TENTH * len(ordered)
    whole = math.floor(exact)
    top = float(ordered[:whole].sum()) + (exact - whole) * float(ordered[min(whole, len(ordered) - 1)])
    height, width = (_inner(size) for size in values.shape)
    return top / total, float(height @ values @ width) / total


def _inner(size: int) -> Floats:
    """Return which part of each of `size` pixels in a row lies in the middle third."""
    edges = np.arange(size + 1, dtype=np.float64)
    inside = np.clip(edges, size / 3.0, 2.0 * size / 3.0)
    found: Floats = np.diff(inside)
    return found


def attention(found: Explanations, report: MapProgress) -> Attention:
    """Read the maps for the most probable label of each sample. Takes about 0.3 ms per map, so it is background work."""
    strongest, known, right = _strongest(found)
    chosen = np.flatnonzero(known)
    if len(chosen) > MOST_SAMPLES:
        chosen = chosen[np.linspace(0, len(chosen) - 1, MOST_SAMPLES).astype(np.int64)]
    table = found.saliency
    label, path = table["label"].to_numpy(), table["path"].array
    explainer = table["explainer"].astype("str").to_numpy()
    rows: list[tuple[int, str, float, float]] = []
    unreadable = empty = 0
    for at, sample in enumerate(chosen.tolist()):
        if at % _TOLD == 0:
            report(at, len(chosen))
        first, last = found.map_starts[sample : sample + 2].tolist()
        for one in range(first, last):
            if label[one] != strongest[sample]:
                continue
            try:
                top, middle = map_shares(found.pictures.grey_values(str(path[one])))
            except PayloadError:
                unreadable += 1
                continue
            if math.isnan(top):
                empty += 1
            else:
                rows.append((sample, str(explainer[one]), top, middle))
    report(len(chosen), len(chosen))
    read = np.unique(np.array([row[0] for row in rows], np.int64))
    is_right, is_wrong = right & found.has_truth, ~right & found.has_truth

    def of(which: Bools | None) -> dict[str, MapShares]:
        kept = [row for row in rows if which is None or which[row[0]]]
        return {name: _medians([row[2:] for row in kept if row[1] == name]) for name in found.explainers}

    return Attention(
        of(None), of(is_right), of(is_wrong), len(read), int(is_right[read].sum()), int(is_wrong[read].sum()), len(chosen),
        len(found.samples), unreadable, empty,
    )  # fmt: skip


def _strongest(found: Explanations) -> tuple[Ints, Bools, Bools]:
    """Return of each sample its most probable label, whether it has one, and whether that label is a true one."""
    predicted, count = found.predicted, len(found.samples)
    label, known, right = np.full(count, -1, np.int64), np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    rows = np.flatnonzero(~np.isnan(predicted.probability))
    order = rows[np.argsort(predicted.probability[rows], kind="stable")]  # the highest of a sample is written last
    place = predicted.place[order]
    label[place], known[place], right[place] = predicted.label[order], True, predicted.truth[order]
    return label, known, right


def _medians(shares: list[tuple[float, ...]]) -> MapShares:
    if len(shares) < FEWEST:
        return MapShares(len(shares), math.nan, math.nan)
    top, middle = np.median(np.array(shares), axis=0).tolist()
    return MapShares(len(shares), top, middle)
