"""Finds the journals of studies (`parsers.tuning.journal`) in a directory and directly below it, by name and first bytes."""

from __future__ import annotations

import os

from parsers.discovery.listing import is_below

MOST_ENTRIES = 20_000
"""Entries of a directory that are looked at."""
JOURNAL = "journal.log"
"""The name of a journal in a directory of its own."""


def journals(base: str, *, stay_inside: bool = False) -> list[str]:
    """Return the paths of journals, sorted: files NAME.log of a directory, and journal.log of its subdirectories.

    A directory that cannot be listed has none. stay_inside: links that lead out of it are not followed.
    """
    found = []
    try:
        with os.scandir(base) as entries:
            for _, entry in zip(range(MOST_ENTRIES), entries, strict=False):
                if entry.name.endswith(".log"):
                    found.append(entry.path)
                elif "." not in entry.name or entry.is_dir():
                    found.append(os.path.join(entry.path, JOURNAL))
    except OSError:
        return []
    inside = os.path.realpath(base)
    return sorted(
        path for path in found if _is_journal(path) and (not stay_inside or is_below(os.path.realpath(path), inside))
    )


def _is_journal(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    from parsers.tuning.journal import is_journal  # few directories have such files

    return is_journal(path)
