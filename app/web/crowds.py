"""Which connections are closed where there are too many: those that are missed least, of the address that has too many first.

An honest client sends its request at once and reads the response, so a connection that has been incomplete for longest goes
first, then one that has been idle for longest, then one whose client has not read for longest. One whose request is being
answered stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

INCOMPLETE, IDLE, NOT_READING = range(3)
PATIENCE = 5.0
"""Seconds that a client may take to read before its connection counts as unread."""

Importance = tuple[int, float]
"""One of INCOMPLETE, IDLE and NOT_READING, and the time in seconds since which that is so."""


class Connection(Protocol):
    """What is asked of a connection."""

    addr: Any
    """Address and port of the client."""

    def importance(self) -> Importance | None:
        """Return how much it is missed; None if it must stay."""


def unneeded(connections: Sequence[Connection], most: int, most_of_one: int, now: float) -> list[Connection]:
    """Return at most one connection to close, so that there are at most `most`, and `most_of_one` of the last one's address.

    connections are in the order of their creation; the last, a new one, is closed only if its address has too many and no other
    of it can be closed. now is a time in seconds.
    """
    *others, new = connections
    address = new.addr[0]
    crowded = Counter(each.addr[0] for each in connections)[address] > most_of_one
    if not crowded and len(connections) <= most:
        return []
    found = [
        (importance, number) for number, each in enumerate(others)
        if (not crowded or each.addr[0] == address) and (importance := each.importance()) is not None
        and (importance[0] != NOT_READING or now - importance[1] > PATIENCE)
    ]  # fmt: skip
    if found:
        return [others[min(found)[1]]]
    return [new] if crowded else []
