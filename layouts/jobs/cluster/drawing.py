"""The contents of the page for one request: components, figures, and the data of the controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.jobs.experts import exchanges
from parsers.analysis.jobs.grid import grid_of
from parsers.analysis.jobs.ranks_by_step import RanksByStep, hosts_of, rank_values
from parsers.analysis.jobs.warm_up import warm_up
from parsers.cluster_frames import CLUSTER_STEPS, COLLECTIVES, GROUPS
from parsers.deferred import pandas as pd
from parsers.model import Floats

from layouts.jobs.cluster.alternatives import with_bars, with_ranks, with_steps
from layouts.jobs.cluster.asks import FRAMES, OF_RANKS, ROWS, ClusterRequest
from layouts.jobs.cluster.bars import SINGLE, bars_figure, colour_of, is_stacked, part_key
from layouts.jobs.cluster.heat import grid_figure, steps_figure
from layouts.jobs.cluster.job_cache import JobCache, of_ranks
from layouts.jobs.cluster.panel import panel
from layouts.jobs.cluster.rows import ClusterBars, bars_of, shown_ranks
from layouts.jobs.cluster.sections import dimension_table, expert_list
from layouts.jobs.cluster.story import group_name, story
from layouts.jobs.late_cause import HOST, cause_is_read, late_cause
from layouts.jobs.warm_up import warm_up_said
from layouts.kit import units as fmt
from layouts.kit.body import MOST_PROBLEMS
from layouts.kit.i18n import both
from layouts.profiles.frames import ProfileFrame
from layouts.sources import ProfileSources

MOST_MARKED = 64
"""Ranks that others wait for, marked in figures."""
_OF_CAUSE = {"host": "free", "link": "communication"}
"""Cause of a slow rank -> the metric that shows it."""
_NEEDED = {
    "memory": ("memory_record.csv", "ascend_*_profiler_*.db"), "flops": ("kernel_details.csv", "flops_summary_*.json"),
}  # fmt: skip
Drawn = dict[str, Any]


def drawn(source: ProfileSources, kept: JobCache, ask: ClusterRequest) -> Drawn:
    """Return head, panel, dimensions and experts (components), bars, grid and heat (figures or None), and facts."""
    facts = kept.job(source, ask.choice)
    ask = ask if ask.metric else replace(ask, metric=usual_metric(facts))
    second = kept.job(source, ask.against) if ask.against is not None else None
    wanted = {name: _wanted(source, ask, name) for name in FRAMES}
    read = _read_ranks(source, ask, facts)
    ranks = read.frame if read is not None else None
    hosts = hosts_of(facts, ranks)
    if second is not None and ask.against is not None and _no_hosts(second):
        hosts_of(second, of_ranks(source, ask.against).frame)
    head = story(facts, wanted, second, partial(late_cause, source, ask.choice))
    if ask.step is None:
        left_out = warm_up_said(warm_up(facts.frame(CLUSTER_STEPS.name)), "cluster.warm_up")
        head += [html.P(left_out, className="ms-muted")] if left_out else []
    if not len(facts.steps.ranks):
        return {"head": head, "panel": [], "dimensions": [], "experts": [], "bars": None, "grid": None, "heat": None,
                "facts": {"ranks": 0, "offered": facts.offered}}  # fmt: skip
    values = _values(facts, ask, ranks)
    bars, parts = _bars(facts, ask, hosts, values)
    late = {rank: one for one in facts.slow.slow for rank in one.replica or (one.rank,)}
    late = dict(list(late.items())[:MOST_MARKED])
    return {
        "head": head,
        "panel": panel(source, ask, facts, hosts, ranks),
        "dimensions": dimension_table(facts.dimensions(ask.step), wanted[COLLECTIVES.name]),
        "experts": expert_list(facts.load(ranks)),
        "bars": with_bars(bars_figure(
            bars, parts, ask.metric, language=ask.language, columns=ask.columns, dark=ask.dark, window=ask.window,
            picked="" if ask.picked is None else str(ask.picked), late={str(rank): one for rank, one in late.items()},
        ), bars, ask.metric, list(late)),
        "grid": _grid(facts, ask, hosts, values, list(late)),
        "heat": _heat(facts, ask, list(late)),
        "facts": {**_told(facts, ask, bars, parts, hosts, values, read), "causes": _causes_are_read(source, ask, facts)},
    }  # fmt: skip


def _causes_are_read(source: ProfileSources, ask: ClusterRequest, facts: RanksByStep) -> bool:
    """Return whether the trace that tells why a rank is late is being read."""
    return any(cause_is_read(source, ask.choice, one.rank) for one in facts.slow.slow if one.cause == HOST)


def usual_metric(facts: RanksByStep) -> str:
    """Return the metric in which the slowest rank stands out; computing where none is slow."""
    slowest = next(iter(facts.slow.slow), None)
    found = "" if slowest is None else _OF_CAUSE.get(slowest.cause, "")
    return found if found in facts.metrics else "computing"


def _wanted(source: ProfileSources, ask: ClusterRequest, name: str) -> tuple[str, ...]:
    return source.profiles.frame(ask.choice.run, ask.choice.session, ask.choice.rank, name).wanted


def _read_ranks(source: ProfileSources, ask: ClusterRequest, facts: RanksByStep) -> ProfileFrame | None:
    """Return the frame `ranks` if something shown needs it: its files are large, so it is not read before."""
    collectives = facts.frame(COLLECTIVES.name)
    experts = "flops" in facts.may and bool(len(collectives)) and bool(exchanges(collectives).any())
    if ask.metric in OF_RANKS or ask.rows == "host" or ask.picked is not None or experts or _no_hosts(facts):
        return of_ranks(source, ask.choice)
    return None


def _no_hosts(facts: RanksByStep) -> bool:
    """Return whether hosts are unknown so far, and databases may tell them."""
    return "host" in facts.may and not any(facts.hosts.values())


def _values(facts: RanksByStep, ask: ClusterRequest, ranks: pd.DataFrame | None) -> Floats:
    if ask.metric not in OF_RANKS:
        return facts.values(ask.metric, ask.step)
    return rank_values(ranks, facts.steps.ranks, ask.metric) if ranks is not None else np.full(len(facts.steps.ranks), np.nan)


def _bars(facts: RanksByStep, ask: ClusterRequest, hosts: Sequence[str], values: Floats) -> tuple[ClusterBars, tuple[str, ...]]:
    names, parts = facts.stacked(ask.step)
    chosen = shown_ranks(facts, ask.group)
    return bars_of(facts, ask.rows, ask.order, hosts, chosen, parts, values, ask.group), names


def _grid(facts: RanksByStep, ask: ClusterRequest, hosts: Sequence[str], values: Floats, late: Sequence[int]) -> Drawn | None:
    chosen = shown_ranks(facts, ask.group)
    if len(chosen) < 2 or not np.isfinite(values[chosen]).any():
        return None
    dp, pp, tp = (one[chosen] for one in facts.places())
    named = [hosts[place] for place in chosen.tolist()]
    ranks = facts.steps.ranks[chosen]
    figure = grid_figure(
        grid_of(ranks, dp, pp, tp, named), ranks, values[chosen], ask.metric, language=ask.language,
        columns=max(200, ask.columns // 2), dark=ask.dark, hosts=named, picked=ask.picked, late=late,
    )  # fmt: skip
    return with_ranks(figure, both("cluster.grid"), ranks, values[chosen], ask.metric, late)


def _heat(facts: RanksByStep, ask: ClusterRequest, late: Sequence[int]) -> Drawn | None:
    """Return ranks x steps; None for one step, and for values that steps do not have."""
    if ask.metric in OF_RANKS or len(facts.steps.steps) < 2:
        return None
    chosen = shown_ranks(facts, ask.group)
    table = facts.table(ask.metric)[chosen]
    if not np.isfinite(table).any():
        return None
    figure = steps_figure(
        table, facts.steps.ranks[chosen], facts.steps.steps, facts.steps.session, ask.metric, language=ask.language,
        columns=max(200, ask.columns // 2), dark=ask.dark, picked=ask.picked, late=late,
    )  # fmt: skip
    return with_steps(figure, table, facts.steps.ranks[chosen], facts.steps.steps, ask.metric, late)


def _told(
    facts: RanksByStep, ask: ClusterRequest, bars: ClusterBars, parts: Sequence[str], hosts: Sequence[str], values: Floats,
    read: ProfileFrame | None
) -> Mapping[str, Any]:
    """Return the data of the controls: what can be chosen, the neighbours of the picked rank, the progress of reading ranks."""
    metrics = [*facts.metrics]
    metrics += [name for name in OF_RANKS if ("memory" if name.startswith("peak_") else "flops") in facts.may]
    rows = [name for name in ROWS if _has_rows(facts, name, hosts)]
    keys, picked = bars.keys, str(ask.picked)
    at = keys.index(picked) if bars.kind == "rank" and picked in keys else -1
    unknown = _NEEDED["memory" if ask.metric.startswith("peak_") else "flops"]
    return {
        "ranks": len(facts.steps.ranks), "metrics": metrics, "metric": ask.metric, "rows": rows, "kind": bars.kind,
        "previous": keys[at - 1] if at > 0 else keys[-1] if at < 0 and bars.kind == "rank" and keys else None,
        "next": keys[at + 1] if bars.kind == "rank" and at + 1 < len(keys) else None,
        "legend": [[part_key(part), colour_of(part)] for part in parts] if is_stacked(ask.metric) else
                  [[f"cluster.metric.{ask.metric}", SINGLE]],
        "limited": [fmt.count(len(shown_ranks(facts, ask.group))), group_name(facts, ask.group)] if ask.group else None,
        "reading": _reading(facts, read),
        "damage": [] if read is None else [[one.path, one.text] for one in read.problems[:MOST_PROBLEMS]],
        "damaged": 0 if read is None else len(read.problems),
        "nothing": list(unknown) if ask.metric in OF_RANKS and not np.isfinite(values).any() else None,
        "offered": facts.offered,
    }  # fmt: skip


def _reading(facts: RanksByStep, read: ProfileFrame | None) -> list[Any] | None:
    """Return state, bytes done and in total, and reason, while something shown is being read or if that failed."""
    if read is not None and read.state not in ("ready", "missing"):
        return [read.state, read.done, read.total, read.text]
    return ["sessions", 0, 0, ""] if facts.pending else None


def _has_rows(facts: RanksByStep, name: str, hosts: Sequence[str]) -> bool:
    if name == "host":
        return len(set(hosts)) > 1
    if name == "stage":
        return len(set(facts.places()[1].tolist())) > 1
    return name == "rank" or bool((facts.frame(GROUPS.name)["size"] > 1).any())
