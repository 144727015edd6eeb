"""Trains twice with MindSpore, and compares the checkpoints and plans that SummaryCollector and Collector leave.

    python tests/frameworks/landscape_checkpoints.py FOLDER     `make test-frameworks` runs it
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from mindscope_record.adapters.mindspore import Collector
from mindspore import nn
from mindspore.train import Model, SummaryCollector
from mindspore_landscape import dataset, network

CASES = {"step": [[1, 2, 3], [5, 6, 7]], "epoch": [[2, 3, 4]]}


def plan_of(kind: Any, run: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """Train eight steps and return the plan that was left."""
    ms.set_seed(3)
    net = network()
    model = Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True), nn.Momentum(net.trainable_params(), 0.3, 0.9))
    collector = kind(str(run), collect_specified_data={"collect_landscape": asked}, keep_default_action=False)
    model.train(8, dataset(), callbacks=[collector], dataset_sink_mode=False)
    plan: dict[str, Any] = json.loads((run / "ckpt_dir" / "train_metadata.json").read_text())
    return plan


def main(folder: Path) -> None:
    """Compare both for steps and for epochs; an AssertionError says what differs."""
    for unit, intervals in CASES.items():
        create = {"train": True, "result": False}
        asked = {"landscape_size": 9, "unit": unit, "create_landscape": create, "num_samples": 96, "intervals": intervals}
        theirs, ours = (plan_of(kind, folder / f"{unit}_{kind.__name__}", asked) for kind in (SummaryCollector, Collector))
        files, own = theirs.pop("model_params_file_map"), ours.pop("model_params_file_map")
        assert theirs == ours, (theirs, ours)
        assert [*files] == [*own], (files, own)
        for number, path in files.items():
            assert Path(path).name == Path(own[number]).name
            wanted, found = ms.load_checkpoint(path), ms.load_checkpoint(own[number])
            assert sorted(wanted) == sorted(found), (sorted(wanted), sorted(found))
            assert all(np.array_equal(wanted[name].asnumpy(), found[name].asnumpy()) for name in wanted), number


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_device("CPU")
    main(Path(sys.argv[1]))
