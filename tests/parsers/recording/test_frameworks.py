"""What the adapters recorded of real trainings (tests/frameworks), read back: all that was handed over, and nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.frameworks.comparison import STORED, differences

RUNS = sorted(STORED.iterdir())
FRAMEWORKS = {"torch", "keras", "lightning", "transformers", "mindspore"}
LARGEST = 300 << 10


def test_every_framework_has_its_files_and_they_are_small() -> None:
    assert {run.name.rpartition("-")[0] for run in RUNS} == FRAMEWORKS
    assert sum(path.stat().st_size for path in STORED.rglob("*") if path.is_file()) < LARGEST


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_all_that_a_training_handed_over_is_found(run: Path) -> None:
    told = json.loads((run / "logged.json").read_text(encoding="utf-8"))
    assert len({step for step, _, _ in told["logged"]}) >= 10
    assert differences(run) == []


def test_a_value_that_differs_is_noticed(tmp_path: Path) -> None:
    run = shutil.copytree(next(run for run in RUNS if run.name.startswith("keras")), tmp_path / "run")
    told = json.loads((run / "logged.json").read_text(encoding="utf-8"))
    told["logged"][0][2] += 0.5
    told["settings"]["momentum"] = 0.25
    (run / "logged.json").write_text(json.dumps(told), encoding="utf-8")
    assert [line.split()[0] for line in differences(run)] == ["number", "number", "setting"]
