"""Names in little room: what all begin with is left out, and what differs stays. Counterpart of assets/kit/names.js."""

from __future__ import annotations

import re
from collections.abc import Sequence

_BOUNDARY = re.compile(r"[/\\_\-.,:;= ]")


def parts_of(name: str, names: Sequence[str]) -> tuple[str, str, str]:
    """Return what all names begin with, what differs in this one, and what all end with; cuts are at boundaries of words."""
    every = list(dict.fromkeys(names))
    if len(every) < 2:
        return "", name, ""
    begin = _shared(every)
    while begin and not _BOUNDARY.fullmatch(name[begin - 1]):
        begin -= 1
    end = _shared([one[begin:][::-1] for one in every])
    while end and not _BOUNDARY.fullmatch(name[len(name) - end]):
        end -= 1
    stop = max(begin, len(name) - end)
    return name[:begin], name[begin:stop], name[stop:]


def _shared(names: Sequence[str]) -> int:
    """Return the number of characters that all names begin with."""
    first, last = min(names), max(names)  # those in between have the same beginning
    return next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))


def shortened(name: str, names: Sequence[str], most: int) -> str:
    """Return a name of at most `most` characters: without what all names begin with, then without what all end with, then cut
    in the middle."""
    if len(name) <= most:
        return name
    head, core, tail = parts_of(name, names)
    mark = "…" if head else ""
    for text in (f"{mark}{core}{tail}", f"{mark}{core}{'…' if tail else ''}"):
        if len(text) <= most:
            return text
    return middle(core, most)


def middle(text: str, most: int) -> str:
    """Return a text of at most `most` characters, cut in its middle."""
    if len(text) <= most:
        return text
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}…{text[len(text) - end :]}" if most > 1 else "…"
