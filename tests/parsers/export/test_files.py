"""Names of exported files, and that they appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.export.files import LONGEST, FileNames, readable, replacing

DEVICES = {"con", "prn", "aux", "nul", *(f"{kind}{number}" for kind in ("com", "lpt") for number in "123456789")}


def check(names: list[str]) -> None:
    for name in names:
        assert 0 < len(name.encode()) <= LONGEST
        assert os.path.basename(name) == name
        assert not set(name) & set('/\\:*?"<>|\0\r\n\t ')
        assert not name.startswith((".", "-"))
        assert name.partition(".")[0].lower() not in DEVICES
    assert len({name.casefold() for name in names}) == len(names)


TAGS = ["a", "A", "a/b", "a_b", "..", "", "con", "NUL.x", "x" * 300, "层" * 99]
RUNS = ["con", "aux.b", "Com1", "lpt9.x.y", "run.", ".", "x" * 300]


@given(st.lists(st.text(max_size=300) | st.sampled_from(TAGS)))
def test_any_tags_get_safe_and_distinct_names(tags: list[str]) -> None:
    names = FileNames()
    check([names.take(readable(tag), "_-5", ".png") for tag in tags])


@given(st.lists(st.text(max_size=300) | st.sampled_from(RUNS)))
def test_any_runs_get_safe_and_distinct_directories(runs: list[str]) -> None:
    names = FileNames()
    given_names = [names.take(readable(run)) for run in runs]
    check(given_names)
    assert not any(name.endswith(".") for name in given_names)


def test_names_stay_readable() -> None:
    names = FileNames()
    tags = ("conv1/weight:0", "层.权重", "conv1_weight_0", "CONV1/weight:0")
    taken = [names.take(readable(tag), "_7", ".npy") for tag in tags]
    assert taken == ["conv1_weight_0_7.npy", "层.权重_7.npy", "conv1_weight_0_7~2.npy", "CONV1_weight_0_7~3.npy"]


def test_many_of_one_name_are_named_at_once() -> None:
    names = FileNames()
    long = "x" * 500
    check([names.take(long + str(number), "_1", ".png") for number in range(5_000)])


def test_a_file_replaces_the_one_before_it_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["x.csv"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, ValueError])
def test_a_file_that_fails_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"old")
    with pytest.raises(error), replacing(path) as file:  # noqa: PT012
        file.write(b"new")
        raise error
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x.csv"]


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"theirs")
    (tmp_path / "x.csv").symlink_to("elsewhere")
    with replacing(tmp_path / "x.csv") as file:
        file.write(b"ours")
    assert (tmp_path / "elsewhere").read_bytes() == b"theirs"
    assert (tmp_path / "x.csv").read_bytes() == b"ours"


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / FileNames().take("层" * 300, "_9", ".npz")
    with replacing(path) as file:
        file.write(b"x")
    assert path.read_bytes() == b"x"
