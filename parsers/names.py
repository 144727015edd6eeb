"""Names of files and directories: as printable text, and the names of profiler directories."""

from __future__ import annotations

import os
import re

PROFILE_NAME = re.compile(r"profiler(_.*)?|.*_ascend_(ms|pt)")
"""Name of a profiler directory."""


def printable(name: str) -> str:
    r"""Return a file name as text that can be encoded: bytes that are not UTF-8 become \xNN."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
