"""A frame's shape as data: columns with dtype, unit and a sentence each."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from parsers.errors import SchemaError


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, pandas dtype (as text), unit ("" for none) and what it says."""

    name: str
    dtype: str
    unit: str
    doc: str


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of one kind of frame, in order."""

    name: str
    doc: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(column.name for column in self.columns)

    def empty(self) -> pd.DataFrame:
        """A frame of no rows with this schema."""
        return pd.DataFrame({c.name: pd.Series([], dtype=c.dtype) for c in self.columns})

    def check(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the frame unchanged, or raise SchemaError naming the first column that differs."""
        got = tuple(str(name) for name in frame.columns)
        if got != self.names:
            raise SchemaError(f"{self.name}: wanted columns {', '.join(self.names)}; got {', '.join(got) or 'none'}")
        for column in self.columns:
            dtype = str(frame[column.name].dtype)
            if dtype != column.dtype:
                raise SchemaError(f"{self.name}.{column.name}: wanted dtype {column.dtype}; got {dtype}")
        return frame
