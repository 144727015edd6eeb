"""Points of landscapes that are being computed, read while their file grows, and files that no command writes."""

from __future__ import annotations

import json
import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsers import FormatError
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


def test_a_damaged_line_ends_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / f"landscape-{MARK}.points"
    whole = line([SURFACE]) + line([0, 1, 2, 0.5, ""])
    for at in range(len(line([SURFACE])), len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        (one,) = GrowingDirectory(str(tmp_path)).landscapes()
        assert one.done == 0


@pytest.mark.parametrize("content", [
    line(3), line([3]), line([SURFACE | {"x": [0.0] * 1001}]), line([SURFACE | {"x": [0.0] * 1000, "y": [0.0] * 1000}] * 17),
    line([SURFACE | {"path_y": [1.0]}]), line([SURFACE]) + line([1, 0, 0, 0.5, ""]), line([SURFACE]) + line([0, 2, 0, 0.5, ""]),
    line([SURFACE]) + line([0, 0, -1, 0.5, ""]), line([SURFACE]) + line([0, -1, 2, 0.5, ""]), line([SURFACE]) + line([0, 1]),
    line([SURFACE]) + line([0, 0, 0, "text", ""]), b"x" * ((8 << 20) + (4 << 20)),
])  # fmt: skip
def test_files_that_no_command_writes_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / f"landscape-{MARK}.points").write_bytes(content)
    with pytest.raises(FormatError, match=f"landscape-{MARK}.points: expected"):
        GrowingDirectory(str(tmp_path)).landscapes()
