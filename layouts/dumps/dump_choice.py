"""Parse which dump a page shows: run, rank, iteration, operator, and what it is compared with. Every value is untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layouts.dumps.open_dump import DumpView
from layouts.kit.state import text, whole
from layouts.sources import DumpSources

KEYS = ("of", "rank", "step", "node", "io", "with", "with_rank", "with_step")
"""Keys of the state that pages about dumps take over from each other."""
LONGEST = 20_000
"""Maximum characters of a key or of the name of an operator: scopes may be deep."""


@dataclass(frozen=True, slots=True)
class DumpChoice:
    """A dump by the key of its run (a job, or live training: "live:1"), a rank and an iteration; None for no iteration.

    mark is that of the dump when it was chosen (`layouts.dumps.open_dump.OpenDump`).
    """

    run: str
    rank: int
    step: int | None
    mark: str = ""

    def dump(self, source: DumpSources) -> DumpView | None:
        """Return the dump if it is listed."""
        return source.dumps.open(self.run).dump if self.run else None


def read_choice(data: Any) -> DumpChoice | None:
    """Return the dump under the keys of, rank, step and mark; None if none is named."""
    run = text(data, "of", limit=LONGEST)
    return DumpChoice(run, whole(data, "rank", -1.0) or 0, whole(data, "step", -1.0), text(data, "mark")) if run else None


def read_against(data: Any) -> DumpChoice | None:
    """Return the dump under with, with_rank and with_step: what is missing is as chosen. None if all three are."""
    chosen = read_choice(data)
    run, rank, step = text(data, "with", limit=LONGEST), whole(data, "with_rank", -1.0), whole(data, "with_step", -1.0)
    if chosen is None or (not run and rank is None and step is None):
        return None
    mark = text(data, "with_mark") if run else chosen.mark
    return DumpChoice(run or chosen.run, chosen.rank if rank is None else rank, chosen.step if step is None else step, mark)


def read_node(data: Any) -> tuple[str, str]:
    """Return the full name of the chosen operator or parameter, "" for none, and which of its tensors: "output.0"."""
    return text(data, "node", limit=LONGEST), text(data, "io", limit=LONGEST)
