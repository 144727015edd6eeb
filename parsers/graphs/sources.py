"""Parses the source lines of the user's program that MindSpore writes beside a node.

``In file /home/me/net.py:96, 32~45/        x = self.pool(self.relu(self.conv1(x)))/``, before 2.x
``In file /home/me/net.py(96)/        x = .../``; a range of lines is ``:93~106, 4~16``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from parsers.graphs.graph import SourceLine

_LINE = re.compile(
    r"(?:#\s*)?(?:\d+\s+)?In file (?P<file>.*?)"
    r"(?::(?P<first>\d{1,9})(?:~(?P<last>\d{1,9}))?(?:, ?\d+(?:~\d+)?)?|\((?P<old>\d{1,9})\))/(?P<code>.*)"
)

_PACKAGES = ("site-packages", "dist-packages", "/lib/python", "<frozen")


def is_own(file: str) -> bool:
    """Return whether a file is of the user's program, not of a package or of Python itself."""
    return bool(file) and not any(part in file for part in _PACKAGES)


def source_line(text: str) -> SourceLine:
    """Parse one such line; any other text becomes code without a file."""
    line = text.strip()
    found = _LINE.match(line)
    if found is None:
        return SourceLine("", 0, 0, line)
    first = int(found["first"] or found["old"])
    code = found["code"]
    return SourceLine(found["file"], first, int(found["last"] or first), code.removesuffix("/").strip())


def outermost_first(lines: Sequence[SourceLine]) -> tuple[SourceLine, ...]:
    """Return the lines of a stack in a .pb file, outermost call first.

    MindSpore 2.x writes the innermost first. Where a function, which is a range of lines, stands beside the call in it, their
    order tells which way round the stack is.
    """
    for one, other in pairwise(lines):
        if one.file == other.file and (one.first == one.last) != (other.first == other.last):
            outer, inner = (one, other) if one.last > one.first else (other, one)
            if outer.first <= inner.first <= outer.last:
                return tuple(lines) if outer is one else tuple(reversed(lines))
    return tuple(reversed(lines))
