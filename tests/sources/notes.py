"""Part of `tests.sources.MemorySource`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from layouts.dumps.watchpoints import WatchList
from layouts.runs.boards import Board, BoardCard, BoardChange, ChangedBoard, LostField
from layouts.runs.checks import Checks, StepCheck
from layouts.runs.notes import HandColour, Mark, NamedView, Note, Notebook, NoteChange, NotKept, Stale
from layouts.runs.notes_source import NoteSource

if TYPE_CHECKING:
    from tests.sources import MemorySource


class MemoryNotes(NoteSource):
    def __init__(self, memory: MemorySource) -> None:
        self._memory = memory

    def notebook(self) -> Notebook:
        return Notebook(
            watchpoints=dict(self._memory.watched), groups=self._memory.painted_groups, checks=dict(self._memory.ticked)
        )

    def annotate(self, run: str, change: NoteChange) -> Note:
        raise NotKept("no workspace")

    def save_view(self, name: str, place: str, *, instead: str | None = None) -> NamedView:
        raise NotKept("no workspace")

    def rename_view(self, key: str, name: str, was: str) -> NamedView:
        raise NotKept("no workspace")

    def delete_view(self, key: str, was: str) -> None:
        raise NotKept("no workspace")

    def save_mark(self, run: str, mark: Mark, *, instead: str | None = None) -> Mark:
        raise NotKept("no workspace")

    def delete_mark(self, key: str, was: str) -> None:
        raise NotKept("no workspace")

    def paint(self, run: str, colour: str) -> HandColour:
        raise NotKept("no workspace")

    def paint_group(self, by: str, label: str, colour: str) -> HandColour:
        raise NotKept("no workspace")

    def create_board(self, name: str, cards: Sequence[BoardCard], *, key: str = "") -> Board:
        raise NotKept("no workspace")

    def change_board(self, key: str, change: BoardChange) -> ChangedBoard:
        raise NotKept("no workspace")

    def lost_fields(self, key: str) -> list[LostField]:
        return []

    def delete_board(self, key: str) -> Board | None:
        raise NotKept("no workspace")

    def tick(self, run: str, step: str, check: StepCheck, was: str) -> StepCheck:
        self._memory.data[run]  # KeyError for an unknown run
        known = self._memory.ticked.get(run, Checks())
        if known.of(step).version not in (was, check.version):
            raise Stale(known.of(step))
        self._memory.ticked[run] = known.changed(step, check)
        return self._memory.ticked[run].of(step)

    def save_watchpoints(self, run: str, watched: WatchList, was: str) -> WatchList:
        known = self._memory.watched.get(run, WatchList())
        self._memory.data[run]  # KeyError for an unknown run
        made = watched.checked()
        if known.version not in (was, made.version):
            raise Stale(known)
        self._memory.watched[run] = made
        return self._memory.watched[run]
