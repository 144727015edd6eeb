"""Opens the runs that a command is given as paths."""

from __future__ import annotations

import os
from collections.abc import Sequence

from app.commands.settings import SettingError
from parsers import Run, Source, discover
from parsers.discovery import opens_alone


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
    """Return a run that has been read to the end of its files."""
    run = Run(source)
    run.refresh(source)
    return run


def _name(path: str, source: Source) -> str:
    own = os.path.basename(os.path.abspath(path))
    return own if source.name in ("", ".") or os.path.isfile(path) else os.path.join(own, source.name)
