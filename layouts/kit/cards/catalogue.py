"""The tags of one kind of data in the chosen runs."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Mapping
from typing import Any, TypedDict

from layouts.runs.chosen_runs import selected_runs
from layouts.runs.damage import FileAndText, damage
from layouts.sources import RunSources


class TagCatalogue(TypedDict):
    """The tags of a kind."""

    digest: str
    runs: list[str]
    tags: list[str]
    waiting: int
    total: int
    damage: list[FileAndText]


def catalogue(source: RunSources, kind: str, state: dict[str, list[str]], known: Any = None) -> TagCatalogue | None:
    """Return the ordered tags of all chosen runs, or None if the digest is the known one.

    runs are the keys of these runs, waiting counts those not read yet, and total counts all runs of the source. If there is
    no tag, damage lists the problems of the runs that may be the reason. digest changes whenever anything else in the
    catalogue does.
    """
    runs = selected_runs(state, source, (kind,))
    source.runs.want(runs)
    tags = Counter(tag for run in runs for tag in source.runs.tags(run, kind))
    chosen = set(runs)
    waiting = sum(
        len(chosen.intersection(row.members)) for row in source.runs.rows() if row.state in ("waiting", "loading")
    )
    damaged = [] if tags else damage(source, runs)
    counted = (f"{tag}\2{number}" for tag, number in tags.items())
    lost = (part for problem in damaged for part in problem)
    text = "\0".join((f"{waiting} {len(source.runs.rows())}", *runs, "\1", *counted, "\1", *lost))
    digest = f"{zlib.crc32(text.encode('utf-8', 'surrogatepass')):08x}-{len(text)}"
    if digest == known:
        return None
    return {
        "digest": digest, "runs": runs, "tags": ordered(tags), "waiting": waiting, "total": len(source.runs.rows()),
        "damage": damaged,
    }  # fmt: skip


def ordered(tags: Mapping[str, int]) -> list[str]:
    """Sort tags, given with the number of runs that have each: most runs first, then losses, then natural order."""
    return sorted(tags, key=lambda tag: (-tags[tag], "loss" not in tag.lower(), _natural(tag)))


def _natural(tag: str) -> tuple[list[tuple[int, int, str]], str]:
    """Sort key that compares numbers in names by value: layer2 before layer10."""
    parts = re.split(r"([0-9]+)", tag)
    return [(1, int(part), "") if part.isdigit() and part.isascii() else (0, 0, part.casefold()) for part in parts], tag
