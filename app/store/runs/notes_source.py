"""What users wrote about runs, as pages see it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import replace

from app.live.training import LiveTraining
from app.store.runs.following import RunFollower
from app.store.runs.notes import Notes
from app.store.runs.visitors import ANYBODY, Visitor
from layouts.dumps import live_sessions as live
from layouts.dumps.watchpoints import WatchList
from layouts.kit.patterns import PatternMatcher
from layouts.kit.user_input import InvalidInput
from layouts.runs.boards import Board, BoardCard, BoardChange, ChangedBoard, LostField
from layouts.runs.checks import StepCheck
from layouts.runs.notes import HandColour, Mark, NamedView, Note, Notebook, NoteChange, NotKept
from layouts.runs.notes_source import NoteSource
from parsers.names import printable
from parsers.snapshot import key_of


class StoredNotes(NoteSource):
    """Notes of the runs that a `RunFollower` reads, in a workspace if there is one. See `layouts.runs.notes_source`."""

    def __init__(
        self, runs: RunFollower, notes: Notes | None, live_training: LiveTraining, patterns: PatternMatcher,
        visitor: Visitor = ANYBODY,
    ) -> None:
        self._runs, self._notes, self._live, self._patterns, self._visitor = runs, notes, live_training, patterns, visitor

    def notebook(self) -> Notebook:
        if self._notes is None:
            return Notebook(watchpoints=self._live.lists, read_only=not self._visitor.may_change())
        content, base = self._notes.look(), self._runs.base
        paths = self._runs.real_paths() if content.notes or content.marks or content.watched or content.checks else {}
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
        ticked = {key: content.checks.get(key_of(path)) for key, path in paths.items()} if content.checks else {}
        checks = {key: one.checks for key, one in ticked.items() if one is not None}
        closed = not self._visitor.may_change()
        kept = not why and not closed
        return Notebook(kept, why, closed, notes, tuple(views), marks, watchpoints, content.groups, tuple(boards), checks)

    def annotate(self, run: str, change: NoteChange) -> Note:
        path = self._runs.real_paths()[run]
        signed = replace(change, by=self._visitor.name())
        return self._notes_or_refuse().annotate(key_of(path), printable(path), signed.applied)

    def save_view(self, name: str, place: str, *, instead: str | None = None) -> NamedView:
        key, by = secrets.token_hex(8), self._visitor.name()
        return self._notes_or_refuse().save_view(self._runs.base, key, name, place, instead=instead, by=by)

    def rename_view(self, key: str, name: str, was: str) -> NamedView:
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
        key, by = key or secrets.token_hex(8), self._visitor.name()
        return self._notes_or_refuse().create_board(self._runs.base, key, name, cards, by)

    def change_board(self, key: str, change: BoardChange) -> ChangedBoard:
        return self._notes_or_refuse().change_board(self._runs.base, key, replace(change, by=self._visitor.name()))

    def lost_fields(self, key: str) -> list[LostField]:
        return self._notes_or_refuse().lost_fields(key)

    def delete_board(self, key: str) -> Board | None:
        return self._notes_or_refuse().delete_board(self._runs.base, key)

    def tick(self, run: str, step: str, check: StepCheck, was: str) -> StepCheck:
        path = self._runs.real_paths()[run]
        return self._notes_or_refuse().tick(key_of(path), printable(path), step, check, was)

    def save_watchpoints(self, run: str, watched: WatchList, was: str) -> WatchList:
        if run.startswith(live.KEY):
            return self._live.save(run, watched, was)
        path, notes = self._runs.real_paths()[run], self._notes_or_refuse()
        known = self.notebook().watchpoints.get(run, WatchList())
        end = time.monotonic() + 5.0
        for pattern in {one.pattern for one in watched.checked().watchpoints} - {one.pattern for one in known.watchpoints}:
            if time.monotonic() > end:
                raise InvalidInput("patterns: expected patterns that are compiled within 5 s, found slower ones: simplify them")
            try:
                self._patterns.matching(pattern, [])
            except ValueError as error:
                raise InvalidInput(f"pattern: {error}") from None
        return notes.save_watchpoints(key_of(path), printable(path), watched, was)

    def _notes_or_refuse(self) -> Notes:
        if not self._visitor.may_change():
            raise NotKept("expected a visitor who may change something, found one who may only read")
        if self._notes is None:
            raise NotKept("expected a workspace for remarks, tags, views, watchpoints and boards, found none; name one to save")
        return self._notes
