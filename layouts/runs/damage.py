"""Damage in the files of runs: the reason to give, before any other, where runs lack a kind of data."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import islice
from typing import Annotated

from parsers.model import NOTE

from layouts.sources import RunSources

HARMLESS = ("empty_file", "replaced", NOTE)
"""Kinds of problems that take no data: the training has just begun, or the file was read again."""
MOST = 20
FileAndText = Annotated[list[str], "FileAndText"]
"""The name of a damaged file, and what was lost."""


UNREACHED = ("unreadable", "outside")
"""Kinds of problems that hide whole files or directories."""


def damage(source: RunSources, runs: Iterable[str], *, unreached: bool = False) -> list[FileAndText]:
    """Return [file name, text] of up to MOST problems of these member runs that may have taken data.

    unreached: only those that may hide whole files or directories, for data that other files hold.
    """
    problems = (
        problem for run in runs for _, problem in source.runs.problems(run)
        if (problem.kind in UNREACHED if unreached else problem.kind not in HARMLESS)
    )  # fmt: skip
    return [[os.path.basename(problem.path), problem.text] for problem in islice(problems, MOST)]
