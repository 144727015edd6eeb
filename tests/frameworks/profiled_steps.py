"""Trains ten steps with torch or MindSpore, of which the Recorder profiles three.   FRAMEWORK DIRECTORY"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from mindscope_record import Recorder


def of_torch() -> Callable[[], Any]:
    import torch

    model = torch.nn.Linear(8, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> Any:
        loss = model(torch.ones(4, 8)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def of_mindspore() -> Callable[[], Any]:
    import mindspore
    from mindspore import nn

    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    network = nn.Dense(8, 2)
    optimizer = nn.SGD(network.trainable_params(), 0.1)
    inputs = mindspore.Tensor(np.ones((4, 8), np.float32))
    function = mindspore.value_and_grad(lambda: network(inputs).square().mean(), None, optimizer.parameters)

    def step() -> Any:
        loss, gradients = function()
        optimizer(gradients)
        return loss

    return step


def main(framework: str, directory: str) -> None:
    train = {"torch": of_torch, "mindspore": of_mindspore}[framework]()
    with Recorder(directory) as run:
        run.profile(first=4, steps=3)
        for step in run.steps(range(10)):
            run.log(step, {"loss": train()})


main(*sys.argv[1:3])
