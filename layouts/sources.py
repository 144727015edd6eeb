"""What pages may ask the application for: one object with a source per subject.

The protocol of each subject is in its folder (`layouts.profiles.source`); a call names the subject:
`source.profiles.frame(...)`. `Sources` has all of them. A function that asks one subject takes the protocol of this
subject; one that asks several takes the smallest of the protocols here that has them. `app.store.store.Store` implements
them over directories, `tests.sources.MemorySource` over a dict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layouts.curves.source import CurveSource
    from layouts.dumps.live_source import LiveSource
    from layouts.dumps.source import DumpSource
    from layouts.explanations.source import ExplanationSource
    from layouts.graphs.source import GraphSource
    from layouts.kit.patterns import PatternMatcher
    from layouts.lineage.source import LineageSource
    from layouts.profiles.source import ProfileSource
    from layouts.runs.notes_source import NoteSource
    from layouts.runs.source import RunSource
    from layouts.tuning.source import StudySource
    from layouts.values.source import ValueSource


class RunSources(Protocol):
    """Runs and their scalars."""

    @property
    def runs(self) -> RunSource:
        """The list of runs."""
        ...

    @property
    def curves(self) -> CurveSource:
        """Their scalars."""
        ...


class ValueSources(RunSources, Protocol):
    """Runs, and the data read from their files on demand."""

    @property
    def values(self) -> ValueSource:
        """Large values."""
        ...

    @property
    def graphs(self) -> GraphSource:
        """Computation graphs and data pipelines."""
        ...


class ProfileSources(RunSources, Protocol):
    """Runs and their profiles."""

    @property
    def profiles(self) -> ProfileSource:
        """Profiles and their traces."""
        ...


class LineageSources(RunSources, Protocol):
    """Runs, their recorded settings and results."""

    @property
    def lineage(self) -> LineageSource:
        """Settings, results and shares."""
        ...


class NoteSources(RunSources, Protocol):
    """Runs, and what users wrote about them."""

    @property
    def notes(self) -> NoteSource:
        """Remarks, views, marks, watchpoints, colours and boards."""
        ...


class DumpSources(NoteSources, Protocol):
    """Runs, their watchpoints and the dumps of their tensors."""

    @property
    def dumps(self) -> DumpSource:
        """Dumps."""
        ...


class ExplanationSources(RunSources, Protocol):
    """Runs and what explainers recorded of them."""

    @property
    def explanations(self) -> ExplanationSource:
        """Explanations."""
        ...


class LiveSources(RunSources, Protocol):
    """Runs and live training."""

    @property
    def live(self) -> LiveSource:
        """Live training."""
        ...


class StudySources(RunSources, Protocol):
    """Runs and the studies whose trials they are."""

    @property
    def studies(self) -> StudySource:
        """Studies."""
        ...


class Sources(
    ValueSources, ProfileSources, LineageSources, DumpSources, ExplanationSources, LiveSources, StudySources, Protocol,
):
    """Everything pages may know of the application."""

    @property
    def patterns(self) -> PatternMatcher:
        """Regular expressions with a time limit."""
        ...
