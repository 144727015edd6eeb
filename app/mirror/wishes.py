"""What a server wishes of its mirror: which runs are on screen, which large files to fetch. A small file that both know."""

from __future__ import annotations

import msgspec

from app.mirror.state import replace_file

LARGEST = 1 << 20
MOST = 1000
"""Runs and files that are named at most."""


class Wishes(msgspec.Struct, frozen=True):
    """screen: directories of runs on screen, relative to that of the copies, "" for itself. fetch: names of large files."""

    screen: tuple[str, ...] = ()
    fetch: tuple[str, ...] = ()


def read_wishes(path: str) -> Wishes:
    """Return the wishes in a file; none if there is no such file, or it is damaged."""
    if not path:
        return Wishes()
    try:
        with open(path, "rb") as stream:
            return msgspec.json.decode(stream.read(LARGEST), type=Wishes)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Wishes()


def write_wishes(path: str, wishes: Wishes) -> None:
    """Replace the wishes in a file."""
    replace_file(path, msgspec.json.encode(Wishes(wishes.screen[:MOST], wishes.fetch[-MOST:])))
