"""Where does the network look: how concentrated heat maps are, and how much of them lies in the middle of the picture.

Of each sample the maps for its most probable label count, which say why the network predicts what it predicts. The grey values
of a map are taken as amounts: what share of their sum is in the tenth of the pixels with the highest values (0.1 if all are
equal, 1 if a tenth has it all), and what share in the middle third of height and width (1/9 if all are equal). Shares do not
depend on the scale of a map, but on its zero: producers that stretch a map until its lowest value is 0 make a nearly even map a
map of its noise, and one with negative values far below the others an even one.

Right and wrong predictions differ if a rank-sum test (Mann-Whitney, with ties, a correction for continuity, and an error of
ALPHA for all explainers together) says so: medians of a few maps differ by chance.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
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
ALPHA = 0.05
"""How often explainers of a run are said to differ between right and wrong predictions although none does, at most."""
_TOLD = 16
_NO_LABEL = np.iinfo(np.int64).min  # records hold 32 bits, -1 among them where they are damaged


@dataclass(frozen=True, slots=True)
class MapShares:
    """Medians over maps, 0 to 1: the share in the highest tenth of the pixels, and in the middle; NaN for fewer than FEWEST."""

    maps: int
    top: float
    middle: float


@dataclass(frozen=True, slots=True)
class Attention:
    """Shares of the maps by explainer: of all samples, of those predicted right, and of those predicted wrong.

    differing are the explainers whose `top` differs between right and wrong predictions by more than chance explains. Maps of
    `looked` samples were read, of `total` that have one for their most probable label. unreadable: how many maps have a file
    that is missing or damaged; empty: how many are zero everywhere.
    """

    every: Mapping[str, MapShares]
    of_right: Mapping[str, MapShares]
    of_wrong: Mapping[str, MapShares]
    differing: frozenset[str]
    looked: int
    total: int
    unreadable: Mapping[str, int]
    empty: Mapping[str, int]


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
    strongest, right = _strongest(found)
    table = found.saliency
    label, path = table["label"].to_numpy(), table["path"].array
    place = np.repeat(np.arange(len(found.samples)), np.diff(found.map_starts))
    maps = np.flatnonzero(label == strongest[place])
    owner = place[maps]
    having = np.unique(owner)
    chosen = having
    if len(having) > MOST_SAMPLES:
        chosen = having[np.linspace(0, len(having) - 1, MOST_SAMPLES).astype(np.int64)]
    is_right, is_wrong = right & found.has_truth, ~right & found.has_truth
    names, codes = table["explainer"].cat.categories, table["explainer"].cat.codes.to_numpy()
    every, of_right, of_wrong = (defaultdict[str, list[tuple[float, float]]](list) for _ in range(3))
    unreadable, empty = (dict.fromkeys(found.explainers, 0) for _ in range(2))
    for at, sample in enumerate(chosen.tolist()):
        if at % _TOLD == 0:
            report(at, len(chosen))
        first, last = np.searchsorted(owner, [sample, sample + 1]).tolist()
        for one in maps[first:last].tolist():
            name = str(names[codes[one]])
            try:
                shares = map_shares(found.pictures.grey_values(str(path[one])))
            except PayloadError:
                unreadable[name] += 1
                continue
            if math.isnan(shares[0]):
                empty[name] += 1
                continue
            every[name].append(shares)
            if is_right[sample] or is_wrong[sample]:
                (of_right if is_right[sample] else of_wrong)[name].append(shares)
    report(len(chosen), len(chosen))
    compared = [name for name in found.explainers if min(len(of_right[name]), len(of_wrong[name])) >= FEWEST]
    by_chance = {name: chance(_tops(of_right[name]), _tops(of_wrong[name])) for name in compared}
    differing = frozenset(name for name in compared if by_chance[name] < ALPHA / len(compared))
    all_maps, right_maps, wrong_maps = (
        {name: _medians(group[name]) for name in found.explainers} for group in (every, of_right, of_wrong)
    )
    return Attention(all_maps, right_maps, wrong_maps, differing, len(chosen), len(having), unreadable, empty)


def chance(one: Floats, other: Floats) -> float:
    """Return how probable it is that two samples of the same distribution have ranks at least as far apart: a rank-sum test."""
    values = np.concatenate([one, other])
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[inverse]
    m, n, size = len(one), len(other), len(values)
    spread = m * n / 12.0 * (size + 1.0 - float((counts**3.0 - counts).sum()) / (size * (size - 1.0)))
    off = abs(float(ranks[:m].sum()) - m * (size + 1.0) / 2.0) - 0.5
    return math.erfc(max(off, 0.0) / math.sqrt(2.0 * spread)) if spread > 0.0 else 1.0


def _tops(shares: Sequence[tuple[float, float]]) -> Floats:
    return np.array([top for top, _ in shares], np.float64)


def _strongest(found: Explanations) -> tuple[Ints, Bools]:
    """Return of each sample its most probable label, _NO_LABEL if it has none, and whether that label is a true one.

    Of equally probable labels it is the one recorded first, as in the lists of the page.
    """
    predicted, count = found.predicted, len(found.samples)
    label, right = np.full(count, _NO_LABEL, np.int64), np.zeros(count, np.bool_)
    rows = np.flatnonzero(~np.isnan(predicted.probability))[::-1]
    order = rows[np.argsort(predicted.probability[rows], kind="stable")]  # the highest of a sample is written last
    place = predicted.place[order]
    label[place], right[place] = predicted.label[order], predicted.truth[order]
    return label, right


def _medians(shares: Sequence[tuple[float, float]]) -> MapShares:
    if len(shares) < FEWEST:
        return MapShares(len(shares), math.nan, math.nan)
    top, middle = np.median(np.array(shares), axis=0).tolist()
    return MapShares(len(shares), top, middle)
