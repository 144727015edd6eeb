"""The plan of a landscape that a Collector leaves, read as that of MindSpore is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from parsers.checkpoints import landscape_plan
from parsers.recording import RecordingError
from parsers.recording.landscape_plan import LandscapePlanWriter

STORED = Path(__file__).parents[2] / "data" / "mindspore_landscape" / "2.10" / "run" / "ckpt_dir" / "train_metadata.json"


def test_it_is_what_mindspore_writes_of_the_same_training(tmp_path: Path) -> None:
    theirs = json.loads(STORED.read_text())
    asked = {name: theirs[name] for name in ("landscape_size", "unit", "create_landscape", "num_samples")}
    plan = LandscapePlanWriter(str(tmp_path / "run"), {**asked, "intervals": [theirs["epoch_group"]["0"]]})
    for number in range(1, 12):
        if plan.wants("step", number):
            path = plan.path("SequentialCell", number)
            Path(path).write_bytes(b"")
            plan.add(number, path, 1)
    ours = json.loads((tmp_path / "run" / "ckpt_dir" / "train_metadata.json").read_text())
    names = [{number: Path(path).name for number, path in one.pop("model_params_file_map").items()} for one in (theirs, ours)]
    assert names[0] == names[1]
    assert ours == theirs
    read = landscape_plan(str(tmp_path / "run"))
    assert read is not None
    assert read.checkpoints == 8


def test_a_plan_is_whole_after_each_checkpoint(tmp_path: Path) -> None:
    plan = LandscapePlanWriter(str(tmp_path), {"intervals": [[1, 2, 3]], "unit": "epoch"})
    assert landscape_plan(str(tmp_path)) is None
    assert not plan.wants("step", 1)
    for number in (1, 2, 3):
        assert plan.wants("epoch", number)
        plan.add(number, plan.path("Net", number), 20)
        found = json.loads((tmp_path / "ckpt_dir" / "train_metadata.json").read_text())
        assert [*found["model_params_file_map"]] == [str(one) for one in range(1, number + 1)]
        assert (found["unit"], found["step_per_epoch"]) == ("epoch", 20)
    assert [path.name for path in (tmp_path / "ckpt_dir").iterdir()] == ["train_metadata.json"]
    shutil.rmtree(tmp_path / "ckpt_dir")


@pytest.mark.parametrize(("options", "said"), [
    ({"intervals": [[1, 2]]}, "at least 3 numbers"), ({"intervals": [[1, 2, "3"]]}, "whole numbers"), ({}, "found None"),
    ({"intervals": 3}, "3"), ({"intervals": [[1, 2, 3]], "unit": "batch"}, "step or epoch"),
    ({"intervals": [[1, 2, 3]], "landscape_size": 2}, "3 to 256"), ({"intervals": [[1, 2, 3]], "size": 9}, "found size"),
    ({"intervals": [[1, 2, 3]], "create_landscape": {"test": True}}, "train and result"),
])  # fmt: skip
def test_options_that_mindspore_refuses_are_refused(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(RecordingError, match="collect_landscape") as refused:
        LandscapePlanWriter(str(tmp_path), options)
    assert said in str(refused.value)
