"""What the curves of cards do, in a sentence each, for readers who do not see them and for "Copy as text"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, TypedDict

from parsers import Insight
from parsers.analysis.curves.curve_digest import curve_digest

from layouts.kit.figures.alternatives import MOST_NAMED
from layouts.runs.chosen_runs import label_of
from layouts.runs.digest import curve_text
from layouts.runs.rows import RunRow
from layouts.sources import RunSources


class SentDigest(TypedDict):
    """What one curve does; of a tag the first runs have one."""

    run: str
    tag: str
    label: str
    text: Annotated[tuple[str, str], "Texts"]


def digests(
    source: RunSources, rows: Mapping[str, RunRow], tags: Sequence[str], insights: Mapping[str, Sequence[Insight]]
) -> list[SentDigest]:  # fmt: skip
    """Return the digests of MOST_NAMED runs of each tag. rows are those of runs, insights those of each run into these tags."""
    found: list[SentDigest] = []
    for tag in tags:
        left = MOST_NAMED
        for run, every in insights.items():
            series = source.curves.recorded(run, tag) if left else None
            if series is None or not series.step.size:
                continue
            left -= 1
            # Insights of an earlier version of the run may lie beyond the end of a file that was replaced.
            known = [one for one in every if one.tag == tag and one.last_place < series.step.size]
            text = curve_text(curve_digest(tag, series, known))
            found.append({"run": run, "tag": tag, "label": label_of(run, rows[run]), "text": text})
    return found
