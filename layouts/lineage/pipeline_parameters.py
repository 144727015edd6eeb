"""Parameters of pipeline operations as text."""

from __future__ import annotations

import json
from typing import Any

from parsers import DatasetNode

from layouts.kit import units as fmt


def value_text(value: Any) -> str:
    """Format a parameter. Numbers keep all their digits: a setting is chosen, not measured."""
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
    """Strip the quotes that column names are recorded with."""
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] == '"' else text


def brief(parameters: dict[str, Any]) -> str:
    """Format all parameters in one line, floats to 4 significant digits."""
    texts = {key: fmt.number(value) if isinstance(value, float) else value_text(value) for key, value in parameters.items()}
    return " · ".join(f"{key} {text}" for key, text in texts.items())


def summary(node: DatasetNode) -> list[str]:
    """Return the parameter keys of a node, most informative first: numbers and texts, then switches, then PLUMBING."""
    values = node.parameters
    return sorted(values, key=lambda key: (key in PLUMBING, values[key] is None, isinstance(values[key], bool)))


PLUMBING = frozenset(("connector_queue_size", "num_parallel_workers", "python_multiprocessing", "max_rowsize", "cache"))
"""Parameters that affect how a pipeline is run, not what it does to the data."""
