"""The interface between pages and what users wrote about runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from layouts.dumps.watchpoints import WatchList
from layouts.runs.boards import Board, BoardCard, BoardChange, ChangedBoard, LostField
from layouts.runs.checks import StepCheck
from layouts.runs.notes import HandColour, Mark, NamedView, Note, Notebook, NoteChange


class NoteSource(Protocol):
    """Remarks and tags of runs, saved views, marks on timelines, watchpoints, colours set by hand, boards, checks of guides."""

    def notebook(self) -> Notebook:
        """Return remarks, tags, views, marks, watchpoints and boards, and whether they can be changed.

        `SourceStatus.version` changes with them.
        """
        ...

    def annotate(self, run: str, change: NoteChange) -> Note:
        """Change remark and tags of a run, a job or a rank; the note is on disk before this returns.

        Raises Stale if the remark was changed meanwhile, InvalidInput for an invalid remark or tag, NotKept (whose text is
        meant for the user) if notes cannot be written, KeyError for an unknown run.
        """
        ...

    def save_view(self, name: str, place: str, *, instead: str | None = None) -> NamedView:
        """Save an address of the application under a name; instead is the version of the view of that name it replaces.

        Raises Stale if the view of that name has another version, InvalidInput for an invalid name or address, NotKept.
        """
        ...

    def rename_view(self, key: str, name: str, was: str) -> NamedView:
        """Rename the view of this key and version.

        Raises Stale if it was changed meanwhile or the name is taken, InvalidInput, NotKept.
        """
        ...

    def delete_view(self, key: str, was: str) -> None:
        """Delete the view of this key and version. Raises Stale if it was changed meanwhile, NotKept."""
        ...

    def save_mark(self, run: str, mark: Mark, *, instead: str | None = None) -> Mark:
        """Save a mark on the timeline of a member run; its key is chosen here. instead is the version it replaces.

        Raises Stale if the profile has a mark of that name with another version, InvalidInput, NotKept, KeyError for an unknown
        run.
        """
        ...

    def delete_mark(self, key: str, was: str) -> None:
        """Delete the mark of this key and version. Raises Stale if it was changed meanwhile, NotKept."""
        ...

    def paint(self, run: str, colour: str) -> HandColour:
        """Set the colour of a run, a job or a rank, "" to reset it; return it as it is kept, readable in both themes.

        Raises InvalidInput for anything but #rrggbb, NotKept, KeyError for an unknown run.
        """
        ...

    def paint_group(self, by: str, label: str, colour: str) -> HandColour:
        """Set the colour of a group of runs, as `paint` does; by is what runs are grouped by ("column:lr")."""

    def create_board(self, name: str, cards: Sequence[BoardCard], *, key: str = "") -> Board:
        """Create a board and return it, with a number after its name if that is taken; key: that of a deleted one.

        Raises InvalidInput if the name or a card is not valid or there are too many, NotKept.
        """
        ...

    def change_board(self, key: str, change: BoardChange) -> ChangedBoard:
        """Change a board and return it with the cards of others that this has overridden.

        Raises Stale if it was deleted, InvalidInput if it is not valid afterwards, NotKept.
        """
        ...

    def lost_fields(self, key: str) -> list[LostField]:
        """Return what changes of a board that came to this process replaced without having seen it, oldest first."""
        ...

    def delete_board(self, key: str) -> Board | None:
        """Delete a board and return it as it was, None if there is no such board. Raises NotKept."""
        ...

    def tick(self, run: str, step: str, check: StepCheck, was: str) -> StepCheck:
        """Replace the tick and the remark on a step of a guide, of which was is the version, and return them as kept.

        Raises Stale if they were changed meanwhile, InvalidInput for an invalid step or remark, NotKept, KeyError for an
        unknown run.
        """
        ...

    def save_watchpoints(self, run: str, watched: WatchList, was: str) -> WatchList:
        """Replace the watchpoints for the dump of a run or a job, of which was is the version, and return them as kept.

        run may be a live session. `WatchList().version` is that of a run without any; an empty list deletes them. Raises Stale
        if they were changed meanwhile, InvalidInput if one is not valid (also its pattern), NotKept, KeyError for an unknown
        run.
        """
        ...
