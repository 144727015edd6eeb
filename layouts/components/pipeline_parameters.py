"""What an operation of a pipeline was told, as text."""

from __future__ import annotations

import json
from typing import Any

from parsers import DatasetNode

from layouts import format as fmt


def value_text(value: Any) -> str:
    """A parameter as text: a setting was chosen, not measured, so all of its digits count."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return fmt.count(value)
    if isinstance(value, float):
        return fmt.exact(value)
    if isinstance(value, str):
        return _unquoted(value) or '""'
    if isinstance(value, list) and not any(isinstance(one, (list, dict)) for one in value):
        return ", ".join(map(value_text, value)) or "[]"
    return json.dumps(value, ensure_ascii=False)


def _unquoted(text: str) -> str:
    """Column names are recorded with quotes around them."""
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] == '"' else text


def brief(parameters: dict[str, Any]) -> str:
    """All parameters in one line, numbers to 4 digits."""
    told_so = {key: fmt.number(value) if isinstance(value, float) else value_text(value) for key, value in parameters.items()}
    return " · ".join(f"{key} {words}" for key, words in told_so.items())


def summary(node: DatasetNode) -> list[str]:
    """Keys of the parameters, those that say most of a node first: numbers and texts, switches, how it is run."""
    told_of = node.parameters
    return sorted(told_of, key=lambda key: (key in PLUMBING, told_of[key] is None, isinstance(told_of[key], bool)))


PLUMBING = frozenset(("connector_queue_size", "num_parallel_workers", "python_multiprocessing", "max_rowsize", "cache"))
"""Parameters of how a pipeline is run, not of what it does to data."""
