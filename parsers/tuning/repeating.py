"""Says how a trial is repeated by hand: the command of its study, with its settings in the environment (`HyperConfig`)."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from parsers.tuning.description import label
from parsers.tuning.hyper_config import VARIABLES


def settings_of(search: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a trial as its script saw them, from values as the frame of trials has them.

    Missing ones (None and NaN) do not apply. search is `parsers.tuning.recording.search_of`.
    """
    found: dict[str, Any] = {}
    for one in _parameters(search):
        value = values.get(one["name"])
        if value is None or value != value:
            continue
        value = value.item() if hasattr(value, "item") else value
        if one.get("kind") == "choice":
            value = next((choice for choice in one.get("choices") or () if label(choice) == value), value)
        elif one.get("kind") == "int":
            value = int(value)
        found[one["name"]] = value
    return found


def command_of(search: Mapping[str, Any], values: Mapping[str, Any], directory: str) -> str:
    """Return a line for a POSIX shell that repeats a trial and records to a new directory; "" without a known command."""
    command = search.get("command")
    if not isinstance(command, list) or not command:
        return ""
    settings = settings_of(search, values)
    own = {one["name"] for one in _parameters(search) if one.get("user_defined")}
    custom = {name: _plain(value) for name, value in settings.items() if name in own}
    config = {"params": settings, "summary_dir": directory, "custom_lineage_data": custom}
    text = shlex.quote(json.dumps(config, ensure_ascii=False))
    return f"{VARIABLES[0]}={text} {shlex.join(str(one) for one in command)}"


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | str) and not isinstance(value, bool) else str(label(value))


def _parameters(search: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = search.get("parameters")
    return [one for one in found if isinstance(one, dict) and one.get("name")] if isinstance(found, list) else []
