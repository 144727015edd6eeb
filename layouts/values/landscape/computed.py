"""What is known of a landscape because `mindscope landscape` has computed it, or is computing it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from parsers import GrowingLandscape, LandscapeValue, checksum_of

from layouts.sources import ValueSources


@dataclass(frozen=True, slots=True)
class ComputedFacts:
    """shown: share of the path that lies in the plane, NaN where not known. reasons: of places without a loss, by (x, y).

    done of `total` points are finished of one that is being computed, the last one at `updated`, in seconds since 1970.
    """

    shown: float = math.nan
    reasons: Mapping[tuple[float, float], str] = field(default_factory=dict)
    done: int = 0
    total: int = 0
    updated: float = 0.0


def facts_of_growing(one: GrowingLandscape) -> ComputedFacts:
    """Return what is known of a landscape that is being computed."""
    return ComputedFacts(math.nan, _by_place(one.value, one.reasons), one.done, one.total, one.updated)


def computed_facts(source: ValueSources, run: str, value: LandscapeValue) -> ComputedFacts:
    """Return what the command wrote about a landscape. FormatError if its file is damaged."""
    found = source.values.landscape_facts(run)
    if found is None:
        return ComputedFacts()
    checksum = checksum_of(value.z)
    of_it = found.facts[found.facts["checksum"] == checksum]
    failed = found.failures[found.failures["checksum"] == checksum]
    places = zip(failed["row"].tolist(), failed["column"].tolist(), strict=True)
    reasons = dict(zip(places, failed["reason"].tolist(), strict=True))
    return ComputedFacts(float(of_it["shown"].iloc[0]) if len(of_it) else math.nan, _by_place(value, reasons))


def _by_place(value: LandscapeValue, reasons: Mapping[tuple[int, int], str]) -> dict[tuple[float, float], str]:
    rows, columns = value.z.shape
    return {
        (float(value.x[column]), float(value.y[row])): reason
        for (row, column), reason in reasons.items()
        if 0 <= row < rows and 0 <= column < columns
    }
