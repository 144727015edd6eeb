"""A worker process: runs the user's script and computes the loss at places of a plane.

    python -m app.landscapes.process IN OUT     the numbers of two pipes that it inherits

The first line that it reads is its setting (`app.landscapes.workers.setting_of`), each further one a list of places [row,
column, x, y]; it answers each with a line [row, column, loss or null, reason]. A setting with `names`, a checkpoint, asks only
which of its weights the script chooses. The script's standard output is its standard
error, its standard input is empty. The user's code runs here and nowhere else.
"""

from __future__ import annotations

import json
import math
import os
import runpy
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from parsers.analysis.values.landscapes import Weights
from parsers.landscapes.points import ON_PATH
from parsers.weights import opened

BLOCK = 1 << 18
"""Values that are added at once: few enough to stay in the cache, enough that the calls cost nothing beside them."""
_LONGEST_REASON = 500


class PlaneLoss:
    """The user's function on a plane of weights. One array holds the weights of a place; the function must not keep it.

    The weights where a row begins, `base + y * second`, are computed once per row; the values of a place are always summed in
    the same order, so that they are the same to the last bit whichever places were computed before.
    """

    def __init__(self, setting: Mapping[str, Any]) -> None:
        self._loss: Callable[[dict[str, Any]], Any] = _run(setting["script"], setting["function"])
        self._maps = [np.asarray(np.load(path, mmap_mode="r")) for path in setting["plane"]]  # cutting a memmap is slow
        self._weights = np.empty_like(self._maps[0])
        self._row, self._y = self._maps[0], 0.0
        self._checkpoints: list[str] = setting["checkpoints"]
        self._parameters: dict[str, Any] = {}
        self._varied = [name for name, _, _ in setting["tensors"]]
        for name, shape, begin in setting["tensors"]:
            end = begin + math.prod(shape)
            self._parameters[name] = self._weights[begin:end].reshape(shape)
        with opened(setting["base"]) as weights:
            fixed = [name for name in weights.tensors if name not in self._parameters and "moment" not in name]
            self._parameters |= {name: weights.read(name) for name in fixed}

    def at(self, row: int, column: int, x: float, y: float) -> float:
        """Return the loss at a place; in the row ON_PATH, that of the checkpoint `column` itself."""
        if row == ON_PATH:
            self._load(self._checkpoints[column])
        else:
            self._move(x, y)
        return float(self._loss(dict(self._parameters)))

    def _load(self, path: str) -> None:
        with opened(path) as weights:
            for name in self._varied:
                self._parameters[name][...] = weights.read(name)

    def _move(self, x: float, y: float) -> None:
        if y != self._y:
            self._begin_row(y)
        _add_scaled(self._row, self._maps[1], x, self._weights)

    def _begin_row(self, y: float) -> None:
        base, _, second = self._maps
        if self._row is base:
            self._row = np.empty_like(base)
        _add_scaled(base, second, y, self._row)
        self._y = y


def _add_scaled(start: Weights, direction: Weights, factor: float, into: Weights) -> None:
    """Write `start + factor * direction`, of one length and type."""
    scale = start.dtype.type(factor)
    for begin in range(0, len(start), BLOCK):
        part = slice(begin, begin + BLOCK)
        sums = into[part]
        np.multiply(direction[part], scale, out=sums)
        np.add(sums, start[part], out=sums)


def names_by(setting: Mapping[str, Any]) -> list[str]:
    """Return what the script's `names` returns for all weights of a checkpoint. TypeError if these are no names."""
    names = _run(setting["script"], "names")
    with opened(setting["names"]) as weights:
        found = names({name: weights.read(name) for name in weights.tensors})
    chosen = [found] if isinstance(found, str) else list(found)
    if isinstance(found, str) or not all(isinstance(name, str) for name in chosen):
        raise TypeError(f"expected a list of names, names() returned {found!r}")
    return chosen


def _run(path: str, function: str) -> Callable[[dict[str, Any]], Any]:
    """Run a script and its `setup`, if it has one; return its function. Raises what the script raises."""
    script = runpy.run_path(path, run_name="__landscape__")
    found: Callable[[dict[str, Any]], Any] = script[function]
    if callable(script.get("setup")):
        script["setup"]()
    return found


def main() -> int:
    """Answer requests until the pipe is closed."""
    requests = os.fdopen(int(sys.argv[1]), "r", encoding="utf-8")
    answers = os.fdopen(int(sys.argv[2]), "w", encoding="utf-8")
    sys.argv[1:] = []
    _isolate()
    setting, own = json.loads(requests.readline()), os.getpid()
    sys.path.insert(0, os.path.dirname(os.path.abspath(setting["script"])))
    try:
        chosen = names_by(setting) if "names" in setting else []
        found = None if "names" in setting else PlaneLoss(setting)
    except BaseException as error:  # noqa: BLE001 - whatever the user's code raises is told to the command
        if os.getpid() != own:
            os._exit(1)
        _answer(answers, ["script", None, None, _reason(error)])
        return 1
    if os.getpid() != own:
        os._exit(0)
    _answer(answers, ["ready", chosen, None, ""])
    if found is None:
        return 0
    for line in requests:
        for row, column, x, y in json.loads(line):
            answer = _answered(found, row, column, x, y)
            if os.getpid() != own:  # a fork by the user's function came back from it, too: one of both answers
                os._exit(0)
            _answer(answers, answer)
    return 0


def _answered(found: PlaneLoss, row: int, column: int, x: float, y: float) -> list[Any]:
    try:
        loss = found.at(row, column, x, y)
    except BaseException as error:  # noqa: BLE001 - a place without a loss is recorded with the reason
        return [row, column, None, _reason(error)]
    return [row, column, *((None, "the function returned NaN") if math.isnan(loss) else (loss, ""))]


def _isolate() -> None:
    """Keep what the script prints and reads away from the command's own streams."""
    os.dup2(2, 1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)


def _answer(stream: Any, answer: list[Any]) -> None:
    stream.write(json.dumps(answer) + "\n")
    stream.flush()


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:_LONGEST_REASON]


if __name__ == "__main__":
    raise SystemExit(main())
