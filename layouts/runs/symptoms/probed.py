"""A run of the application as probes ask for it: what is in memory at once, the rest with its progress."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from parsers import DatasetGraph, Graph, Insight, OpenTrace, PayloadError, PayloadSeries, Series, Setting, Value
from parsers.analysis.curves.insights import LEVELS
from parsers.analysis.dumps.watchpoints import Watchpoint, recommended
from parsers.analysis.jobs.advice import Review, judged
from parsers.analysis.runs.probes.model import Pending, ProbedRun
from parsers.deferred import pandas as pd
from parsers.lineage.datasets import RecordedPipeline
from parsers.model import Ints

from layouts.dumps.dump_results import work_for
from layouts.dumps.open_dump import DumpWork, OpenDump
from layouts.profiles.frames import ProfileFrame
from layouts.profiles.idling import idle_time
from layouts.profiles.profile_choice import ProfileChoice
from layouts.profiles.reviewing import ReviewedFrames, with_replays
from layouts.runs.rows import RunRow
from layouts.runs.symptoms import dump_work
from layouts.sources import Sources

NORMAL = LEVELS["normal"]
"""Score from which on an insight counts, as on pages that nobody has set otherwise."""


SECONDS = 0.2
"""CPU seconds that a request spends on curves at most."""
PATIENCE = 0.2
"""Seconds that a request waits for frames; those that take longer are read while the browser asks again. Meanwhile a reader
computes, so this is also part of what the first states cost."""


MOST_LOOKED = 100_000
"""Tensors of a dump of which it is looked up, with each request, whether all have been read: 1 ms."""
_NOBODY: Ints = np.empty(0, np.int64)
MOST_SESSIONS = 3
"""Other sessions of a run whose kernels are looked at."""


def _wait_for(found: ProfileFrame) -> None:
    """Raise Pending for a frame, or a trace, that is not there yet."""
    if found.state in ("reading", "waiting", "cancelled", "failed"):
        raise Pending(found.state, found.done, found.total, found.text)


def _wait_for_sessions(state: str) -> None:
    raise Pending(state)


class Budget:
    """CPU seconds that a request may spend on analysing curves, and how long it may wait; the rest is asked for again."""

    def __init__(self, seconds: float) -> None:
        self._end = time.process_time() + seconds
        self._patience = PATIENCE

    @property
    def is_impatient(self) -> bool:
        """Whether the request has waited long enough."""
        return self._patience <= 0.0

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time within this context as waiting."""
        begun = time.monotonic()
        yield
        self._patience -= time.monotonic() - begun

    @property
    def left(self) -> float:
        """Seconds that are left; never negative."""
        return max(0.0, self._end - time.process_time())


@dataclass(frozen=True, slots=True)
class QuestionSubject:
    """What a question is about: a member run, the one it is compared with ("" for none), the members on screen, and what is to
    be done with work that was stopped: "again" resumes it, "cancel" stops it."""

    run: str
    other: str = ""
    shown: tuple[str, ...] = ()
    act: str = ""
    budget: Budget = field(default_factory=lambda: Budget(SECONDS), compare=False)


