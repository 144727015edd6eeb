"""What a server knows, by subject: it answers the pages from the runs that a `Follower` has read."""

from __future__ import annotations

import os
from collections.abc import Sequence

from app.engines import Engine
from app.live.sessions import Sessions
from app.live.training import LiveTraining
from app.store.curves.source import StoredCurves
from app.store.dumps.source import StoredDumps
from app.store.explanations.source import StoredExplanations
from app.store.graphs.snapshots import GraphSnapshots
from app.store.graphs.source import StoredGraphs
from app.store.lineage.source import StoredLineage
from app.store.profiles.source import StoredProfiles
from app.store.runs.following import Follower
from app.store.runs.matching import Patterns
from app.store.runs.notes import Notes
from app.store.runs.notes_source import StoredNotes
from app.store.runs.source import StoredRuns
from app.store.tuning.studies import Studies
from app.store.values.source import StoredValues
from layouts.runs.questions import Destinations
from parsers import Source


class Store:
    """The `layouts.sources.Sources` of directories on disk, or of sources already discovered, as attributes.

    Their methods may be called by any thread.
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
        places: Destinations | None = None,
    ) -> None:
        """stay_inside: links that lead out of a base are shown as problems, and nothing behind them is read.

        studies_directory is that of the workspace with studies, which may not exist.
        sessions are those of live training, if a server listens for them. engine reads jobs of many ranks.
        places answer the questions of the start page, for a demo that knows what is in its runs.
        """
        self._snapshots = GraphSnapshots(f"{index_directory}-graphs") if index_directory else None
        self.follower = Follower(bases, sources, interval, index_directory, stay_inside=stay_inside, stored=self._snapshots)
        written = None if notes_directory is None else Notes(notes_directory)
        self.patterns = Patterns()
        self.live = LiveTraining(sessions, self.patterns)
        self.studies = Studies(bases, studies_directory, interval=interval, stay_inside=stay_inside)
        self.dumps = StoredDumps(self.follower, self.live, f"{index_directory}-dumps" if index_directory else None, interval)
        self.runs = StoredRuns(self.follower, written, self.studies, self.dumps.held, places)
        self.curves = StoredCurves(self.follower)
        self.values = StoredValues(self.follower)
        self.graphs = StoredGraphs(self.follower)
        self.profiles = StoredProfiles(self.follower, index_directory, engine)
        self.lineage = StoredLineage(self.follower)
        self.notes = StoredNotes(self.follower, written, self.live, self.patterns)
        self.explanations = StoredExplanations(self.follower)

    def start(self) -> Store:
        """Start to scan and read in the background."""
        self.follower.start()
        return self

    def stop(self) -> None:
        """Stop reading, save to the index what has been read, and wait for both."""
        self.follower.stop()
        for source in (self.graphs, self.profiles, self.lineage, self.dumps, self.explanations, self.live, self.studies):
            source.stop()
        self.follower.join()
        if self._snapshots is not None:
            self._snapshots.stop()

    def wait(self, seconds: float) -> bool:
        """Wait until every run of the first scan has been read; return whether it has."""
        return self.follower.wait(seconds)
