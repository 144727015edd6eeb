"""Reads the weights of a network from checkpoints of any framework: by name, without pickle, without the framework.

`opened` recognises a file by its content and returns its `Weights`, which know where every tensor is and read those asked for.
"""

from __future__ import annotations

from parsers.weights.model import Weights, WeightTensor
from parsers.weights.recognition import opened

__all__ = ["WeightTensor", "Weights", "opened"]
