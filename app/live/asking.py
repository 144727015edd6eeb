"""What pages have asked of training: tensors to be fetched while it waits, those on their way, and those it does not have."""

from __future__ import annotations

from dataclasses import dataclass, field

from parsers.caches import Cache
from parsers.debugger import commands
from parsers.debugger.messages import WireTensorName

MOST_WANTED = 1000
"""Tensors asked for and not fetched; the oldest are dropped."""
AT_ONCE = {commands.BASE: 200, commands.STATISTICS: 100, commands.VALUE: 1}
"""Tensors in one command; of values one, so that no more than one is in memory before it is kept."""

Want = tuple[int, int, int]
"""Tensor (its place on the wire), step, level."""


@dataclass(slots=True)
class Asking:
    """The session's lock is held by callers."""

    wanted: dict[Want, None] = field(default_factory=dict)
    under_way: list[Want] = field(default_factory=list)
    names: dict[WireTensorName, Want] = field(default_factory=dict)
    failed: Cache[Want, str] = field(default_factory=lambda: Cache(10 * MOST_WANTED))

    def add(self, want: Want) -> bool:
        """Want a tensor; return whether that is new."""
        if want in self.failed or want in self.wanted or want in self.under_way:
            return False
        self.wanted[want] = None
        if len(self.wanted) > MOST_WANTED:
            del self.wanted[next(iter(self.wanted))]
        return True

    def command(self, names: list[WireTensorName], step: int) -> bytes | None:
        """Return the next command, None if nothing is wanted: types and shapes first, values last.

        names are those of places on the wire; what is of an earlier step is that of the step before.
        """
        for level in (commands.BASE, commands.STATISTICS, commands.VALUE):
            chosen = [want for want in self.wanted if want[2] == level][: AT_ONCE[level]]
            if chosen:
                for want in chosen:
                    del self.wanted[want]
                self.under_way = chosen
                asked = [WireTensorName(names[wire].node, names[wire].slot, at < step) for wire, at, _ in chosen]
                self.names = dict(zip(asked, chosen, strict=True))
                return commands.view(asked, level)
        return None

    def answered(self, want: Want) -> None:
        """Note that a tensor has arrived."""
        if want in self.under_way:
            self.under_way.remove(want)

    def fail(self, want: Want, why: str) -> None:
        """Note that a tensor cannot be had."""
        self.answered(want)
        self.wanted.pop(want, None)
        self.failed.put(want, why)

    def settle(self, why: str) -> bool:
        """Note that what was under way did not come; return whether anything was."""
        lost = list(self.under_way)
        for want in lost:
            self.fail(want, why)
        self.names = {}
        return bool(lost)

    def clear(self) -> None:
        """Forget everything: the step is another."""
        self.wanted.clear()
        self.under_way = []
        self.names = {}
        self.failed.clear()
