"""Exports runs to files for other programs: CSV, JSON, Parquet, .npy, .npz, images and texts.

`write` writes one file of scalars, `Export` a directory with every kind, `write_summary` the layout of MindInsight.
Values keep their full precision; a file appears under its name only once it is complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsers.first_use import names_on_first_use

if TYPE_CHECKING:
    from parsers.export.cells import csv_names, number_text
    from parsers.export.directory import INDEX, KINDS, KINDS_OF_PROFILES, Export, WantedExport
    from parsers.export.files import is_stream
    from parsers.export.mindinsight import write_summary
    from parsers.export.scalars import ALL_STEPS, COLUMNS, FORMATS, Steps, csv_rows, json_rows, parts, single_file, write

__all__ = [
    "ALL_STEPS", "COLUMNS", "FORMATS", "INDEX", "KINDS", "KINDS_OF_PROFILES", "Export", "Steps", "WantedExport", "csv_names",
    "csv_rows", "is_stream", "json_rows", "number_text", "parts", "single_file", "write", "write_summary",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_first_use(__name__, {
        "parsers.export.cells": ("csv_names", "number_text"),
        "parsers.export.directory": ("INDEX", "KINDS", "KINDS_OF_PROFILES", "Export", "WantedExport"),
        "parsers.export.files": ("is_stream",),
        "parsers.export.mindinsight": ("write_summary",),
        "parsers.export.scalars": (
            "ALL_STEPS", "COLUMNS", "FORMATS", "Steps", "csv_rows", "json_rows", "parts", "single_file", "write",
        ),
    })  # fmt: skip
