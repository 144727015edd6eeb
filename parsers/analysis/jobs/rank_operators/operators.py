"""The operators of one rank in order of time, from its kernels and from the communication of its job.

Communication is taken from the frame of the job, which names groups; from the kernels of a rank that this frame does not have.
Both are by the clock of the device.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs.choosing import kind_of
from parsers.analysis.profiles.busy import COMMUNICATION, HOST
from parsers.analysis.profiles.efficiency.tensor_cores import multiplies
from parsers.deferred import pandas as pd
from parsers.model import Ints

CATEGORIES = ("ai_core", "vector_core", "other", "matrix", "copy", "collective", "send", "receive", "send_receive")
"""What an operator is drawn as: the first COMPUTING of them compute, the others communicate."""
COMPUTING = 5
GPU = ("GPU", "GPU_KERNEL")
"""Cores of kernels of GPUs, whose names tell what they compute."""
MOST = 250_000
"""Operators of one rank that are laid over those of others; of more, the first ones."""
_CORES = {
    "AI_CORE": 0, "AICORE": 0, "MIX_AIC": 0, "AI_VECTOR_CORE": 1, "MIX_AIV": 1, "VECTOR_CORE": 1, "AIV": 1,
    "COPY": 4,
}  # fmt: skip
COMMUNICATES = re.compile(r"(?i)^(hcom|hccl|nccl|lccl)")
_OTHER, _MATRIX, _COLLECTIVE = (CATEGORIES.index(name) for name in ("other", "matrix", "collective"))
DIRECTIONS = {"send": 6, "receive": 7, "recv": 7, "batchsendrecv": 8, "sendrecv": 8}
_LATEST, _LONGEST = 1 << 62, 1 << 60
"""ns up to which begins and durations are believed: a damaged file may have any."""
_APART = "\0"
"""Between the name of an operation and the hash of its group."""


@dataclass(frozen=True, slots=True)
class Operators:
    """The operators of one rank by begin; of several that begin together the longest comes first.

    keys and types are texts, of which key and type are numbers: a key is a name and, of communication, its group (`name_of`,
    `group_of`). start and end are ns by the clock of the device, step is -1 for unknown. untimed is the number of kernels
    without a begin, left_out that of operators beyond MOST. kernels and told: whether the kernels of the rank and the
    communication of the job have anything of it.
    """

    rank: int
    keys: tuple[str, ...]
    types: tuple[str, ...]
    key: Ints
    type: Ints
    category: NDArray[np.uint8]
    start: Ints
    end: Ints
    step: Ints
    untimed: int = 0
    left_out: int = 0
    kernels: bool = False
    told: bool = False

    def __len__(self) -> int:
        return len(self.start)

    @property
    def nbytes(self) -> int:
        """Bytes in memory, about."""
        texts = sum(map(len, self.keys)) + 60 * (len(self.keys) + len(self.types))
        return texts + sum(one.nbytes for one in (self.key, self.type, self.category, self.start, self.end, self.step))

    def shifted(self, ns: int) -> Operators:
        """Return these operators at other times."""
        return replace(self, start=self.start + ns, end=self.end + ns) if ns else self


def name_of(key: str) -> str:
    """Return the name of an operator, of communication without its group."""
    return key.partition(_APART)[0]


def group_of(key: str) -> str:
    """Return the hash of the group of communication; "" for unknown, and of what computes."""
    return key.partition(_APART)[2]


def key_of(name: str, group: str) -> str:
    """Return the key of communication in a group."""
    return f"{name}{_APART}{group}" if group else name


def operators(
    rank: int, kernels: pd.DataFrame | None, collectives: pd.DataFrame | None, *, step: int | None = None, most: int = MOST
) -> Operators:
    """Return the operators of a rank in a step, None for all.

    kernels are its own (schema KERNELS), collectives those of the job (schema COLLECTIVES); None for no file. What runs on the
    host counts only where there is nothing else. Rows without a begin cannot be placed and are only counted.
    """
    told = None if collectives is None else _told(collectives, rank, step)
    own, untimed = _own(kernels, step, with_communication=told is None)
    parts = [part for part in (own, told) if part is not None]
    if not parts:
        none = np.empty(0, np.int64)
        return Operators(rank, (), (), none, none, none.astype(np.uint8), none, none, none, untimed)
    keys: dict[str, int] = {}
    types: dict[str, int] = {}
    key = np.concatenate([_numbers(part[0], keys) for part in parts])
    kind = np.concatenate([_numbers(part[1], types) for part in parts])
    category, start, end, steps = (np.concatenate([part[at] for part in parts]) for at in range(2, 6))
    made = Operators(
        rank, tuple(keys), tuple(types), key, kind, category.astype(np.uint8), start, end, steps, untimed,
        kernels=own is not None, told=told is not None,
    )  # fmt: skip
    return sorted_by_begin(made, most)


def sorted_by_begin(made: Operators, most: int = MOST) -> Operators:
    """Return operators in their order, the first `most` of them."""
    order = np.lexsort((-made.end, made.start))
    left_out = max(0, len(order) - most)
    order = order[:most]
    columns = {name: getattr(made, name)[order] for name in ("key", "type", "category", "start", "end", "step")}
    return replace(made, **columns, left_out=left_out)


Texts = tuple[Sequence[str], NDArray[Any]]
"""Texts, and which of them each row has."""
_Part = tuple[Texts, Texts, NDArray[Any], Ints, Ints, Ints]
"""(keys, types, category, begin, end, step) of some operators."""


def _numbers(texts: Texts, known: dict[str, int]) -> Ints:
    """Return the number of the text of each row; new ones get the next numbers."""
    used = np.unique(texts[1])
    table = np.zeros(len(texts[0]), np.int64)
    for place in used.tolist():
        table[place] = known.setdefault(texts[0][place], len(known))
    return table[texts[1]]


def _own(kernels: pd.DataFrame | None, step: int | None, *, with_communication: bool) -> tuple[_Part | None, int]:
    """Return what kernels have, and how many of them no begin."""
    if kernels is None or not len(kernels):
        return None, 0
    steps, start = kernels["step"].to_numpy(), kernels["start_ns"].to_numpy()
    inside = np.ones(len(kernels), np.bool_) if step is None else steps == step
    names, cores, types = (_texts(kernels[name]) for name in ("name", "core", "type"))
    on_host = _each(cores, lambda text: text == HOST) > 0
    if not on_host.all():
        inside &= ~on_host
    communicates = _each(cores, lambda text: text.upper() in COMMUNICATION) > 0
    communicates |= _each(names, lambda text: COMMUNICATES.search(text) is not None) > 0
    timed = (start >= 0) & (start <= _LATEST)
    untimed = int((inside & ~timed).sum())
    chosen = np.flatnonzero(inside & timed & (with_communication | ~communicates))
    if not len(chosen):
        return None, untimed
    computing = _each(cores, lambda text: _CORES.get(text.upper(), _OTHER))
    on_gpu = _each(cores, lambda text: text.upper() in GPU) > 0
    if on_gpu.any():  # All kernels of a GPU have one core.
        computing = np.where(on_gpu & (_each(names, multiplies) > 0), _MATRIX, computing)
    category = np.where(communicates, _each(names, _communicating), computing)[chosen]
    begin = start[chosen]
    end = begin + np.clip(kernels["duration_ns"].to_numpy()[chosen], 0, _LONGEST)
    (name, name_at), (kind, kind_at) = names, types
    return ((name, name_at[chosen]), (kind, kind_at[chosen]), category, begin, end, steps[chosen]), untimed


def _told(collectives: pd.DataFrame, rank: int, step: int | None) -> _Part | None:
    start, elapse = collectives["start_ns"].to_numpy(), collectives["elapse_ns"].to_numpy()
    chosen = (collectives["rank"].to_numpy() == rank) & (start >= 0) & (start <= _LATEST) & np.isfinite(elapse)
    if not chosen.any():
        return None
    if step is not None:
        chosen &= collectives["step"].to_numpy() == step
    rows = np.flatnonzero(chosen)
    (names, name), (groups, group), (kinds, kind) = (_texts(collectives[one], rows) for one in ("name", "group", "kind"))
    pair, number = np.unique(name.astype(np.int64) * len(groups) + group, return_inverse=True)
    keys = [key_of(names[one // len(groups)], groups[one % len(groups)]) for one in pair.tolist()]
    category = _each((kinds, kind), lambda text: DIRECTIONS.get(text, _COLLECTIVE))
    begin = start[rows]
    end = begin + np.rint(np.clip(elapse[rows], 0.0, _LONGEST)).astype(np.int64)
    return (keys, number), (kinds, kind), category, begin, end, collectives["step"].to_numpy()[rows]


def _texts(column: pd.Series[Any], rows: Ints | None = None) -> Texts:
    """Return the texts of a column of categories with "" for none, and the place of that of each row."""
    codes = column.cat.codes.to_numpy()
    codes = codes if rows is None else codes[rows]
    known = [*column.cat.categories.astype("str"), ""]
    return known, np.where(codes < 0, len(known) - 1, codes).astype(np.int64)


def _each(texts: Texts, answer: Any) -> Ints:
    """Return what a function answers for the text of each row, asked once for each text."""
    return np.array([int(answer(text)) for text in texts[0]], np.int64)[texts[1]]


def _communicating(name: str) -> int:
    return DIRECTIONS.get(kind_of(name), _COLLECTIVE)
