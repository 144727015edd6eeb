"""Names and content of what `mindscope tune` keeps in a study beside Optuna's own: who writes and who reads agree here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from parsers.tuning.description import Tuning, label

SEARCH = "mindscope:search"
"""Attribute of a study: the search as JSON, `search_of`, and `id`, which no other study has."""
WORKER = "mindscope:worker:"
"""Begin of attributes of a study, one per worker: host, pid, began, seen, ended (seconds since 1970), jobs."""
PLACE = "mindscope:trial"
"""Attribute of a trial, before its process starts: run and directory (paths), worker, host, user, machine (see
`app.tuning.processes.machine`), device."""
PROCESS = "mindscope:process"
"""Attribute of a trial: pid and start time of the process that keeps it."""
DECISION = "mindscope:decision"
"""Attribute of a trial that is ended early, before it is: state, reason, step."""
END = "mindscope:end"
"""Attribute of a trial, when it ends: exit, reason, output (last lines), step, ended (seconds since 1970: when its
process ended, which a tuner that takes it over may notice later)."""
IMPORTED = "mindscope:imported"
"""Attribute of a trial that is an earlier run: its directory."""
RETRY_OF = "mindscope:retry_of"
"""Attribute of a trial that repeats an interrupted one: the number of that."""
SKIPPED = "mindscope:skipped"
"""Attribute of a trial that was never started: why."""
NEXT = "mindscope:next"
"""Attribute of a study: what a trial would get if it started now. trial (its number), settings, sampler, at (seconds since
1970), and mean, low, high of the target where the sampler predicts it; else why: "start" (not yet) or "sampler" (never)."""
MIRROR = "mindscope:mirror"
"""Attribute of a copy of a study that lives elsewhere: of (its storage, without credentials), at (seconds since 1970)."""
VERSION = 1


def search_of(tuning: Tuning) -> dict[str, Any]:
    """Return what a study keeps of its search, as JSON values. The command may name files, but holds no storage."""
    pruning = tuning.pruning
    return {
        "version": VERSION,
        "config": tuning.path,
        "base": tuning.summary_base_dir,
        "command": list(tuning.command),
        "sampler": tuning.sampler,
        "targets": [{"name": one.name, "group": one.group, "goal": one.goal, "best": one.best} for one in tuning.targets],
        "parameters": [
            {
                "name": one.name, "kind": one.kind, "low": one.low, "high": one.high, "log": one.log, "step": one.step,
                "choices": list(one.choices), "user_defined": one.user_defined,
                "when": {name: list(values) for name, values in one.when.items()},
            }
            for one in tuning.parameters
        ],
        "constraints": [one.text for one in tuning.constraints],
        "pruning": None if pruning is None else {"name": pruning.name, "tag": pruning.tag, "goal": pruning.goal},
        "trials": tuning.trials,
        "hours": tuning.hours,
        "seed": tuning.seed,
    }  # fmt: skip


def hyper_config(settings: Mapping[str, Any], run: str, custom: Mapping[str, Any]) -> str:
    """Return the text that hands a trial its settings (`parsers.tuning.HyperConfig`)."""
    return json.dumps({"params": settings, "summary_dir": run, "custom_lineage_data": custom})


def plain(value: Any) -> Any:
    """Return a setting as custom lineage data may hold it: a number or a text."""
    return value if isinstance(value, int | float | str) and not isinstance(value, bool) else str(label(value))
