"""What two jobs say together, in sentences: which is slower and by what, whom the others wait for, what cannot be compared."""

from __future__ import annotations

import math
from typing import Any

from dash import html
from parsers.analysis.jobs import two_jobs
from parsers.analysis.jobs.slow_tests import LIMITS
from parsers.analysis.jobs.stragglers import Straggler, moves_with
from parsers.deferred import pandas as pd
from parsers.profiler.groups import text_of

from layouts.jobs.two_jobs.job_pair import ComparedJob
from layouts.jobs.two_jobs.quantities import metric_name, percent, quantity, said
from layouts.kit import units as fmt
from layouts.kit.i18n import both, t

EQUAL = 0.01
"""Relative difference below which steps take the same time."""
_LONG = 160


def headline(parts: pd.DataFrame) -> Any:
    """One sentence: which job takes longer per step, by how much, and which part of the step that is."""
    if "total" not in parts.index:
        return html.P(t("two_jobs.no_steps"), className="ms-two-jobs-said")
    row = parts.loc[["total"]].to_dict("records")[0]
    one, other, change = row["one"], row["other"], row["change"]
    values = {
        "one": quantity("total", one), "other": quantity("total", other), "change": percent(abs(change)).lstrip("+"),
        "difference": quantity("total", abs(one - other)), "ranks": fmt.count(int(row["ranks"])),
    }  # fmt: skip
    kind = "equal" if not math.isfinite(change) or abs(change) < EQUAL else "longer" if change > 0 else "shorter"
    line: list[Any] = [said(f"two_jobs.{kind}", **values)]
    part, difference = two_jobs.largest_part(parts)
    if kind != "equal" and part:
        key = "two_jobs.most_more" if difference > 0 else "two_jobs.most_less"
        line += [" ", said(key, part=metric_name(part), difference=quantity(part, abs(difference)))]
    return html.P(line, className="ms-two-jobs-said")


# Slow ranks ------------------------------------------------------------------------------------------------------------------


def slow(one: ComparedJob, other: ComparedJob) -> Any:
    """Whether the ranks wait for one of them in either job, and whether that follows the rank or the host."""
    if one.slow is None or other.slow is None:
        jobs = "A" if other.slow is not None else "B" if one.slow is not None else "A, B"
        return html.P(said("two_jobs.slow.unchecked", jobs=jobs), className="ms-muted")
    # One step alone names a rank wrongly in half of the cases, so of few steps only who was late is said.
    kind = "late" if min(len(one.steps), len(other.steps)) < LIMITS.steps else "slow"
    found = [next(iter(_certain(job)), None) for job in (one, other)]
    first, second = found
    if first is None and second is None:
        return html.P(t(f"two_jobs.{kind}.none", n=LIMITS.steps))
    if first is not None and second is not None:
        if kind == "slow":
            return html.P(_together(first, second, one, other))
        return html.P(said("two_jobs.late.both", first=_who(first, one), second=_who(second, other), n=LIMITS.steps))
    job, slow_one = ("A", first) if first is not None else ("B", second)
    assert slow_one is not None
    return html.P(said(f"two_jobs.{kind}.one", job=job, who=_who(slow_one, one if job == "A" else other), n=LIMITS.steps))


def _certain(job: ComparedJob) -> list[Straggler]:
    """Return the slow ranks that are more than chance, or all where there are too few steps to tell."""
    few = len(job.steps) < LIMITS.steps
    return [one for one in job.slow or () if one.persistent or few]


def _who(one: Straggler, job: ComparedJob) -> tuple[str, str]:
    """Return what to say of a slow rank, in both languages."""
    host = job.hosts.get(one.rank, "")
    causes = both(f"two_jobs.cause.{one.cause}")
    key = "two_jobs.who_replica" if one.replica else "two_jobs.who_host" if host else "two_jobs.who"
    more = {"place": one.place, "ranks": text_of(one.replica)}
    texts = [
        pattern.format(**more, rank=one.rank, host=host, cause=cause, lateness=quantity("lateness", one.lateness_ns))
        for pattern, cause in zip(both(key), causes, strict=True)
    ]
    return texts[0], texts[1]


def _together(first: Straggler, second: Straggler, one: ComparedJob, other: ComparedJob) -> Any:
    known = first.rank in one.hosts and second.rank in other.hosts
    follows = moves_with(first, second, (one.hosts, other.hosts))
    if known:
        key = follows or "apart"
    else:
        key = "same_rank" if first.rank == second.rank else "other_rank"
    return said(f"two_jobs.slow.{key}", first=_who(first, one), second=_who(second, other), rank=first.rank)


# What cannot be compared -----------------------------------------------------------------------------------------------------


def notes(one: ComparedJob, other: ComparedJob) -> list[Any]:
    """What cannot be compared, or only with care."""
    lines: list[Any] = []
    if not two_jobs_overlap(one, other):
        lines.append(t("two_jobs.note.no_common"))
    for letter, mine, theirs in (("A", one, other), ("B", other, one)):
        alone = sorted(set(mine.values.index.tolist()) - set(theirs.values.index.tolist()))
        if alone:
            lines.append(said("two_jobs.note.only", job=letter, n=fmt.count(len(alone)), ranks=_cut(text_of(alone))))
    if one.parallel and other.parallel and one.parallel != other.parallel:
        lines.append(said("two_jobs.note.parallel", one=parallel_text(one), other=parallel_text(other)))
    numbers = len(one.steps), len(other.steps)
    if 0 < min(numbers) < LIMITS.steps:
        lines.append(said("two_jobs.note.few_steps", one=numbers[0], other=numbers[1], least=LIMITS.steps))
    if len(_bubble_sources(one) | _bubble_sources(other)) > 1:
        lines.append(t("two_jobs.note.bubble"))
    for letter, job in (("A", one), ("B", other)):
        left = two_jobs.unknown_links(job.frames["links"])
        if left:
            lines.append(said("two_jobs.note.links", job=letter, n=fmt.count(left)))
    return lines


def two_jobs_overlap(one: ComparedJob, other: ComparedJob) -> bool:
    """Return whether any rank is in both jobs."""
    return bool(len(one.values.index.intersection(other.values.index)))


def parallel_text(job: ComparedJob) -> str:
    """Return the sizes of the parallel dimensions: tp 8, pp 2, dp 4; empty for unknown."""
    return ", ".join(f"{name} {size}" for name, size in job.parallel.items())


def _bubble_sources(job: ComparedJob) -> set[str]:
    steps = job.frames["cluster_steps"]
    return set() if steps is None else set(steps["bubble_source"].astype("str")) - {""}


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]} …"
