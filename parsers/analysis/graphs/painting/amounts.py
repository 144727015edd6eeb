"""What a source measured of operators and parameters by name and step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from parsers.model import Floats, Ints

WHOLE = -1
"""The step of values that are of the whole source, such as sums over a profile."""


@dataclass(frozen=True, eq=False)
class Amounts:
    """Entries sorted by step: the place of a name in `names`, the step, the value (NaN for unknown).

    Several entries of one name and step combine as the metric says.
    """

    names: tuple[str, ...]
    name: Ints
    step: Ints
    value: Floats

    @classmethod
    def of(cls, names: Sequence[str], name: Ints, step: Ints, value: Floats) -> Amounts:
        """Sort entries by step; entries without a value are left out, and so are names without entries."""
        kept = np.flatnonzero(~np.isnan(value))
        kept = kept[np.argsort(step[kept], kind="stable")]
        used, place = np.unique(name[kept], return_inverse=True)
        return cls(
            tuple(str(names[one]) for one in used.tolist()), place.astype(np.int64), step[kept].astype(np.int64),
            value[kept].astype(np.float64),
        )  # fmt: skip

    @classmethod
    def empty(cls) -> Amounts:
        """Return amounts without an entry."""
        return cls((), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))

    @classmethod
    def joined(cls, parts: Sequence[Amounts]) -> Amounts:
        """Return the entries of several amounts."""
        numbers: dict[str, int] = {}
        codes = [
            np.array([numbers.setdefault(one, len(numbers)) for one in part.names], np.int64)[part.name] if len(part.name)
            else part.name for part in parts
        ]  # fmt: skip
        if not parts:
            return cls.empty()
        return cls.of(
            tuple(numbers), np.concatenate(codes), np.concatenate([part.step for part in parts]),
            np.concatenate([part.value for part in parts]),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.value)

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """The steps that have values, in order; WHOLE first."""
        return tuple(np.unique(self.step).tolist())

    def entries(self, step: int) -> slice:
        """Return which entries are of a step."""
        begin, end = np.searchsorted(self.step, [step, step + 1]).tolist()
        return slice(begin, end)
