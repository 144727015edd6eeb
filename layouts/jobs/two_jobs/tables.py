"""The tables of two jobs side by side, as frames for the page and for files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from parsers.analysis.jobs import two_jobs
from parsers.deferred import pandas as pd

from layouts.jobs.two_jobs.asks import TwoJobsRequest
from layouts.jobs.two_jobs.job_pair import ComparedJob

Two = tuple[ComparedJob, ComparedJob]
SECTIONS = ("parts", "ranks", "operations", "links", "groups")


@dataclass(frozen=True, slots=True, eq=False)
class ComparedTable:
    """A table: keys are the names of its index, value is what one, other and difference are of, more the further values that
    it has of both jobs (name_one, name_other). frames are those of the job that it is made of.
    """

    name: str
    frame: pd.DataFrame
    keys: Sequence[str]
    value: str
    more: Sequence[str] = ()
    frames: Sequence[str] = ()


def usual_metric(two: Two) -> str:
    """Return the metric that is drawn unless another one is chosen: the first that both jobs have."""
    return next(iter(metrics(two)), two_jobs.METRICS[0])


def metrics(two: Two) -> list[str]:
    """Return the metrics that both jobs have, else those that either has."""
    known = [{name for name in two_jobs.METRICS if job.values[name].notna().any()} for job in two]
    names = known[0] & known[1] or known[0] | known[1]
    return [name for name in two_jobs.METRICS if name in names]


def parts(two: Two) -> pd.DataFrame:
    """Return the medians of all metrics over the ranks that both jobs have."""
    return two_jobs.medians(two[0].values, two[1].values)


def ranks(two: Two, metric: str) -> ComparedTable:
    """Return the values of a metric by rank."""
    found = two_jobs.compared(two[0].values, two[1].values, metric)
    for which, job in (("one", two[0]), ("other", two[1])):
        found[f"host_{which}"] = [job.hosts.get(rank, "") for rank in found.index.tolist()]
    return ComparedTable("ranks", found, ("rank",), metric, frames=("cluster_steps", "collectives", "ranks"))


def operations(two: Two, ask: TwoJobsRequest) -> ComparedTable:
    """Return operations by group and kind, or by rank too."""
    by_rank = ask.by == "rank"
    make = partial(two_jobs.operations, by_rank=by_rank, step=ask.step)
    one, other = (job.table(f"operations by {ask.by}", partial(make, job.frames)) for job in two)
    more = ("count", "waited_ns", "size_bytes")
    keys = ("group_kind", "group_ranks", "operation", *(("rank",) if by_rank else ()))
    found = two_jobs.beside(one, other, "elapse_ns", more)
    return ComparedTable("operations", found, keys, "elapse_ns", more, ("collectives",))


def links(two: Two) -> ComparedTable:
    """Return links between ranks, by their bandwidth."""
    one, other = (job.table("links", partial(two_jobs.link_values, job.frames)) for job in two)
    more = ("time_ns", "size_bytes")
    found = two_jobs.beside(one, other, "bandwidth", more)
    return ComparedTable("links", found, ("source", "target", "transport"), "bandwidth", more, ("links",))


def groups(two: Two) -> ComparedTable:
    """Return groups of ranks; those that both jobs have as often come last."""
    one, other = (job.table("groups", partial(two_jobs.group_values, job.frames)) for job in two)
    found = two_jobs.beside(one, other, "number", ("size",))
    order = (found["difference"] == 0.0).to_numpy().argsort(kind="stable")
    return ComparedTable("groups", found.iloc[order], ("group_kind", "group_ranks"), "number", ("size",), ("groups",))


def file_of(two: Two, ask: TwoJobsRequest, section: str) -> pd.DataFrame:
    """Return all rows of a section, for a file: keys, then one, other, difference, change, further values. Base units."""
    if section == "parts":
        return parts(two).rename_axis("metric").reset_index()
    if section == "ranks":
        found = [ranks(two, metric).frame.reset_index().assign(metric=metric) for metric in metrics(two)]
        return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=["rank", "metric"])
    side = {"operations": lambda: operations(two, ask), "links": lambda: links(two), "groups": lambda: groups(two)}[section]()
    return side.frame.reset_index()
