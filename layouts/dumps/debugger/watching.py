"""The watchpoints that are checked: those saved for the dump, else those recommended for any training."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from parsers.analysis.dumps.watchpoints import CONDITIONS, Watchpoint
from parsers.analysis.dumps.watchpoints.conditions import RANGE
from parsers.caches import Cache
from parsers.deferred import pandas as pd

from layouts.dumps.watchpoints import SavedWatchpoint, WatchList, proposed, watched
from layouts.kit.patterns import PatternMatcher
from layouts.kit.state import BadInput, text
from layouts.kit.user_input import InvalidInput
from layouts.sources import NoteSources

LONGEST = 8_000_000
"""Maximum characters of the watchpoints in a request."""
_MOST_KEPT = 16


def conditions() -> list[dict[str, Any]]:
    """Return the conditions with their parameters as the form offers them: bounds are null where there are none."""
    return [
        {
            "name": one.name, "short": one.short, "target": one.target, "previous": one.previous,
            "limits": [
                {
                    "name": limit.name, "default": limit.default, "range": limit.name in RANGE, "needs": list(limit.needs),
                    "least": limit.least if math.isfinite(limit.least) else None, "above": limit.above_least,
                    "greatest": limit.greatest if math.isfinite(limit.greatest) else None,
                }
                for limit in one.limits
            ],
        }
        for one in CONDITIONS.values()
    ]  # fmt: skip


def listed(source: NoteSources, run: str) -> dict[str, Any]:
    """Return the watchpoints for the dump of a run: saved ones with their version, else the recommended ones."""
    book = source.notes.notebook()
    saved = book.watchpoints.get(run)
    shown = saved if saved is not None else proposed()
    return {
        "state": "ready", "saved": saved is not None, "version": (saved or WatchList()).version, "kept": book.kept,
        "watchpoints": [as_json(one) for one in shown.watchpoints],
        "recommended": [as_json(one) for one in proposed().watchpoints],
    }  # fmt: skip


def as_json(one: SavedWatchpoint) -> dict[str, Any]:
    """Return a watchpoint as the route that saves it takes it."""
    found = asdict(one)
    return found | {"limits": dict(one.limits), "names": None if one.names is None else list(one.names)}


def read_watchpoints(ask: Any) -> tuple[SavedWatchpoint, ...]:
    """Return the watchpoints in a request, JSON under watch, each as it may be saved; BadInput for anything else."""
    told = text(ask, "watch", "[]", limit=LONGEST)
    try:
        found = json.loads(told)
        if not isinstance(found, list):
            raise TypeError("expected a list")
        return WatchList(tuple(_watchpoint(one) for one in found)).checked().watchpoints
    except (ValueError, TypeError, RecursionError) as error:
        raise BadInput(f"watch: expected watchpoints as JSON, found an error: {str(error)[:300]}") from error
    except InvalidInput as error:
        raise BadInput(str(error)) from error


def _watchpoint(told: Any) -> SavedWatchpoint:
    if not isinstance(told, dict):
        raise TypeError(f"expected an object, found {type(told).__name__}")
    limits, names = told.get("limits", {}), told.get("names")
    if not isinstance(limits, Mapping) or not all(_number(value) for value in limits.values()):
        raise TypeError("limits: expected finite numbers")
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise TypeError("names: expected a list of texts or null")
    texts = [told.get(key, fallback) for key, fallback in (("condition", ""), ("pattern", ""), ("by", "all"), ("said", ""))]
    if not all(isinstance(one, str) for one in texts):
        raise TypeError("expected texts")
    condition, pattern, by, said = texts
    chosen = None if names is None else tuple(names)
    limits = {str(name): float(value) for name, value in limits.items()}
    return SavedWatchpoint(condition, limits, chosen, pattern, told.get("enabled") is not False, by, said)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


class Watching:
    """Watchpoints as they are checked; patterns are matched once for each dump, in another process."""

    def __init__(self, patterns: PatternMatcher) -> None:
        self._patterns = patterns
        self._kept: Cache[Any, tuple[tuple[Watchpoint, ...], str]] = Cache(_MOST_KEPT)

    def of(
        self, saved: Sequence[SavedWatchpoint], tensors: pd.DataFrame, key: tuple[str, str]
    ) -> tuple[tuple[Watchpoint, ...], str]:
        """Return the watchpoints for a dump, by the key of its run and its mark, and why they cannot be matched, or ""."""
        whole = (*key, json.dumps([as_json(one) for one in saved]))
        return self._kept.made(whole, lambda: self._matched(saved, tensors))

    def _matched(self, saved: Sequence[SavedWatchpoint], tensors: pd.DataFrame) -> tuple[tuple[Watchpoint, ...], str]:
        try:
            return tuple(watched(one, tensors, self._patterns) for one in saved), ""
        except ValueError as error:
            return (), str(error)
