"""The samples under tests/data by kind of file. Those in `written` are made by hand, from the documented layout of a format."""

from __future__ import annotations

from pathlib import Path

from parsers.profiler.registry import classify
from parsers.registry import kind_of

DATA = Path(__file__).resolve().parents[1] / "data"


def _samples() -> tuple[dict[str, list[Path]], dict[str, list[Path]]]:
    recorded: dict[str, list[Path]] = {}
    profiles: dict[str, list[Path]] = {}
    for path in sorted(DATA.rglob("*"), key=lambda path: (path.stat().st_size, path)):
        if not path.is_file() or path.suffix == ".golden":
            continue
        kind, known = kind_of(path.name), classify(path.name)
        if known is not None:
            profiles.setdefault(known[0], []).append(path)
        elif kind is not None:
            recorded.setdefault(kind[0].name, []).append(path)
    return recorded, profiles


SAMPLES, PROFILE_SAMPLES = _samples()
"""Name of a kind -> its samples, the smallest first: kinds of `parsers.registry`, and those of `parsers.profiler.registry`."""
