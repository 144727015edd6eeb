"""Which runs are on screen: the part of a page's state that names runs, against the list of runs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypedDict

from parsers import better

from layouts.kit.state import values_of
from layouts.runs.rows import EVERY_RUN, RunRow
from layouts.sources import RunSources

USUAL = 10
"""Number of runs on screen if the state names none."""
UNREAD = ("waiting", "loading")
"""States of a run that may turn out to have data of any kind."""
_SEED = re.compile(r"[ _./-]*(?<![A-Za-z])seed[ _=:.-]*[0-9]+", re.IGNORECASE)
NAMING = ("of", "with")
"""Keys of a state by which a page names the run that it shows, and the one that it compares with."""


def selected_runs(state: Any, source: RunSources, kinds: Sequence[str] = (), *, every: bool = False) -> list[str]:
    """Return the keys of the member runs on screen, in the order of the list of runs (newest first).

    Without a `run` key these are those of `usual_runs`, with every (`Page.every`) all. `run=` alone: none. `run=*`: all.
    The key of a job stands for all its ranks. Unknown keys are ignored, so a link still works after a run was deleted. Runs
    that the state names as `of` or `with` are chosen, too: a link to one of them says no more than that.
    """
    return list(selected_rows(state, source, kinds, every=every))


def selected_rows(state: Any, source: RunSources, kinds: Sequence[str] = (), *, every: bool = False) -> dict[str, RunRow]:
    """Return the keys of the runs on screen -> their rows, in the order of `selected_runs`.

    Keys and rows are of the same list. Who asks for the rows after the keys may miss one: its run was deleted between the two.
    """
    keys = values_of(state, "run")
    wanted = {*keys, *_named(state)}
    rows = source.runs.rows()
    usual = frozenset() if keys else usual_runs(rows, kinds, every=every).keys
    whole = EVERY_RUN in keys
    return {
        member: row for row in rows for member in row.members
        if whole or row.key in usual or row.key in wanted or member in wanted
    }  # fmt: skip


class UsualRuns(NamedTuple):
    """The keys of the rows on screen while nobody has chosen runs, and the scalar by which they are best; "" for the newest.

    groups is the number of groups of runs whose names differ in the seed alone, if these are the best run of each, else 0.
    """

    keys: frozenset[str]
    best_by: str
    groups: int = 0


def usual_runs(rows: Sequence[RunRow], kinds: Sequence[str] = (), *, every: bool = False) -> UsualRuns:
    """Return the runs on screen while nobody has chosen any: of those that have, or may turn out to have, data of one of the
    kinds (a page's `needs`; of all runs if none has), the best of a sweep, else the 10 newest. With every: all of them.

    Runs are a sweep if most of them have the same main scalar and its name says which values are better. Of all runs, which a
    page without `needs` shows, those without a scalar do not count, so that it opens as pages of curves do. If the names
    of most differ from others in the seed alone, the best are the best run of each group of such names, of the 10 best groups:
    ten seeds of one setting say nothing of the other settings. Otherwise they are the 10 best runs. Settings are not compared,
    since that would read a file of every run. A single value is no curve and comes after all that are.
    """
    having = [row for row in rows if row.state in UNREAD or any(row.tags.get(kind) for kind in kinds)] if kinds else rows
    having = having or rows
    if every or len(having) <= USUAL:
        return UsualRuns(frozenset(row.key for row in having), "")
    tag, wanted = _swept(having if kinds else [row for row in rows if row.main_tag])
    valued = [(row, row.main_value) for row in having if tag and row.main_tag == tag and row.main_value is not None]
    finite = [one for one in valued if math.isfinite(one[1])]
    if len(finite) < USUAL:
        return UsualRuns(frozenset(row.key for row in having[:USUAL]), "")
    sign = 1.0 if wanted == "min" else -1.0
    ranked = [row for row, _ in sorted(finite, key=lambda one: (one[0].main_points < 2, sign * one[1]))]
    groups = _seeded(row for row, _ in valued)
    best = _first_of_each(groups, ranked) if groups else ranked
    return UsualRuns(frozenset(row.key for row in best[:USUAL]), tag, len(best) if groups else 0)


def _seeded(rows: Iterable[RunRow]) -> frozenset[str]:
    """Return the names less the seed that several rows have; none if that is one name, or if most rows have their own."""
    sizes = Counter(_without_seed(row.name) for row in rows)
    found = frozenset(name for name, size in sizes.items() if size > 1)
    return found if len(found) > 1 and 2 * sum(sizes[name] for name in found) > sizes.total() else frozenset()


def _first_of_each(groups: Collection[str], rows: Sequence[RunRow]) -> list[RunRow]:
    """Return the first row of each group, in the order of the rows."""
    first: dict[str, RunRow] = {}
    for row in rows:
        first.setdefault(_without_seed(row.name), row)
    return [row for name, row in first.items() if name in groups]


def _without_seed(name: str) -> str:
    return _SEED.sub("", name)


def _swept(rows: Sequence[RunRow]) -> tuple[str, str]:
    """Return the main scalar of most runs and whether "min" or "max" of it is better; two empty texts if they have none."""
    tag, many = next(iter(Counter(row.main_tag for row in rows).most_common(1)), ("", 0))
    wanted = better(tag) if tag and 2 * many > len(rows) else ""
    return (tag, wanted) if wanted else ("", "")


def _named(state: Any) -> list[str]:
    """Return the runs in `of` and `with`; that of a profile is run|session|rank."""
    values = [value for key in NAMING for value in values_of(state, key)]
    return values + [value.rsplit("|", 2)[0] for value in values if value.count("|") >= 2]


def label_of(run: str, row: RunRow | None) -> str:
    """Return the displayed name of a member run: the name of its row, or for a rank of a job its own key."""
    return row.name if row and len(row.members) == 1 else run


class KeyAndName(TypedDict):
    """A run."""

    key: str
    name: str


def elsewhere(source: RunSources, chosen: Iterable[str], kind: str, most: int) -> list[KeyAndName]:
    """Return key and name of the newest runs that have data of a kind and no chosen member, at most `most` of them."""
    known = set(chosen)
    others = (row for row in source.runs.rows() if row.tags.get(kind) and known.isdisjoint(row.members))
    return [{"key": row.key, "name": row.name} for row in islice(others, most)]
