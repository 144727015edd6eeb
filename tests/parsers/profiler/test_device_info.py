"""Devices as CANN describes them: intact, damaged, and of other forms."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsers import open_run
from parsers.profiler.device_info import devices, names
from parsers.profiler.frame_parts import FramePart, ProfileInput


def read(path: Path, text: str) -> FramePart:
    path.write_text(text)
    return devices(ProfileInput(str(path), path.name, {}))


def test_a_real_file(real_data: Path) -> None:
    path = next((real_data / "mindinsight_legacy" / "profiler").glob("PROF_*/device_0/info.json.0"))
    part = devices(ProfileInput(str(path), path.name, {}))
    assert part.problems == ()
    row = part.frame.iloc[0]
    assert (row["device"], row["cube_cores"], row["vector_cores"], row["cube_hz"]) == (0, 32, 0, 1e9)


@pytest.mark.parametrize("text", [
    "", "[]", "{}", '{"DeviceInfo": {}}', '{"DeviceInfo": [3]}', "{" * 100_000, '{"DeviceInfo": null}',
])  # fmt: skip
def test_what_has_no_devices_gives_none(tmp_path: Path, text: str) -> None:
    part = read(tmp_path / "info.json.0", text)
    assert part.frame.empty
    assert bool(part.problems) == (text not in ("{}", '{"DeviceInfo": [3]}'))


@pytest.mark.parametrize("value", ["true", "-1", "1e400", '"many"', "null", "99999999999999", "[]"])
def test_what_is_no_number_is_told_and_the_rest_is_kept(tmp_path: Path, value: str) -> None:
    device = f'"id": 0, "ai_core_num": {value}, "aiv_num": 40, "aic_frequency": {value}, "aiv_frequency": 1000'
    part = read(tmp_path / "info.json.0", f'{{"DeviceInfo": [{{{device}}}]}}')
    row = part.frame.iloc[0]
    assert (row["cube_cores"], row["vector_cores"], row["vector_hz"]) == (-1, 40, 1e9)
    assert np.isnan(row["cube_hz"])
    assert [problem.text.split(":")[0] for problem in part.problems] == ["DeviceInfo, ai_core_num", "DeviceInfo, aic_frequency"]


def test_the_name_of_a_device_in_a_real_database(real_data: Path) -> None:
    folder = real_data / "profiler_new/torch_npu_db_level2/rank0_ascend_pt"
    found = open_run(folder).profile[".", 0].hardware
    path = folder / "ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db"
    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as base:
        listed = base.execute("SELECT id, name FROM NPU_INFO").fetchall()
    assert len(listed) > 0
    assert list(zip(found["device"], found["chip"], strict=True)) == listed
    assert (found["cube_cores"] == -1).all()


@pytest.mark.parametrize(("rows", "wanted"), [
    ([(0, "Ascend910B"), (1, "Ascend910B")], [(0, "Ascend910B"), (1, "Ascend910B")]),
    ([(0, ""), (None, "x"), (-3, "x"), (2, "y")], [(2, "y")]), ([], []),
])  # fmt: skip
def test_names_of_devices(tmp_path: Path, rows: list[tuple[Any, str]], wanted: list[tuple[int, str]]) -> None:
    path = tmp_path / "msprof_1.db"
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE NPU_INFO (id INTEGER, name TEXT)")
        base.executemany("INSERT INTO NPU_INFO VALUES (?, ?)", rows)
    part = names(ProfileInput(str(path), path.name, {}))
    assert list(zip(part.frame["device"], part.frame["chip"], strict=True)) == wanted
    with sqlite3.connect(path) as base:
        base.execute("DROP TABLE NPU_INFO")
    assert names(ProfileInput(str(path), path.name, {})).frame.empty
