"""The code of converted models is that which was run with MindSpore."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[1] / "data" / "converter"
RESULTS = json.loads((DATA / "results.json").read_text(encoding="utf-8"))
if not os.environ.get("CI"):
    pytest.importorskip("onnx", reason="the packages of mindscope[convert] are not installed")


@pytest.mark.parametrize("name", sorted(RESULTS["sets"]["1"]))
def test_the_code_of_a_model_is_the_one_that_passed(name: str) -> None:
    from app.conversion import convert

    entry = RESULTS["sets"]["1"][name]
    assert (entry["verdict"], entry["graph"]) == ("passed", "passed")
    text = convert(DATA / "ops" / f"{name}.onnx").script.text
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == entry["hash"], "run make test-convert"
