"""The devices of a Kineto trace that were used, as the file describes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from parsers.deferred import pandas as pd
from parsers.json_text import encodable
from parsers.profile_frames import HARDWARE
from parsers.profiler.frame_parts import categorical, frame_of
from parsers.profiler.kineto.recording import KinetoRecording
from parsers.profiler.tables import NONE


def hardware(recording: KinetoRecording, file: str) -> pd.DataFrame:
    """Return HARDWARE: of the devices that the file lists those on which something ran, all of them if nothing did."""
    listed = {number: one for one in recording.devices if (number := _whole(one.get("id"))) >= 0}
    used = sorted(set(recording.device_arguments["device"].tolist()) & set(listed)) or sorted(listed)
    columns: dict[str, Any] = {
        "device": np.array(used, np.int64),
        "chip": categorical([encodable(str(listed[one].get("name") or "")) for one in used]),
        "cube_cores": np.array([_whole(listed[one].get("numSms")) for one in used], np.int64),
        "memory_bytes": np.array([_whole(listed[one].get("totalGlobalMem")) for one in used], np.int64),
    }  # fmt: skip
    return frame_of(HARDWARE, len(used), columns, file)


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62 else NONE
