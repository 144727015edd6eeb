"""Golden values of the real samples under tests/data, taken from them by protobuf, one record after the other.

    python -m tests.parsers.events.golden     writes them anew; read the difference before committing it
"""

from __future__ import annotations

import struct
from pathlib import Path

from tests.parsers.events.event_reference import points

DATA = Path(__file__).parents[2] / "data"
SAMPLES = {
    "mindspore": sorted((DATA / "mindspore").rglob("*summary*")),
    "tensorboard": sorted((DATA / "tensorboard").rglob("*tfevents*")),
}


def golden(path: Path) -> Path:
    """The golden file of a sample."""
    return path.with_name(path.name + ".golden")


def text(found: list[tuple[int, str, int, bytes, bytes]]) -> str:
    """Points as lines of order, tag, step, wall time and value."""
    rows = ((order, tag, step, _number(wall), _number(value)) for order, tag, step, wall, value in found)
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def _number(value: bytes) -> str:
    return "nan" if value == b"nan" else repr(struct.unpack("<d", value)[0])


def main() -> None:
    """Write all golden files."""
    for layout, samples in SAMPLES.items():
        for path in samples:
            if not path.name.endswith(("_lineage", ".golden")):
                golden(path).write_text(text(points(layout, path.read_bytes())), encoding="utf-8")


if __name__ == "__main__":
    main()
