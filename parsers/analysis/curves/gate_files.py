"""Gates in a TOML file, and the facts of a baseline in a JSON file, for `mindscope gate`.

::

    [[metric]]
    tag = "val/loss"
    better = "lower"               # needed only if the name does not tell
    value = "mean:100"             # last, best, mean:N or step:N
    margin = "2%"                  # or a number in the unit of the value

    [[metric]]
    measure = "steps_per_second"   # or peak_memory, check_dump
    margin = "5%"
"""

from __future__ import annotations

import json
import math
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from typing import Any

from parsers.analysis.curves.gates import HIGHER, LOWER, Gate, RunValue, check_value, parse_margin
from parsers.errors import FormatError, SourceError
from parsers.files import RegularFile
from parsers.json_text import parse_json
from parsers.lineage.table import better as better_by_name

TAG, SPEED, MEMORY, DUMP = "tag", "steps_per_second", "peak_memory", "check_dump"
MEASURES = (SPEED, MEMORY, DUMP)
_BETTER = {SPEED: HIGHER, MEMORY: LOWER, DUMP: LOWER}
VERSION = 1
LARGEST = 1 << 24
"""Bytes of a file of gates or of a baseline: one that is larger is another file."""
_KEYS = ("tag", "measure", "better", "value", "margin", "alpha", "robust", "watch")
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


@dataclass(frozen=True, slots=True)
class GateMetric:
    """What one gate is about: a tag with the value that counts, or one of MEASURES. watch: file of watchpoints of DUMP."""

    measure: str
    tag: str
    value: str
    gate: Gate
    watch: str = ""

    @property
    def name(self) -> str:
        """Name for reports."""
        return f"{self.tag} ({self.value})" if self.measure == TAG else self.measure.replace("_", " ")

    @property
    def key(self) -> tuple[str, ...]:
        """What the number of a run depends on."""
        return self.measure, self.tag, self.value, self.gate.better if self.value == "best" else ""


def metric(keys: Mapping[str, Any], where: str, defaults: Mapping[str, Any]) -> GateMetric:
    """Return the metric that keys describe; defaults are keys that it may leave out. FormatError names where and the key."""
    for key in keys:
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, 1)
            hint = f"did you mean {near[0]}?" if near else f"one of {', '.join(_KEYS)}"
            raise FormatError(f"{where}: expected a known key ({hint}), found {_short(key)}")
    every = {**defaults, **keys}
    for key in ("tag", "measure", "better", "value", "watch"):
        if not isinstance(every.get(key, ""), str):
            raise FormatError(f"{where}: {key}: expected a text, found {_short(every[key])}")
    tag, measure = every.get("tag", ""), every.get("measure", "")
    if bool(tag) == bool(measure):
        raise FormatError(f"{where}: expected either a tag or a measure ({', '.join(MEASURES)})")
    if measure and measure not in MEASURES:
        raise FormatError(f"{where}: measure: expected one of {', '.join(MEASURES)}, found {_short(measure)}")
    unused = next((key for key in ("better", "value") if measure and key in keys), None)
    if unused is not None:
        raise FormatError(f"{where}: {unused}: expected only with a tag, as a measure has one of its own")
    if "watch" in keys and measure != DUMP:
        raise FormatError(f"{where}: watch: expected only with measure = {DUMP!r}")
    gate = Gate(_better(every, measure, tag, where), _margin(every, where), _alpha(every, where), _robust(every, where))
    try:
        value = check_value(every.get("value", "last")) if tag else ""
    except ValueError as error:
        raise FormatError(f"{where}: value: expected {error}, found {_short(every['value'])}") from None
    return GateMetric(measure or TAG, tag, value, gate, every.get("watch", ""))


def _better(keys: Mapping[str, Any], measure: str, tag: str, where: str) -> str:
    given = keys.get("better", "")
    if measure:
        return _BETTER[measure]
    if given in (LOWER, HIGHER):
        return str(given)
    if given:
        raise FormatError(f"{where}: better: expected {LOWER} or {HIGHER}, found {_short(given)}")
    known = {"min": LOWER, "max": HIGHER}.get(better_by_name(tag))
    if known is None:
        raise FormatError(f"{where}: better: expected {LOWER} or {HIGHER}, as the name {_short(tag)} does not tell")
    return known


def _margin(keys: Mapping[str, Any], where: str) -> Any:
    given = keys.get("margin")
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise FormatError(f"{where}: margin: expected a number or a text, found {_short(given)}")
    try:
        return parse_margin(str(given))
    except ValueError as error:
        raise FormatError(f"{where}: margin: expected {error}, found {_short(given)}") from None


