"""What the files of a profile do not tell, and which files would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.profiles.memory.recording import MemoryRecording
from parsers.deferred import pandas as pd

from layouts.kit.i18n import t
from layouts.profiles.memory.plan_card import graphs
from layouts.profiles.memory.spans import StepSpan


def lines(
    frames: Mapping[str, pd.DataFrame | None], recording: MemoryRecording | None, spans: Sequence[StepSpan], state: str, *,
    capacity: int,
    torch: bool = False,
) -> list[Any]:
    """A list of what is not known, each with the files that would tell; empty if all of it is known.

    torch: how torch records it, and nothing that only MindSpore and CANN do.
    """
    blocks = frames["operator_memory"]
    modules = frames["module_memory"]
    found = {
        "curve": recording is None or not recording.recorded,
        "blocks": blocks is None or not len(blocks),
        "stack": blocks is None or not (_has(blocks, "stack") or _has(blocks, "source")),
        "address": blocks is None or not (blocks["address"] >= 0).any(),
        "capacity": not capacity,
        "steps": not spans and state not in ("reading", "waiting"),
        "plan": not graphs(frames["static_memory"]),
        "modules": modules is None or not len(modules),
    }
    missing = [name for name, wanting in found.items() if wanting and not (torch and name in _NOT_OF_TORCH)]
    texts = [f"memory.absent.torch_{name}" if torch and name in _TORCH else f"memory.absent.{name}" for name in missing]
    return [html.Ul([html.Li(t(text)) for text in texts])] if texts else []


_TORCH = frozenset(("curve", "blocks", "stack", "address", "capacity", "steps"))
_NOT_OF_TORCH = frozenset(("plan", "modules"))


def _has(frame: pd.DataFrame, name: str) -> bool:
    texts: Any = frame[name].array
    named = np.array([*(bool(text) for text in texts.categories), False], np.bool_)
    return bool(named.any() and named[texts.codes].any())
