"""One run: its files followed while they grow, and the objects that read scalars, large values, lineage and profiles from them.

A file is read from its cursor on, so `Run.refresh()` costs what is new.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from parsers.deferred import pandas as pd
from parsers.discovery import rescan, source_of
from parsers.file_states import FileState
from parsers.lineage.access import RunLineage
from parsers.lineage.datasets import DatasetGraph, RecordedPipeline
from parsers.lineage.values import Setting
from parsers.model import PayloadBlock, Problem, Series, Source
from parsers.payloads.access import RunPayloads
from parsers.payloads.cache import PayloadCache
from parsers.payloads.series import PayloadSeries
from parsers.payloads.values import HistogramValue, ImageValue, LandscapeValue, TensorValue, TextValue, Value
from parsers.run_files import RunFiles
from parsers.scalars import RunScalars, ScalarsView
from parsers.verification import Verification

if TYPE_CHECKING:
    from parsers.analysis.curves.derived import Derived
    from parsers.analysis.runs.run_digest import RunDigest
    from parsers.dumps.access import RunDump
    from parsers.explanations.access import RunExplanations
    from parsers.graphs.access import Graphs
    from parsers.graphs.conversion_access import Conversions
    from parsers.profiler.access import Profiles, RunProfiles


class Run:
    """A run directory or file. Reads nothing until `refresh()`; `open_run` does that at once.

    A job of several ranks has one Run per rank in `ranks`; its own scalars are those of files beside the rank directories.
    One thread may refresh a run while others read from it: nobody waits for a file, only for a batch to be taken in.
    cache keeps decoded values; runs may share one.
    """

    def __init__(self, source: Source, cache: PayloadCache | None = None) -> None:
        self.source = source
        self.behind = False
        self._cache = PayloadCache() if cache is None else cache
        self.ranks = tuple(Run(rank, self._cache) for rank in source.ranks)
        self._files = RunFiles()
        self._scalars = RunScalars(self._files)
        self._payloads = RunPayloads(self._files, self._cache)
        self._lineage = RunLineage(self._files, self._scalars, self._payloads)
        self._profiles: RunProfiles | None = None
        self._dump: RunDump | None = None
        self._explanations: RunExplanations | None = None
        self._verification = Verification(self._files)

    def __repr__(self) -> str:
        return f"Run({self.name!r}, files={len(self.files)}, scalar tags={len(self.tags('scalar'))})"

    @property
    def name(self) -> str:
        """Name relative to the base the run was found under."""
        return self.source.name

    @property
    def path(self) -> str:
        """Directory of the run."""
        return self.source.path

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of the files read; the column `file` of frames is an index into this."""
        return self._files.paths

    @property
    def states(self) -> Mapping[str, FileState]:
        """What has been read of each file, by path."""
        return self._files.states

    @property
    def version(self) -> int:
        """A number that grows with every change of what this run shows."""
        return self._files.version

    def refresh(self, source: Source | None = None, *, limit: int | None = None) -> bool:
        """Read what has been appended since the last time; return whether anything changed.

        source is the run as a later scan found it (other files, other sizes); without it the directory is listed again.
        limit stops after about this many bytes; `behind` then says that the next call has more to read.
        """
        self.source = rescan(self.source) if source is None else source
        self._pair_ranks()
        followed = (self, *self.ranks)
        for run in followed:
            run._files.forget_vanished(run.source.files)
        lineage = [run._lineage.events() for run in followed]
        changed, self.behind = False, False
        for run, file in ((leaf, file) for leaf in followed for file in leaf.source.files):
            self.behind = self.behind or (limit is not None and limit <= 0)
            if limit is not None and limit <= 0:
                break
            grown, size, more = run._files.follow(file, limit)
            changed = changed or grown
            self.behind = self.behind or more
            limit = None if limit is None else limit - size
        for run, events in zip(followed, lineage, strict=True):
            changed |= run._files.settle(run.source.files)
            changed |= run._files.look_at_computed(run.source.files)
            changed |= run._lineage.read_configs(run.source.files)
            if run._look_for_profiles():
                run._files.version += 1
                changed = True
            run._lineage.check(events)
        if self._dump is not None and self._dump.refresh():
            self._files.version += 1
            changed = True
        return changed

    def _pair_ranks(self) -> None:
        known = {rank.path: rank for rank in self.ranks}
        self.ranks = tuple(known.get(found.path) or Run(found, self._cache) for found in self.source.ranks)
        for rank, found in zip(self.ranks, self.source.ranks, strict=True):
            rank.source = found

    def _look_for_profiles(self) -> bool:
        if self._profiles is None:
            if not any(each.profile_dirs for each in (self.source, *self.source.ranks)):
                return False
            from parsers.profiler.access import RunProfiles  # few servers read profiles: 80 modules

            self._profiles = RunProfiles()
        return self._profiles.refresh(self.source)

    def restore(self, states: Sequence[FileState]) -> None:
        """Take what an earlier process read; `refresh()` then reads only what came after."""
        self._files.restore(states)

    # What there is -------------------------------------------------------------------------------------------------

    def tags(self, kind: str = "scalar") -> tuple[str, ...]:
        """Tags of one kind ("scalar", "histogram", "image", "tensor", ...) in order of first appearance."""
        return self._files.tags(kind)

    def kinds(self) -> dict[str, int]:
        """Kind -> number of tags, for the kinds this run has; "config" counts files of settings, "profile" profiles, "dump"
        directories of dumps, ranks included."""
        with self._files.lock:
            counted = {kind: len(self.tags(kind)) for kind in ("scalar", *self._files.payload_kinds())}
            if "graph" in counted:
                counted["graph"] = len(self.graphs)
            counted["config"] = len(self._lineage.configs)
            counted["profile"] = (len(self.profile) or len(self.profile.sessions)) if self.profiled else 0
            counted["dump"] = len(self._dump_dirs())
        return {kind: count for kind, count in counted.items() if count}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All damage found in the files of this run and its ranks.

        A record that a file ends within is damage once the file has not changed for five minutes.
        """
        own = (*self.source.problems, *self._files.problems, *self._lineage.config_problems)
        if self._profiles is not None:
            own = (*own, *self._profiles.current.problems)
        if self._dump is not None:
            own = (*own, *self._dump.problems)
        return tuple(dict.fromkeys((*own, *(problem for rank in self.ranks for problem in rank.problems))))

    @property
    def waiting(self) -> bool:
        """Return whether a file of this run or its ranks ends within a record, which may still be written."""
        return self._files.waiting or any(rank.waiting for rank in self.ranks)

    @property
    def unverified(self) -> int:
        """Number of large values whose data CRC has not been checked yet, ranks included."""
        return self._files.unverified + sum(rank.unverified for rank in self.ranks)

    @property
    def large(self) -> int:
        """Number of large values whose data CRC is checked when they are first read or by `verify`, ranks included."""
        return self._files.large + sum(rank.large for rank in self.ranks)

    def verify(self, *, limit: int | None = None) -> bool:
        """Check the data CRC of all large values that have not been read yet; damage is then in `problems`.

        limit stops after about this many bytes; returns whether there are more values to check.
        """
        return any(run._verification.advance(limit) for run in (self, *self.ranks))

    @property
    def started(self) -> float | None:
        """Wall time of the earliest event in seconds, else the earliest time in a file name, else None."""
        with self._files.lock:
            times = [state.started for state in self.states.values() if state.started is not None]
        times += [rank.started for rank in self.ranks if rank.started is not None]
        if times:
            return min(times)
        return min((float(f.stamp) for f in self.source.files if f.stamp is not None), default=None)

    # Scalars -------------------------------------------------------------------------------------------------------

    @property
    def points(self) -> int:
        """Number of scalar values in the files of this run, ranks not counted."""
        return self._scalars.points

    @property
    def steps(self) -> int:
        """Number of steps of the longest series with restarts resolved, ranks not counted."""
        return self._scalars.steps

    @property
    def scalars(self) -> pd.DataFrame:
        """Every scalar value (schema SCALARS), nothing merged or left out."""
        return self._scalars.frame()

    def series(self, tag: str) -> Series:
        """All values of one scalar tag in the order they were written; empty for an unknown tag."""
        return self._scalars.series(tag)

    def resolved(self, tag: str) -> Series:
        """The values of one scalar tag that no later one supersedes, as `scalars_view("newest")`: what pages show."""
        return self._scalars.resolved(tag)

    def derived(self, expression: str) -> Derived:
        """Evaluate an expression over the scalars of this run, such as ``"train/loss - val/loss"``.

        `parsers.analysis.curves.expressions` has the grammar, `parsers.analysis.curves.derived` says what steps and windows
        mean. The result has the values as `series`, with rising steps, and says what is missing. ExpressionError, with the
        column and what was expected there, for an invalid expression.
        """
        from parsers.analysis.curves.derived import evaluate
        from parsers.analysis.curves.expressions import parse_expression

        return evaluate(parse_expression(expression), self.series)

    def digest(self, tags: str = "") -> RunDigest:
        """What this run shows, in facts: of its curves over all points, its profiles and its dump, as the pages state them.

        tags is a regular expression that is found in each tag; re.error for an invalid one. `.facts` has the facts,
        `.as_json()` the same as JSON holds them.
        """
        from parsers.analysis.runs.run_digest import run_digest

        return run_digest(self, tags)

    def scalars_view(self, sessions: str = "newest") -> ScalarsView:
        """Scalars with a column `session` that counts restarts of each tag from 0; a session begins where step goes back.

        "all" keeps every row. "newest" keeps of each session the steps before the next session's first one, and of a
        (tag, step) written twice in one session the later value: the curve as the last writer of every step left it.
        """
        return self._scalars.view(sessions)

    # Lineage, profiles, graphs -------------------------------------------------------------------------------------

    @property
    def settings(self) -> Mapping[str, Setting]:
        """What was recorded by column of LINEAGE, except `run` and `path`: a loss of NaN is here, a missing one is not."""
        return self._lineage.settings

    @property
    def lineage(self) -> pd.DataFrame:
        """One row (schema LINEAGE): hyper-parameters, data sets, model, `metric/<name>`, `user_defined/<name>`."""
        return self._lineage.frame(self.name, self.path)

    @property
    def dataset_graph(self) -> DatasetGraph | None:
        """The data set pipeline that fed the training; None if none was recorded."""
        return self._lineage.dataset_graph

    @property
    def dataset_graphs(self) -> Sequence[RecordedPipeline]:
        """All data set pipelines that were recorded, one for each start of the training, the oldest first."""
        return self._lineage.dataset_graphs

    @property
    def profile(self) -> Profiles:
        """The profiles of this run and, of a job, of its ranks; nothing is read until a frame is asked for."""
        if self._profiles is not None:
            return self._profiles.current
        from parsers.profiler.access import Profiles

        return Profiles(())

    @property
    def profiled(self) -> bool:
        """Whether this run has profiles, known without importing what reads them."""
        return self._profiles is not None and bool(self._profiles.current.sessions)

    @property
    def dump(self) -> RunDump:
        """The dumped tensors of this run and, of a job, of its ranks; nothing is read until it is asked for."""
        from parsers.dumps.access import RunDump  # few servers read dumps: 0.03 s of imports

        directories = self._dump_dirs()
        with self._files.lock:
            if self._dump is None or self._dump.directories != directories:
                self._dump = RunDump(self.path, directories)
            return self._dump

    @property
    def explanations(self) -> RunExplanations:
        """What an explainer recorded of this run; nothing is read until a frame is asked for."""
        from parsers.explanations.access import KIND, RunExplanations  # few servers read explanations

        with self._files.lock:
            if self._explanations is None:
                self._explanations = RunExplanations(
                    self.path, lambda: (self.payload_series(KIND, KIND), self._files.paths), self._cache
                )
            return self._explanations

    def _dump_dirs(self) -> tuple[str, ...]:
        return tuple(path for source in (self.source, *self.source.ranks) for path in source.dump_dirs)

    @property
    def graphs(self) -> Graphs:
        """Every graph of this run by name, decoded on demand. Ranks have their own."""
        from parsers.graphs.access import Graphs, locations_of  # the readers of all formats of graphs

        with self._files.lock:
            locations = locations_of(self.path, self.states)
        return Graphs(locations, self._cache.graphs, self._files.mark_verified, self._files.note)

    @property
    def conversions(self) -> Conversions:
        """Every report of a model conversion of this run by the name of its file, decoded on demand."""
        from parsers.graphs.conversion_access import Conversions  # few servers read conversions

        with self._files.lock:
            return Conversions(self.states, self._cache.graphs, self._files.note)

    # Large values --------------------------------------------------------------------------------------------------
    # A value is named by kind, tag and place: its index in `payload_series(kind, tag)`. Negative places count from the newest.

    @property
    def histograms(self) -> pd.DataFrame:
        """Index of all histograms (schema HISTOGRAMS)."""
        return self._payloads.index("histogram")

    @property
    def images(self) -> pd.DataFrame:
        """Index of all images (schema IMAGES)."""
        return self._payloads.index("image")

    @property
    def tensors(self) -> pd.DataFrame:
        """Index of all tensors (schema TENSORS)."""
        return self._payloads.index("tensor")

    @property
    def landscapes(self) -> pd.DataFrame:
        """Index of all loss landscapes (schema LANDSCAPES)."""
        return self._payloads.index("landscape")

    @property
    def texts(self) -> pd.DataFrame:
        """Index of all texts (schema TEXTS)."""
        return self._payloads.index("text")

    def payloads(self, kind: str, tag: str) -> list[tuple[str, PayloadBlock]]:
        """(file path, index of the values) of one tag of one kind; the values themselves are not read."""
        with self._files.lock:
            paths = self.files
            return [(paths[number], block) for number, block in self._files.payload_blocks(kind, tag)]

    def payload_series(self, kind: str, tag: str) -> PayloadSeries:
        """All values of one tag of one kind, located but not decoded, in the order they were written; none if unknown."""
        return self._payloads.series(kind, tag)

    def find(self, kind: str, tag: str, step: int) -> int:
        """Place of the value of a step, of several the one written last; PayloadError if there is none."""
        return self._payloads.find(kind, tag, step)

    def value(self, kind: str, tag: str, place: int) -> Value:
        """One value, decoded. PayloadError names file and record, what was expected and what was found."""
        return self._payloads.value(kind, tag, place)

    def raw(self, kind: str, tag: str, place: int) -> memoryview:
        """The bytes of the message of one value, checked. PayloadError as for `value`."""
        return self._payloads.raw(kind, tag, place)

    def distribution(self, tag: str, place: int, *, known: bool = False) -> HistogramValue | None:
        """The distribution of a tensor's values (`analysis.distribution`), computed once; the tensor is not cached for it.

        With known, None if it has not been computed yet. For a damaged record it has no buckets and says why.
        """
        return self._payloads.distribution(tag, place, known=known)

    def histogram(self, tag: str, place: int) -> HistogramValue:
        """One histogram."""
        return self._payloads.typed("histogram", tag, place, HistogramValue)

    def image(self, tag: str, place: int) -> ImageValue:
        """One image, encoded as it was recorded."""
        return self._payloads.typed("image", tag, place, ImageValue)

    def tensor(self, tag: str, place: int) -> TensorValue:
        """One tensor; in full precision if an exported .npy file of it lies beside the event file."""
        return self._payloads.typed("tensor", tag, place, TensorValue)

    def landscape(self, tag: str, place: int) -> LandscapeValue:
        """One loss landscape."""
        return self._payloads.typed("landscape", tag, place, LandscapeValue)

    def text(self, tag: str, place: int) -> TextValue:
        """One text."""
        return self._payloads.typed("text", tag, place, TextValue)


def open_run(path: str | os.PathLike[str] | Source) -> Run:
    """Open one run directory or event file, or a Source that `discover` found, and read it; SourceError if there is no run."""
    run = Run(path if isinstance(path, Source) else source_of(path))
    run.refresh(None if isinstance(path, Source) else run.source)  # which has just been looked at
    return run
