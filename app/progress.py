"""A progress bar on a terminal; nothing anywhere else."""

from __future__ import annotations

import shutil
import time
from types import TracebackType
from typing import TextIO

WIDTH = 30
INTERVAL = 0.1
"""Seconds between two pictures of the bar."""


class ProgressBar:
    """One line of a terminal, to be used in a with statement. Other lines go through `say`, so that the bar stays last."""

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
        """Draw how much is done, from 0 to 1, and what is being done; text is printable."""
        now = time.monotonic()
        if not self._shown or now < self._next:
            return
        self._next = now + INTERVAL
        full = round(WIDTH * min(max(share, 0.0), 1.0))
        line = f"[{'#' * full}{'.' * (WIDTH - full)}] {share:4.0%} {text}"
        # Wide characters take two columns; a line that wraps could not be drawn over.
        line = line[: max(shutil.get_terminal_size().columns - 1 - sum(ord(c) > 0x2E7F for c in text), 0)]
        self._clear()
        self._stream.write(line)
        self._stream.flush()
        self._drawn = len(line) + sum(ord(c) > 0x2E7F for c in line)

    def say(self, text: str) -> None:
        """Write a line."""
        self._clear()
        self._stream.write(text + "\n")
        self._stream.flush()

    def _clear(self) -> None:
        if self._drawn:
            self._stream.write(f"\r{' ' * self._drawn}\r")
            self._stream.flush()
            self._drawn = 0
