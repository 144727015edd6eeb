"""Groups of ranks: the hash of their names, and what profiler_metadata, communication_group.json and databases tell of them.

Communication files name a group by the hash of its name. `parallel_group_info` is keyed by the names themselves:
{name: {group_name: kind, group_rank, global_ranks}}.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any

import msgspec

_WHOLE = 1 << 32
MOST_RANKS = 1 << 20
"""Ranks of one group; more are not believed."""


def hash_of(name: str) -> str:
    """Return the hash by which communication files name the group of this name.

    Over the characters: a = 29 a + c, b = 131 b + c, both modulo 2^32; the hash is a * 2^32 + b in decimal.
    """
    a = b = 0
    for character in name:
        a = (29 * a + ord(character)) % _WHOLE
        b = (131 * b + ord(character)) % _WHOLE
    return str(a * _WHOLE + b)


def text_of(ranks: Iterable[int]) -> str:
    """Return ranks as text: 0-3,8."""
    parts: list[str] = []
    ordered = sorted(set(ranks))
    at = 0
    while at < len(ordered):
        end = at
        while end + 1 < len(ordered) and ordered[end + 1] == ordered[end] + 1:
            end += 1
        parts.append(str(ordered[at]) if end == at else f"{ordered[at]}-{ordered[end]}")
        at = end + 1
    return ",".join(parts)


def ranks_of(text: str) -> tuple[int, ...]:
    """Return the ranks in a text of `text_of`, in order."""
    found: list[int] = []
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)


def ranks_in(value: Any) -> tuple[int, ...] | None:
    """Return the ranks in a list of whole numbers; None for anything else."""
    if not isinstance(value, list | tuple) or not value or len(value) > MOST_RANKS:
        return None
    if not all(isinstance(rank, int) and not isinstance(rank, bool) and 0 <= rank < 10**9 for rank in value):
        return None
    return tuple(sorted(set(value)))


_KEPT = 1 << 20
"""Bytes of a list of ranks up to which it is remembered."""


def told_ranks(value: bytes) -> tuple[str, int] | None:
    """Return the ranks in JSON such as [0, 1, 2] as text, and how many there are; None for anything but a list of ranks.

    Every rank of a job has the same lists, of up to all its ranks: those that were read last are remembered.
    """
    return _remembered(value) if len(value) <= _KEPT else _told_ranks(value)


def _told_ranks(value: bytes) -> tuple[str, int] | None:
    try:
        ranks = ranks_in(msgspec.json.decode(value))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return (text_of(ranks), len(ranks)) if ranks is not None else None


_remembered = functools.lru_cache(maxsize=64)(_told_ranks)


_SET = re.compile(r"\(\s*\d{1,9}\s*(?:,\s*\d{1,9}\s*)*,?\s*\)")


def ranks_named(text: str) -> tuple[int, ...] | None:
    """Return the ranks in a text such as "(0, 1)" of cluster files; None for another text."""
    if _SET.fullmatch(text) is None:
        return None
    return tuple(sorted({int(rank) for rank in re.findall(r"\d+", text)}))
