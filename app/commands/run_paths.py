"""Opens the runs that a command is given as paths."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from app.commands.settings import SettingError
from app.commands.terminal import problem_line
from parsers import Problem, Run, Source, discover
from parsers.discovery import opens_alone

MOST_PROBLEMS = 20
"""Problems of a run that are printed."""


def sources_at(paths: Sequence[str], option: str) -> list[tuple[str, Source]]:
    """Return the runs at and below paths with their names, each run once; SettingError for a path without any."""
    found: dict[str, tuple[str, Source]] = {}
    for path in paths:
        if not os.path.isdir(path) and not (os.path.isfile(path) and opens_alone(path)):
            raise SettingError(f"{option}: expected the directory of a run, or an event file, found {path!r}")
        sources = discover(path)
        if not sources:
            raise SettingError(f"{option}: expected a run at or below {path!r}, found none")
        for source in sources:
            found.setdefault(source.real_path, (_name(path, source), source))
    return list(found.values())


def opened(source: Source) -> Run:
    """Return a run that has been read to the end of its files; what is damaged in them is printed on stderr."""
    run = Run(source)
    run.refresh(source)
    for problem in run.problems[:MOST_PROBLEMS]:
        print_problem(problem)
    if len(run.problems) > MOST_PROBLEMS:
        sys.stderr.write(f"... and {len(run.problems) - MOST_PROBLEMS:,} more\n")
    return run


def print_problem(problem: Problem) -> None:
    """Print a problem on stderr."""
    sys.stderr.write(problem_line(problem) + "\n")


def is_incomplete(run: Run) -> bool:
    """Return whether a file ends within a record, be it that more is to come or that its writer was killed."""
    return run.waiting or any(problem.kind == "truncated" for problem in run.problems)


def _name(path: str, source: Source) -> str:
    own = os.path.basename(os.path.abspath(path))
    return own if source.name in ("", ".") or os.path.isfile(path) else os.path.join(own, source.name)
