"""Frames of profiles as bytes: the same frame back, and nothing but a FormatError for whatever is not whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import API, KERNELS, OPERATORS, FormatError, Problem
from parsers.profiler.frame_parts import categorical, frame_of
from parsers.profiler.sessions import ProfileFile
from parsers.profiler.snapshot import dump, key_of, load

TEXTS = st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=12), max_size=30)


def kernels(names: list[str]) -> pd.DataFrame:
    columns = {
        "name": categorical(names), "duration_ns": np.arange(len(names), dtype=np.int64) * 3,
        "wait_ns": np.full(len(names), np.nan), "pmu/ratio": np.linspace(0, 1, len(names)),
    }  # fmt: skip
    return frame_of(KERNELS, len(names), columns, "kernel_details.csv")


def whole(frame: pd.DataFrame, *problems: Problem) -> bytes:
    parts = dump(KERNELS, frame, problems)
    assert parts is not None
    return b"".join(bytes(part) for part in parts)


@given(TEXTS)
def test_a_frame_comes_back_as_it_was(names: list[str]) -> None:
    problem = Problem("/run/a.csv", 0, 0, "bad_table", "Line 3: expected a number, found 'x'.")
    frame, problems = load(KERNELS, whole(kernels(names), problem))
    pd.testing.assert_frame_equal(frame, kernels(names))
    assert problems == (problem,)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=8))
def test_whole_numbers_of_any_size_come_back(numbers: list[int]) -> None:
    """They are kept in the smallest type that holds them."""
    frame = frame_of(KERNELS, len(numbers), {"duration_ns": np.array(numbers, np.int64)}, "kernel_details.csv")
    found, _ = load(KERNELS, whole(frame))
    pd.testing.assert_frame_equal(found, frame)
    assert found["duration_ns"].tolist() == numbers


def test_no_flipped_byte_and_no_cut_goes_unnoticed() -> None:
    data = whole(kernels(["a", "b", "a", "损失"]))
    for at in range(len(data)):
        with pytest.raises(FormatError):
            load(KERNELS, data[:at])
        flipped = data[:at] + bytes((data[at] ^ 0x41,)) + data[at + 1 :]
        try:
            frame, _ = load(KERNELS, flipped)
        except FormatError:
            continue
        pd.testing.assert_frame_equal(frame, kernels(["a", "b", "a", "损失"]))  # a byte between the parts that says nothing


def test_another_frame_is_not_taken_for_this_one() -> None:
    with pytest.raises(FormatError):
        load(API, whole(kernels(["a"])))
    with pytest.raises(FormatError):
        load(OPERATORS, whole(kernels(["a"])))


def test_a_path_that_is_no_text_is_not_kept() -> None:
    assert dump(KERNELS, kernels(["a"]), [Problem("/run/\udcff.csv", 0, 0, "bad_table", "x")]) is None


def test_the_key_is_that_of_the_files() -> None:
    file = ProfileFile("/run/profiler/kernel_details.csv", "kernel_details.csv", "kernel_details", 0, 10, 5)
    others = [file, replace(file, size=11), replace(file, mtime_ns=6)]
    keys = {key_of("/run/profiler", [other], name) for name in ("kernels", "operators") for other in others}
    assert len(keys) == 6
    assert key_of("/run/profiler", [file], "kernels") == key_of("/run/../run/profiler", [file], "kernels")
