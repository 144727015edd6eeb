"""What tracks show, judged by the names of processes and threads that profilers use.

Names are those of MindSpore, CANN, torch_npu, Kineto (PyTorch) and TensorFlow. The files `*_timeline_display_*.json` of
MindSpore 1 and 2.0 to 2.2 name few of their tracks; the numbers of their processes and threads say what they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from parsers.profiler.trace.columns import Kind

# The first pattern that is found decides. Text: "process / thread".
_NAMES: tuple[tuple[str, Kind], ...] = (
    (r"submission queue", "host_queue"),
    (r"step trace|iteration|(?:^| / )steps?$|model id:", "step"),
    (r"overlap analysis", "overlap"),
    (r"scope layer|(?:^| / )(?:scope|.*name scope)", "scope"),
    (r"hccl|communication|(?:^| / )plane \d+|nccl", "communication"),
    (r"ascend hardware|(?:^| / )\S*stream ?#?\d+|device:(?:gpu|npu|tpu)|xla ops|aicpu op|aicore op", "device_stream"),
    (r"^cann\b", "cann"),
    (r"^python|\(python\)|/ python", "python"),
    (r"cpu op|mindspore|/host:|hostcpuops|host cpu|thread", "host"),
)
_RULES: tuple[tuple[re.Pattern[str], Kind], ...] = tuple((re.compile(text, re.IGNORECASE), kind) for text, kind in _NAMES)
_MEMORY = re.compile(r"\bmem\b|memory", re.IGNORECASE)
_LEGACY_PROCESSES: Mapping[str, tuple[str, Kind]] = {
    "9000": ("AI CPU", "device_stream"), "10000": ("Communication", "communication"), "11000": ("Host CPU", "host"),
    "12000": ("Overlap analysis", "overlap"), "13000": ("GPU activity", "device_stream"),
}  # fmt: skip
_LEGACY_THREADS: Mapping[str, tuple[str, Kind]] = {
    "7999": ("Merged computation", "overlap"), "8000": ("Pure communication", "overlap"),
    "8001": ("Merged communication", "overlap"), "8002": ("Free", "overlap"), "100000": ("Steps", "step"),
    "100001": ("Scopes", "scope"), "100002": ("GPU operators", "device_stream"), "100003": ("Host CPU operators", "host"),
}  # fmt: skip


def kind_of(process: str, thread: str) -> Kind:
    """Return what a track of slices shows, by the names of its process and thread."""
    text = f"{process} / {thread}"
    return next((kind for pattern, kind in _RULES if pattern.search(text)), "other")


def counter_kind(process: str, counter: str) -> Kind:
    """Return counter, or memory for amounts of memory."""
    return "memory" if _MEMORY.search(process) or _MEMORY.search(counter) else "counter"


def legacy_track(process_id: str, thread_id: str) -> tuple[str, str, Kind]:
    """Return process, thread ("" for unnamed) and kind of a track in a `timeline_display` file by its numbers."""
    process, kind = _LEGACY_PROCESSES.get(process_id, ("", "device_stream" if thread_id.isdecimal() else "host"))
    thread = ""
    if thread_id in _LEGACY_THREADS:
        thread, kind = _LEGACY_THREADS[thread_id]
    elif thread_id.startswith("HostCpuOps"):
        kind = "host"
    elif thread_id == "Ops":
        kind = "device_stream"
    return process or f"Device {process_id}", thread or (f"Stream {thread_id}" if thread_id.isdecimal() else thread_id), kind
