"""What some ranks of a job have and others lack: files, and steps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from parsers.deferred import pandas as pd


@dataclass(frozen=True, slots=True)
class Lacking:
    """Something that ranks lack although other ranks have it: what, ranks that lack it, number of ranks that have it."""

    what: str
    ranks: tuple[int, ...]
    having: int


@dataclass(frozen=True, slots=True)
class CommonSteps:
    """The steps of a job: those that all its ranks have, those that only some have, and ranks without any step."""

    common: tuple[int, ...]
    partial: tuple[Lacking, ...]
    without: tuple[int, ...]


def lacking_files(files: Mapping[int, Collection[str]]) -> list[Lacking]:
    """Return the kinds of files that only some ranks have, the ones that most have first; files are kinds by rank."""
    having: dict[str, set[int]] = {}
    for rank, kinds in files.items():
        for kind in kinds:
            having.setdefault(kind, set()).add(rank)
    some = {kind: ranks for kind, ranks in having.items() if len(ranks) < len(files)}
    found = [Lacking(kind, tuple(sorted(files.keys() - ranks)), len(ranks)) for kind, ranks in some.items()]
    return sorted(found, key=lambda one: (-one.having, one.what))


def common_steps(steps: pd.DataFrame, ranks: Sequence[int]) -> CommonSteps:
    """Return which steps all of these ranks have (schema CLUSTER_STEPS; stages and means do not count).

    Ranks without any step are told apart and do not make a step partial. Steps that were not marked (-1) count as one.
    """
    rows = steps[steps["kind"].astype("str") == "rank"].drop_duplicates(["rank", "step"])
    rows = rows[rows["rank"].isin(ranks)]
    having = set(rows["rank"].unique().tolist())
    without = tuple(sorted(set(ranks) - having))
    common, partial = [], []
    for step, own in rows.groupby("step", sort=True):
        number = int(str(step))
        if len(own) == len(having):
            common.append(number)
        else:
            lacking = having - set(own["rank"].tolist())
            partial.append(Lacking(str(number), tuple(sorted(lacking)), len(own)))
    return CommonSteps(tuple(common), tuple(partial), without)
