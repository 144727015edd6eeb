"""The file that says which landscapes collected checkpoints allow."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from parsers import FormatError, discover, landscape_plan
from parsers.checkpoints import LIMIT
from parsers.discovery import rescan

REAL: dict[str, Any] = {
    "epoch_group": {"0": [1, 2, 3], "1": [4, 6, 8, 10]},
    "model_params_file_map": {str(step): f"/elsewhere/LeNet5_{step}_step.ckpt" for step in (1, 2, 3, 4, 6, 8, 10)},
    "step_per_epoch": 15, "unit": "step", "num_samples": 128, "landscape_size": 8,
    "create_landscape": {"train": True, "result": False},
}  # fmt: skip


def written(tmp_path: Path, text: str | bytes) -> str:
    (tmp_path / "ckpt_dir").mkdir()
    (tmp_path / "ckpt_dir" / "train_metadata.json").write_bytes(text.encode() if isinstance(text, str) else text)
    return str(tmp_path)


def test_a_run_without_checkpoints_has_no_plan(tmp_path: Path) -> None:
    assert landscape_plan(str(tmp_path)) is None
    assert landscape_plan(str(tmp_path / "not there")) is None


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "ckpt_dir").mkdir()
    path = tmp_path / "ckpt_dir" / "train_metadata.json"
    os.mkfifo(path)
    assert landscape_plan(str(tmp_path)) is None
    held = os.open(path, os.O_RDWR)
    os.write(held, json.dumps(REAL).encode())  # what waits in it would be a plan
    try:
        assert landscape_plan(str(tmp_path)) is None
    finally:
        os.close(held)


def test_groups_and_settings_are_read(tmp_path: Path) -> None:
    plan = landscape_plan(written(tmp_path, json.dumps(REAL)))
    assert plan is not None
    assert plan.intervals == ((1, 2, 3), (4, 6, 8, 10))
    assert (plan.checkpoints, plan.unit, plan.step_per_epoch, plan.size, plan.samples) == (7, "step", 15, 8, 128)
    assert (plan.train, plan.result) == (True, False)


def test_what_is_missing_has_a_default(tmp_path: Path) -> None:
    plan = landscape_plan(written(tmp_path, "{}"))
    assert plan is not None
    assert plan.intervals == ()
    assert plan.checkpoints == 0


@pytest.mark.parametrize(
    "text",
    ["", "[]", "nul", b"\xff\xfe", '{"epoch_group": {"0": ["a"]}}', '{"unit": 3}', "[" * 100_000, " " * (LIMIT + 1)],
    ids=["empty", "list", "cut", "not utf-8", "no numbers", "unit", "deep", "large"],
)
def test_damage_says_what_was_wanted(tmp_path: Path, text: str | bytes) -> None:
    with pytest.raises(FormatError, match=r"train_metadata\.json: expected"):
        landscape_plan(written(tmp_path, text))


def test_discovery_names_the_file_of_a_run_that_has_one(tmp_path: Path) -> None:
    for name in ("planned", "folder_only", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "events.out.events.summary.1700000000.0.vm_MS").write_bytes(b"")
    folder = written(tmp_path / "planned", "{}")
    (tmp_path / "folder_only" / "ckpt_dir").mkdir()
    found = {source.name: source for source in discover(tmp_path)}
    assert found["planned"].plan == os.path.join(folder, "ckpt_dir", "train_metadata.json")
    assert found["folder_only"].plan == found["other"].plan == ""
    os.remove(found["planned"].plan)
    assert rescan(found["planned"]).plan == ""
