"""The settings that a search hands to a training script, in an environment variable as JSON text.

    from parsers.tuning import HyperConfig

    settings = HyperConfig()
    learning_rate = settings.params.learning_rate

Also read is MINDINSIGHT_HYPER_CONFIG, which MindInsight's mindoptimizer sets; `mindscope tune` sets both, to the same text.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from parsers.errors import FormatError

VARIABLES = ("MINDSCOPE_HYPER_CONFIG", "MINDINSIGHT_HYPER_CONFIG")
"""Environment variables, the first one that is set is read."""
DEVICE = ("MINDSCOPE_DEVICE", "CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")
"""Variables that name the device of a trial; DEVICE_ID is 0 then, the only one that is visible."""
LONGEST = 100_000
"""Characters of the text, at most: the limit of MindInsight."""


class Params(Mapping[str, Any]):
    """Settings by name, as attributes and as a mapping. A conditional setting that does not apply is missing."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name not in values:
            raise AttributeError(f"expected one of the settings {', '.join(values) or '(none)'}, found {name!r}")
        return values[name]

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Params({self._values!r})"


class HyperConfig:
    """What the trial that this process belongs to is to do.

    params has the settings. summary_dir is the directory to record to; it may not exist yet. custom_lineage_data are the
    settings that are not MindSpore's own, for `SummaryCollector`. FormatError without a trial, or for a text that is none.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        name = next((name for name in VARIABLES if environment.get(name)), "")
        if not name:
            expected = f"expected the settings of a trial in {VARIABLES[0]}, found none"
            raise FormatError(f"{expected}; start this script with 'mindscope tune', or set the variable by hand")
        found = _parsed(name, environment[name])
        self.params = Params(_mapping(name, found, "params"))
        directory = found.get("summary_dir")
        if not isinstance(directory, str):
            raise FormatError(f"{name}: expected a text summary_dir, found {directory!r}")
        self.summary_dir: str = directory
        self.custom_lineage_data = dict(_mapping(name, found, "custom_lineage_data"))

    def __repr__(self) -> str:
        return f"HyperConfig(params={self.params!r}, summary_dir={self.summary_dir!r})"


def _parsed(name: str, text: str) -> dict[str, Any]:
    if len(text) > LONGEST:
        raise FormatError(f"{name}: expected at most {LONGEST:,} characters, found {len(text):,}")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name}: expected JSON text, found {text[:60]!r}") from error
    if not isinstance(found, dict):
        raise FormatError(f"{name}: expected a JSON object, found {type(found).__name__}")
    return found


def _mapping(name: str, found: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = found.get(key) or {}
    if not isinstance(value, dict):
        raise FormatError(f"{name}: expected a JSON object {key}, found {type(value).__name__}")
    return value
