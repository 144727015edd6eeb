"""Writes files that appear only once complete, under names that every file system accepts."""

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
"""Maximum bytes of a file name in UTF-8."""
_UNSAFE = re.compile(r"[^\w.\-]+")
_DESCRIPTORS = ("/dev", "/dev/fd", "/proc/self/fd")
# Names that Windows treats as devices, whatever follows the first dot.
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)", re.IGNORECASE)

Progress: TypeAlias = Callable[[float], object]
"""Called with the fraction of the work that is done, from 0 to 1."""


def unheard(share: float) -> None:
    """Ignore progress."""


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Return whether path is a stream, which cannot be replaced: /dev/stdout, a pipe, a terminal."""
    # /dev/stdout is a plain file if the shell redirected it to one.
    return os.path.exists(path) and (os.path.dirname(path) in _DESCRIPTORS or not (os.path.isfile(path) or os.path.isdir(path)))


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces the one at path if the block succeeds, and is deleted if it fails.

    A stream is written to directly.
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
    except BaseException:  # also on an interrupt: leave no partial file
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def readable(text: str) -> str:
    """Turn a text into the beginning of a file name: letters and digits, no separators, not hidden."""
    return _UNSAFE.sub("_", unicodedata.normalize("NFC", text)).lstrip(".-").rstrip(".") or "_"


class FileNames:
    """The names of one directory. Each is used once, ignoring case as some file systems do."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, text: str, end: str = "", suffix: str = "") -> str:
        """Return an unused name: text, end, suffix; if it is taken, ~2 and so on come before the suffix."""
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
