"""Files that appear under their name when they are complete, under names that every file system takes."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeAlias

LONGEST = 200
"""Bytes of a file name in UTF-8."""
_UNSAFE = re.compile(r"[^\w.\-]+")
_DESCRIPTORS = ("/dev", "/dev/fd", "/proc/self/fd")
# What Windows takes for a device, whatever follows its first dot.
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)", re.IGNORECASE)

Progress: TypeAlias = Callable[[float], object]
"""Is told the share of the work that is done, from 0 to 1."""


def unheard(share: float) -> None:
    """Progress that nobody watches."""


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether what is at path is written through and cannot be replaced: /dev/stdout, a pipe, a terminal."""
    # /dev/stdout is a plain file where the shell has sent it to one.
    return os.path.exists(path) and (os.path.dirname(path) in _DESCRIPTORS or not (os.path.isfile(path) or os.path.isdir(path)))


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which replaces the one at path if the block ends well and vanishes if it does not.

    A stream is written to as it is.
    """
    if is_stream(path):
        with path.open("ab") as file:
            yield file
        return
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with beside.open("xb") as file:
            yield file
        os.replace(beside, path)
    except BaseException:  # an interrupt as well: nothing half written stays
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def readable(text: str) -> str:
    """A text as the beginning of a file name: its letters and digits, no separators, not hidden."""
    return _UNSAFE.sub("_", unicodedata.normalize("NFC", text)).lstrip(".-").rstrip(".") or "_"


class Names:
    """The names of one directory. Each is given once, also where the file system ignores case."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, text: str, end: str = "", suffix: str = "") -> str:
        """A name that begins with the text and ends in end and suffix; the second one of a kind has ~2 between those."""
        wish = name = _fitted(text, end, suffix)
        number = self._next.get(wish.casefold(), 1)
        while name.casefold() in self._used:
            number += 1
            name = _fitted(text, f"{end}~{number}", suffix)
        self._next[wish.casefold()] = number
        self._used.add(name.casefold())
        return name


def _fitted(text: str, end: str, suffix: str) -> str:
    name = text + end + suffix
    if _DEVICE.match(name):
        text = "_" + text
        name = "_" + name
    over = len(name.encode()) - LONGEST
    if over <= 0:
        return name
    room = max(len(text.encode()) - over, 0)
    return text.encode()[:room].decode(errors="ignore") + end + suffix
