"""Event files read the plain way: by the message definitions of MindSpore and TensorFlow, checksums included."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.parsers.events.event_reference import event, records


def files(directory: Path, pattern: str) -> list[Path]:
    """Files of a directory by a pattern, in the order of the seconds in their names."""
    return sorted(directory.glob(pattern), key=lambda path: next(int(part) for part in path.name.split(".") if part.isdigit()))


def events(path: Path, layout: str) -> list[Any]:
    """All events of a file but the version; the file ends with a whole record."""
    content = path.read_bytes()
    found = list(records(content))
    end = found[-1][0] + 16 + len(found[-1][1]) if found else 0
    assert end == len(content), "the file ends within a record"
    first, *others = [event(layout, data) for _, data in found]
    assert (first.version if layout == "mindspore" else first.file_version) in ("MindSpore.Event:1", "brain.Event:2")
    return others


def values(directory: Path, layout: str = "tensorboard") -> Iterator[tuple[int, str, Any]]:
    """(step, tag, message) of all values of a directory."""
    for path in files(directory, "*tfevents*" if layout == "tensorboard" else "*_MS"):
        for one in events(path, layout):
            for value in one.summary.value:
                yield one.step, value.tag, value
