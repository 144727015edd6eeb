"""The sample of a model conversion (`tests.writers.conversions` makes its model), and changed copies of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

CONVERSION = Path(__file__).parent / "data" / "mindscope" / "0.2.0" / "conversion"
REPORT = "conversion_of_digits.json"


def changed(directory: Path, change: Callable[[dict[str, Any]], object], *, script: bool = True) -> Path:
    """Write a copy of the sample whose report is changed; return the path of the report."""
    told = json.loads((CONVERSION / REPORT).read_text(encoding="utf-8"))
    change(told)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / REPORT).write_text(json.dumps(told, indent=1), encoding="utf-8")
    if script:
        (directory / "digits.py").write_bytes((CONVERSION / "digits.py").read_bytes())
    return directory / REPORT
