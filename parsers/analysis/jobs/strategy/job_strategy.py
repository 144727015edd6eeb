"""How a job was cut over devices: stages, places of ranks, the grid to draw them in, and values to colour it by."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

import numpy as np

from parsers.analysis.jobs.grid import Grid, grid_of
from parsers.analysis.jobs.job_pipeline import JobPipeline
from parsers.analysis.jobs.strategy.positions import DIMENSIONS, Positions, positions
from parsers.analysis.jobs.strategy.stage_map import StageMap, stage_map
from parsers.analysis.jobs.two_jobs import METRICS, rank_values
from parsers.cluster_frames import CLUSTER_STEPS, GROUPS, JOB_FRAMES, STAGES
from parsers.deferred import pandas as pd
from parsers.model import Floats, Ints
from parsers.profiler.jobs import JobFiles

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
class JobStrategy:
    """The stages of a job, the places of its ranks, the grid they are drawn in, and the frames that are read by name.

    ranks are those of the job and those that the files list, in order.
    """

    stages: StageMap
    ranks: Ints
    places: Positions
    grid: Grid
    frames: Mapping[str, pd.DataFrame]
    files: JobFiles | None

    @property
    def stage_count(self) -> int:
        """The number of stages as the page Pipeline has it; 0 where nothing tells any."""
        return JobPipeline(self.frames.get, self.files).stage_count

    def metrics(self, kinds: Set[str]) -> list[str]:
        """Return what the grid can be coloured by: times that ranks have, values that files may tell, groups, stages, files.

        kinds are those of the files of all ranks.
        """
        found: list[str] = []
        steps = self.frames.get(CLUSTER_STEPS.name)
        if steps is not None:
            values = rank_values({CLUSTER_STEPS.name: steps})
            found += [name for name in OF_STEPS if bool(np.isfinite(values[name]).any())]
        for names, telling in _TELLING:
            found += names if telling & kinds else ()
        found += [STAGE] if "pp" in self.places.places else []
        found += [f"{GROUP}{name}" for name in DIMENSIONS if int(self.places.groups(name).max(initial=-1)) > 0]
        return [*found, FILE] if STAGES.name in self.frames else found

    def values(self, metric: str, step: int | None) -> Floats:
        """Return a value for each rank, in base units; NaN for unknown."""
        if metric == FILE:
            having = {rank for members in self.stages.files.values() for rank in members}
            return np.array([float(rank in having) for rank in self.ranks.tolist()])
        none = np.full(len(self.ranks), -1, np.int64)
        if metric == STAGE or metric.startswith(GROUP):
            numbers = self.places.places.get("pp", none) if metric == STAGE else self.places.groups(metric.removeprefix(GROUP))
            return np.where(numbers >= 0, numbers.astype(np.float64), np.nan)
        values = rank_values({name: self.frames.get(name) for name in JOB_FRAMES}, step)
        if metric not in values:
            return np.full(len(self.ranks), np.nan)
        found: Floats = values[metric].reindex(self.ranks).to_numpy(np.float64)
        return found


def job_strategy(frames: Mapping[str, pd.DataFrame], job: JobFiles | None) -> JobStrategy:
    """Return how a job was cut, from the frames that are read; job has its files, None for unknown."""
    told = frames.get(STAGES.name)
    stages = stage_map(told if told is not None else STAGES.empty())
    own = {rank for rank in (job.ranks if job is not None else ()) if rank >= 0}
    ranks = sorted({*own, *(rank for members in stages.stages for rank in members)})[:MOST_RANKS]
    places = positions(
        ranks, steps=frames.get(CLUSTER_STEPS.name), groups=frames.get(GROUPS.name),
        sizes=dict(job.parallel) if job else None, stages=stages,
    )  # fmt: skip
    return JobStrategy(stages, places.ranks, places, _grid_of(places), frames, job)


def _grid_of(places: Positions) -> Grid:
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
