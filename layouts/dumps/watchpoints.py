"""Watchpoints that users save for the dump of a run.

All input is untrusted: `WatchList.checked` validates it, or raises `InvalidInput`. A pattern is a regular expression of a user,
so only the process of a `PatternMatcher` compiles and matches it; `watched` turns it into names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from parsers.analysis.dumps.watchpoints import Watchpoint, recommended
from parsers.deferred import pandas as pd
from parsers.errors import FormatError

from layouts.kit.patterns import PatternMatcher
from layouts.kit.user_input import InvalidInput, readable, version_of

CHOICES = ("all", "nodes", "search", "line", "pattern")
"""How the operators of a watchpoint can have been chosen: all of them, in the tree, by a search, a source line, a pattern."""
MOST_WATCHPOINTS = 100
"""Watchpoints for one run."""
MOST_NAMES = 100_000
"""Names of operators in the watchpoints for one run."""
MOST_CHARACTERS = 4_000_000
"""Characters of these names together, so that a request with them is smaller than `app.web.security` allows."""
LONGEST_NODE = 4_000
LONGEST_PATTERN = 1_000
LONGEST_CHOICE = 1_000


@dataclass(frozen=True, slots=True)
class SavedWatchpoint:
    """A watchpoint as a user saves it: condition, limits, names and pattern as in
    `parsers.analysis.dumps.watchpoints.Watchpoint`.

    names are sorted, None for all operators. enabled: it is checked. by is one of CHOICES, said is what was chosen: a scope,
    the words of a search, "net.py:18"; both are only shown.
    """

    condition: str
    limits: Mapping[str, float] = field(default_factory=dict)
    names: tuple[str, ...] | None = None
    pattern: str = ""
    enabled: bool = True
    by: str = "all"
    said: str = ""

    def checked(self) -> SavedWatchpoint:
        """Return it with sorted names. InvalidInput for a condition, limit, name or pattern that none can have."""
        try:
            Watchpoint(self.condition, self.limits)
        except FormatError as error:
            raise InvalidInput(f"watchpoint: {str(error)[:300]}") from None
        if self.by not in CHOICES:
            raise InvalidInput(f"watchpoint: expected nodes chosen by one of {', '.join(CHOICES)}, found {self.by[:80]!r}")
        for name, text, longest in (("pattern", self.pattern, LONGEST_PATTERN), ("choice", self.said, LONGEST_CHOICE)):
            if text and not readable(text, longest):
                raise InvalidInput(
                    f"{name}: expected at most {longest:,} visible characters, found {text[:80]!r} ({len(text):,})"
                )
        for name in self.names or ():
            if not readable(name, LONGEST_NODE):
                raise InvalidInput(
                    f"names: expected 1 to {LONGEST_NODE:,} visible characters, found {name[:80]!r} ({len(name):,})"
                )
        return replace(self, names=None if self.names is None else tuple(sorted(set(self.names))))


@dataclass(frozen=True, slots=True)
class WatchList:
    """The watchpoints saved for a run, in the order of the user."""

    watchpoints: tuple[SavedWatchpoint, ...] = ()

    @property
    def version(self) -> str:
        """The version that a change of the list must be based on."""
        parts = ([one.condition, sorted(one.limits.items()), one.names, one.pattern, one.enabled, one.by, one.said]
                 for one in self.watchpoints)  # fmt: skip
        return version_of(*map(json.dumps, parts))

    def checked(self) -> WatchList:
        """Return the list with each watchpoint checked. InvalidInput if one is not valid, or there are too many."""
        if len(self.watchpoints) > MOST_WATCHPOINTS:
            raise InvalidInput(f"watchpoints: expected at most {MOST_WATCHPOINTS} for a run, found {len(self.watchpoints)}")
        found = WatchList(tuple(one.checked() for one in self.watchpoints))
        names = [name for one in found.watchpoints for name in one.names or ()]
        if len(names) > MOST_NAMES:
            raise InvalidInput(f"names: expected at most {MOST_NAMES:,} in the watchpoints of a run, found {len(names):,}")
        characters = sum(map(len, names))
        if characters > MOST_CHARACTERS:
            raise InvalidInput(f"names: expected at most {MOST_CHARACTERS:,} characters in all, found {characters:,}")
        return found


def proposed() -> WatchList:
    """Return the recommended watchpoints as a user would save them."""
    return WatchList(tuple(
        SavedWatchpoint(one.condition, one.limits, None, one.pattern, by="pattern" if one.pattern else "all", said=one.pattern)
        for one in recommended()
    ))  # fmt: skip


def watched(saved: SavedWatchpoint, tensors: pd.DataFrame, patterns: PatternMatcher) -> Watchpoint:
    """Return the watchpoint for the tensors of a dump (schema DUMP_TENSORS), its pattern replaced by the names it matches.

    A name matches if the pattern occurs in it or in the type of one of its operators. Raises ValueError, whose text is meant
    for the user, if the pattern is no regular expression or takes too long.
    """
    names = None if saved.names is None else frozenset(saved.names)
    if saved.pattern:
        matching = _matching(tensors, saved.pattern, patterns)
        names = matching if names is None else names & matching
    return Watchpoint(saved.condition, saved.limits, names)


def _matching(tensors: pd.DataFrame, pattern: str, patterns: PatternMatcher) -> frozenset[str]:
    names, types = tensors["name"].array, tensors["type"].array
    found = frozenset(patterns.matching(pattern, [str(name) for name in names.categories]))
    of_type = types.categories.get_indexer(patterns.matching(pattern, [str(kind) for kind in types.categories]))
    codes = np.unique(names.codes[np.isin(types.codes, of_type)])
    return found | {str(name) for name in names.categories[codes[codes >= 0]]}
