"""Points of landscapes that are being computed, read while their file grows, and files that no command writes."""

from __future__ import annotations

import json
import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsers.landscapes.points import GrowingDirectory

MARK = "0123456789abcdef"
SURFACE = {"tag": "landscape_[1, 3]", "x": [-1.0, 0.0, 1.5], "y": [0.0, 2.0], "steps": [1, 3], "path_x": [1.0, 0.0],
           "path_y": [0.5, 0.0], "unit": "epoch", "steps_per_epoch": 7}  # fmt: skip


def line(content: Any) -> bytes:
    """A line as the manual describes it."""
    text = json.dumps(content).encode()
    return f"{zlib.crc32(text):08x} ".encode() + text + b"\n"


def test_a_growing_file_is_read_on(tmp_path: Path) -> None:
    path = tmp_path / f"landscape-{MARK}.points"
    found = GrowingDirectory(str(tmp_path))
    assert found.landscapes() == []
    content = line([SURFACE]) + line([0, 1, 2, 0.5, ""])
    path.write_bytes(content[:-3])
    (one,) = found.landscapes()
    assert (one.key, one.tag, one.done, one.total) == (f"{MARK}/0/landscape_[1, 3]", "landscape_[1, 3]", 0, 8)
    assert (np.isnan(one.value.z).all(), one.value.pending.all()) == (True, True)
    more = line([0, 0, 0, None, "ValueError: no batch"]) + line([0, -1, 1, 0.25, ""]) + line([0, 0, 1, "Infinity", ""])
    path.write_bytes(content + more)
    (one,) = found.landscapes()
    assert (one.done, one.reasons) == (4, {(0, 0): "ValueError: no batch"})
    assert one.value.pending.tolist() == [[False, False, True], [True, True, False]]
    assert np.array_equal(one.value.z, [[math.nan, math.inf, math.nan], [math.nan, math.nan, 0.5]], equal_nan=True)
    assert (one.value.intervals.tolist(), one.value.unit, one.value.convergence) == ([1, 3], "epoch", (0.0, 0.0, 0.25))
    path.write_bytes(line([SURFACE | {"x": [0.0, 1.0]}]))  # begun anew
    assert found.landscapes()[0].total == 6
    path.unlink()
    assert found.landscapes() == []


def test_a_damaged_line_is_left_out_and_named(tmp_path: Path) -> None:
    path = tmp_path / f"landscape-{MARK}.points"
    first, second, third = line([SURFACE]), line([0, 1, 2, 0.5, ""]), line([0, 0, 0, 0.25, ""])
    for at in range(len(second) - 1):
        damaged = second[:at] + bytes([second[at] ^ 1]) + second[at + 1 :]
        path.write_bytes(first + damaged + third)
        (one,) = GrowingDirectory(str(tmp_path)).landscapes()
        assert (one.done, one.value.z[0, 0], one.value.pending[1, 2]) == (1, 0.25, True)
        assert one.problem.startswith(f"{path}: byte {len(first):,}: expected a point, found")


def test_a_line_that_is_not_whole_yet_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / f"landscape-{MARK}.points"
    first, second = line([SURFACE]), line([0, 1, 2, 0.5, ""])
    growing = GrowingDirectory(str(tmp_path))
    for cut in range(len(second) + 1):
        path.write_bytes(first + second[:cut])
        (one,) = growing.landscapes()
        assert (one.done, one.problem) == (int(cut == len(second)), "")


def test_damage_stays_named_while_the_file_grows_and_is_counted(tmp_path: Path) -> None:
    path = tmp_path / f"landscape-{MARK}.points"
    growing = GrowingDirectory(str(tmp_path))
    content = line([SURFACE]) + b"nonsense\n"
    path.write_bytes(content)
    assert growing.landscapes()[0].problem.endswith("found a line with another checksum; it is left out")
    path.write_bytes(content + line([0, 0, 0, 0.25, ""]) + b"more\n")
    (one,) = growing.landscapes()
    assert (one.done, one.problem.endswith("it is left out; 1 other damaged lines are left out, too")) == (1, True)
    path.write_bytes(line([SURFACE]))  # begun anew
    assert growing.landscapes()[0].problem == ""


def test_a_file_of_which_nothing_is_intact_leaves_the_others(tmp_path: Path) -> None:
    other = "f" * 16
    (tmp_path / f"landscape-{other}.points").write_bytes(b"nonsense\n" + line([0, 0, 0, 0.25, ""]))
    (tmp_path / f"landscape-{MARK}.points").write_bytes(line([SURFACE]) + line([0, 0, 0, 0.25, ""]))
    found = {one.key: one for one in GrowingDirectory(str(tmp_path)).landscapes()}
    assert (found[f"{MARK}/0/landscape_[1, 3]"].done, found[f"{MARK}/0/landscape_[1, 3]"].problem) == (1, "")
    broken = found[f"landscape-{other}.points"]
    assert (broken.done, broken.total, broken.value.z.shape) == (0, 0, (0, 0))
    assert "byte 0: expected the surfaces, found a line with another checksum" in broken.problem


@pytest.mark.parametrize(("content", "total"), [
    (line(3), 0), (line([3]), 0), (line([SURFACE | {"x": [0.0] * 1001}]), 0),
    (line([SURFACE | {"x": [0.0] * 1000, "y": [0.0] * 1000}] * 17), 0), (line([SURFACE | {"path_y": [1.0]}]), 0),
    (line([SURFACE]) + line([1, 0, 0, 0.5, ""]), 8), (line([SURFACE]) + line([0, 2, 0, 0.5, ""]), 8),
    (line([SURFACE]) + line([0, 0, -1, 0.5, ""]), 8), (line([SURFACE]) + line([0, -1, 2, 0.5, ""]), 8),
    (line([SURFACE]) + line([0, 1]), 8), (line([SURFACE]) + line([0, 0, 0, "text", ""]), 8),
    (b"x" * ((8 << 20) + (4 << 20)), 0),
])  # fmt: skip
def test_what_no_command_writes_is_named_with_its_place(tmp_path: Path, content: bytes, total: int) -> None:
    (tmp_path / f"landscape-{MARK}.points").write_bytes(content)
    (one,) = GrowingDirectory(str(tmp_path)).landscapes()
    assert (one.done, one.total) == (0, total)
    place = len(content.split(b"\n")[0]) + 1 if total else 0
    assert f"landscape-{MARK}.points: byte {place:,}: expected" in one.problem
