"""Nine runs that MindSpore 2.10 recorded, healthy and hostile, and the journal of a search: what most tests look at."""

from __future__ import annotations

from pathlib import Path

RECORDED = Path(__file__).resolve().parent / "data" / "runs"
