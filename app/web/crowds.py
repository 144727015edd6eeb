"""Which connections are closed where there are too many: those that are missed least, of the address that has too many first.

An honest client sends its request at once and reads the response, so a connection that has been incomplete for longest goes
first, then one that has been idle for longest, then one whose client has not read for longest. One whose request is being
answered stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, islice
from typing import Any, Protocol

INCOMPLETE, IDLE, NOT_READING = range(3)
PATIENCE = 5.0
"""Seconds that a client may take to read before its connection counts as unread."""

Importance = tuple[int, float]
"""One of INCOMPLETE, IDLE and NOT_READING, and the time in seconds since which that is so."""


class Connection(Protocol):
    """What is asked of a connection."""

    @property
    def addr(self) -> Any:
        """Address and port of the client."""

    def importance(self) -> Importance | None:
        """Return how much it is missed; None if it must stay."""


def unneeded(connections: Sequence[Connection], most: int, most_of_one: int, now: float) -> list[Connection]:
    """Return the connections to close so that there are at most `most`, and `most_of_one` of each address.

    connections are in the order of their creation, now is a time in seconds. If none of an address with too many may be closed,
    its newest are; in all, more than `most` stay then.
    """
    found = []
    for number, each in enumerate(connections):
        importance = each.importance()
        if importance is not None and (importance[0] != NOT_READING or now - importance[1] > PATIENCE):
            found.append((importance, number))
    by_address: dict[str, list[int]] = {}
    for _, number in sorted(found):
        by_address.setdefault(connections[number].addr[0], []).append(number)
    closed: set[int] = set()
    for address, count in Counter(each.addr[0] for each in connections).items():
        if count > most_of_one:
            known = set(first := by_address.get(address, []))
            newest = (n for n in reversed(range(len(connections))) if connections[n].addr[0] == address and n not in known)
            closed.update(islice(chain(first, newest), count - most_of_one))
    rest = (number for _, number in sorted(found) if number not in closed)
    closed.update(list(islice(rest, max(0, len(connections) - len(closed) - most))))
    return [connections[number] for number in sorted(closed)]
