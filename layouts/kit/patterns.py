"""How pages match regular expressions of users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class PatternMatcher(Protocol):
    """Regular expressions of users, matched under a time limit."""

    def matching(self, pattern: str, names: Sequence[str]) -> Sequence[str]:
        """Return the names that a regular expression matches anywhere, in order.

        Raises ValueError, whose text is meant for the user, if the expression is invalid or takes too long.
        """
        ...

    def captured(self, pattern: str, names: Sequence[str]) -> Sequence[str | None]:
        """Return the match in each name: the first group, else the whole match; None if there is no match.

        Raises ValueError as `matching` does.
        """
        ...
