"""Frames as CSV: numbers in full, missing cells empty, and no text that a spreadsheet would run."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from parsers.export.frames import csv_rows

FORMULA = '=HYPERLINK("x")'


@pytest.mark.parametrize("dtype", ["category", "str", "object"])
def test_texts_of_any_type_are_escaped(dtype: str) -> None:
    frame = pd.DataFrame({"name": pd.Series([FORMULA, "plain", None], dtype=dtype), "of": [1, 2, 3]})
    lines = b"".join(csv_rows(frame)).decode().splitlines()
    assert lines == ["name,of", '"\'=HYPERLINK(""x"")",1', "plain,2", ",3"]


def test_numbers_are_written_as_they_are() -> None:
    mixed = pd.Series([-1, "-1"], dtype="object")
    frame = pd.DataFrame({"size": np.array([-5, 2**60]), "share": [-0.5, np.nan], "mixed": mixed})
    assert b"".join(csv_rows(frame)).decode().splitlines() == ["size,share,mixed", "-5,-0.5,-1", "1152921504606846976,,'-1"]


def test_an_empty_frame_has_a_header() -> None:
    assert b"".join(csv_rows(pd.DataFrame({"a": [], "b": pd.Series([], dtype="str")}))) == b"a,b\n"
