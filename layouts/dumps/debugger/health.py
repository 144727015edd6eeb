"""The sentence on top: how many operators have NaN or Inf in an iteration, which one was first, and from which line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from parsers.analysis.dumps.first_cause import NON_FINITE, Causes
from parsers.analysis.dumps.operators import operators_of

from layouts.dumps.open_dump import DumpReport, DumpView, DumpWork
from layouts.kit.work import WorkResult

MOST_CAUSES = 10_000
"""Maximum iterations with bad values that are listed."""
_BATCH = 4_000

Key = tuple[int, int]
"""Rank and iteration."""


@dataclass(frozen=True, slots=True)
class Health:
    """counts: operators with bad values, and all of which values are known, by rank and iteration. causes: what was first, once
    all is known."""

    counts: Mapping[Key, tuple[int, int]] = field(default_factory=dict)
    causes: Mapping[Key, dict[str, Any]] | None = None


def _job(dump: DumpView, report: DumpReport) -> Health:
    tensors = dump.tensors
    bad: dict[Key, int] = {}
    ran: dict[Key, int] = {}
    rows_of: dict[Key, list[tuple[int, ...]]] = {}
    for (rank, _, step), operators in operators_of(tensors).items():
        rows_of.setdefault((rank, step), []).extend(one.outputs or one.inputs for one in operators)
    done, total = 0, len(tensors)
    keys = sorted(rows_of, key=lambda key: key[::-1])
    while keys:
        batch: list[Key] = []
        rows: list[int] = []
        while keys and len(rows) < _BATCH:
            batch.append(keys.pop(0))
            rows += [row for own in rows_of[batch[-1]] for row in own]
        chosen = np.array(rows, np.int64)
        report.measure(chosen)
        state = dump.measured(chosen).non_finite
        for key in batch:
            bad[key] = sum(any(state[row] == 1 for row in own) for own in rows_of[key])
            ran[key] = sum(any(state[row] >= 0 for row in own) for own in rows_of[key])
        done += len(rows)
        report(done, total, Health({key: (bad[key], ran[key]) for key in bad}))
    report.measure(np.arange(total))
    frame = Causes(dump).frame()
    names = ("rank", "iteration", "kind", "origin", "name", "type", "source", "from_rank", "from_name", "affected", "operators")
    causes: dict[Key, dict[str, Any]] = {}
    for one in zip(*(frame[name].tolist() for name in names), strict=True):
        told = dict(zip(names, one, strict=True))
        if told["kind"] == NON_FINITE and len(causes) < MOST_CAUSES:
            causes.setdefault((told["rank"], told["iteration"]), told)
    return Health({key: (bad[key], ran[key]) for key in bad}, causes)


WORK = DumpWork("debugger.health", 0, _job)


def told(found: WorkResult) -> dict[str, Any]:
    """Return what the browser says: the bad iterations with their counts, and their causes once these are known."""
    health = found.result if isinstance(found.result, Health) else Health()
    bad = [[rank, step, many, of] for (rank, step), (many, of) in health.counts.items() if many][:MOST_CAUSES]
    return {
        "bad": bad, "checked": [[rank, step, of] for (rank, step), (_, of) in health.counts.items() if of],
        "causes": None if health.causes is None else list(health.causes.values()),
    }  # fmt: skip
