"""What a server knows, by subject: it answers the pages from the runs that a `RunFollower` has read."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from app.store.first_use import made_once
from app.store.graphs.snapshots import GraphSnapshots
from app.store.runs.following import RunFollower
from app.store.runs.matching import UserPatterns
from app.store.runs.notes import Notes
from app.store.runs.source import StoredRuns
from app.store.runs.visitors import ANYBODY, Visitor
from layouts.runs.questions import Destinations
from parsers import Source
from parsers.files import stay_below

if TYPE_CHECKING:
    from app.engines import Engine
    from app.live.sessions import Sessions
    from app.live.training import LiveTraining
    from app.store.curves.source import StoredCurves
    from app.store.dumps.source import StoredDumps
    from app.store.explanations.source import StoredExplanations
    from app.store.graphs.source import StoredGraphs
    from app.store.lineage.source import StoredLineage
    from app.store.profiles.source import StoredProfiles
    from app.store.runs.notes_source import StoredNotes
    from app.store.tuning.studies import Studies
    from app.store.values.source import StoredValues


class Store:
    """The `layouts.sources.Sources` of directories on disk, or of sources already discovered, as attributes.

    Their methods may be called by any thread.
    """

    def __init__(
        self,
        bases: Sequence[str | os.PathLike[str]] = (),
        *,
        names: Mapping[str, str] | None = None,
        sources: Sequence[Source] = (),
        interval: float = 3.0,
        index_directory: str | None = None,
        notes_directory: str | None = None,
        studies_directory: str | None = None,
        stay_inside: bool = False,
        sessions: Sessions | None = None,
        engine: Engine | None = None,
        places: Destinations | None = None,
        visitor: Visitor = ANYBODY,
        wishes: Mapping[str, str] | None = None,
        expected: Callable[[], Collection[str]] | None = None,
    ) -> None:
        """names: of bases, what their runs begin with; by default the name of a directory, if there are several.

        stay_inside: links that lead out of a base are shown as problems, and nothing behind them is read.

        studies_directory is that of the workspace with studies, which may not exist.
        sessions are those of live training, if a server listens for them. engine reads jobs of many ranks.
        places answer the questions of the start page, for a demo that knows what is in its runs.
        expected tells the keys of runs that another program is about to write, which a demo knows.
        wishes: directories of copies -> files that their mirrors look for wishes in, which are in the workspace.
        visitor says who sends the request that is being answered; by default nobody knows, and everybody may change everything.
        """
        if stay_inside:
            for base in bases:
                stay_below(os.fspath(base))
        self._visitor = visitor
        self._bases, self._interval, self._stay_inside = bases, interval, stay_inside
        self._index, self._engine, self._sessions, self._studies = index_directory, engine, sessions, studies_directory
        self._snapshots = GraphSnapshots(f"{index_directory}-graphs") if index_directory else None
        self.follower = RunFollower(
            bases, sources, interval, index_directory, names=names or {}, stay_inside=stay_inside, stored=self._snapshots
        )
        self._written = None if notes_directory is None else Notes(notes_directory)
        self.patterns = UserPatterns()
        self.runs = StoredRuns(
            self.follower, self._written, self._look, places, [os.fspath(base) for base in bases], wishes, expected
        )

    def _look(self) -> int:
        """Look whether dumps and studies have changed; return the version of the studies."""
        if "dumps" in vars(self):
            self.dumps.held.look()
        self.studies.look()
        return self.studies.version

    # One of each, made for the first page that asks for it.

    @made_once
    def live(self) -> LiveTraining:
        """Live training."""
        from app.live.training import LiveTraining

        return LiveTraining(self._sessions, self.patterns, self._visitor)

    @made_once
    def studies(self) -> Studies:
        """Studies."""
        from app.store.tuning.studies import Studies

        return Studies(self._bases, self._studies, interval=self._interval, stay_inside=self._stay_inside)

    @made_once
    def dumps(self) -> StoredDumps:
        """Dumps."""
        from app.store.dumps.source import StoredDumps

        return StoredDumps(self.follower, self.live, f"{self._index}-dumps" if self._index else None, self._interval)

    @made_once
    def curves(self) -> StoredCurves:
        """Their scalars."""
        from app.store.curves.source import StoredCurves

        return StoredCurves(self.follower)

    @made_once
    def values(self) -> StoredValues:
        """Large values."""
        from app.store.values.source import StoredValues

        return StoredValues(self.follower)

    @made_once
    def graphs(self) -> StoredGraphs:
        """Computation graphs and data pipelines."""
        from app.store.graphs.source import StoredGraphs

        return StoredGraphs(self.follower)

    @made_once
    def profiles(self) -> StoredProfiles:
        """Profiles and their traces."""
        from app.store.profiles.source import StoredProfiles

        return StoredProfiles(self.follower, self._index, self._engine)

    @made_once
    def lineage(self) -> StoredLineage:
        """Settings, results and shares."""
        from app.store.lineage.source import StoredLineage

        return StoredLineage(self.follower)

    @made_once
    def notes(self) -> StoredNotes:
        """Remarks, views, marks, watchpoints, colours and boards."""
        from app.store.runs.notes_source import StoredNotes

        return StoredNotes(self.follower, self._written, self.live, self.patterns, self._visitor)

    @made_once
    def explanations(self) -> StoredExplanations:
        """Explanations."""
        from app.store.explanations.source import StoredExplanations

        return StoredExplanations(self.follower)

    def start(self) -> Store:
        """Start to scan and read in the background."""
        self.follower.start()
        return self

    def stop(self) -> None:
        """Stop reading, save to the index what has been read, and wait for both."""
        self.follower.stop()
        for name in ("graphs", "profiles", "lineage", "dumps", "explanations", "live", "studies"):
            if name in vars(self):
                getattr(self, name).stop()
        self.follower.join()
        if self._snapshots is not None:
            self._snapshots.stop()

    def wait(self, seconds: float) -> bool:
        """Wait until every run of the first scan has been read; return whether it has."""
        return self.follower.wait(seconds)

    def when_read(self, call: Callable[[], None]) -> None:
        """Call a function once, in the thread that reads, as soon as every run of the first scan has been read."""
        self.follower.when_read(call)
