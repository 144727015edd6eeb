"""Trains fifty steps with MindSpore, recorded by the adapter's Collector.   DIRECTORY"""

from __future__ import annotations

import sys

import mindspore
import numpy as np
from mindscope_record.adapters.mindspore import Collector
from mindspore import nn
from mindspore.dataset import NumpySlicesDataset


def main(directory: str) -> None:
    mindspore.set_seed(0)
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    inputs = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
    data = NumpySlicesDataset((inputs, inputs[:, :1]), shuffle=False).batch(4)
    network = nn.SequentialCell(nn.Dense(4, 3), nn.ReLU(), nn.Dense(3, 1))
    optimizer = nn.SGD(network.trainable_params(), 0.1)
    model = mindspore.Model(network, nn.MSELoss(), optimizer, metrics={"loss"})
    collector = Collector(directory, collect_freq=5)
    model.train(1, data, callbacks=[collector], dataset_sink_mode=False)
    model.eval(data, callbacks=[collector], dataset_sink_mode=False)


main(sys.argv[1])
