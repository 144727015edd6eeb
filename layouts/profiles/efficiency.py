"""What pages about the use of the hardware are asked for: settings, and the profiles whose frames are needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from parsers.analysis.profiles.efficiency import KernelUse, measured
from parsers.analysis.profiles.efficiency.figures import HardwareUse
from parsers.caches import Cache
from parsers.deferred import pandas as pd

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.kit.state import text
from layouts.profiles.profile_choice import ProfileChoice, other_profile, profile
from layouts.sources import ProfileSources

SETTINGS: Mapping[str, float] = {
    "peak": 1e12, "model_flops": 1e12, "parameters": 1e9, "tokens": 1.0, "devices": 1.0, "bandwidth": 1e9,
}  # fmt: skip
"""Key of the state -> the size of the unit in which a setting is typed: TFLOPS, TFLOPs, 1e9, tokens, devices, GB/s."""
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


class MeasuredProfiles:
    """What was measured of the profiles used last, by their marks."""

    def __init__(self) -> None:
        self._found: Cache[ProfileChoice, KernelUse] = Cache(_MOST_KEPT)

    def measured(self, choice: ProfileChoice, kernels: pd.DataFrame) -> KernelUse:
        """Return what the counters in the kernels of a profile say."""
        # A plain route does not know which version of the files it reads.
        return self._found.made(choice, lambda: measured(kernels)) if choice.mark else measured(kernels)


class Efficiency(HardwareUse):
    """The use of the hardware a request is about. frame returns a frame of a profile; by default the source is asked."""

    def __init__(
        self, source: ProfileSources, ask: EfficiencyRequest, kept: MeasuredProfiles | None = None,
        frame: Callable[[ProfileChoice, str], pd.DataFrame | None] | None = None,
    ) -> None:
        given = frame or (lambda choice, name: choice.frame(source, name))
        super().__init__(
            partial(given, ask.choice), dict(ask.settings), wrong=ask.wrong, devices=self._devices,
            measure=partial((kept or MeasuredProfiles()).measured, ask.choice),
            other_kernels=lambda: given(ask.against, "kernels") if ask.against is not None else None,
        )  # fmt: skip
        self.source = source
        self.ask = ask

    def waits(self) -> bool:
        """Return whether a frame is still being read, so that it has to be asked for again."""
        choices = [(self.ask.choice, ("kernels", "steps", "hardware", "flops")), (self.ask.against, ("kernels",))]
        return any(
            self.source.profiles.frame(choice.run, choice.session, choice.rank, name).state in ("reading", "waiting")
            for choice, names in choices if choice is not None for name in names
        )  # fmt: skip

    def _devices(self) -> tuple[int, str]:
        choice = self.ask.choice
        job = self.source.profiles.job(choice.run, choice.session, choice.rank)
        if job is not None and job.size:
            return job.size, "told"
        found = {one.rank for one in job.members if one.rank >= 0} if job is not None else set()
        return max(1, len(found)), "found"
