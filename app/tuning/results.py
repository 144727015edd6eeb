"""What a finished trial achieved: its targets, from the lineage and the scalars that it recorded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from parsers import Run, SourceError, discover
from parsers.lineage.description import METRIC
from parsers.tuning.description import Target

MOST_NAMES = 10
"""Names of scalars in a message."""


@dataclass(frozen=True, slots=True)
class Results:
    """Values of the targets in their order, None for those not found, and a sentence why one is missing or cannot be used."""

    values: tuple[float | None, ...]
    why: str = ""

    @property
    def usable(self) -> Sequence[float] | None:
        """All values, None if one is missing or NaN."""
        found = [one for one in self.values if one is not None and not math.isnan(one)]
        return found if len(found) == len(self.values) else None


def tags_of(name: str) -> tuple[str, ...]:
    """Return the tags of a scalar: SummaryCollector writes the loss as loss/auto."""
    return (name, "loss/auto") if name == "loss" else (name,)


class RunResults:
    """What a run has recorded, for targets and constraints."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = [part for run in runs for part in (run, *run.ranks)]

    @classmethod
    def below(cls, directory: str) -> RunResults:
        """Return what the runs in a directory have recorded; nothing if there is none."""
        try:
            runs = [Run(source) for source in discover(directory)]
        except SourceError:
            runs = []
        for run in runs:
            run.refresh()
        return cls(runs)

    @property
    def empty(self) -> bool:
        """Whether there is no file at all."""
        return not any(run.files for run in self._runs)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all scalars and metrics."""
        found: dict[str, None] = {}
        for run in self._runs:
            found |= dict.fromkeys(run.tags())
            found |= dict.fromkeys(name.removeprefix(METRIC) for name in run.settings if name.startswith(METRIC))
        return tuple(found)

    def value(self, target: Target) -> float | None:
        """Return the value of a target, None if it was not recorded."""
        names = {"metric": (METRIC + target.name,), "system_defined": (target.name,)}.get(target.group, ())
        if not target.best:
            for run in self._runs:
                found = next((run.settings[name] for name in names if name in run.settings), None)
                if isinstance(found, int | float) and not isinstance(found, bool):
                    return float(found)
        for tag in tags_of(target.name):
            for run in self._runs:
                values = run.resolved(tag).value
                if len(values):
                    return _of(values.astype(np.float64), target)
        return None

    def number(self, name: str) -> float | None:
        """Return a metric or the last value of a scalar, for a constraint."""
        return self.value(Target(name, "metric", "minimize"))


def _of(values: np.ndarray[tuple[int], np.dtype[np.float64]], target: Target) -> float:
    if not target.best:
        return float(values[-1])
    numbers = values[~np.isnan(values)]
    if not numbers.size:
        return math.nan
    return float(numbers.min() if target.sign > 0 else numbers.max())


def results_of(recorded: RunResults, targets: Iterable[Target]) -> Results:
    """Return the values of the targets."""
    wanted = tuple(targets)
    values = tuple(recorded.value(one) for one in wanted)
    missing = [one.name for one, value in zip(wanted, values, strict=True) if value is None]
    if missing:
        return Results(values, _missing(missing, recorded))
    nan = [one.name for one, value in zip(wanted, values, strict=True) if value is not None and math.isnan(value)]
    return Results(values, f"the target {', '.join(nan)} is NaN" if nan else "")


def _missing(missing: Sequence[str], recorded: RunResults) -> str:
    what = f"expected the target {', '.join(missing)} in the files of the run, found "
    if recorded.empty:
        return f"{what}no event file; does the script record to the summary_dir of its settings?"
    names = recorded.names
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{what}{', '.join(names[:MOST_NAMES]) or 'no scalar'}{more}"


def numbers_of(recorded: RunResults, names: Iterable[str], settings: Mapping[str, object]) -> dict[str, object]:
    """Return settings and, for other names, what was recorded; names that are neither are missing."""
    found = dict(settings)
    for name in names:
        if name not in found:
            value = recorded.number(name)
            if value is not None:
                found[name] = value
    return found
