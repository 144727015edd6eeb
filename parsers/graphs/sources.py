"""Parses the source lines of the user's program that MindSpore writes beside a node.

``In file /home/me/net.py:96, 32~45/        x = self.pool(self.relu(self.conv1(x)))/``, before 2.x
``In file /home/me/net.py(96)/        x = .../``; a range of lines is ``:93~106, 4~16``.
"""

from __future__ import annotations

import re

from parsers.graphs.graph import SourceLine

_LINE = re.compile(
    r"(?:#\s*)?(?:\d+\s+)?In file (?P<file>.*?)"
    r"(?::(?P<first>\d{1,9})(?:~(?P<last>\d{1,9}))?(?:, ?\d+(?:~\d+)?)?|\((?P<old>\d{1,9})\))/(?P<code>.*)"
)


def source_line(text: str) -> SourceLine:
    """Parse one such line; any other text becomes code without a file."""
    line = text.strip()
    found = _LINE.match(line)
    if found is None:
        return SourceLine("", 0, 0, line)
    first = int(found["first"] or found["old"])
    code = found["code"]
    return SourceLine(found["file"], first, int(found["last"] or first), code.removesuffix("/").strip())
