"""Helpers of the tests of the memory page: sources over files, requests, and the texts of plain elements."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from layouts.kit.units import MINUS
from layouts.profiles.memory.asks import FRAMES, MemoryRequest
from layouts.profiles.memory.recordings import Recordings
from parsers import open_run
from parsers.profile_frames import MEMORY
from parsers.profiler.frame_parts import categorical, frame_of
from tests.sources import MemorySource
from tests.writers.memory_files import BEGIN_NS

Page = tuple[MemorySource, Recordings]


def opened(**folders: Path) -> Page:
    """Runs by name, each with the only profile of a directory as (".", 0)."""
    data: dict[str, Mapping[str, Any]] = {}
    for name, folder in folders.items():
        (profile,) = open_run(folder).profile.values()
        frames = {frame: found for frame in (*FRAMES, "step_times") if len(found := profile.frame(frame))}
        data[name] = {"profiles": {(".", 0): frames}}
    source = MemorySource(data)
    return source, Recordings(source)


def of_frames(**frames: pd.DataFrame) -> Page:
    source = MemorySource({"a": {"profiles": {(".", 0): frames}}})
    return source, Recordings(source)


def sessions_of(sessions: int, leak: int) -> tuple[MemorySource, dict[str, list[str]]]:
    """A rank that was profiled so many times, holding leak bytes more each time; and the state that chooses the first one."""
    profiles = {}
    for number in range(sessions):
        # the process counts down, so that only the time in the name has the order
        name = f"host_{99 - number}_202611202330{number:02d}998_ascend_ms"
        values = [(512 << 20) + leak * number + more for more in (0, 512, 9)]
        profiles[name, 0] = {"memory": records([BEGIN_NS, BEGIN_NS + 1, BEGIN_NS + 2], values)}
    source = MemorySource({"a": {"profiles": profiles}})
    return source, {"run": ["a"], "session": ["host_99_20261120233000998_ascend_ms"], "rank": ["0"]}


def ask(**more: object) -> MemoryRequest:
    state = {key: [str(value)] for key, value in more.items()}
    found = MemoryRequest.read_any({"run": ["a"], "session": ["."], "rank": ["0"], **state})
    assert found is not None
    return found


def texts_in(parts: Any, language: str = "en") -> str:
    """The texts of plain elements in one language."""
    if isinstance(parts, str):
        return parts
    if isinstance(parts, list) and len(parts) == 3 and isinstance(parts[0], str) and isinstance(parts[1], dict):
        other = {"en": "zh-CN", "zh": "en"}[language]
        return "" if parts[1].get("lang") == other else texts_in(parts[2], language)
    return " ".join(" ".join(filter(None, (texts_in(part, language) for part in parts))).split())


def titles(parts: Any) -> list[str]:
    """The titles of plain elements, in order."""
    if not isinstance(parts, list):
        return []
    if len(parts) == 3 and isinstance(parts[0], str) and isinstance(parts[1], dict):
        return [*([parts[1]["title"]] if "title" in parts[1] else []), *titles(parts[2])]
    return [one for part in parts for one in titles(part)]


def bytes_of(title: str) -> int:
    return int(title.removesuffix(" B").replace(",", "").replace(MINUS, "-"))


def records(times: list[int], values: list[int], component: str = "PTA", device: int = 0) -> pd.DataFrame:
    columns = {"time_ns": times, "allocated_bytes": values, "component": categorical([component] * len(times)),
               "device": [device] * len(times)}  # fmt: skip
    return frame_of(MEMORY, len(times), columns, "f")


def values_of(figure: dict[str, Any], role: str, axis: str) -> np.ndarray[Any, Any]:
    (trace,) = (one for one in figure["data"] if one["meta"]["role"] == role)
    return np.frombuffer(base64.b64decode(trace[axis]["bdata"]), trace[axis]["dtype"])
