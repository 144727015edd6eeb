"""What is on the stack while a snapshot is read, besides texts and numbers; and why reading ends early."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class Ended(Exception):
    """Reading ends before the file does: the byte, the kind of the problem, and a sentence."""

    def __init__(self, offset: int, kind: str, text: str) -> None:
        super().__init__(text)
        self.offset, self.kind, self.text = offset, kind, text


class OpenDict(dict[str, Any]):
    """A dict to which pairs may be added. place is that in the memo, -1 for none; whole: it is part of another one."""

    __slots__ = ("place", "whole")

    def __init__(self) -> None:
        super().__init__()
        self.place = -1
        self.whole = False


class OpenList(list[Any]):
    """A list to which items may be added. place is that in the memo, -1 for none; whole: it is part of another one."""

    __slots__ = ("place", "whole")

    def __init__(self) -> None:
        super().__init__()
        self.place = -1
        self.whole = False


@dataclass(slots=True)
class TakenRows:
    """Dicts that have become rows of a table: of a kind, from row begin to before end."""

    kind: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class FrameNumber:
    """A line of a stack, by its number among the different ones."""

    number: int


@dataclass(frozen=True, slots=True)
class StackNumber:
    """A stack, by its number among the different ones; -1 for the empty one."""

    number: int
