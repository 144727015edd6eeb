"""Final values: the last and the best value of every run or group, for each tag.

Values are never smoothed. Only the last value a run wrote for a step counts. The best value is the lowest or the highest finite
one, depending on the name of the tag, if that says which is better. A group has the interquartile mean over its runs, with
its 95 % interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from parsers.analysis import Estimate
from parsers.analysis.curves.final_values import Final, estimates, final
from parsers.lineage.table import better

from layouts.curves.grouping import KINDS, CurveGrouping
from layouts.curves.scalar_asks import BASES, of_kind
from layouts.kit.state import BadInput, flag, text, texts
from layouts.kit.theme import PALETTE
from layouts.runs.chosen_runs import label_of
from layouts.sources import RunSources

MOST_TAGS = 500


@dataclass(frozen=True, slots=True)
class FinalValueRow:
    """One tag of a run or group.

    finals are the final values of its runs, last and best the estimates over them. minus is the difference from the baseline,
    wins the estimated probability of being better than the baseline.
    """

    tag: str
    label: str
    colour: str
    finals: Sequence[Final] = field(repr=False)
    last: Estimate
    best: Estimate
    minus: float
    wins: Estimate | None


# Rows -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FinalValueRequest:
    """A request for the table: runs as a state names them, tags (None: no table), grouping and baseline."""

    state: dict[str, list[str]]
    tags: tuple[str, ...] | None
    by: str
    base: str
    settings: bool


def read_wanted(data: Any) -> FinalValueRequest:
    """Return the request in a state, or raise BadInput."""
    tags = texts(data, "tag")
    if len(tags) > MOST_TAGS:
        raise BadInput(f"tag: expected at most {MOST_TAGS} in one table; found {len(tags)}")
    return FinalValueRequest(
        state={"run": texts(data, "run")} if texts(data, "run") else {},
        tags=tuple(tags) if flag(data, "table") else None,
        by=of_kind(data, "group", KINDS),
        base=of_kind(data, "base", BASES),
        settings=text(data, "settings") == "1",
    )


def rows(
    source: RunSources, wanted: FinalValueRequest, groups: CurveGrouping | None, runs: Sequence[str]
) -> Iterator[FinalValueRow]:
    """Yield a row for each tag and run, or for each tag and group, that has any value."""
    names = labels(source)
    colour = source.runs.colours(wanted.state.get("run", ()))
    kind, _, base = wanted.base.partition(":")
    for tag in wanted.tags or ():
        direction = better(tag)
        every = {run: source.curves.series(run, tag) for run in runs}
        found = {run: final(one, direction) for run, one in every.items() if one is not None and one.step.size}
        shown: dict[str, list[Final]] = {}
        for run, ended in found.items():
            shown.setdefault(groups.label[run] if groups else run, []).append(ended)
        under: Sequence[Final] = ()
        if kind == "group" and groups:
            under = shown.get(base, ())
        elif kind == "run" and (series := source.curves.series(base, tag)) is not None and series.step.size:
            under = [final(series, direction)]
        order = [label for label in groups.colour if label in shown] if groups else list(shown)
        for label in order:
            mine = groups.colour[label] if groups else colour.get(label, PALETTE[0][0])
            itself = label == base and kind == ("group" if groups else "run")
            name = label if groups else names.get(label, label)
            yield FinalValueRow(tag, name, mine, shown[label], *estimates(shown[label], under, direction, itself=itself))


def labels(source: RunSources) -> dict[str, str]:
    """Return member run -> its displayed name."""
    return {member: label_of(member, row) for row in source.runs.rows() for member in row.members}
