"""Keys of runs: a run is a row of the list, or one of the ranks of such a row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from parsers.model import Source


def unique(found: Iterable[tuple[str, Source]]) -> dict[str, Source]:
    """Return the sources by unique key: a repeated name gets ~2, ~3, ..."""
    unique: dict[str, Source] = {}
    for name, source in found:
        key, number = name, 1
        while key in unique:
            number += 1
            key = f"{name}~{number}"
        unique[key] = source
    return unique


def leaves(name: str, source: Source) -> list[tuple[str, Source]]:
    """Return (key, source) of the runs of a row: itself, its ranks, or both."""
    if not source.ranks:
        return [(name, source)]
    own = [(name, replace(source, ranks=()))] if source.files or source.profile_dirs or source.dump_dirs else []
    prefix = name[: len(name) - len(source.name)] if name.endswith(source.name) else ""
    return own + [(prefix + rank.name, rank) for rank in source.ranks]
