"""The peak of a device: operations per second that its units can do at most.

Of the cube (matrix) unit of an Ascend: cores x frequency x 4,096 multiply-adds of float16 in a cycle, each of them two
operations; of the vector unit: cores x frequency x 128. Source: MindSpore's FLOPs parser and msprof-analyze
(`chip_peak_flops`). What a file of the profile states comes first, then what the user sets, then a table of known devices.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from parsers.deferred import pandas as pd

CUBE_PER_CYCLE = 8192
"""Operations of a cube unit in a cycle: float16 and bfloat16."""
VECTOR_PER_CYCLE = 128
"""Operations of a vector unit in a cycle."""
TERA = 1e12


@dataclass(frozen=True, slots=True)
class KnownDevice:
    """A device whose maker states one figure: pattern of its name, dense float16 operations per second, and who states it."""

    name: str
    pattern: str
    matrix_per_s: float
    source: str


KNOWN: tuple[KnownDevice, ...] = (
    KnownDevice("Ascend 910", r"ascend[ _]?910a?", 256 * TERA, "Huawei's data sheet of the Ascend 910"),
    KnownDevice("A100", r"(nvidia[ _])?a100([ _-].*)?", 312 * TERA, "NVIDIA's data sheet of the A100"),
    KnownDevice("H100 SXM", r"(nvidia[ _])?h100[ _-]?sxm.*", 989.4 * TERA, "NVIDIA's data sheet of the H100"),
    KnownDevice("H100 PCIe", r"(nvidia[ _])?h100[ _-]?pcie.*", 756 * TERA, "NVIDIA's data sheet of the H100"),
)  # fmt: skip
_AMBIGUOUS: tuple[tuple[str, str, str], ...] = (
    (r"ascend[ _]?910b", "B1 to B4 of the 910B differ and public figures contradict each other", ""),
    (r"(nvidia[ _])?h100([ _-](?!sxm|pcie).*)?", "SXM and PCIe differ", "H100"),
)
"""Pattern of a name, why it says too little, and how the names of devices begin that it may be."""


@dataclass(frozen=True, slots=True)
class DevicePeak:
    """The peak of a device in operations per second, NaN for unknown: of its matrix units, and of its vector units.

    source: "file", "setting", "table", or "" if the peak is unknown. detail says where the number is from; for an unknown one
    why none is assumed. reason: why it is unknown, "differ" (devices that files describe do), "several" (names), "ambiguous"
    (the name), "unlisted" (the name is in no table), "unnamed" (no file has a name), or "". chips: the names that files have.
    device: of the table; candidates: which of them an ambiguous name may be.
    """

    matrix_per_s: float
    vector_per_s: float
    source: str
    detail: str
    reason: str = ""
    chips: tuple[str, ...] = ()
    device: KnownDevice | None = None
    candidates: tuple[KnownDevice, ...] = ()

    @property
    def known(self) -> bool:
        """Whether there is a peak of the matrix units."""
        return self.source != ""


def device_peak(hardware: pd.DataFrame, chips: Sequence[str] = (), setting: float = math.nan) -> DevicePeak:
    """Return the peak of the device of a profile.

    hardware is the frame HARDWARE, chips further names of the device, setting what the user says in operations per second.
    What a file states comes first, then what the user says, who knows more than the table, then the table. Devices that differ
    in a file have no common peak.
    """
    stated = _stated(hardware)
    if stated.known:
        return stated
    every = (*chips, *(hardware["chip"].astype("str") if "chip" in hardware else ()))
    names = tuple(dict.fromkeys(name.strip() for name in every if name.strip()))
    named = stated if stated.reason else _of_table(names)
    if math.isfinite(setting) and setting > 0:
        return replace(named, matrix_per_s=setting, vector_per_s=math.nan, source="setting", detail="")
    return named


def _of_table(names: tuple[str, ...]) -> DevicePeak:
    if len(names) != 1:
        reason = "several" if names else "unnamed"
        return DevicePeak(math.nan, math.nan, "", ", ".join(names), reason, names)
    (name,) = names
    for pattern, why, beginning in _AMBIGUOUS:
        if re.fullmatch(pattern, name, re.IGNORECASE):
            able = tuple(one for one in KNOWN if beginning and one.name.startswith(beginning))
            return DevicePeak(math.nan, math.nan, "", f"{name}: {why}", "ambiguous", names, candidates=able)
    for device in KNOWN:
        if re.fullmatch(device.pattern, name, re.IGNORECASE):
            return DevicePeak(device.matrix_per_s, math.nan, "table", f"{device.name}: {device.source}", "", names, device)
    return DevicePeak(math.nan, math.nan, "", name, "unlisted", names)


def _stated(hardware: pd.DataFrame) -> DevicePeak:
    known = hardware[(hardware["cube_cores"] > 0) & hardware["cube_hz"].notna()]
    kinds = known[["cube_cores", "vector_cores", "cube_hz", "vector_hz"]].drop_duplicates()
    if len(kinds) > 1:
        return DevicePeak(math.nan, math.nan, "", "info.json: devices differ", "differ")
    if not len(kinds):
        return DevicePeak(math.nan, math.nan, "", "")
    one = kinds.iloc[0]
    matrix = float(one["cube_cores"] * one["cube_hz"] * CUBE_PER_CYCLE)
    vector = float(one["vector_cores"] * one["vector_hz"] * VECTOR_PER_CYCLE) if one["vector_cores"] > 0 else math.nan
    detail = f"info.json: {int(one['cube_cores'])} x {one['cube_hz'] / 1e6:,.0f} MHz x {CUBE_PER_CYCLE:,}"
    return DevicePeak(matrix, vector, "file", detail)


def model_flops_share(flops_per_step: float, step_ns: float, peak_per_s: float, ranks: int) -> float:
    """Return MFU: operations of the model in a step, divided by what all devices could do in that time; NaN if unknown.

    flops_per_step is what the user says of the model, step_ns the time of a whole step in ns. A share above 1 means that one of
    these is wrong; it is returned as it is.
    """
    possible = step_ns * 1e-9 * peak_per_s * ranks
    return flops_per_step / possible if possible > 0 and math.isfinite(flops_per_step) else math.nan


def transformer_flops(parameters: float, tokens: float) -> float:
    """Return the operations of a training step of a dense transformer: 6 x parameters x tokens in the step.

    Two operations for each parameter and token forward, and twice as many backward; attention over long sequences, and
    recomputation, are not in it. Source: Kaplan et al. 2020, Scaling laws for neural language models, 2.1.
    """
    return 6.0 * parameters * tokens
