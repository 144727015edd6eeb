"""Makes a failing case smaller: records, lines and bytes are left out as long as it fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from tests.fuzz.mutated_trees import join_records, split_records

SECONDS = 20.0
T = TypeVar("T")
Join = Callable[[list[T]], bytes]


def minimised(form: str, data: bytes, fails: Callable[[bytes], bool]) -> bytes:
    """Return a smaller file that still fails; the same one if none is found within SECONDS."""
    until = time.monotonic() + SECONDS
    contents = split_records(data)
    if form == "records" and contents and fails(join_records(contents)):
        contents = list(_smaller(contents, join_records, fails, until))
        for place in range(len(contents)):

            def join(part: list[int]) -> bytes:
                return join_records([*contents[:place], bytes(part), *contents[place + 1 :]])  # noqa: B023  called in this round

            contents[place] = bytes(_smaller(list(contents[place]), join, fails, until))
        return join_records(contents)
    if form in ("text", "table", "tree"):
        data = _lines(_smaller(data.split(b"\n"), _lines, fails, until))
    return _whole(_smaller(list(data), _whole, fails, until))


def _lines(parts: list[bytes]) -> bytes:
    return b"\n".join(parts)


def _whole(parts: list[int]) -> bytes:
    return bytes(parts)


def _smaller(parts: list[T], join: Join[T], fails: Callable[[bytes], bool], until: float) -> list[T]:
    """Leave out ranges of parts, half of them at first, then smaller ones."""
    size = max(len(parts) // 2, 1)
    while parts:
        at = 0
        while at < len(parts):
            if time.monotonic() > until:
                return parts
            rest = parts[:at] + parts[at + size :]
            if fails(join(rest)):
                parts = rest
            else:
                at += size
        if size == 1:
            break
        size = max(size // 2, 1)
    return parts
