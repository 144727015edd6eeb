"""Journals of studies as Optuna writes them, without Optuna: JSON lines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

STATES = {"running": 0, "complete": 1, "pruned": 2, "failed": 3}
NAMES = {"x": (0.0, 1.0), "y": (1e-4, 1.0)}
SEARCH = {
    "version": 1, "command": ["python", "train.py"], "sampler": "tpe", "trials": 100,
    "targets": [{"name": "loss", "group": "scalar", "goal": "minimize", "best": False}],
    "parameters": [
        {"name": "x", "kind": "float", "low": 0.0, "high": 1.0, "log": False, "user_defined": False},
        {"name": "y", "kind": "float", "low": 1e-4, "high": 1.0, "log": True, "user_defined": True},
        {"name": "mode", "kind": "choice", "choices": ["a", ["b", 1]], "user_defined": True},
    ],
    "pruning": {"name": "median", "tag": "loss", "goal": "minimize"},
}  # fmt: skip


def line(code: int, **content: Any) -> str:
    """One record."""
    return json.dumps({"op_code": code, "worker_id": "w", **content}) + "\n"


def begun(name: str = "search", directions: Sequence[int] = (1,), search: Mapping[str, Any] | None = SEARCH) -> str:
    """The records of a new study."""
    text = line(0, study_name=name, directions=list(directions))
    return text if search is None else text + line(2, study_id=0, user_attr={"mindscope:search": search})


def trial(
    number: int, state: str = "running", values: Sequence[float] | None = None, *, x: float = 0.5, y: float = 0.1,
    mode: int = 0, curve: Sequence[float] = (), run: str = "", reason: str = "", worker: str = "w1", study: int = 0,
) -> str:  # fmt: skip
    """The records of a trial that began at minute `number` of an hour and took half a minute."""
    moment = f"2026-01-01T{number // 60 % 24:02d}:{number % 60:02d}"
    text = line(4, study_id=study, datetime_start=f"{moment}:00")
    scale = {"x": False, "y": True}
    for name, value in (("x", x), ("y", y)):
        low, high = NAMES[name]
        attributes = {"step": None, "low": low, "high": high, "log": scale[name]}
        distribution = json.dumps({"name": "FloatDistribution", "attributes": attributes})
        text += line(5, trial_id=number, param_name=name, param_value_internal=value, distribution=distribution)
    choices = json.dumps({"name": "CategoricalDistribution", "attributes": {"choices": ["a", '["b", 1]']}})
    text += line(5, trial_id=number, param_name="mode", param_value_internal=mode, distribution=choices)
    text += line(8, trial_id=number, user_attr={"mindscope:trial": {"worker": worker, "run": run, "directory": "/log"}})
    for step, value in enumerate(curve):
        text += line(7, trial_id=number, step=step, intermediate_value=value)
    if reason:
        text += line(8, trial_id=number, user_attr={"mindscope:end": {"reason": reason}})
    if state == "running":
        return text
    ended = None if values is None else list(values)
    return text + line(6, trial_id=number, state=STATES[state], values=ended, datetime_complete=f"{moment}:30")


def write_study(path: Path) -> Path:
    """Write a journal with trials of every state: complete 3.0, 1.0, 2.0, then pruned, failed, running."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = begun()
    for number, value in enumerate((3.0, 1.0, 2.0)):
        text += trial(number, "complete", [value], x=0.2 * number, y=10.0 ** (number - 3), mode=number % 2,
                      curve=[value + 2, value + 1, value])  # fmt: skip
    text += trial(3, "pruned", curve=[9.0, 8.5], x=0.9, worker="w2")
    text += trial(4, "failed", reason="exit code 3", x=0.1, worker="w2")
    text += trial(5, "running", curve=[4.0], x=0.3)
    path.write_text(text)
    return path
