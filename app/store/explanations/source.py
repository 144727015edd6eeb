"""Explanations as pages see them."""

from __future__ import annotations

from collections.abc import Sequence

from app.store.explanations.open_explanations import ExplainedRuns
from app.store.runs.following import RunFollower
from layouts.explanations.open_explanations import ExplanationWork, OpenExplanations
from layouts.explanations.source import ExplanationSource
from layouts.kit.work import WorkResult
from parsers import ImageValue, PayloadError, Problem
from parsers.explanations.access import RunExplanations
from parsers.payloads.pictures import GreyPicture


class StoredExplanations(ExplanationSource):
    """Explanations of the runs that a `RunFollower` reads. See `layouts.explanations.source`."""

    def __init__(self, runs: RunFollower) -> None:
        self._runs = runs
        self._explained = ExplainedRuns(self._found)

    def stop(self) -> None:
        """Stop all work."""
        self._explained.stop()

    def open(self, run: str) -> OpenExplanations:
        return self._explained.open(run, self._explanations(run))

    def work(self, run: str, work: ExplanationWork, *, again: bool = False) -> WorkResult:
        return self._explained.result(run, self._explanations(run), work, again=again)

    def cancel(self, run: str, work: ExplanationWork) -> None:
        self._explained.cancel(run, work)

    def picture(self, run: str, path: str) -> ImageValue:
        return self._explanations_or_refuse(run).pictures.picture(path)

    def outcome(self, run: str, path: str, boxes: str, mask: str) -> ImageValue:
        return self._explanations_or_refuse(run).pictures.outcome(path, boxes, mask)

    def heat_map(self, run: str, path: str) -> GreyPicture:
        return self._explanations_or_refuse(run).pictures.heat_map(path)

    def _explanations(self, run: str) -> RunExplanations | None:
        entry = self._runs.entries.get(run)
        return entry.run.explanations if entry else None

    def _explanations_or_refuse(self, run: str) -> RunExplanations:
        found = self._explanations(run)
        if found is None:
            raise PayloadError(f"expected the key of a known run, found {run!r}")
        return found

    def _found(self, run: str, problems: Sequence[Problem]) -> None:
        """Show the problems of explanations with those of their run."""
        entry = self._runs.entries.get(run)
        if entry is not None:
            entry.explanation_problems = tuple(problems)
            self._runs.recount(entry)
