"""The FrameSource of a server: it answers the pages from the runs that `Follower` has read."""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.store.entries import Entry
from app.store.following import Follower
from app.store.forests import Forests
from app.store.insights import Insights
from app.store.lineage import Lineage
from app.store.matching import Captures, matching
from app.store.notes import Notes
from app.store.profiles import TRACE, ProfileFrames, mark_of, profile_of
from app.store.run_jobs import FoundJob, RunJobs
from app.store.run_rows import dated_row
from app.store.traces import Traces
from layouts.notes import Mark, Note, Notebook, NoteChange, NotKept, View
from layouts.sources import FrameSource, Growth, IdleTime, ProfileFrame, ProfileRow, RunChanges, RunRow, SourceStatus
from parsers import (
    DatasetGraph,
    Graph,
    GraphLocation,
    HistogramValue,
    Insight,
    LandscapePlan,
    LineageRow,
    OpenTrace,
    PayloadError,
    PayloadSeries,
    Problem,
    Profile,
    Series,
    Setting,
    Source,
    Value,
    landscape_plan,
)  # fmt: skip
from parsers.cluster_frames import JOB_FRAMES
from parsers.names import printable
from parsers.profiler.access import Profiles
from parsers.profiler.jobs import JobFiles
from parsers.profiler.trace import sources
from parsers.snapshot import key_of


