"""Names of files and directories: as text, and those by which a profiler's are known."""

from __future__ import annotations

import os
import re

PROFILE_NAME = re.compile(r"profiler(_.*)?|.*_ascend_(ms|pt)")
"""A directory of a profiler."""


def printable(name: str) -> str:
    r"""A file name as text that can be encoded: bytes that are no UTF-8 become \xNN."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
