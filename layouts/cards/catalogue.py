"""What there is to choose from: the tags that the chosen runs have of one kind of data."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

from layouts.sources import RunSource
from layouts.state import selected_runs


def catalogue(source: RunSource, kind: str, state: dict[str, list[str]], known: Any = None) -> dict[str, Any] | None:
    """Tags of a kind of all chosen runs: those of most runs first, losses before others, then in natural order. Beside them the
    keys of the runs, how many of them have not been read yet (waiting), and how many runs there are to choose from (total).

    digest changes whenever anything else in it does; None where it is the known one.
    """
    runs = selected_runs(state, source, (kind,))
    source.want(runs)
    tags = Counter(tag for run in runs for tag in source.tags(run, kind))
    chosen = set(runs)
    waiting = sum(
        len(chosen.intersection(row.members)) for row in source.runs() if row.state in ("waiting", "loading")
    )
    text = "\0".join((f"{waiting} {len(source.runs())}", *runs, "\1", *(f"{tag}\2{number}" for tag, number in tags.items())))
    digest = f"{zlib.crc32(text.encode('utf-8', 'surrogatepass')):08x}-{len(text)}"
    if digest == known:
        return None
    return {"digest": digest, "runs": runs, "tags": ordered(tags), "waiting": waiting, "total": len(source.runs())}


def ordered(tags: Mapping[str, int]) -> list[str]:
    """Tags, each with the number of runs that have it: those of most runs first, losses before others, in natural order."""
    return sorted(tags, key=lambda tag: (-tags[tag], "loss" not in tag.lower(), _natural(tag)))


def _natural(tag: str) -> tuple[list[tuple[int, int, str]], str]:
    """Sorts numbers in names by their value: layer2 before layer10."""
    parts = re.split(r"([0-9]+)", tag)
    return [(1, int(part), "") if part.isdigit() and part.isascii() else (0, 0, part.casefold()) for part in parts], tag
