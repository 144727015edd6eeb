"""Trains fifty steps with torch, recorded by the adapter's SummaryWriter, watched and profiled.   DIRECTORY"""

from __future__ import annotations

import sys

import numpy as np
import torch
from mindscope_record.adapters.torch import SummaryWriter

torch.manual_seed(0)
torch.set_num_threads(1)
STEPS = 50


def main(directory: str) -> None:
    inputs = torch.from_numpy(np.random.default_rng(0).normal(size=(STEPS, 8, 4)).astype(np.float32))
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with SummaryWriter(directory) as writer:
        writer.watch(model, every=10)
        writer.add_graph(model, inputs[0])
        for step in range(STEPS):
            loss = model(inputs[step]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            writer.add_scalar("loss", loss, step)
            if step % 10 == 0:
                writer.add_scalars("both", {"loss": loss.item(), "step": step}, step)
                writer.add_histogram("weights", model[0].weight, step)
                writer.add_image("inputs", inputs[step][None].clamp(0, 1), step)
                writer.add_text("note", f"step {step}", step)
                writer.add_tensor("bias", model[0].bias.to(torch.bfloat16), step)
        writer.add_pr_curve("curve", np.array([0, 1, 1, 0]), np.array([0.1, 0.9, 0.4, 0.6]), STEPS, num_thresholds=11)
        writer.add_histogram_raw("raw", 0, 2, 3, 3, 5, [1.0, 2.0], [1, 2], 0)
        writer.add_hparams({"lr": 0.1, "momentum": 0}, {"final": loss})


main(sys.argv[1])
