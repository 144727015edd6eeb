"""Text for a terminal: escaping, display width, problems as lines, and a progress bar that is drawn on terminals only."""

from __future__ import annotations

import shutil
import time
import unicodedata
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from parsers.model import Problem

WIDTH = 30
INTERVAL = 0.1
"""Seconds between two drawings of the bar."""


def printable(text: str) -> str:
    """Escape control characters, which names in files may contain."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def width(text: str) -> int:
    """Return the number of terminal columns a text takes; Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def problem_line(problem: Problem) -> str:
    """Format a problem as one line for a terminal."""
    return printable(f"{problem.path}: {_extent(problem)}{problem.kind}: {problem.text}")


def _extent(problem: Problem) -> str:
    if not problem.offset and not problem.length:
        return ""
    return f"bytes {problem.offset}-{problem.offset + problem.length}: " if problem.length else f"byte {problem.offset}: "


class ProgressBar:
    """A progress bar on the last line of a terminal; a context manager. Print other lines with `say`, so the bar stays last."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = stream.isatty()
        self._drawn = 0
        self._next = 0.0

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._clear()

    def show(self, share: float, text: str) -> None:
        """Draw the bar: share is the part done, from 0 to 1; text names the current task and must be printable."""
        now = time.monotonic()
        if not self._shown or now < self._next:
            return
        self._next = now + INTERVAL
        share = min(max(share, 0.0), 1.0)
        full = round(WIDTH * share)
        columns = shutil.get_terminal_size().columns
        line = f"[{'#' * full}{'.' * (WIDTH - full)}] {share:4.0%} {text}"[:columns]
        while width(line) >= columns:  # a wrapped line could not be overwritten
            line = line[:-1]
        self._clear()
        self._stream.write(line)
        self._stream.flush()
        self._drawn = width(line)

    def say(self, text: str) -> None:
        """Write a line above the bar."""
        self._clear()
        self._stream.write(text + "\n")
        self._stream.flush()

    def _clear(self) -> None:
        if self._drawn:
            self._stream.write(f"\r{' ' * self._drawn}\r")
            self._stream.flush()
            self._drawn = 0
