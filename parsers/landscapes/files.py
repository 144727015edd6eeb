"""The names of the files of computed landscapes. They belong to a run, and no `Reader` reads them: pages ask for them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from parsers.model import COMPUTED_LANDSCAPES, FileKind

NAME = re.compile(r"\Alandscape-(?P<mark>[0-9a-f]{16})\.(?P<kind>points|json)\Z")
LANDSCAPE_FILES = FileKind(name=COMPUTED_LANDSCAPES, pattern=NAME, makes_run=False, most=20)
POINTS, FACTS = "points", "json"


def files_in(directory: str, kind: str) -> Iterator[tuple[str, str]]:
    """Yield (mark, path) of the files of POINTS or FACTS in a directory, the newest first; at most as many as are read."""
    found = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                match = NAME.match(entry.name)
                if match is not None and match["kind"] == kind and entry.is_file():
                    found.append((-entry.stat().st_mtime_ns, match["mark"], entry.path))
    except OSError:
        return
    yield from ((mark, path) for _, mark, path in sorted(found)[: LANDSCAPE_FILES.most])
