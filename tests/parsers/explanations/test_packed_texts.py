"""Packed paths are the texts they were made of, with pyarrow and without."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.explanations.packed_texts import NO_PATHS, PackedPaths, PathsBuilder, packed

path = st.one_of(
    st.lists(st.sampled_from(["a", "b", "heatmap", "猫", ""]), max_size=4).map(lambda parts: "/".join(parts).encode()),
    st.binary(max_size=6),
)


def pack(texts: list[bytes]) -> PackedPaths:
    length = np.array([len(text) for text in texts], np.int64)
    end = np.cumsum(length + 2)
    return packed(np.frombuffer(b"/z".join(texts) + b"/z", np.uint8), end - length - 2, end - 2)


def plain(texts: list[bytes]) -> list[str]:
    return [text.decode("utf-8", "replace") for text in texts]


@given(st.lists(path), st.lists(path))
def test_paths_are_what_they_were(first: list[bytes], second: list[bytes]) -> None:
    builder = PathsBuilder()
    builder.add(pack(first))
    builder.add(pack(second))
    whole = builder.whole()
    assert [whole[row] for row in range(len(whole))] == plain(first + second)
    rows = np.arange(len(whole))[::-2]
    assert whole.column(rows).tolist() == plain(first + second)[::-2]
    assert str(whole.column(rows).dtype) == "str"


def test_without_pyarrow_the_column_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pack([b"a/1.jpg", b"a/2.jpg", "猫/3.jpg".encode(), b""])
    with_it = whole.column(np.array([3, 0, 2]))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert whole.column(np.array([3, 0, 2])).tolist() == with_it.tolist() == ["", "a/1.jpg", "猫/3.jpg"]


def test_folders_are_kept_once() -> None:
    whole = pack([b"heatmap/GradCAM/0/%d_1.jpg" % sample for sample in range(1000)])
    assert whole.folders == (b"heatmap/GradCAM/0/",)
    assert len(whole.names) < 10 * 1000


def test_no_paths() -> None:
    assert NO_PATHS.column(np.zeros(0, np.int64)).tolist() == []
    assert len(PathsBuilder().whole()) == 0
