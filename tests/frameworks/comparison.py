"""Compares what the readers find in a run with what its training handed to the Recorder (logged.json, by record_golden.py)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from parsers import open_run

STORED = Path(__file__).resolve().parents[1] / "data" / "recording"


def differences(directory: Path) -> list[str]:
    """Return one line for each thing that was handed over and is not found, or the other way round."""
    told = json.loads((directory / "logged.json").read_text(encoding="utf-8"))
    run = open_run(directory)
    rows = [(step, tag, value) for step, tag, value in told["logged"]]
    numbers = Counter((step, tag, _single(value)) for step, tag, value in rows if not isinstance(value, str))
    read = run.scalars
    points = zip(read["step"], read["tag"], read["value"], strict=True)
    found = Counter((step, tag, _single(value)) for step, tag, value in points)
    lines = [f"number {one}" for one in _unlike(numbers, found)]
    frames = {"Text": run.texts, "Histogram": run.histograms, "Image": run.images, "Tensor": run.tensors}
    kinds = {"CountedHistogram": "Histogram", **{name: name for name in frames}}
    others = Counter((kinds.get(value, "Text"), step, tag) for step, tag, value in rows
                     if isinstance(value, str) and value != "Listed")  # fmt: skip
    read_others = Counter((name, step, tag) for name, frame in frames.items() for step, tag in _places(frame))
    lines += [f"value {one}" for one in _unlike(others, read_others)]
    lines += [f"problem {one}" for one in run.problems]
    return lines + _settings(told, dict(run.settings))


def _settings(told: dict[str, Any], found: dict[str, Any]) -> list[str]:
    names = {name.removeprefix("user_defined/"): value for name, value in found.items()}
    lines = []
    for name, value in told["settings"].items():
        wanted = str(value) if isinstance(value, (bool, str)) else value
        if names.get(name) != "***" and not _same(names.get(name), wanted):
            lines.append(f"setting {name}: expected {wanted!r}, found {names.get(name)!r}")
    for name, value in told["metrics"].items():
        if not _same(names.get(f"metric/{name}"), value):
            lines.append(f"metric {name}: expected {value!r}, found {names.get(f'metric/{name}')!r}")
    return lines


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(found, (int, float)) and isinstance(wanted, (int, float)):
        return bool(np.isclose(found, wanted, rtol=1e-6))  # fields of MindSpore are float32
    return bool(found == wanted)


def _unlike(wanted: Counter[Any], found: Counter[Any]) -> list[Any]:
    return sorted((wanted - found) + (found - wanted), key=str)


def _places(frame: Any) -> Iterator[tuple[int, str]]:
    return zip(frame["step"], frame["tag"], strict=True)


def _single(value: float) -> str:
    """A number as float32 holds it, so that NaN equals itself."""
    return repr(float(np.float32(value)))
