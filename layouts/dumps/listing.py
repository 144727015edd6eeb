"""What a dump holds, as the bar of a page offers it: ranks and iterations; or the progress of listing it."""

from __future__ import annotations

from typing import Any

import numpy as np

from layouts.dumps.dump_choice import DumpChoice
from layouts.dumps.open_dump import DumpView, OpenDump
from layouts.sources import DumpSources

MOST_PROBLEMS = 50


def listing(source: DumpSources, chosen: DumpChoice, against: str = "") -> dict[str, Any]:
    """Return ranks, iterations and damage of the chosen dump, and of that to compare with as `with`.

    state is "ready", "reading", "missing", "failed" (text is the reason) or "nothing": the dump has no tensor.
    """
    answer = {"of": chosen.run, "against": against} | _told(source.dumps.open(chosen.run))
    return answer | {"with": _told(source.dumps.open(against)) if against and against != chosen.run else None}


def _told(found: OpenDump) -> dict[str, Any]:
    if found.dump is None:
        return {"state": found.state, "text": found.text, "mark": found.mark}
    problems = found.dump.problems
    told = [{"path": problem.path, "text": problem.text} for problem in problems[:MOST_PROBLEMS]]
    steps = iterations(found.dump)
    return {
        "state": "ready" if len(found.dump.tensors) else "nothing",
        "text": "", "mark": found.mark, "ranks": list(found.dump.ranks), "steps": steps, "rows": len(found.dump.tensors),
        "problems": told, "more": max(0, len(problems) - MOST_PROBLEMS),
    }  # fmt: skip


def iterations(dump: DumpView, rank: int | None = None) -> list[int]:
    """Return the iterations that have tensors, ascending; of one rank or of all."""
    tensors = dump.tensors
    found = tensors["iteration"].to_numpy()
    if rank is not None:
        found = found[tensors["rank"].to_numpy() == rank]
    return [int(one) for one in np.unique(found) if one >= 0]
