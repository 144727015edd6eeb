"""The process of a check: runs a converted script with MindSpore and compares every value with a reference.

It is started as a file by `checking` with an interpreter that has MindSpore, and imports nothing of this project. On its
standard output it writes a line of JSON for each piece of references it needs and for the results; on its standard input it
gets a line when the piece is there. Directory: job.json, script.py, inputs.npz, piece_N.npz."""

from __future__ import annotations

import json
import os
import sys
import types
from typing import Any

import numpy as np


class Pieces:
    """References, a piece at a time."""

    def __init__(self, directory: str, job: dict[str, Any], out: Any) -> None:
        self._directory, self._out = directory, out
        self._order, self._size, self._tolerance = job["values"], job["piece"], job["tolerance"]
        self._place, self._piece = 0, -1
        self._data: dict[str, Any] = {}
        self.results: list[dict[str, Any]] = []

    def record(self, *values: Any) -> None:
        """Compare the values that one line of the script assigns."""
        for value in values:
            name, piece = self._order[self._place]
            if piece != self._piece:
                self._fetch(piece)
            wanted = self._data.get(name)
            self._place += 1
            if wanted is not None:
                self.results.append({"value": name, **compared(value.asnumpy(), wanted, self._tolerance)})

    def _fetch(self, piece: int) -> None:
        self._data = {}
        self.say({"piece": piece})
        if sys.stdin.readline().strip() != "ready":
            raise SystemExit(3)
        with np.load(os.path.join(self._directory, f"piece_{piece}.npz")) as data:
            names = json.loads(str(data["names"]))
            self._data = {name: data[f"v{place}"] for place, name in enumerate(names)}
        self._piece = piece

    def say(self, message: dict[str, Any]) -> None:
        """Write a line for the parent."""
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()


def compared(found: Any, wanted: Any, tolerance: dict[str, float]) -> dict[str, Any]:
    """Return the largest absolute and relative difference, and whether all are within |d| <= t + t |wanted|."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        text = f"{found.dtype}{list(found.shape)} instead of {wanted.dtype}{list(wanted.shape)}"
        return {"largest": None, "relative": None, "beyond": True, "text": text}
    limit = tolerance.get(str(wanted.dtype), tolerance["other"]) if wanted.dtype.kind in "fc" else 0.0
    a, b = found.astype(np.float64), wanted.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore", divide="ignore"):
        far = np.where(same, 0.0, np.abs(a - b))
        relative = np.where(same, 0.0, far / np.abs(b))
        beyond = ~same & ~(far <= limit + limit * np.abs(b))
    return {"largest": largest(far), "relative": largest(relative), "beyond": bool(beyond.any()), "text": ""}


def largest(values: Any) -> float:
    """Return the largest of some numbers as one that JSON can hold; NaN counts as the largest."""
    return float(min(np.nan_to_num(values, nan=np.inf).max(), 1e308)) if values.size else 0.0


def main() -> None:
    """Run the job of a directory."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what MindSpore prints must not mix with the answers
    directory = sys.argv[1]
    with open(os.path.join(directory, "job.json"), encoding="utf-8") as file:
        job = json.load(file)
    pieces = Pieces(directory, job, out)
    try:
        import mindspore as ms
    except ImportError as problem:
        pieces.say({"missing": f"{type(problem).__name__}: {problem}"})
        return
    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
    path = os.path.join(directory, "script.py")
    module = types.ModuleType("converted")
    module.__file__ = path
    sys.modules["converted"] = module
    module.__dict__["record"] = pieces.record
    error = ""
    try:
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec"), module.__dict__)  # noqa: S102  the script that was just generated
        network = module.load(*job["weights"])
        with np.load(os.path.join(directory, "inputs.npz")) as data:
            network(*(ms.Tensor(data[f"v{place}"]) for place in range(len(job["inputs"]))))
    except Exception as problem:  # noqa: BLE001  the check reports the error of the script, of whatever kind
        lines = [line.strip() for line in str(problem).splitlines() if line.strip(" -")]
        error = f"{type(problem).__name__}: {(lines or [''])[0][:400]}"
    pieces.say({"done": True, "results": pieces.results, "error": error, "mindspore": ms.__version__})


if __name__ == "__main__":
    main()