class SourceRun(ProbedRun):
    """A member run of a source. See `parsers.analysis.runs.probes.model.ProbedRun`."""

    def __init__(self, source: Sources, asked: QuestionSubject) -> None:
        self.source, self.asked, self.run = source, asked, asked.run
        self._reviewed: ReviewedFrames | None = None
        self._session: ProfileChoice | None = None
        self.is_provisional = False
        """Whether replays of its job, which tell what advice saves, are still being made."""

    def _beside(self, run: str) -> SourceRun:
        return SourceRun(self.source, QuestionSubject(run, "", self.asked.shown, self.asked.act, self.asked.budget))

    @cached_property
    def row(self) -> RunRow | None:
        """The row of the run, or of the job whose rank it is."""
        return next((row for row in self.source.runs.rows() if self.run in row.members), None)

    @cached_property
    def profile(self) -> ProfileChoice | None:
        """The profile that questions are about: of the newest job of the run the lowest rank, unless one was chosen."""
        if self._session is not None:
            return self._session
        members = self.row.members if self.row is not None else (self.run,)
        for member in (self.run, *(one for one in members if one != self.run)):
            found = {(one.session, one.rank): one for one in self.source.profiles.rows(member)}
            if found:
                newest = max(found.values(), key=lambda one: one.updated)
                job = self.source.profiles.members(member, newest.session, newest.rank)
                able = [found[session, rank] for run, session, rank in job if run == member and (session, rank) in found]
                best = min(able or [newest], key=lambda one: (one.rank < 0, one.rank))
                return ProfileChoice(member, best.session, best.rank, best.mark)
        return None

    @property
    def other(self) -> SourceRun | None:
        return self._beside(self.asked.other) if self.asked.other else None

    @cached_property
    def before(self) -> tuple[str, SourceRun] | None:
        other, of = self.other, self.profile
        if other is not None:
            return other.run, other
        if of is None:
            return None
        rows = self.source.profiles.rows(of.run)
        own = next((row for row in rows if (row.session, row.rank) == (of.session, of.rank)), None)
        past = [row for row in rows if row.rank == of.rank and own is not None and row.session != own.session
                and row.updated < own.updated]  # fmt: skip
        if not past:
            return None
        newest = max(past, key=lambda row: row.updated)
        made = self._beside(self.run)
        made._session = ProfileChoice(of.run, newest.session, newest.rank, newest.mark)
        return newest.session, made

    @property
    def others(self) -> Sequence[SourceRun]:
        own = set(self.row.members) if self.row is not None else {self.run}
        return [self._beside(run) for run in self.asked.shown if run not in own]

    @property
    def ranks(self) -> Mapping[int, SourceRun]:
        members = self.row.members if self.row is not None else ()
        return {rank: self._beside(run) for rank, run in enumerate(members)} if len(members) > 1 else {}

    @property
    def series_of_ranks(self) -> Sequence[str]:
        """The scalars of all ranks of its job."""
        return [tag for member in self.ranks.values() for tag in member.tags()]

    def tags(self, kind: str = "scalar") -> Sequence[str]:
        return self.source.runs.tags(self.run, kind)

    def series(self, tag: str) -> Series | None:
        return self.source.curves.series(self.run, tag)

    def recorded(self, tag: str) -> Series | None:
        return self.source.curves.recorded(self.run, tag)

    def insights(self, tags: Sequence[str]) -> Sequence[Insight]:
        if not tags:
            return ()
        found, left = self.source.curves.insights(self.run, tags, self.asked.budget.left)
        if left:
            raise Pending("reading", len(tags) - left, len(tags))
        return [one for one in found if one.score >= NORMAL]

    def stalled(self) -> Insight | None:
        found, left = self.source.curves.insights(self.run, None, self.asked.budget.left)
        if left:
            total = len(self.tags())
            raise Pending("reading", max(0, total - left), total)
        return next((one for one in found if one.kind == "stall" and one.score >= NORMAL), None)

    def payloads(self, kind: str, tag: str) -> PayloadSeries | None:
        return self.source.values.series(self.run, kind, tag)

    def value(self, kind: str, tag: str, place: int) -> Value | None:
        try:
            return self.source.values.value(self.run, kind, tag, place)
        except PayloadError:
            return None  # pages about values show the problem; here there is one value less to judge

    def settings(self) -> Mapping[str, Setting]:
        return self.source.lineage.settings(self.run)

    def pipeline(self) -> DatasetGraph | None:
        return self.source.graphs.dataset(self.run) if self.tags("dataset_graph") else None

    def pipelines(self) -> Sequence[RecordedPipeline]:
        return self.source.graphs.datasets(self.run) if self.tags("dataset_graph") else ()

    @property
    def graph_name(self) -> str:
        """The name of the newest computation graph; "" for none."""
        locations = self.source.graphs.locations(self.run)
        return locations[-1].name if locations else ""

    def graph(self) -> Graph | None:
        name = self.graph_name
        if not name:
            return None
        told = self.source.graphs.reading(self.run, name, again=self.asked.act == "again", cancel=self.asked.act == "cancel")
        if told.state != "ready":
            raise Pending(told.state, told.done, told.total, told.text)
        try:
            return self.source.graphs.graph(self.run, name)
        except PayloadError as error:
            raise Pending("failed", text=str(error)) from None

    # Profiles ----------------------------------------------------------------------------------------------------------

    def review(self, rules: Collection[str]) -> Review | None:
        if self.profile is None:
            return None
        frames = self._reviewed
        if frames is None:
            idle = idle_time(self.source, self.profile)
            frames = self._reviewed = ReviewedFrames(self.source, self.profile, idle, self.frame, _wait_for_sessions)
        found = judged(frames, rules=rules)
        if len(found.found) < 2:  # what one piece of advice saves changes nothing that is said
            return found
        replayed = with_replays(self.source, self.profile, frames, found)
        self.is_provisional = self.is_provisional or replayed.is_computing
        return replayed.review

    def frame(self, name: str) -> pd.DataFrame | None:
        if self.profile is None:
            return None
        return self._frame_of(self.profile, name)

    def _frame_of(self, of: ProfileChoice, name: str) -> pd.DataFrame | None:
        if self.asked.budget.is_impatient:
            raise Pending("reading")
        with self.asked.budget.waiting():
            found = self.source.profiles.frame(of.run, of.session, of.rank, name, again=self.asked.act == "again")
        _wait_for(found)
        return found.frame if found.frame is not None and len(found.frame) else None

    def files_of(self, name: str) -> Sequence[str]:
        if self.profile is None:
            return ()
        return self.source.profiles.frame(self.profile.run, self.profile.session, self.profile.rank, name).wanted

    def other_kernels(self) -> Mapping[str, pd.DataFrame]:
        if self.profile is None:
            return {}
        of = self.profile
        rows = [one for one in self.source.profiles.rows(of.run) if one.rank == of.rank and one.session != of.session]
        found: dict[str, pd.DataFrame] = {}
        for row in sorted(rows, key=lambda one: -one.updated)[:MOST_SESSIONS]:
            if "kernels" in row.frames:
                kernels = self._frame_of(ProfileChoice(of.run, row.session, row.rank), "kernels")
                found |= {} if kernels is None else {row.session: kernels}
        return found

    def trace(self) -> OpenTrace | None:
        if self.profile is None:
            return None
        of = self.profile.run, self.profile.session, self.profile.rank
        if self.asked.act == "cancel":
            self.source.profiles.cancel(*of, "trace")
        told = self.source.profiles.trace_frame(*of, again=self.asked.act == "again")
        _wait_for(told)
        return None if told.state == "missing" else self.source.profiles.trace(*of)

    # Dumps -------------------------------------------------------------------------------------------------------------

    @property
    def dump_key(self) -> str:
        """The run whose dump it is: that of its row, since ranks of a job are dumped together."""
        return self.row.key if self.row is not None else self.run

    def _dump(self) -> OpenDump | None:
        """Return the listed dump; None without one."""
        if self.row is None or not self.row.tags.get("dump"):
            return None
        opened = self.source.dumps.open(self.dump_key)
        if opened.state in ("reading", "failed"):
            raise Pending(opened.state, text=opened.text)
        return opened if opened.dump is not None else None

    @property
    def is_measured(self) -> bool:
        """Whether the statistics of all dumped tensors are known: files state them, or a page, as First cause, has read them.

        Not looked at in a dump of more than MOST_LOOKED tensors.
        """
        try:
            opened = self._dump()
        except Pending:
            return False
        if opened is None or opened.dump is None or len(opened.dump.tensors) > MOST_LOOKED:
            return False
        known, has_file = opened.dump.measured(_NOBODY).known, (opened.dump.tensors["file"] != "").to_numpy(bool)
        return bool(has_file.any()) and bool(known[has_file].all())

    def dump(self, result: str) -> pd.DataFrame | None:
        opened = self._dump()
        if opened is None or opened.dump is None:
            return None
        if result == "overflows":
            return opened.dump.overflows
        if result == "differences":
            other = self.other._dump() if self.other is not None else None
            if other is None or other.dump is None or self.other is None:
                return None
            return self._worked(dump_work.differences(other.dump, self.other.dump_key, other.mark))
        if result in ("glance", "nearby"):
            return self._worked(dump_work.glance() if result == "glance" else dump_work.nearby())
        watched = (*recommended(), Watchpoint("weight_not_changed", {"rtol": 1e-5})) if result == "hits" else ()
        return self._worked(work_for(result, watchpoints=watched))

    def _worked(self, work: DumpWork) -> pd.DataFrame | None:
        if self.asked.act == "cancel":
            self.source.dumps.cancel(self.dump_key, work)
        told = self.source.dumps.work(self.dump_key, work, again=self.asked.act == "again")
        if told.state == "missing":
            return None
        if told.state != "ready":
            raise Pending(told.state, told.done, told.total, told.text)
        found: pd.DataFrame = told.result
        return found
