"""A file read in pieces: the bytes round the place that is being read."""

from __future__ import annotations

from parsers.files import RegularFile

PIECE = 1 << 20
MARGIN = 1 << 16
"""Bytes that are there after each place before `limit`."""


class Window:
    """data holds the bytes of the file from `base` on. Places are counted within data."""

    def __init__(self, file: RegularFile) -> None:
        self._file = file
        self.data, self.base, self.limit, self.last = b"", 0, 0, False
        self.move(0)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._file.size

    def move(self, place: int, least: int = 0) -> int:
        """Drop what lies before a place and read on, until at least `least` bytes lie after it or the file ends.

        Returns the place in the new data. Places before `limit` have MARGIN bytes after them, or are 16 bytes from the end.
        """
        kept = self.data[place:]
        end = self.base + len(self.data)
        self.base += place
        self.data = kept + self._file.read(end, max(PIECE, least - len(kept)))
        self.last = self.base + len(self.data) >= self._file.size
        self.limit = max(len(self.data) - (16 if self.last else MARGIN), 0)
        return 0
