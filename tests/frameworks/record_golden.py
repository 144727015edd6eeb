"""Runs a training of this folder and notes beside its files what it handed to the Recorder.   SCRIPT DIRECTORY

DIRECTORY/logged.json: {"logged": [[step, tag, value], ...], "settings": {...}, "metrics": {...}}; values that are no numbers or
texts are noted as the name of their type, those that Mindscope only lists as Listed. All is noted before it is encoded.
"""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mindscope_record import Recorder
from mindscope_record.values import Tensor, Text


def noted(value: Any) -> Any:
    if isinstance(value, Tensor) and value.plugin != "tensors":
        return "Listed"
    if isinstance(value, Text):
        return value.text
    if isinstance(value, (str, int, float)):
        return value
    if getattr(value, "shape", None) in ((), (1,)):
        return float(value)
    return type(value).__name__


def main(script: str, directory: str) -> None:
    found: dict[str, Any] = {"logged": [], "settings": {}, "metrics": {}}
    log, settings, metrics = Recorder.log, Recorder.settings, Recorder.metrics

    def note_log(self: Recorder, step: int, values: Mapping[str, Any], **options: Any) -> None:
        found["logged"] += [[step, tag, noted(value)] for tag, value in values.items() if value is not None]
        log(self, step, values, **options)

    def note_settings(self: Recorder, values: Any) -> None:
        items = values if isinstance(values, Mapping) else vars(values)
        found["settings"].update({name: value for name, value in items.items() if isinstance(value, (int, float, str))})
        settings(self, values)

    def note_metrics(self: Recorder, values: Mapping[str, Any]) -> None:
        found["metrics"].update({name: noted(value) for name, value in values.items()})
        metrics(self, values)

    Recorder.log, Recorder.settings, Recorder.metrics = note_log, note_settings, note_metrics  # type: ignore[method-assign]
    sys.argv = [script, directory]
    runpy.run_path(script, run_name="__main__")
    Path(directory, "logged.json").write_text(json.dumps(found, indent=1, sort_keys=True), encoding="utf-8")


main(*sys.argv[1:3])
