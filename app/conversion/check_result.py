"""What a check of a conversion found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

TOLERANCE = {"float16": 1e-2, "bfloat16": 1e-2, "other": 1e-4}
"""Of values by data type: |difference| <= t + t |reference|; whole numbers must be equal."""
CHECKED, NOT_CHECKED = "checked", "not checked"


@dataclass(slots=True)
class ConversionComparison:
    """What a check found. rows are values in the order of execution with their node and differences."""

    state: str
    reason: str = ""
    rows: list[dict[str, Any]] = field(default_factory=list)
    error: str = ""
    constant: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    seed: int = 0

    @property
    def first_beyond(self) -> dict[str, Any] | None:
        """The first value beyond tolerance."""
        return next((row for row in self.rows if row["beyond"]), None)

    @property
    def failed(self) -> bool:
        """Whether a value differs, or the script failed elsewhere than in a marked Cell."""
        return self.first_beyond is not None or (bool(self.error) and "NotImplementedError" not in self.error)

    def facts(self) -> dict[str, Any]:
        """Return plain values for the report."""
        return {"state": self.state, "reason": self.reason, "target": "CPU", "mode": "PyNative", "tolerance": TOLERANCE,
                "seed": self.seed, "versions": self.versions, "values": self.rows, "first_beyond": self.first_beyond,
                "error": self.error, "constant_outputs": self.constant}  # fmt: skip