def _alpha(keys: Mapping[str, Any], where: str) -> float:
    given = keys.get("alpha", 0.05)
    try:
        alpha = math.nan if isinstance(given, bool) else float(given)
    except (TypeError, ValueError):
        alpha = math.nan
    if not 0.0 < alpha < 0.5:
        raise FormatError(f"{where}: alpha: expected a number above 0 and below 0.5, found {_short(given)}")
    return alpha


def _robust(keys: Mapping[str, Any], where: str) -> bool:
    given = keys.get("robust", False)
    if not isinstance(given, bool):
        raise FormatError(f"{where}: robust: expected true or false, found {_short(given)}")
    return given


def read_metrics(path: str, defaults: Mapping[str, Any]) -> tuple[GateMetric, ...]:
    """Read a file of gates; files it names are relative to it. SourceError if it cannot be read, FormatError for a mistake."""
    try:
        loaded = tomllib.loads(_read(path, "TOML").decode())
    except (ValueError, RecursionError) as error:  # also of a number with thousands of digits
        reason = "too deep nesting" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise FormatError(f"{path}: expected valid TOML, found an error: {reason}") from error
    unknown = next((key for key in loaded if key != "metric"), None)
    if unknown is not None:
        raise FormatError(f"{path}: expected nothing but [[metric]] tables, found {_short(unknown)}")
    tables = loaded.get("metric", [])
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise FormatError(f"{path}: expected tables that begin with [[metric]], found {_short(tables)}")
    found = [metric(table, f"{path}: metric {place}", defaults) for place, table in enumerate(tables, 1)]
    folder = os.path.dirname(path)
    return tuple(replace(one, watch=os.path.join(folder, one.watch)) if one.watch else one for one in found)


# Baselines -----------------------------------------------------------------------------------------------------------

Baseline = Mapping[tuple[str, ...], Sequence[RunValue]]
"""Key of a metric -> the number of each run."""


def baseline_text(baseline: Baseline) -> str:
    """Return a baseline as JSON; NaN and infinite numbers are texts."""
    metrics = [
        {"metric": list(key), "runs": [{**asdict(one), "value": _plain(one.value)} for one in runs]}
        for key, runs in baseline.items()
    ]
    return json.dumps({"mindscope_baseline": VERSION, "metrics": metrics}, indent=1, allow_nan=False) + "\n"


def read_baseline(path: str) -> dict[tuple[str, ...], list[RunValue]]:
    """Read what `baseline_text` wrote. SourceError if it cannot be read, FormatError for anything else."""
    try:
        loaded = parse_json(_read(path, "JSON").decode())
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: expected a baseline in JSON, found an error: {' '.join(str(error).split())}") from error
    if not isinstance(loaded, dict) or "mindscope_baseline" not in loaded:
        raise FormatError(f"{path}: expected a baseline that `mindscope gate --save` wrote, found other JSON")
    if loaded["mindscope_baseline"] != VERSION:
        found = _short(loaded["mindscope_baseline"])
        raise FormatError(f"{path}: expected a baseline of version {VERSION}, found version {found}")
    try:
        return {tuple(map(_text, one["metric"])): [_run_value(run) for run in one["runs"]] for one in loaded["metrics"]}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"{path}: expected a whole baseline, found a part that is none: {error!r}") from error


def _run_value(run: Mapping[str, Any]) -> RunValue:
    value = run["value"]
    number = _SPECIAL[value] if isinstance(value, str) else _number(value)
    return RunValue(
        _text(run["run"]), number, _whole(run["last_step"]), _whole(run["bad"]), _whole(run["first_bad"]),
        _text(run["missing"]), run["incomplete"] is True, _text(run["source"]),
    )  # fmt: skip


def _plain(value: float) -> float | str:
    return value if math.isfinite(value) else "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"expected a number, found {_short(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"expected a number, found {_short(value)}") from None


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 1 << 63:
        raise TypeError(f"expected a whole number, found {_short(value)}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, found {_short(value)}")
    return value


def _read(path: str, kind: str) -> bytes:
    try:
        with RegularFile(path) as file:
            data = file.read(0, LARGEST + 1)
    except OSError as error:
        raise SourceError(f"{path}: expected a readable {kind} file, found none: {error.strerror or error}") from error
    if len(data) > LARGEST:
        raise FormatError(f"{path}: expected a {kind} file of at most {LARGEST:,} bytes, found more")
    return data


def _short(value: object) -> str:
    text = f"a number of {value.bit_length():,} bits" if isinstance(value, int) and abs(value) >= 1 << 63 else repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
