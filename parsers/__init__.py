"""Training files to pandas frames: a library with no server in it.

    from parsers import discover, open_run
"""

from __future__ import annotations

from parsers.discovery import discover
from parsers.errors import FormatError, MindscopeError, SchemaError, SourceError
from parsers.frames import SCALARS
from parsers.model import Problem, Series, Source
from parsers.runs import Run, open_run
from parsers.schema import Column, Schema

__all__ = [
    "SCALARS", "Column", "FormatError", "MindscopeError", "Problem", "Run", "Schema", "SchemaError", "Series", "Source",
    "SourceError", "discover", "open_run",
]
