"""How far a profile uses its hardware: what cards show of it and plain routes send.

Three figures are kept apart: operations per second by counters, their share of the peak, and MFU, the share of the peak that
the operations of the model take, which the user states.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from parsers.analysis import average, breakdowns
from parsers.analysis.profiles.efficiency import (
    Achieved,
    DevicePeak,
    Joined,
    Measured,
    above_peak,
    achieved,
    device_peak,
    measured,
    model_flops_share,
    of_peak,
    roofline,
    transformer_flops,
)
from parsers.caches import Cache
from parsers.deferred import pandas as pd
from parsers.profile_frames import HARDWARE

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.kit.state import text
from layouts.profiles.profile_choice import ProfileChoice, other_profile, profile
from layouts.sources import ProfileSources

SETTINGS: Mapping[str, float] = {
    "peak": 1e12, "model_flops": 1e12, "parameters": 1e9, "tokens": 1.0, "devices": 1.0, "bandwidth": 1e9,
}  # fmt: skip
"""Key of the state -> the size of the unit in which a setting is typed: TFLOPS, TFLOPs, 1e9, tokens, devices, GB/s."""
TABLES = ("figures", "types", "shapes", "slow", "roofline")
_MOST = 1e30
_LONGEST = 40
_MOST_KEPT = 4


def _positive(typed: str, *, whole: bool) -> float:
    try:
        value = float(typed)
    except ValueError:
        return math.nan
    return value if 0 < value <= _MOST and (not whole or value == int(value)) else math.nan


def _typed(data: Any) -> tuple[tuple[tuple[str, float], ...], tuple[tuple[str, str], ...]]:
    """Return the settings, and what is typed and is not a number above 0, which cards mention."""
    settings, wrong = [], []
    for name, unit in SETTINGS.items():
        typed = text(data, name).strip()
        value = _positive(typed, whole=name == "devices") * unit if typed else math.nan
        if not math.isnan(value):
            settings.append((name, value))
        elif typed:
            wrong.append((name, typed[:_LONGEST]))
    return tuple(settings), tuple(wrong)


@dataclass(frozen=True, slots=True)
class EfficiencyRequest(Request):
    """A request: a profile, one to join its counters with, settings in SI units, and texts that are no settings by key."""

    choice: ProfileChoice = profile()
    against: ProfileChoice | None = other_profile()
    settings: tuple[tuple[str, float], ...] = asked.part(lambda data: _typed(data)[0], *SETTINGS, default=())
    wrong: tuple[tuple[str, str], ...] = asked.part(lambda data: _typed(data)[1], *SETTINGS, default=())
    dark: bool = asked.dark()

    def setting(self, name: str) -> float:
        """Return the value of a setting, NaN if it is not set."""
        return dict(self.settings).get(name, math.nan)


@dataclass(frozen=True, slots=True)
class Doubt:
    """What cannot be right, by the last part of its text key, and the values in the text."""

    key: str
    values: Mapping[str, Any] = field(default_factory=dict)


class MeasuredProfiles:
    """What was measured of the profiles used last, by their marks."""

    def __init__(self) -> None:
        self._found: Cache[ProfileChoice, Measured] = Cache(_MOST_KEPT)

    def measured(self, choice: ProfileChoice, kernels: pd.DataFrame) -> Measured:
        """Return what the counters in the kernels of a profile say."""
        # A plain route does not know which version of the files it reads.
        return self._found.made(choice, lambda: measured(kernels)) if choice.mark else measured(kernels)


class Efficiency:
    """The use of the hardware a request is about. Properties are computed on first use; what no file has is None or NaN."""

    def __init__(
        self, source: ProfileSources, ask: EfficiencyRequest, kept: MeasuredProfiles | None = None,
        frame: Callable[[ProfileChoice, str], pd.DataFrame | None] | None = None,
    ) -> None:
        self.source = source
        self.ask = ask
        self._kept = kept or MeasuredProfiles()
        self._frame = frame or (lambda choice, name: choice.frame(source, name))

    def waits(self) -> bool:
        """Return whether a frame is still being read, so that it has to be asked for again."""
        choices = [(self.ask.choice, ("kernels", "steps", "hardware", "flops")), (self.ask.against, ("kernels",))]
        return any(
            self.source.profiles.frame(choice.run, choice.session, choice.rank, name).state in ("reading", "waiting")
            for choice, names in choices if choice is not None for name in names
        )  # fmt: skip

    @cached_property
    def measured(self) -> Measured | None:
        """What the counters of the kernels say; None without kernels."""
        kernels = self._frame(self.ask.choice, "kernels")
        return None if kernels is None else self._kept.measured(self.ask.choice, kernels)

    @cached_property
    def peak(self) -> DevicePeak:
        """The peak of the device, and where it is from."""
        hardware = self._frame(self.ask.choice, "hardware")
        return device_peak(HARDWARE.empty() if hardware is None else hardware, (), self.ask.setting("peak"))

    @cached_property
    def achieved(self) -> Achieved:
        """Operations per second by counters."""
        return achieved(self.measured, self._frame(self.ask.choice, "flops"))

    @property
    def share(self) -> float:
        """Operations per second as a share of the peak."""
        return self.achieved.per_s / self.peak.matrix_per_s

    @cached_property
    def step_ns(self) -> float:
        """The average step of the profile, from its first task to its end; NaN without a step trace."""
        steps = self._frame(self.ask.choice, "steps")
        found = breakdowns(steps) if steps is not None else ()
        usual = average(found[0]) if found else None
        if usual is None:
            return math.nan
        whole = usual.whole_ns - (usual.time_of("preparing") if "preparing" in usual.parts else 0.0)
        return whole if whole > 0 else math.nan

    @cached_property
    def devices(self) -> tuple[int, str]:
        """(number of devices, "typed", "told" by the files, or "found": ranks that have files)."""
        typed = self.ask.setting("devices")
        if not math.isnan(typed):
            return int(typed), "typed"
        choice = self.ask.choice
        job = self.source.profiles.job(choice.run, choice.session, choice.rank)
        if job is not None and job.size:
            return job.size, "told"
        found = {one.rank for one in job.members if one.rank >= 0} if job is not None else set()
        return max(1, len(found)), "found"

    @cached_property
    def model_flops(self) -> tuple[float, str]:
        """(operations of the model in a step, "typed" or "transformer": 6 x parameters x tokens); NaN and "" without them."""
        if not math.isnan(self.ask.setting("model_flops")):
            return self.ask.setting("model_flops"), "typed"
        made = transformer_flops(self.ask.setting("parameters"), self.ask.setting("tokens"))
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
    def roofline(self) -> Joined | None:
        """Kernels of two sessions, whichever of them counted the operations; None if one has no kernels or none is chosen."""
        if self.ask.against is None:
            return None
        ours, theirs = (self._frame(choice, "kernels") for choice in (self.ask.choice, self.ask.against))
        if ours is None or theirs is None or self.measured is None:
            return None
        return roofline(ours, theirs) if self.measured.counters.operations else roofline(theirs, ours)

    @cached_property
    def doubts(self) -> list[Doubt]:
        """What cannot be right, the settings first."""
        found = [Doubt("typed", {"setting": name, "text": typed}) for name, typed in self.ask.wrong]
        if not math.isnan(self.ask.setting("peak")) and self.peak.source == "file":
            found.append(Doubt("unused", {"peak": self.ask.setting("peak")}))
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
        half = {name: math.isnan(self.ask.setting(name)) for name in ("parameters", "tokens")}
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