class Store(FrameSource):
    """A FrameSource over directories on disk, or over sources already discovered. Its methods may be called by any thread.

    They are documented in `layouts.sources`.
    """

    def __init__(
        self,
        bases: Sequence[str | os.PathLike[str]] = (),
        *,
        sources: Sequence[Source] = (),
        interval: float = 3.0,
        index_directory: str | None = None,
        notes_directory: str | None = None,
        stay_inside: bool = False,
    ) -> None:
        """stay_inside: links that lead out of a base are shown as problems, and nothing behind them is read."""
        self._runs = Follower(bases, sources, interval, index_directory, stay_inside=stay_inside)
        self._notes = None if notes_directory is None else Notes(notes_directory)
        self._measuring = threading.Lock()
        self._lineage = Lineage()
        self._insights = Insights()
        self._captures = Captures()
        self._profiles = ProfileFrames(f"{index_directory}-profiles" if index_directory else None)
        self._jobs = RunJobs()
        self._traces = Traces(f"{index_directory}-traces" if index_directory else None)
        self._forests = Forests()
        self._counted: tuple[tuple[RunRow, ...], int, int] = (), 0, 0

    def start(self) -> Store:
        """Start to scan and read in the background."""
        self._runs.start()
        return self

    def stop(self) -> None:
        """Stop reading, save to the index what has been read, and wait for both."""
        self._runs.stop()
        self._profiles.stop()
        self._traces.stop()
        self._forests.stop()
        self._runs.join()

    def wait(self, seconds: float) -> bool:
        """Wait until every run of the first scan has been read; return whether it has."""
        return self._runs.wait(seconds)

    # Runs ------------------------------------------------------------------------------------------------------------

    def status(self) -> SourceStatus:
        self._runs.asked()
        rows, version, read_at = self._runs.snapshot()
        problems = 0
        loaded, damage = self._counts(rows)
        if self._notes is not None:
            self._notes.look()
            version, problems = version + self._notes.revision, len(self._notes.problems)
        return SourceStatus(
            base=self._runs.base,
            read_at=read_at,
            interval=self._runs.interval,
            total=len(rows),
            loaded=loaded,
            problems=damage + len(self._runs.base_problems) + problems,
            version=version,
            failed=self._runs.failed,
            age=self._runs.age(),
            missing=self._runs.missing,
        )

    def _counts(self, rows: tuple[RunRow, ...]) -> tuple[int, int]:
        """Return the numbers of loaded runs and of problems, counted once for these rows."""
        of, loaded, problems = self._counted
        if of is not rows:
            loaded = sum(row.state not in ("waiting", "loading") for row in rows)
            problems = sum(row.problems for row in rows)
            self._counted = rows, loaded, problems
        return loaded, problems

    def runs(self) -> Sequence[RunRow]:
        return self._runs.rows

    def changes(self, since: str) -> RunChanges:
        return self._runs.changes(since)

    def colours(self) -> Mapping[str, str]:
        return self._runs.colours

    def member(self, run: str) -> RunRow | None:
        entry = self._runs.entries.get(run)
        return dated_row(entry.row, entry.source, time.time()) if entry else None

    def tags(self, run: str, kind: str = "scalar") -> Sequence[str]:
        entry = self._runs.entries.get(run)
        return entry.run.tags(kind) if entry else ()

    def series(self, run: str, tag: str) -> Series | None:
        entry = self._runs.entries.get(run)
        found = entry.run.series(tag) if entry else None
        return found if found is not None and len(found.step) else None

    def version(self, run: str) -> int:
        entry = self._runs.entries.get(run)
        return entry.run.version if entry else 0

    def problems(self, run: str | None = None) -> Sequence[tuple[str, Problem]]:
        found = [(entry.key, _encodable(problem)) for entry in self._runs.members(run) for problem in entry.problems]
        if run is not None:
            return found
        noted = self._notes.problems if self._notes is not None else ()
        return [*self._runs.base_problems, *(("", _encodable(problem)) for problem in noted), *found]

    def verified(self, run: str | None = None) -> tuple[int, int]:
        counts = [entry.verified for entry in self._runs.members(run)]
        return sum(done for done, _ in counts), sum(large for _, large in counts)

    def insights(self, run: str, tags: Sequence[str] | None = None, seconds: float = 0.1) -> tuple[Sequence[Insight], int]:
        entry = self._runs.entries.get(run)
        if entry is None:
            return (), 0
        found, left = self._insights.of(run, entry.run, entry.run.tags("scalar") if tags is None else tags, seconds)
        # A run records its final loss when it ends, so a run that has one has not stalled.
        if tags is None and not left and "loss" not in entry.run.settings:
            standing = self._insights.standing(entry.run, time.time())
            found += [standing] if standing is not None else []
        return found, left

    def want(self, runs: Sequence[str]) -> None:
        self._runs.want(runs)

    def refresh(self) -> None:
        self._runs.refresh()

    # Values ----------------------------------------------------------------------------------------------------------

    def payload_series(self, run: str, kind: str, tag: str) -> PayloadSeries | None:
        entry = self._runs.entries.get(run)
        found = entry.run.payload_series(kind, tag) if entry else None
        return found if found is not None and len(found) else None

    def value(self, run: str, kind: str, tag: str, place: int) -> Value:
        entry = self._runs.entries.get(run)
        if entry is None:
            raise PayloadError(f"expected the key of a known run, found {run!r}")
        self._runs.value_wanted()
        try:
            return entry.run.value(kind, tag, place)
        finally:
            if entry.verified[0] < entry.verified[1]:
                self._runs.checked(entry)  # the first read of a large value checks its CRC

    def distribution(self, run: str, tag: str, place: int, *, known: bool = False) -> HistogramValue | None:
        entry = self._runs.entries.get(run)
        if entry is None:
            raise PayloadError(f"expected the key of a known run, found {run!r}")
        if known:
            return entry.run.distribution(tag, place, known=True)
        with self._measuring:
            return entry.run.distribution(tag, place)

    def dataset_graph(self, run: str) -> DatasetGraph | None:
        entry = self._runs.entries.get(run)
        return entry.run.dataset_graph if entry else None

    def graphs(self, run: str) -> Sequence[GraphLocation]:
        entry = self._runs.entries.get(run)
        return list(entry.run.graphs.locations.values()) if entry else ()

    def graph(self, run: str, name: str) -> Graph | None:
        entry = self._runs.entries.get(run)
        found = entry.run.graphs if entry else None
        if entry is None or found is None or name not in found:
            return None
        graph = found[name]
        self._runs.recount(entry)
        return graph

    def landscape_plan(self, run: str) -> LandscapePlan | None:
        entry = self._runs.entries.get(run)
        return landscape_plan(entry.source.path) if entry else None

    # Profiles --------------------------------------------------------------------------------------------------------

    def profiles(self, run: str) -> Sequence[ProfileRow]:
        entry = self._runs.entries.get(run)
        return self._jobs.profiles(self._profiles_beside(entry), run) if entry else ()

    def job(self, run: str, session: str, rank: int) -> JobFiles | None:
        found = self._job(run, session, rank)
        return found.job.files if found else None

    def members(self, run: str, session: str, rank: int) -> Sequence[tuple[str, str, int]]:
        found = self._job(run, session, rank)
        return found.members if found else ()

    def _job(self, run: str, session: str, rank: int) -> FoundJob | None:
        entry = self._runs.entries.get(run)
        return self._jobs.job(self._profiles_beside(entry), (run, session, rank)) if entry else None

    def _profiles_beside(self, entry: Entry) -> Mapping[str, Profiles]:
        """Return the profiles of all runs that may be ranks of the jobs of a run."""

        def those_of(row: str) -> Mapping[str, Profiles]:
            return {one.key: one.run.profile for one in self._runs.members(row) if one.run.profile.sessions}

        return self._jobs.members(entry.job, self._runs.found, self._runs.snapshot()[1], those_of)

    def profile_frame(self, run: str, session: str, rank: int, name: str, *, again: bool = False) -> ProfileFrame:
        entry, found = self._profile(run, session, rank)
        if entry is not None and name in JOB_FRAMES:
            of = self._job(run, session, rank)
            if of is None:
                return ProfileFrame("missing")
            return self._profiles.frame_of_job(of.job, of.mark, name, again=again, on_end=lambda: self._runs.recount(entry))
        if entry is None or found is None:
            return ProfileFrame("missing")
        if name == TRACE:
            return self._traces.frame(found[0], again=again)
        return self._profiles.frame(*found, name, again=again, on_end=lambda: self._runs.recount(entry))

    def cancel_profile(self, run: str, session: str, rank: int, name: str) -> None:
        of = self._job(run, session, rank) if name in JOB_FRAMES else None
        if of is not None:
            self._profiles.cancel(of.mark, name)
            return
        _, found = self._profile(run, session, rank)
        if found is None:
            return
        if name == TRACE:
            self._traces.cancel(found[0])
        else:
            self._profiles.cancel(mark_of(found[0]), name)

    def trace(self, run: str, session: str, rank: int, which: str = "") -> OpenTrace | None:
        _, found = self._profile(run, session, rank)
        return self._traces.open(found[0], which) if found is not None else None

    def trace_frame(self, run: str, session: str, rank: int, which: str = "", *, again: bool = False) -> ProfileFrame:
        _, found = self._profile(run, session, rank)
        return self._traces.frame(found[0], which, again=again) if found is not None else ProfileFrame("missing")

    def traces(self, run: str, session: str, rank: int) -> Sequence[str]:
        _, found = self._profile(run, session, rank)
        return [one.name for one in sources.grouped(found[0])] if found is not None else []

    def idle_time(self, run: str, session: str, rank: int) -> IdleTime:
        _, found = self._profile(run, session, rank)
        return self._traces.idle_time(found[0]) if found is not None else IdleTime("missing")

    def profile_notes(self, run: str, session: str, rank: int) -> Mapping[str, Any]:
        _, found = self._profile(run, session, rank)
        return {**found[0].about, **found[0].step_points} if found is not None else {}

    def _profile(self, run: str, session: str, rank: int) -> tuple[Entry | None, tuple[Profile, str] | None]:
        entry = self._runs.entries.get(run)
        return entry, profile_of(entry.run.profile, session, rank) if entry else None

    # Lineage ---------------------------------------------------------------------------------------------------------

    def settings(self, run: str) -> Mapping[str, Setting]:
        entry = self._runs.entries.get(run)
        return entry.run.settings if entry else {}

    def lineage(self) -> tuple[LineageRow, ...]:
        rows, version, _ = self._runs.snapshot()
        entries = self._runs.entries  # a scan may have removed some of the rows since
        members = [key for row in rows for key in row.members if key in entries]
        return self._lineage.rows(version, [(key, entries[key].run) for key in members])

    def growth(self, rows: Sequence[LineageRow], target: str, act: str = "") -> Growth:
        return self._forests.growth(rows, target, act)

    # Notes -----------------------------------------------------------------------------------------------------------

    def notebook(self) -> Notebook:
        if self._notes is None:
            return Notebook()
        content, base = self._notes.look(), self._runs.base
        paths = self._runs.real_paths() if content.notes or content.marks else {}
        found = {key: content.notes.get(key_of(path)) for key, path in paths.items()}
        notes = {key: one.note for key, one in found.items() if one is not None}
        marks: dict[str, list[Mark]] = {}
        members = {key_of(path): key for key, path in paths.items()} if content.marks else {}
        for one in content.marks.values():
            if one.run in members:
                marks.setdefault(members[one.run], []).append(one.mark)
        for listed in marks.values():
            listed.sort(key=lambda mark: mark.times)
        views = sorted((one.view for one in content.views.values() if one.base == base), key=lambda view: view.name.casefold())
        return Notebook(not self._notes.why_not, self._notes.why_not, notes, tuple(views), marks)

    def annotate(self, run: str, change: NoteChange) -> Note:
        path = self._runs.real_paths()[run]
        return self._notes_or_refuse().annotate(key_of(path), printable(path), change.applied)

    def save_view(self, name: str, place: str, *, instead: str | None = None) -> View:
        return self._notes_or_refuse().save_view(self._runs.base, secrets.token_hex(8), name, place, instead=instead)

    def rename_view(self, key: str, name: str, was: str) -> View:
        return self._notes_or_refuse().rename_view(self._runs.base, key, name, was)

    def delete_view(self, key: str, was: str) -> None:
        self._notes_or_refuse().delete_view(self._runs.base, key, was)

    def save_mark(self, run: str, mark: Mark, *, instead: str | None = None) -> Mark:
        path = self._runs.real_paths()[run]
        keyed = replace(mark, key=secrets.token_hex(8))
        return self._notes_or_refuse().save_mark(key_of(path), printable(path), keyed, instead=instead)

    def delete_mark(self, key: str, was: str) -> None:
        self._notes_or_refuse().delete_mark(key, was)

    def _notes_or_refuse(self) -> Notes:
        if self._notes is None:
            raise NotKept("expected a workspace for remarks, tags and views, found none; name one to save them")
        return self._notes

    # Patterns --------------------------------------------------------------------------------------------------------

    def matching(self, pattern: str, names: Sequence[str]) -> Sequence[str]:
        return matching(pattern, names)

    def captured(self, pattern: str, names: Sequence[str]) -> Sequence[str | None]:
        return self._captures(pattern, names)


def _encodable(problem: Problem) -> Problem:
    """Return the problem with a path that can be encoded as UTF-8."""
    return problem if problem.path.isascii() else replace(problem, path=printable(problem.path))
