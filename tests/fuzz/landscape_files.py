"""What `mindscope landscape` leaves beside the files of a run: seeds, and how mutated ones are read."""

from __future__ import annotations

import math
import os

from parsers import landscape_facts
from parsers.landscapes.points import GrowingDirectory, Loss, PlannedSurface, Point, line_of_point, line_of_surfaces
from tests.fuzz.promises import write_file

NAME = "landscape-0123456789abcdef"
FACTS = (
    b'{"landscapes": [{"tag": "landscape_[1, 9]", "checksum": 3735928559, "shown": 0.71, "failed": [[2, 5, "Error: x"]]}]}',
    b'{"landscapes": []}',
)


def points() -> tuple[bytes, ...]:
    """Return points files: one that has just begun, and one with a line, a path and places without a loss."""
    surface = PlannedSurface("landscape_[1, 3]", [0.0, 1.0], [0.0, 0.5, 1.0], [1, 2], [0.1, 0.2], [0.3, 0.4])
    begun = line_of_surfaces([surface])
    losses = [Loss(0.5, ""), Loss(math.nan, "ValueError: x"), Loss(math.inf, "")]
    return begun, begun + b"".join(line_of_point(Point(0, row, row % 2), loss) for row, loss in enumerate(losses))


def read_facts(data: bytes, folder: str) -> None:
    """Read a file of facts."""
    write_file(folder, f"{NAME}.json", data)
    landscape_facts(folder)


def read_points(data: bytes, folder: str) -> None:
    """Read a points file, and again after it was cut."""
    path = write_file(folder, f"{NAME}.points", data)
    growing = GrowingDirectory(folder)
    growing.landscapes()
    os.truncate(path, len(data) // 2)
    growing.landscapes()
