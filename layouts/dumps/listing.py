"""What a dump holds, as the bar of a page offers it: ranks and iterations; or the progress of listing it."""

from __future__ import annotations

from typing import NotRequired, TypedDict

import numpy as np

from layouts.dumps.dump_choice import DumpChoice
from layouts.dumps.open_dump import DumpView, OpenDump
from layouts.kit.body import DamagedFile, listed_damage
from layouts.sources import DumpSources


class ListedDump(TypedDict):
    """Ranks, iterations and damage of a dump."""

    state: str
    text: str
    mark: str
    ranks: NotRequired[list[int]]
    steps: NotRequired[list[int]]
    rows: NotRequired[int]
    problems: NotRequired[list[DamagedFile]]
    more: NotRequired[int]
    notes: NotRequired[int]


# "with" is a word of Python.
_ComparedDump = TypedDict("_ComparedDump", {"with": ListedDump | None})


class DumpListing(ListedDump, _ComparedDump):
    """What a dump holds, and the one that it is compared with."""

    of: str
    against: str


def listing(source: DumpSources, chosen: DumpChoice, against: str = "") -> DumpListing:
    """Return ranks, iterations and damage of the chosen dump, and of that to compare with as `with`.

    state is "ready", "reading", "missing", "failed" (text is the reason) or "nothing": the dump has no tensor.
    """
    compared = _told(source.dumps.open(against)) if against and against != chosen.run else None
    return {"of": chosen.run, "against": against, "with": compared, **_told(source.dumps.open(chosen.run))}


def _told(found: OpenDump) -> ListedDump:
    if found.dump is None:
        return {"state": found.state, "text": found.text, "mark": found.mark}
    steps = iterations(found.dump)
    return {
        "state": "ready" if len(found.dump.tensors) else "nothing",
        "text": "", "mark": found.mark, "ranks": list(found.dump.ranks), "steps": steps, "rows": len(found.dump.tensors),
        **listed_damage(found.dump.problems),
    }  # fmt: skip


def iterations(dump: DumpView, rank: int | None = None) -> list[int]:
    """Return the iterations that have tensors, ascending; of one rank or of all."""
    tensors = dump.tensors
    found = tensors["iteration"].to_numpy()
    if rank is not None:
        found = found[tensors["rank"].to_numpy() == rank]
    return [int(one) for one in np.unique(found) if one >= 0]
