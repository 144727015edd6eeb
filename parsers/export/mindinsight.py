"""Exports the scalars and images of a run in the layout of MindInsight's parse_summary, but from all files of the run.

    scalar.csv                            tag, step, wall time and value in the order of the records
    image/{tag, percent-encoded}_{step}.png
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from parsers.errors import PayloadError
from parsers.export.cells import cell_text
from parsers.export.files import FileNames, Progress, replacing, unheard
from parsers.export.single import files_of
from parsers.runs import Run

COLUMNS = ("tag", "step", "wall_time (unit: seconds)", "value")
ROWS = 20_000


def write_summary(
    run: Run, out: Path, *, refused: Callable[[PayloadError], object], progress: Progress = unheard
) -> Counter[str]:
    """Write the scalars and images of one run, ranks not included, to a directory; return the number of each.

    refused is called with the error of each image that cannot be decoded, progress with the fraction done, from 0 to 1.
    """
    folder = out / "image"
    folder.mkdir(parents=True)
    counts = Counter(scalars=_scalars(run, out / "scalar.csv"))
    names = FileNames()
    tags = run.tags("image")
    for number, tag in enumerate(tags):
        items = run.payload_series("image", tag)
        for place, step in enumerate(items.step.tolist()):
            progress((number + place / len(items)) / len(tags))
            try:
                value = run.image(tag, place)
            except PayloadError as error:
                refused(error)
                continue
            counts["images"] += 1
            for part in files_of(value):
                with replacing(folder / names.take(quote(tag, safe=""), f"_{step}", part.suffix)) as file:
                    part.save(file)
    return counts


def _scalars(run: Run, path: Path) -> int:
    frame = run.scalars.sort_values(["file", "order"], kind="stable")
    tags = [cell_text(tag) for tag in frame["tag"].cat.categories]
    with replacing(path) as binary, io.TextIOWrapper(binary, encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.writer(file, dialect="excel")
        writer.writerow(COLUMNS)
        for begin in range(0, len(frame), ROWS):
            piece = frame.iloc[begin : begin + ROWS]
            names = (tags[code] for code in piece["tag"].cat.codes)
            writer.writerows(zip(names, *(piece[name].tolist() for name in ("step", "wall_time", "value")), strict=True))
    return len(frame)
