"""The settings in which two runs differ."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from parsers.analysis.lineage.pipelines import MISSING

NOT_SETTINGS = frozenset(("run", "path", "model_path", "train_dataset_path", "test_dataset_path", "model_size"))
"""Columns of LINEAGE left out because they hold paths and sizes of files, which two runs hardly ever share."""
RESULTS = ("metric/", "best/", "last/")
"""Prefixes of columns that hold results."""

OF_USERS = "user_defined/"
"""The prefix of what users recorded of their own."""


def differing_settings(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[tuple[str, tuple[Any, Any]]]:
    """Return (setting, its value in each run, MISSING if not recorded) of those that differ, without paths and results.

    What users defined themselves, often a name, comes last.
    """
    names = [name for name in dict.fromkeys([*one, *other]) if name not in NOT_SETTINGS and not is_result(name)]
    pairs = [(name, (one.get(name, MISSING), other.get(name, MISSING))) for name in names]
    differing = [(name, values) for name, values in pairs if not equal_settings(*values)]
    return sorted(differing, key=lambda one: one[0].startswith(OF_USERS))


def is_result(name: str) -> bool:
    """Return whether a column of LINEAGE is a result of training rather than a setting."""
    return name.startswith(RESULTS) or name == "loss"


def equal_settings(one: Any, other: Any) -> bool:
    """Return whether two settings are equal as recorded: NaN equals NaN, and True does not equal 1."""
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    return bool(one == other) or (isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other))
