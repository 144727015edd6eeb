"""Names of files and directories, as printable text, of profiler directories, of values without a tag, of derived curves."""

from __future__ import annotations

import os
import re

PROFILE_NAME = re.compile(r"profiler(_.*)?|.*_ascend_(ms|pt)")
"""Name of a profiler directory."""
CLUSTER_OUTPUT = "cluster_analysis_output"
"""Name of the directory in which msprof-analyze and MindStudio put what they made of all ranks of a job."""
NO_TAG = "(no tag)"
"""The tag of values whose tag is empty or missing in the file: a name that can be shown, chosen and put into an address."""
EXPRESSION = "="
"""First character of the name of a derived curve; an expression over tags follows (`parsers.analysis.curves.expressions`)."""


def printable(name: str) -> str:
    r"""Return a file name as text that can be encoded: bytes that are not UTF-8 become \xNN."""
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "backslashreplace")
