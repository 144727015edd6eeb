"""What is kept of profiles, by the files that it was made of: files that are gone or have grown are not asked for again.

Caches have limits of their own, which a directory of small profiles that come and go reaches only after hours.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable


class Origins:
    """Where kept values come from; may be used by any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[Hashable, str]] = {}

    def holds(self, mark: str) -> bool:
        """Return whether a mark is noted and not outdated since."""
        with self._lock:
            return mark in self._known

    def outdated(self, mark: str, what: Hashable, path: str) -> set[str]:
        """Note that the values of a mark are made of `what`, whose files are at a path.

        Return the marks of what was noted before and is not asked for again: the path is gone, or `what` has another mark now.
        """
        with self._lock:
            gone = {
                other for other, (of, place) in self._known.items()
                if other != mark and (of == what or not os.path.exists(place))
            }  # fmt: skip
            for other in gone:
                del self._known[other]
            self._known[mark] = (what, path)
            return gone
