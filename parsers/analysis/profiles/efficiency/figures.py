"""How far a profile uses its hardware: the figures that cards show and plain routes send.

Three figures are kept apart: operations per second by counters, their share of the peak, and MFU, the share of the peak that
the operations of the model take, which the user states.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from parsers.analysis.profiles.efficiency import (
    Achieved,
    DevicePeak,
    JoinedRoofline,
    KernelUse,
    above_peak,
    achieved,
    device_peak,
    measured,
    model_flops_share,
    of_peak,
    roofline,
    transformer_flops,
)
from parsers.analysis.profiles.steps import average, breakdowns
from parsers.deferred import pandas as pd
from parsers.profile_frames import HARDWARE

TABLES = ("figures", "types", "shapes", "slow", "roofline")


@dataclass(frozen=True, slots=True)
class Doubt:
    """What cannot be right, by the last part of its text key, and the values in the text."""

    key: str
    values: Mapping[str, Any] = field(default_factory=dict)


class HardwareUse:
    """The use of the hardware by a profile. Properties are computed on first use; what no file has is None or NaN."""

    def __init__(
        self, frame: Callable[[str], pd.DataFrame | None], settings: Mapping[str, float], *,
        wrong: Sequence[tuple[str, str]] = (), measure: Callable[[pd.DataFrame], KernelUse] = measured,
        other_kernels: Callable[[], pd.DataFrame | None] = lambda: None,
        devices: Callable[[], tuple[int, str]] = lambda: (1, "found"),
    ) -> None:  # fmt: skip
        """Take a function that returns a frame of the profile by its name, and settings in SI units by name.

        wrong are texts that are no settings, by name. other_kernels returns those of a session to join with, None without one;
        devices the number of devices and where it is known from, unless it is a setting.
        """
        self._frame = frame
        self._settings = settings
        self._wrong = wrong
        self._measure = measure
        self._other_kernels = other_kernels
        self._found_devices = devices

    def setting(self, name: str) -> float:
        """Return the value of a setting, NaN if it is not set."""
        return self._settings.get(name, math.nan)

    @cached_property
    def measured(self) -> KernelUse | None:
        """What the counters of the kernels say; None without kernels."""
        kernels = self._frame("kernels")
        return None if kernels is None else self._measure(kernels)

    @cached_property
    def peak(self) -> DevicePeak:
        """The peak of the device, and where it is from."""
        hardware = self._frame("hardware")
        return device_peak(HARDWARE.empty() if hardware is None else hardware, (), self.setting("peak"))

    @cached_property
    def achieved(self) -> Achieved:
        """Operations per second by counters."""
        return achieved(self.measured, self._frame("flops"))

    @property
    def share(self) -> float:
        """Operations per second as a share of the peak."""
        return self.achieved.per_s / self.peak.matrix_per_s

    @cached_property
    def step_ns(self) -> float:
        """The average step of the profile, from its first task to its end; NaN without a step trace."""
        steps = self._frame("steps")
        found = breakdowns(steps) if steps is not None else ()
        usual = average(found[0]) if found else None
        if usual is None:
            return math.nan
        whole = usual.whole_ns - (usual.time_of("preparing") if "preparing" in usual.parts else 0.0)
        return whole if whole > 0 else math.nan

    @cached_property
    def devices(self) -> tuple[int, str]:
        """(number of devices, "typed", "told" by the files, or "found": ranks that have files)."""
        typed = self.setting("devices")
        return self._found_devices() if math.isnan(typed) else (int(typed), "typed")

    @cached_property
    def model_flops(self) -> tuple[float, str]:
        """(operations of the model in a step, "typed" or "transformer": 6 x parameters x tokens); NaN and "" without them."""
        if not math.isnan(self.setting("model_flops")):
            return self.setting("model_flops"), "typed"
        made = transformer_flops(self.setting("parameters"), self.setting("tokens"))
        return made, "" if math.isnan(made) else "transformer"

    @property
    def mfu(self) -> float:
        """Operations of the model by what all devices could do in a step; NaN if any of them is unknown."""
        return model_flops_share(self.model_flops[0], self.step_ns, self.peak.matrix_per_s, self.devices[0])

    @cached_property
    def types(self) -> pd.DataFrame | None:
        """Kernels by type (schema EFFICIENCY)."""
        return None if self.measured is None else of_peak(self.measured.types, self.peak.matrix_per_s)

    @cached_property
    def shapes(self) -> pd.DataFrame | None:
        """Kernels by type and shapes (schema EFFICIENCY)."""
        return None if self.measured is None else of_peak(self.measured.shapes, self.peak.matrix_per_s)

    @cached_property
    def roofline(self) -> JoinedRoofline | None:
        """Kernels of two sessions, whichever of them counted the operations; None if one has no kernels or none is chosen."""
        ours, theirs = self._frame("kernels"), self._other_kernels()
        if ours is None or theirs is None or self.measured is None:
            return None
        return roofline(ours, theirs) if self.measured.counters.operations else roofline(theirs, ours)

    @cached_property
    def doubts(self) -> list[Doubt]:
        """What cannot be right, the settings first."""
        found = [Doubt("typed", {"setting": name, "text": typed}) for name, typed in self._wrong]
        if not math.isnan(self.setting("peak")) and self.peak.source == "file":
            found.append(Doubt("unused", {"peak": self.setting("peak")}))
        return [*found, *self._counter_doubts(), *self._model_doubts()]

    def _counter_doubts(self) -> list[Doubt]:
        found: list[Doubt] = []
        if self.measured is not None:
            if self.measured.counted and not self.measured.operations > 0:
                found.append(Doubt("zero", {"n": self.measured.counted}))
            found += [Doubt("impossible", {"counter": name, "n": count}) for name, count in self.measured.wrong.items()]
        if self.shapes is not None:
            above = above_peak(self.shapes)
            if len(above):
                first = above.iloc[0]
                values = {"type": str(first["type"]), "per_s": float(first["per_s"]), "share": float(first["share"])}
                found.append(Doubt("above", values | {"n": len(above), "peak": self.peak.matrix_per_s}))
        if self.share > 1 and not any(one.key == "above" for one in found):
            found.append(Doubt("above_all", {"per_s": self.achieved.per_s, "peak": self.peak.matrix_per_s}))
        return found

    def _model_doubts(self) -> list[Doubt]:
        found = []
        half = {name: math.isnan(self.setting(name)) for name in ("parameters", "tokens")}
        if sum(half.values()) == 1 and self.model_flops[1] != "typed":
            found.append(Doubt("half", {"setting": next(name for name, missing in half.items() if missing)}))
        if self.mfu > 1:
            found.append(Doubt("mfu", {"mfu": self.mfu}))
        return found

    def table(self, name: str) -> pd.DataFrame | None:
        """Return one of TABLES, as its CSV has it; None if there is nothing to make it from."""
        if name == "figures":
            return self._figures()
        if name == "roofline":
            return None if self.roofline is None else self.roofline.frame
        if name == "slow":
            return None if self.measured is None else self.measured.slow
        return self.types if name == "types" else self.shapes

    def _figures(self) -> pd.DataFrame:
        rows = [
            ("achieved", self.achieved.per_s, "1/s", self.achieved.source), ("share_of_peak", self.share, "", ""),
            ("mfu", self.mfu, "", ""), ("peak", self.peak.matrix_per_s, "1/s", self.peak.source),
            ("model_flops_per_step", self.model_flops[0], "", self.model_flops[1]),
            ("step", self.step_ns, "ns", ""), ("devices", float(self.devices[0]), "", self.devices[1]),
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=["figure", "value", "unit", "source"])
