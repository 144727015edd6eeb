"""Reads what CANN states of a device: `PROF_*/device_<n>/info.json.<n>`, and NPU_INFO of a database for its name.

info.json is an object with `DeviceInfo`, a list of one object for each device: `ai_core_num` cores with a cube unit, `aiv_num`
vector cores (0 where vector units are part of the others), and `aic_frequency` and `aiv_frequency` in MHz, as text. Everything
else in it describes the host and is not read. NPU_INFO has `id` and `name`; the name does not tell variants
apart (Ascend910B).
"""

from __future__ import annotations

import math
import re
from typing import Any

from parsers.deferred import pandas as pd
from parsers.profile_frames import HARDWARE
from parsers.profiler.database import DATABASE_FILE, MSPROF_FILE, Database, read_part
from parsers.profiler.frame_parts import FramePart, FrameReader, ProfileFileKind, ProfileInput, frame_of
from parsers.profiler.json_files import read_object
from parsers.profiler.lines import Complaints

MHZ = 1e6
MOST_CORES = 1 << 20
MOST_HZ = 1e12


def devices(source: ProfileInput) -> FramePart:
    """info.json.<n>: a row for each device."""
    complaints, found = read_object(source.path)
    listed = found.get("DeviceInfo")
    if found and not isinstance(listed, list):
        complaints.add("Expected a list under DeviceInfo.")
    rows = [one for one in (listed if isinstance(listed, list) else []) if isinstance(one, dict)]
    columns: dict[str, list[Any]] = {
        "device": [_whole(one, "id", complaints) for one in rows],
        "cube_cores": [_whole(one, "ai_core_num", complaints) for one in rows],
        "vector_cores": [_whole(one, "aiv_num", complaints) for one in rows],
        "cube_hz": [_hz(one, "aic_frequency", complaints) for one in rows],
        "vector_hz": [_hz(one, "aiv_frequency", complaints) for one in rows],
    }
    return FramePart(frame_of(HARDWARE, len(rows), columns, source.name), complaints.all())


def names(source: ProfileInput) -> FramePart:
    """NPU_INFO of a database: the name of each device."""
    return read_part(source, HARDWARE, _names)


def _names(database: Database, source: ProfileInput, complaints: Complaints) -> pd.DataFrame:
    if not database.has("NPU_INFO", "id", "name"):
        return HARDWARE.empty()
    found = [row for rows in database.rows("SELECT id, name FROM NPU_INFO", "Table NPU_INFO", complaints) for row in rows]
    known = [(number, str(name)) for number, name in found if isinstance(number, int) and 0 <= number < MOST_CORES and name]
    columns = {"device": [number for number, _ in known], "chip": [name for _, name in known]}
    return frame_of(HARDWARE, len(known), columns, source.name)


def _whole(device: dict[str, Any], key: str, complaints: Complaints) -> int:
    value = device.get(key)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_CORES:
        return value
    complaints.add(f"DeviceInfo, {key}: expected a whole number from 0 to {MOST_CORES:,}, found {str(value)[:60]!r}.")
    return -1


def _hz(device: dict[str, Any], key: str, complaints: Complaints) -> float:
    value = device.get(key)
    text = str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text) and 0 < float(text) * MHZ <= MOST_HZ:
        return float(text) * MHZ
    complaints.add(f"DeviceInfo, {key}: expected a frequency in MHz, found {str(value)[:60]!r}.")
    return math.nan


DEVICES = FrameReader(
    HARDWARE, ProfileFileKind("device_info", re.compile(r"info\.json\.\d{1,4}"), shown="info.json.0"), devices
)
NAMES_OF_PROFILER = FrameReader(HARDWARE, DATABASE_FILE, names)
NAMES_OF_MSPROF = FrameReader(HARDWARE, MSPROF_FILE, names, unless=(DATABASE_FILE.name,))
