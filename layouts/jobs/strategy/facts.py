"""What the page knows of a job: stages, places of ranks, and values of ranks to colour them by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from parsers.analysis.jobs.grid import Grid, grid_of
from parsers.analysis.jobs.strategy import DIMENSIONS, Positions, StageMap, positions, stage_map
from parsers.analysis.jobs.two_jobs import METRICS, rank_values
from parsers.cluster_frames import JOB_FRAMES, STAGES
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints

from layouts.profiles.frames import ProfileFrame
from layouts.profiles.profile_choice import ProfileChoice
from layouts.sources import ProfileSources

FRAMES = ("stages", "groups", "cluster_steps")
"""Frames any of which the page needs. Only the first one is waited for; the others colour the grid when they are read."""
OF_RANKS = ("peak_allocated", "peak_reserved", "flops", "flops_per_s")
"""Values of whole ranks, from the frame `ranks`, which is read when one of them is asked for."""
OF_OPERATIONS = ("operations", "waited", "lateness")
OF_STEPS = tuple(name for name in METRICS if name not in (*OF_RANKS, *OF_OPERATIONS))
FILE, STAGE, GROUP = "file", "stage", "group:"
"""Beside metrics: whether a rank has a file, its stage, and, before a dimension, the number of its group in it."""
_TELLING = (
    (OF_OPERATIONS, {"communication", "analysis", "hccl_raw", "database", "msprof", "cluster_communication"}),
    (OF_RANKS[:2], {"memory_record", "database", "msprof", "memory_summary"}),
    (OF_RANKS[2:], {"kernel_details", "flops_summary"}),
)
"""Metrics, and kinds of files any of which tells them."""
MOST_RANKS = 100_000
"""Maximum ranks drawn: a file can list any number."""


@dataclass(frozen=True, slots=True, eq=False)
class StrategyFacts:
    """The stages of a job, the places of its ranks, the grid they are drawn in, and the frames that are read by name.

    ranks are those of the job and those that the files list, in order. read is the progress of frames that are not ready.
    """

    stages: StageMap
    ranks: Ints
    places: Positions
    grid: Grid
    frames: Mapping[str, pd.DataFrame]
    read: Mapping[str, ProfileFrame]

    @property
    def waiting(self) -> ProfileFrame | None:
        """The first frame that is being read; None for none."""
        return next((one for one in self.read.values() if one.state in ("reading", "waiting")), None)

    @property
    def failed(self) -> str:
        """Why a frame could not be read; "" if none failed."""
        return next((one.text for one in self.read.values() if one.state == "failed"), "")


def facts_of(source: ProfileSources, choice: ProfileChoice, metric: str) -> StrategyFacts:
    """Return the facts of the job of a profile, from the frames that are ready; others begin to be read."""
    wanted = ("stages", "groups", "cluster_steps", *(("collectives",) if metric in OF_OPERATIONS else ()))
    wanted += ("ranks",) if metric in OF_RANKS else ()
    found = {name: source.profiles.frame(choice.run, choice.session, choice.rank, name) for name in wanted}
    frames = {name: one.frame for name, one in found.items() if one.frame is not None}
    told = frames.get(STAGES.name)
    stages = stage_map(told if told is not None else STAGES.empty())
    job = source.profiles.job(choice.run, choice.session, choice.rank)
    own = {rank for rank in (job.ranks if job is not None else ()) if rank >= 0}
    ranks = sorted({*own, *(rank for members in stages.stages for rank in members)})[:MOST_RANKS]
    places = positions(
        ranks, steps=frames.get("cluster_steps"), groups=frames.get("groups"), sizes=dict(job.parallel) if job else None,
        stages=stages,
    )  # fmt: skip
    read = {name: one for name, one in found.items() if one.state not in ("ready", "missing")}
    return StrategyFacts(stages, places.ranks, places, _grid(places), frames, read)


def _grid(places: Positions) -> Grid:
    """Return the grid by parallel dimension; where only stages are known, these are rows."""
    known, zero = places.places, np.zeros(len(places.ranks), np.int64)
    if "pp" in known and not {"dp", "tp"} & known.keys():
        order = np.lexsort((places.ranks, known["pp"]))
        begins = np.searchsorted(known["pp"][order], known["pp"])
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order))
        if known["pp"].any():
            return grid_of(places.ranks, number - begins, known["pp"], zero, [""] * len(order))
    elif "dp" in known or "tp" in known:
        dp, pp, tp = (known.get(name, zero) for name in ("dp", "pp", "tp"))
        return grid_of(places.ranks, dp, pp, tp, [""] * len(places.ranks))
    none = zero - 1
    return grid_of(places.ranks, none, none, none, [""] * len(places.ranks))


def metrics_of(source: ProfileSources, choice: ProfileChoice, facts: StrategyFacts) -> list[str]:
    """Return what the grid can be coloured by: times that ranks have, values that files may tell, groups, stages, files."""
    job = source.profiles.job(choice.run, choice.session, choice.rank)
    kinds = {file.kind for member in (job.members if job is not None else ()) for file in member.files}
    found: list[str] = []
    steps = facts.frames.get("cluster_steps")
    if steps is not None:
        values = rank_values({"cluster_steps": steps})
        found += [name for name in OF_STEPS if bool(np.isfinite(values[name]).any())]
    for names, telling in _TELLING:
        found += names if kinds & telling else ()
    known = facts.places.places
    found += [STAGE] if "pp" in known else []
    found += [f"{GROUP}{name}" for name in DIMENSIONS if int(facts.places.groups(name).max(initial=-1)) > 0]
    return [*found, FILE] if STAGES.name in facts.frames else found


def values_of(facts: StrategyFacts, metric: str, step: int | None) -> Floats:
    """Return a value for each rank, in base units; NaN for unknown."""
    places = facts.places
    if metric == FILE:
        having = {rank for members in facts.stages.files.values() for rank in members}
        return np.array([float(rank in having) for rank in facts.ranks.tolist()])
    if metric == STAGE or metric.startswith(GROUP):
        none = np.full(len(facts.ranks), -1, np.int64)
        numbers = places.places.get("pp", none) if metric == STAGE else places.groups(metric.removeprefix(GROUP))
        return np.where(numbers >= 0, numbers.astype(np.float64), np.nan)
    values = rank_values({name: facts.frames.get(name) for name in JOB_FRAMES}, step)
    if metric not in values:
        return np.full(len(facts.ranks), np.nan)
    found: Floats = values[metric].reindex(facts.ranks).to_numpy(np.float64)
    return found
