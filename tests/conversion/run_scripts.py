"""Runs converted scripts with MindSpore and compares their outputs; imports nothing of the project.

    python run_scripts.py CASES.json RESULTS.jsonl [--graph]

A case is {name, script, model_class, checkpoint, data}: data is an .npz with inputs in_0 ... and references r0 ... A result has
the largest difference and that beyond tolerance, or the error."""

from __future__ import annotations

import json
import sys
import types

import numpy as np

TOLERANCE = {"float16": 1e-2}


def difference(found: np.ndarray, wanted: np.ndarray) -> tuple[float, bool, str]:
    """(largest absolute difference, whether it is within tolerance, what is wrong beside it)."""
    if found.shape != wanted.shape:
        return float("inf"), False, f"shape {found.shape}, wanted {wanted.shape}"
    if found.dtype != wanted.dtype:
        return float("inf"), False, f"type {found.dtype}, wanted {wanted.dtype}"
    if not wanted.size:
        return 0.0, True, ""
    if wanted.dtype.kind not in "fc":
        far = np.abs(found.astype(np.float64) - wanted.astype(np.float64)).max()
        return float(far), bool((found == wanted).all()), ""
    tolerance = TOLERANCE.get(str(wanted.dtype), 1e-4)
    a, b = found.astype(np.float64), wanted.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        far = np.where(same, 0, np.abs(a - b))
        beyond = ~same & ~(far <= tolerance + tolerance * np.abs(b))
    return float(np.nan_to_num(far, nan=np.inf).max()), not beyond.any(), ""


def run(case: dict, graph: bool) -> dict:
    import mindspore as ms

    ms.set_context(mode=ms.GRAPH_MODE if graph else ms.PYNATIVE_MODE)
    module = types.ModuleType("converted")
    with open(case["script"], encoding="utf-8") as file:
        source = file.read()
    module.__file__ = case["script"]
    sys.modules["converted"] = module
    import linecache

    linecache.checkcache()
    exec(compile(source, case["script"], "exec"), module.__dict__)
    network = (
        module.load(case["checkpoint"]) if case.get("checkpoint") else getattr(module, case["model_class"])().set_train(False)
    )
    data = np.load(case["data"])
    inputs = [ms.Tensor(data[f"in_{number}"]) for number in range(sum(key.startswith("in_") for key in data.files))]
    found = network(*inputs)
    found = found if isinstance(found, (tuple, list)) else (found,)
    result = {"difference": 0.0, "ok": True, "error": ""}
    count = sum(key.startswith("r") for key in data.files)
    if len(found) != count:
        return {"difference": float("inf"), "ok": False, "error": f"{len(found)} outputs, wanted {count}"}
    for number, value in enumerate(found):
        far, ok, error = difference(value.asnumpy(), data[f"r{number}"])
        result = {"difference": max(far, result["difference"]), "ok": ok and result["ok"], "error": result["error"] or error}
    return result


def settle() -> None:
    """Let errors of kernels that were started before appear here, not in the next case."""
    import mindspore as ms

    for _ in range(3):
        try:
            ms.ops.add(ms.Tensor([1.0]), 1.0).asnumpy()
        except Exception:
            continue


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = json.load(file)
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        for case in cases:
            try:
                result = run(case, "--graph" in sys.argv)
            except Exception as error:
                settle()
                text = [line for line in str(error).splitlines() if line.strip(" -")]
                result = {
                    "difference": float("inf"),
                    "ok": False,
                    "error": f"{type(error).__name__}: {(text or [''])[0][:300]}",
                }
            out.write(json.dumps({"name": case["name"], **result}) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
