"""The FrameSource of a server: it answers the pages from the runs that `Follower` has read."""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.engines import Engine
from app.live.sessions import Sessions
from app.live.training import LiveTraining
from app.store.curves.derivations import Derivations
from app.store.curves.insights import Insights
from app.store.dumps.open_dumps import Dumps
from app.store.explanations.open_explanations import ExplainedRuns
from app.store.graphs.snapshots import GraphSnapshots
from app.store.lineage.forests import Forests
from app.store.lineage.rows import Lineage
from app.store.profiles.frames import TRACE, ProfileFrames, mark_of, profile_of
from app.store.profiles.traces import Traces
from app.store.runs.entries import Entry
from app.store.runs.following import Follower
from app.store.runs.matching import Captures, matching
from app.store.runs.notes import Notes
from app.store.runs.run_jobs import FoundJob, RunJobs
from app.store.runs.run_rows import dated_row
from app.store.tuning.studies import Studies
from layouts.dumps import live_sessions as live
from layouts.dumps.live_sessions import LiveSession, LiveStatus, Order
from layouts.dumps.open_dump import DumpWork, OpenDump
from layouts.dumps.watchpoints import WatchList
from layouts.explanations.open_explanations import ExplanationWork, OpenExplanations
from layouts.kit.user_input import Unfit
from layouts.kit.work import WorkResult
from layouts.profiles.frames import IdleTime, ProfileFrame, ProfileRow
from layouts.runs.boards import Board, BoardCard, BoardChange, ChangedBoard
from layouts.runs.notes import HandColour, Mark, Note, Notebook, NoteChange, NotKept, View
from layouts.runs.rows import RunChanges, RunRow, SourceStatus
from layouts.sources import FrameSource, Growth
from layouts.tuning.studies import Importances, OpenStudy, StudyRow
from parsers import (
    DatasetGraph,
    Derived,
    Graph,
    GraphLocation,
    HistogramValue,
    ImageValue,
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
from parsers.explanations.access import RunExplanations
from parsers.names import printable
from parsers.payloads.pictures import GreyPicture
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
        studies_directory: str | None = None,
        stay_inside: bool = False,
        sessions: Sessions | None = None,
        engine: Engine | None = None,
    ) -> None:
        """stay_inside: links that lead out of a base are shown as problems, and nothing behind them is read.

        studies_directory is that of the workspace with studies, which may not exist.
        sessions are those of live training, if a server listens for them. engine reads jobs of many ranks.
        """
        self._graphs = GraphSnapshots(f"{index_directory}-graphs") if index_directory else None
        self._runs = Follower(bases, sources, interval, index_directory, stay_inside=stay_inside, stored=self._graphs)
        self._notes = None if notes_directory is None else Notes(notes_directory)
        self._measuring = threading.Lock()
        self._lineage = Lineage()
        self._insights = Insights()
        self._derivations = Derivations()
        self._captures = Captures()
        of_profiles = f"{index_directory}-profiles" if index_directory else None
        self._profiles = ProfileFrames(of_profiles, engine=engine)
        self._jobs = RunJobs()
        self._traces = Traces(f"{index_directory}-traces" if index_directory else None)
        self._forests = Forests()
        self._live = LiveTraining(sessions, self)
        of_dumps = f"{index_directory}-dumps" if index_directory else None
        self._dumps = Dumps(of_dumps, interval=interval, on_found=self._found_in_dump)
        self._explained = ExplainedRuns(self._found_in_explanations)
        self._studies = Studies(bases, studies_directory, interval=interval, stay_inside=stay_inside)
        self._counted: tuple[tuple[RunRow, ...], int, int] = (), 0, 0
        self._painted: tuple[Any, Any] = None, None

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
        self._dumps.stop()
        self._explained.stop()
        self._live.stop()
        self._studies.stop()
        self._runs.join()
        if self._graphs is not None:
            self._graphs.stop()

    def wait(self, seconds: float) -> bool:
        """Wait until every run of the first scan has been read; return whether it has."""
        return self._runs.wait(seconds)

    # Runs ------------------------------------------------------------------------------------------------------------

    def status(self) -> SourceStatus:
        self._runs.asked()
        self._dumps.look()
        self._studies.look()
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
            version=version + self._studies.version,
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
        self._paint()
        return self._runs.changes(since)

    def colours(self, chosen: Sequence[str] = ()) -> Mapping[str, str]:
        self._paint()
        return self._runs.colours.of(chosen)

    def _paint(self) -> None:
        """Apply the colours set by hand, which belong to directories, to the runs there are now."""
        if self._notes is None:
            return
        known = self._notes.look().colours
        now = known, self._runs.rows if known else None
        if now[0] is self._painted[0] and now[1] is self._painted[1]:
            return
        paths = self._runs.real_paths() if known else {}
        self._runs.paint({key: known[place].colour for key, path in paths.items() if (place := key_of(path)) in known})
        self._painted = now

    def member(self, run: str) -> RunRow | None:
        entry = self._runs.entries.get(run)
        return dated_row(entry.row, entry.source, time.time()) if entry else None

    def tags(self, run: str, kind: str = "scalar") -> Sequence[str]:
        entry = self._runs.entries.get(run)
        return entry.run.tags(kind) if entry else ()

    def series(self, run: str, tag: str) -> Series | None:
        entry = self._runs.entries.get(run)
        found = self._derivations.series(entry.key, entry.run, tag) if entry else None
        return found if found is not None and len(found.step) else None

    def derived(self, run: str, expression: str) -> Derived | None:
        entry = self._runs.entries.get(run)
        return self._derivations.of(entry.key, entry.run, expression) if entry else None

    def version(self, run: str) -> int:
        entry = self._runs.entries.get(run)
        return entry.run.version + entry.dump_changes if entry else 0

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

        def series_of(tag: str) -> Series:
            return self._derivations.series(entry.key, entry.run, tag)

        found, left = self._insights.of(run, series_of, entry.run.tags("scalar") if tags is None else tags, seconds)
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

    # Dumps -----------------------------------------------------------------------------------------------------------

    def dump(self, run: str) -> OpenDump:
        if run.startswith(live.KEY):
            return self._live.open(run)
        return self._dumps.open(run, [entry.source for entry in self._runs.members(run)])

    def dump_work(self, run: str, work: DumpWork, *, again: bool = False) -> WorkResult:
        if run.startswith(live.KEY):
            return self._live.result(run, work, again=again)
        return self._dumps.result(run, [entry.source for entry in self._runs.members(run)], work, again=again)

    def cancel_dump(self, run: str, work: DumpWork) -> None:
        if run.startswith(live.KEY):
            self._live.cancel(run, work)
            return
        self._dumps.cancel(run, work)

    def _found_in_dump(self, run: str, problems: Sequence[Problem], changed: bool) -> None:
        """Show the problems of a dump with those of its runs, and have pages ask again if its rows changed."""
        left = list(problems)
        entries = self._runs.members(run)
        for place, entry in enumerate(entries):
            inside = tuple(f"{path}{os.sep}" for path in entry.source.dump_dirs)
            of_rank = [one for one in left if f"{one.path}{os.sep}".startswith(inside)] if inside else []
            left = [one for one in left if one not in of_rank]
            entry.dump_problems = tuple(of_rank + (left if place == len(entries) - 1 else []))
            if changed:
                self._runs.changed(entry)
            else:
                self._runs.recount(entry)

    # Explanations ----------------------------------------------------------------------------------------------------

    def explanations(self, run: str) -> OpenExplanations:
        return self._explained.open(run, self._explanations_of(run))

    def explanation_work(self, run: str, work: ExplanationWork, *, again: bool = False) -> WorkResult:
        return self._explained.result(run, self._explanations_of(run), work, again=again)

    def cancel_explanation(self, run: str, work: ExplanationWork) -> None:
        self._explained.cancel(run, work)

    def explanation_picture(self, run: str, path: str) -> ImageValue:
        return self._explanations_or_refuse(run).pictures.picture(path)

    def explanation_outcome(self, run: str, path: str, boxes: str, mask: str) -> ImageValue:
        return self._explanations_or_refuse(run).pictures.outcome(path, boxes, mask)

    def explanation_heat_map(self, run: str, path: str) -> GreyPicture:
        return self._explanations_or_refuse(run).pictures.heat_map(path)

    def _explanations_of(self, run: str) -> RunExplanations | None:
        entry = self._runs.entries.get(run)
        return entry.run.explanations if entry else None

    def _explanations_or_refuse(self, run: str) -> RunExplanations:
        found = self._explanations_of(run)
        if found is None:
            raise PayloadError(f"expected the key of a known run, found {run!r}")
        return found

    def _found_in_explanations(self, run: str, problems: Sequence[Problem]) -> None:
        """Show the problems of explanations with those of their run."""
        entry = self._runs.entries.get(run)
        if entry is not None:
            entry.explanation_problems = tuple(problems)
            self._runs.recount(entry)

    # Studies ---------------------------------------------------------------------------------------------------------

    def studies(self) -> Sequence[StudyRow]:
        return self._studies.rows()

    def study(self, key: str) -> OpenStudy:
        return self._studies.open(key)

    def importances(self, key: str, target: str, method: str) -> Importances:
        return self._studies.importances(key, target, method)

    # Live training ---------------------------------------------------------------------------------------------------

    def live(self) -> LiveStatus:
        return self._live.status()

    def order(self, session: str, order: Order) -> LiveSession:
        return self._live.order(session, order)

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
            return Notebook(watchpoints=self._live.lists)
        content, base = self._notes.look(), self._runs.base
        paths = self._runs.real_paths() if content.notes or content.marks or content.watched else {}
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
        lists = {key: content.watched.get(key_of(path)) for key, path in paths.items()} if content.watched else {}
        watchpoints = {key: one.listed for key, one in lists.items() if one is not None} | dict(self._live.lists)
        why = self._notes.why_not
        boards = sorted((one.board for one in content.boards.values() if one.base == base), key=lambda one: one.name.casefold())
        return Notebook(not why, why, notes, tuple(views), marks, watchpoints, content.groups, tuple(boards))

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

    def paint(self, run: str, colour: str) -> HandColour:
        path = self._runs.real_paths()[run]
        return self._notes_or_refuse().paint(key_of(path), printable(path), colour)

    def paint_group(self, by: str, label: str, colour: str) -> HandColour:
        return self._notes_or_refuse().paint_group(by, label, colour)

    def create_board(self, name: str, cards: Sequence[BoardCard], *, key: str = "") -> Board:
        return self._notes_or_refuse().create_board(self._runs.base, key or secrets.token_hex(8), name, cards)

    def change_board(self, key: str, change: BoardChange) -> ChangedBoard:
        return self._notes_or_refuse().change_board(self._runs.base, key, change)

    def delete_board(self, key: str) -> Board | None:
        return self._notes_or_refuse().delete_board(self._runs.base, key)

    def save_watchpoints(self, run: str, watched: WatchList, was: str) -> WatchList:
        if run.startswith(live.KEY):
            return self._live.save(run, watched, was)
        path, notes = self._runs.real_paths()[run], self._notes_or_refuse()
        known = self.notebook().watchpoints.get(run, WatchList())
        end = time.monotonic() + 5.0
        for pattern in {one.pattern for one in watched.checked().watchpoints} - {one.pattern for one in known.watchpoints}:
            if time.monotonic() > end:
                raise Unfit("patterns: expected patterns that are compiled within 5 s, found slower ones: simplify them")
            try:
                self.matching(pattern, [])
            except ValueError as error:
                raise Unfit(f"pattern: {error}") from None
        return notes.save_watchpoints(key_of(path), printable(path), watched, was)

    def _notes_or_refuse(self) -> Notes:
        if self._notes is None:
            raise NotKept("expected a workspace for remarks, tags, views, watchpoints and boards, found none; name one to save")
        return self._notes

    # Patterns --------------------------------------------------------------------------------------------------------

    def matching(self, pattern: str, names: Sequence[str]) -> Sequence[str]:
        return matching(pattern, names)

    def captured(self, pattern: str, names: Sequence[str]) -> Sequence[str | None]:
        return self._captures(pattern, names)


def _encodable(problem: Problem) -> Problem:
    """Return the problem with a path that can be encoded as UTF-8."""
    return problem if problem.path.isascii() else replace(problem, path=printable(problem.path))
