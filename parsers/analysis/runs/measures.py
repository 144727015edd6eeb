"""Numbers of a whole run that runs are compared by: steps per second, and the highest use of memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from parsers.analysis.lineage.results import main_tag
from parsers.analysis.runs.speed import run_speed
from parsers.deferred import pandas as pd
from parsers.model import Series

if TYPE_CHECKING:
    from parsers.profiler.access import Profiles

_DEVICE_MEMORY = re.compile(r"system/(npu|gpu)_\w+/memory_used_bytes")
_PROCESS_MEMORY = "system/process_memory_bytes"


class MeasuredRun(Protocol):
    """What measures need of a run; `parsers.Run` satisfies it."""

    def tags(self, kind: str = "scalar") -> tuple[str, ...]:
        """Its scalar tags."""
        ...

    def series(self, tag: str) -> Series:
        """One of its series."""
        ...

    @property
    def profile(self) -> Profiles:
        """Its profiles, those of its ranks included."""
        ...


class Measure(NamedTuple):
    """A number of a run, and what it was measured by: a tag; of memory "profile", "device" or "process"."""

    value: float
    source: str


def steps_per_second(run: MeasuredRun) -> Measure | None:
    """Return the speed that the overview shows, and the tag it was measured by; None if no scalar tells times."""
    tags = run.tags()
    found = run_speed({tag: one for tag in tags if (one := run.series(tag)).step.size}, main_tag(tags))
    return Measure(1.0 / found[1].seconds, found[0]) if found is not None else None


def peak_memory(run: MeasuredRun) -> Measure | None:
    """Return the most bytes of memory that a run used; None if it recorded none.

    Profiles come first, the highest of all ranks and devices; then what `parsers.recording` samples of the devices, else of the
    process.
    """
    peaks = list(_profiled(run.profile)) if len(run.profile) else []
    if peaks:
        return Measure(float(max(peaks)), "profile")
    tags = run.tags()
    of_devices = [tag for tag in tags if _DEVICE_MEMORY.fullmatch(tag)]
    of_process = [tag for tag in tags if tag == _PROCESS_MEMORY]
    for source, sampled in (("device", of_devices), ("process", of_process)):
        values = [one.value[np.isfinite(one.value)] for one in map(run.series, sampled)]
        highest = max((float(one.max()) for one in values if one.size), default=None)
        if highest is not None:
            return Measure(highest, source)
    return None


def _profiled(profiles: Profiles) -> Iterator[int]:
    from parsers.analysis.profiles.memory import recording

    for place in profiles:
        profile = profiles[place]
        memory, blocks = profile.frame("memory"), profile.frame("operator_memory")
        for device in _devices(memory, blocks):
            found = recording(memory, blocks, device=device)
            if found is not None and found.series.value.size:
                yield int(found.series.value.max())


def _devices(memory: pd.DataFrame, blocks: pd.DataFrame) -> tuple[int, ...]:
    from parsers.analysis.profiles.memory import recording

    found = recording(memory, blocks)
    return found.offer.devices if found is not None else ()

