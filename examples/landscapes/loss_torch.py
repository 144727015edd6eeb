"""The same loss as in loss_numpy.py, with torch. The parameters have the names of the module's state_dict."""

import numpy as np
import torch
from torch import nn

network = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
random = np.random.RandomState(0)
true = random.randn(8, 3)
inputs = random.randn(512, 8).astype(np.float32)
samples, classes = torch.from_numpy(inputs), torch.from_numpy((inputs @ true).argmax(1))


def setup() -> None:
    """Decide how the network behaves: in evaluation mode, dropout and batch statistics stay as they are."""
    network.eval()


def loss(parameters: dict[str, np.ndarray]) -> float:
    """Return the mean cross entropy."""
    network.load_state_dict({name: torch.from_numpy(parameters[name]) for name in network.state_dict()})
    with torch.no_grad():
        return float(nn.functional.cross_entropy(network(samples).double(), classes))
