"""Which tensors of a dump conditions are about: weights, gradients, activations, all of them.

The rules are MindInsight's: a weight is a parameter whose name ends in .weight or .bias and is no state of an optimizer, a
gradient the output of an operator below Gradients/, an activation the output of an operator of a listed type. In msprobe's
dumps weights are parameters of modules, gradients the outputs of backward calls and gradients of parameters. Conditions look
at outputs and parameters; inputs are outputs of others.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.dumps.watchpoints.conditions import ACTIVATION, GRADIENT, TENSOR, WEIGHT
from parsers.deferred import pandas as pd

Mask = NDArray[np.bool_]
ACTIVATIONS = frozenset((
    "elu", "fastgelu", "gelu", "hsigmoid", "hswish", "leakyrelu", "logsigmoid", "logsoftmax", "prelu", "relu", "relu6",
    "reluv2", "sigmoid", "softmax", "tanh",
))  # fmt: skip
_WEIGHT = re.compile(r"(?:^|[._])(?:weight|bias)\Z")
_STATES = r"moments?\d?|accum\w*|adam_[mv]|velocity|mean_square|stat"
_STATE = re.compile(rf"optimizer-|^gradients/|^(?:{_STATES})[._]", re.IGNORECASE)
_GRADIENT = re.compile(r"gradients?/", re.IGNORECASE)
_BACKWARD = re.compile(r"\.backward(?:\.\d+)?\Z|\.parameters_grad\.\d+\Z")


def rows_of(tensors: pd.DataFrame, target: str) -> Mask:
    """Return which rows of a frame of tensors (DUMP_TENSORS) belong to a target: weight, gradient, activation or tensor."""
    if target == TENSOR:
        return _matching(tensors, "io", lambda io: io in ("output", "parameter", "gradient", "saved"))
    if target == WEIGHT:
        return _of(tensors, "parameter") & _matching(tensors, "parameter", is_weight)
    gradient = (_of(tensors, "output") & _matching(tensors, "name", is_gradient)) | _of(tensors, "gradient")
    if target == GRADIENT:
        return gradient
    if target == ACTIVATION:
        return _of(tensors, "output") & ~gradient & _matching(tensors, "type", lambda kind: kind.lower() in ACTIVATIONS)
    raise KeyError(target)


def initial_weights(tensors: pd.DataFrame) -> Mask:
    """Return the rows that hold weights before the first step.

    These are inputs of iteration 0 that are weights by the graph, the first of each: a file of a parameter holds the value
    after the update. In msprobe's dumps they are the parameters of step 0.
    """
    first = tensors["iteration"].to_numpy() == 0
    held: Mask = first & _of(tensors, "input") & _matching(tensors, "parameter", is_weight)
    rows = tensors.loc[held, ["rank", "part", "parameter"]]
    held[np.flatnonzero(held)[rows.duplicated().to_numpy()]] = False
    of_msprobe: Mask = first & rows_of(tensors, WEIGHT) & (tensors["graph"].to_numpy() < 0)
    return held | of_msprobe


def is_weight(name: str) -> bool:
    """Return whether a parameter is a weight or bias that is trained, by its name; names in files have _ for dots."""
    return _WEIGHT.search(name) is not None and _STATE.search(name) is None


def is_gradient(name: str) -> bool:
    """Return whether an operator computes gradients, by its full name or its name in msprobe's dump."""
    return _GRADIENT.match(name) is not None or _BACKWARD.search(name) is not None


def _of(tensors: pd.DataFrame, io: str) -> Mask:
    return _matching(tensors, "io", lambda text: text == io)


def _matching(tensors: pd.DataFrame, column: str, test: Callable[[str], bool]) -> Mask:
    """Return the rows whose text in a categorical column passes the test, which is called once per text."""
    values = tensors[column].array
    passed = np.array([bool(test(str(text))) for text in values.categories.tolist()] + [False], np.bool_)
    found: Mask = passed[values.codes]
    return found
