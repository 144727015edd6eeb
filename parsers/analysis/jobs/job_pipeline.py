"""The pipeline of a job: bands of its ranks over a step, their times, stages, micro batches and clocks.

Times of a window are ns after the begin of the step that is shown, which is that of its first rank.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import msgspec
import numpy as np

from parsers.analysis.jobs.clocks import clock_offsets
from parsers.analysis.jobs.pipeline import (
    BANDS,
    MicroBatches,
    RankBands,
    micro_batches,
    origins_of,
    rank_bands,
    shares,
    stages_of,
)
from parsers.analysis.jobs.waiting import RankTimes, rank_times, table
from parsers.cluster_frames import CLUSTER_STEPS, COLLECTIVES, DEVICE_TIMES, GROUPS, STAGES
from parsers.deferred import pandas as pd
from parsers.profiler.groups import ranks_of
from parsers.profiler.jobs import JobFiles
from parsers.profiler.step_parts import stages_named
from parsers.schema import Schema

OPEN_RANKS = 32
"""Ranks up to which all stages are unfolded at first."""
LEAST_CLOCK_NS = 1_000
MOST_ROWS = 256
"""Rows that are drawn; the tables have all ranks."""
MOST_OPERATIONS = 8
"""Operations of a moment that are named."""
_MAGIC = b"MSPL"


@dataclass(frozen=True, slots=True)
class PipelineRow:
    """A row of the chart: a rank, or a folded stage (rank -1) with its ranks. stage is -1 for unknown."""

    stage: int
    rank: int
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _BandFrames:
    """Two frames by identity, as a key of the bands made of them."""

    device_times: pd.DataFrame
    collectives: pd.DataFrame

    def __hash__(self) -> int:
        return hash((id(self.device_times), id(self.collectives)))

    def __eq__(self, other: object) -> bool:
        mine = isinstance(other, _BandFrames) and self.device_times is other.device_times
        return mine and isinstance(other, _BandFrames) and self.collectives is other.collectives


@lru_cache(maxsize=2)  # for the page and its routes: 0.07 to 0.17 s for 1.3 million operations and kernels
def _bands(frames: _BandFrames) -> Mapping[int, RankBands]:
    return rank_bands(frames.device_times, frames.collectives)


@dataclass(frozen=True, slots=True)
class Clocks:
    """By how many ns the clock of each rank is ahead of the first one of its set; differ is the most within a set.

    sets is how many sets of ranks share no collective operation, so that their clocks cannot be compared with each other.
    """

    ahead: Mapping[int, int]
    differ: int
    sets: int


@lru_cache(maxsize=2)
def _clocks(frames: _BandFrames) -> Clocks:
    found = clock_offsets(frames.collectives)
    offsets = found.groupby("part")["offset_ns"]
    differ = int((offsets.max() - offsets.min()).max()) if len(found) else 0
    ahead = dict(zip(found["rank"].tolist(), found["offset_ns"].tolist(), strict=True))
    return Clocks(ahead, differ, int(found["part"].nunique()))


@lru_cache(maxsize=1)
def _nothing() -> pd.DataFrame:
    return DEVICE_TIMES.empty()


class JobPipeline:
    """The pipeline of a job. Properties are computed on first use; a frame no file has is empty."""

    def __init__(
        self, frame: Callable[[str], pd.DataFrame | None], files: JobFiles | None, *, step: int | None = None,
        stages: tuple[int, ...] | None = None, aligned: bool = False, typed: int = 0, window: tuple[int, int] | None = None,
    ) -> None:  # fmt: skip
        """Take a function that returns a frame of the job by its name, the files of the job, and what is wanted.

        step is None for all, which one that the job does not have means, too. stages are the unfolded ones, None for the
        default. aligned: clocks are compared by collective operations. typed is the number of micro batches that the user
        gives, 0 for none. window is (from, to) in ns, None for the whole step.
        """
        self.files = files
        self.aligned = aligned
        self._frame = frame
        self._unfolded = stages
        self._typed = typed
        known = step is None or step in self.steps
        self.step = step if known else None
        self._window = window if known else None

    @cached_property
    def collectives(self) -> pd.DataFrame:
        """The operations of all ranks."""
        return self._or_empty("collectives", COLLECTIVES)

    @cached_property
    def cluster_steps(self) -> pd.DataFrame:
        """The parts of steps of all ranks."""
        return self._or_empty("cluster_steps", CLUSTER_STEPS)

    @cached_property
    def groups(self) -> pd.DataFrame:
        """The groups of the job."""
        return self._or_empty("groups", GROUPS)

    def _or_empty(self, name: str, schema: Schema) -> pd.DataFrame:
        found = self._frame(name)
        return schema.empty() if found is None else found

    @cached_property
    def _frames(self) -> _BandFrames:
        found = self._frame("device_times")
        return _BandFrames(_nothing() if found is None else found, self.collectives)

    @cached_property
    def bands(self) -> Mapping[int, RankBands]:
        """The bands of each rank that has any."""
        return _bands(self._frames)

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """The ranks of the job: those with files, and those that files about all ranks name."""
        steps = self.cluster_steps["rank"]
        own = self.files.ranks if self.files is not None else ()
        return tuple(sorted({*own, *self.bands, *(rank for rank in steps.unique().tolist() if rank >= 0)}))

    @cached_property
    def stages(self) -> dict[int, int]:
        """The stage of each rank, -1 for unknown."""
        parallel = dict(self.files.parallel) if self.files is not None else {}
        told = self._or_empty("stages", STAGES)
        found = stages_of(self.ranks, self.groups, self.cluster_steps, told, parallel, ranks_of)
        return found if max(found.values(), default=-1) >= 0 else found | self._named_stages()

    def _named_stages(self) -> dict[int, int]:
        """Return the stages by the names of legacy cluster files, which have the numbers of stages and ranks."""
        found = {}
        for member in self.files.members if self.files is not None else ():
            named = next((one for file in member.files if (one := stages_named(file.name)) is not None), None)
            if named is not None and 0 < named[0] <= named[1] and member.rank < named[1]:
                found[member.rank] = member.rank // (named[1] // named[0])
        return found

    @cached_property
    def stage_count(self) -> int:
        """The number of stages; 0 where no rank has one."""
        return max(self.stages.values(), default=-1) + 1

    @cached_property
    def steps(self) -> list[int]:
        """The numbers of the steps that any rank has; -1, no step marked, is left out."""
        found = {step for one in self.bands.values() for step in one.windows}
        return sorted((found | set(self.cluster_steps["step"].unique().tolist())) - {-1})

    @cached_property
    def _by_stage(self) -> list[int]:
        return sorted(self.ranks, key=lambda rank: (self.stages[rank] < 0, self.stages[rank], rank))

    @cached_property
    def times(self) -> list[RankTimes]:
        """The times of each rank in the step, by stage and rank."""
        return rank_times(self._by_stage, self.bands, self.cluster_steps, self.stages, self.step)

    @cached_property
    def micro_batches(self) -> MicroBatches:
        """The number of micro batches, and where it is known from."""
        told = self.files.micro_batches if self.files is not None else 0
        return micro_batches(list(self.bands.values()), self.step, told=told, typed=self._typed)

    @cached_property
    def rows(self) -> list[PipelineRow]:
        """The rows of the chart by stage and rank: the ranks of unfolded stages, and the folded stages; also undrawn ones."""
        by_stage: dict[int, list[int]] = {}
        for rank in self._by_stage:
            by_stage.setdefault(self.stages[rank], []).append(rank)
        wanted = self._unfolded
        unfolded = set(by_stage) if wanted is None and len(self.ranks) <= OPEN_RANKS else set(wanted or ())
        found = []
        for stage, ranks in by_stage.items():
            if stage in unfolded or len(ranks) == 1:
                found += [PipelineRow(stage, rank, (rank,)) for rank in ranks]
            else:
                found.append(PipelineRow(stage, -1, tuple(ranks)))
        return found

    @cached_property
    def clocks(self) -> Clocks:
        """By how much the clocks of ranks differ."""
        return _clocks(self._frames)

    @property
    def clocks_differ(self) -> bool:
        """Whether clocks are known to differ by more than begins of operations, which are floats of microseconds."""
        return self.clocks.differ > LEAST_CLOCK_NS

    @cached_property
    def _placed(self) -> tuple[dict[int, int], int]:
        return origins_of(list(self.bands.values()), self.step, self.clocks.ahead if self.aligned else {})

    @property
    def length_ns(self) -> int:
        """The length of the step, from the first begin to the last end of any rank."""
        return self._placed[1]

    def origin(self, rank: int) -> int:
        """Return the time by the clock of a rank with which the step begins."""
        return self._placed[0].get(rank, 0)

    @cached_property
    def window(self) -> tuple[int, int]:
        """The window that is shown: the part of the requested one that lies in the step, or all of the step."""
        begin, end = self._window or (0, self.length_ns)
        end = min(end, self.length_ns)
        return (begin, end) if begin < end else (0, self.length_ns)

    # Answers -----------------------------------------------------------------------------------------------------------------

    def view(self, columns: int) -> bytes:
        """Return what is drawn of the window: `MSPL`, uint32 LE length of a JSON header, the header, then the shares.

        The header has begin, end, length (ns), columns, rows, total (rows without a limit) and bands; the shares are bytes,
        band by band, row by row, column by column (`parsers.analysis.jobs.pipeline.shares`).
        """
        rows = self.rows[:MOST_ROWS]
        members = [[self.bands[rank] for rank in row.ranks if rank in self.bands] for row in rows]
        begin, end = self.window
        drawn = shares(members, self._placed[0], begin, end, columns) if end > begin else {}
        told = [
            {
                "stage": row.stage, "rank": row.rank, "ranks": len(row.ranks), "found": len(own),
                "computes": sum(one.computes for one in own), "communicates": sum(one.communicates for one in own),
            }
            for row, own in zip(rows, members, strict=True)
        ]  # fmt: skip
        header = msgspec.json.encode({
            "begin": begin, "end": end, "length": self.length_ns, "columns": columns, "rows": told, "total": len(self.rows),
            "bands": list(drawn),
        })  # fmt: skip
        return b"".join([_MAGIC, len(header).to_bytes(4, "little"), header, *(one.tobytes() for one in drawn.values())])

    def moment(self, rank: int, at: int) -> dict[str, Any]:
        """Return the band of a rank at a moment: band, begin, end (ns of the window's time) and what runs, by name.

        With the number of a marked range in its step. Empty where the rank has nothing.
        """
        one = self.bands.get(rank)
        time = at + self.origin(rank)
        if one is None or not one.begin <= time < one.end:
            return {}
        place = int(np.searchsorted(one.edges, time, "right")) - 1
        band = BANDS[int(one.bands[place])]
        begin, end = (int(edge) - self.origin(rank) for edge in one.edges[place : place + 2])
        found = {"band": band, "begin": begin, "end": end, "operations": self._running(rank, time)}
        if band in one.marks:
            window = one.window(self.step) or (0, 0)
            before = np.sort(one.marks[band])
            found["number"] = int(np.searchsorted(before, time, "right") - np.searchsorted(before, window[0]))
        return found

    def _running(self, rank: int, time: int) -> list[dict[str, Any]]:
        rows = self.collectives
        start, elapse = rows["start_ns"].to_numpy(), rows["elapse_ns"].to_numpy()
        runs = (rows["rank"].to_numpy() == rank) & (start >= 0) & (start <= time) & (time < start + elapse)
        chosen = rows[runs].iloc[:MOST_OPERATIONS]
        return [
            {"name": str(name), "begin": int(begin) - self.origin(rank), "time": float(took)}
            for name, begin, took in zip(chosen["name"], chosen["start_ns"], chosen["elapse_ns"], strict=True)
        ]

    def summary(self) -> pd.DataFrame:
        """Return the times of all ranks, as their CSV has them."""
        return table(self.times)

    def listed(self) -> pd.DataFrame:
        """Return all bands that lie in the window, as their CSV has them: whole ones, by rank and begin."""
        parts = []
        first, last = self.window
        for one in self.times:
            own = self.bands.get(one.rank)
            if own is None:
                continue
            edges = own.edges - self.origin(one.rank)
            rows = np.flatnonzero((edges[1:] > first) & (edges[:-1] < last))
            parts.append(pd.DataFrame({
                "stage": one.stage, "rank": one.rank, "band": np.array(BANDS, object)[own.bands[rows]],
                "begin_ns": edges[:-1][rows], "duration_ns": np.diff(edges)[rows],
            }))  # fmt: skip
        names = ["stage", "rank", "band", "begin_ns", "duration_ns"]
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=names)
