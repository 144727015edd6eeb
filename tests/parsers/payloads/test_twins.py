"""Exported .npy files: used where they hold what the event file does, and nothing else is."""

from __future__ import annotations

import pickle
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from numpy.typing import NDArray

from parsers import TensorValue, open_run
from parsers.recording import EventWriter, Tensor
from tests.parsers.payloads.reference import same

EXACT = np.array([[2**53 + 1, -(2**62) - 1, 7]])


def tensor(folder: Path, array: object = EXACT, tag: str = "ids") -> TensorValue:
    name = folder / "events.out.events.summary.1700000000.0.host_MS"
    if not name.exists():
        with EventWriter(str(name), "mindspore") as writer:
            writer.add(5, {tag: Tensor(array)})  # type: ignore[arg-type]
    return open_run(folder).tensor(tag, 0)


def export(folder: Path, tag: str = "ids", time: int = 1700000000) -> Path:
    place = folder / f"export_{time}" / "tensor"
    place.mkdir(parents=True)
    return place / f"{quote(tag, safe='')}_5.npy"


@pytest.mark.parametrize("tag", ["ids", "a/b c", "..", "名", "%2F"])
def test_full_precision_is_taken_from_the_twin(tmp_path: Path, tag: str) -> None:
    path = export(tmp_path, tag)
    np.save(path, EXACT)
    value = tensor(tmp_path, tag=tag)
    assert (value.twin, value.stored_as, value.dtype) == (str(path), "", "int64")
    assert same(value.data, EXACT)
    assert not value.data.flags.writeable


def test_the_twin_of_the_same_time_comes_first(tmp_path: Path) -> None:
    for time in (1600000000, 1700000000, 1800000000):
        np.save(export(tmp_path, time=time), EXACT)
    assert "export_1700000000" in tensor(tmp_path).twin


def test_float64_keeps_nan_and_its_order(tmp_path: Path) -> None:
    array = np.asfortranarray([[1 / 3, np.nan], [1e300, -np.inf]])
    np.save(export(tmp_path), array)
    value = tensor(tmp_path, array)
    assert value.twin
    assert same(value.data, array)


@pytest.mark.parametrize(
    "other", [EXACT + 2**40, EXACT.T.copy(), EXACT.astype("i4"), EXACT.astype("f8"), np.array([["a", "b", "c"]])]
)
def test_another_array_is_not_the_twin(tmp_path: Path, other: NDArray[np.generic]) -> None:
    np.save(export(tmp_path), other)
    value = tensor(tmp_path)
    assert (value.twin, value.stored_as) == ("", "float32")
    assert same(value.data, EXACT.astype("f4"))


class Planted:
    def __reduce__(self) -> object:
        return Path("ran").touch, ()


def header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\x93NUMPY", b"\x93NUMPY\x09\x00aaaa", header("{'descr': '<i8'}"), header("__import__('os')"),
        header("{'descr': '<i8', 'fortran_order': False, 'shape': (99999999999, 3)}\n"),
        header("{'descr': '<i8', 'fortran_order': False, 'shape': (-1, 3)}\n"),
        header("{'descr': '|O', 'fortran_order': False, 'shape': (1, 3)}\n") + pickle.dumps(Planted()),
        header("(" * 3000), header("{'descr': '<i8', 'fortran_order': False, 'shape': (1, 3)}\n") + bytes(23),
        header("{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (1, 3)}\n") + bytes(24),
        header("{'descr': 5, 'fortran_order': False, 'shape': (1, 3)}\n") + bytes(24),
        pickle.dumps(Planted()),
    ],
)  # fmt: skip
def test_a_damaged_or_planted_twin_is_passed_over(
    tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    export(tmp_path).write_bytes(content)
    assert tensor(tmp_path).stored_as == "float32"
    assert not Path("ran").exists()
