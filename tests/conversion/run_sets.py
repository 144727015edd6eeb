"""`make test-convert`: converts all cases, runs them with MindSpore, and writes tests/data/converter/results.json.

    python tests/conversion/run_sets.py [--sets 1,2,3]

Fails if a case that passed no longer does, or if a value is wrong without a marked Cell. The interpreter needs onnx,
onnxruntime and MindSpore; references of set 1 are in MINDSCOPE_TEST_DATA."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE)]
RESULTS = ROOT / "tests" / "data" / "converter" / "results.json"
OPS = ROOT / "tests" / "data" / "converter" / "ops"
GOOD = {"float32", "float16", "int32", "int64", "bool"}


def code_hash(text: str) -> str:
    """Return a short hash of a script."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def converted(name: str, path: str, data: str, entries: dict, run: list, directory: str, types: set[str]) -> None:
    from app.conversion import convert
    from app.conversion.checkpoint import write_checkpoint

    result = convert(path)
    entry = entries[name] = {
        "hash": code_hash(result.script.text),
        "common_types": types <= GOOD,
        "verdict": "",
        "difference": 0.0,
    }
    if result.script.refusals:
        entry["verdict"] = "marked"
        return
    base = f"{directory}/{len(entries)}"
    Path(base + ".py").write_text(result.script.text, encoding="utf-8")
    with open(base + ".ckpt", "wb") as file:
        write_checkpoint(file, result.script.parameters, result.model.weights)
    run.append({"name": name, "script": base + ".py", "model_class": result.script.model_class, "data": data,
                "checkpoint": base + ".ckpt" if result.script.parameters else ""})  # fmt: skip


def set_1(directory: str) -> tuple[dict, list]:
    entries, run = {}, []
    for name in json.loads((OPS / "list.json").read_text()):
        data = os.path.join(os.environ["MINDSCOPE_TEST_DATA"], "converter", "ops", f"{name}.npz")
        converted(name, str(OPS / f"{name}.onnx"), data, entries, run, directory, {"float32"})
    return entries, run


def set_2(directory: str) -> tuple[dict, list]:
    import node_cases

    entries, run = {}, []
    for number, case in enumerate(node_cases.of_onnx({*node_cases.TABLE, *node_cases.OTHERS, *node_cases.MORE})):
        path = f"{directory}/case.onnx"
        onnx.save(case.model, path)
        data = f"{directory}/case_{number}.npz"
        names = [value.name for value in case.model.graph.input if value.name in case.inputs]
        np.savez(data, **{f"in_{place}": case.inputs[name] for place, name in enumerate(names)},
                 **{f"r{place}": array for place, array in enumerate(case.outputs)})  # fmt: skip
        converted(case.name, path, data, entries, run, directory, case.dtypes)
        entries[case.name]["operator"] = case.op
    return entries, run


def measured(entries: dict, run: list, directory: str, graph: bool) -> None:
    Path(f"{directory}/cases.json").write_text(json.dumps(run))
    command = [
        sys.executable,
        str(HERE / "run_scripts.py"),
        f"{directory}/cases.json",
        f"{directory}/out.jsonl",
        *(["--graph"] if graph else []),
    ]
    if os.environ.get("MINDSCOPE_MINDSPORE"):
        command[0] = os.environ["MINDSCOPE_MINDSPORE"]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    with open(f"{directory}/out.jsonl", encoding="utf-8") as file:
        for result in map(json.loads, file):
            entry = entries[result["name"]]
            verdict = "passed" if result["ok"] else "error" if result["error"] else "wrong"
            entry["verdict" if not graph else "graph"] = verdict
            if verdict == "passed" and not graph:
                entry["difference"] = float(f"{result['difference']:.1e}")
            elif verdict != "passed":
                entry["text"] = result["error"][:120]


def main() -> int:
    import onnxruntime

    chosen = sys.argv[2].split(",") if "--sets" in sys.argv else ["1", "2"]
    before = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"sets": {}}
    found = {
        "versions": {"onnx": onnx.__version__, "onnxruntime": onnxruntime.__version__, "mindspore": "2.10.0"},
        "sets": dict(before["sets"]),
    }
    worse = []
    for name, make, graph in (("1", set_1, True), ("2", set_2, False)):
        if name not in chosen:
            continue
        with tempfile.TemporaryDirectory() as directory:
            entries, run = make(directory)
            measured(entries, run, directory, graph=False)
            if graph:
                measured(entries, run, directory, graph=True)
        old = before["sets"].get(name, {})
        worse += [
            case
            for case, entry in old.items()
            if entry["verdict"] == "passed" and entries.get(case, {}).get("verdict") != "passed"
        ]
        worse += [case for case, entry in entries.items() if entry["verdict"] == "wrong"]
        found["sets"][name] = entries
        counts = {
            verdict: sum(entry["verdict"] == verdict for entry in entries.values())
            for verdict in ("passed", "marked", "error", "wrong")
        }
        print(f"set {name}: {len(entries)} cases, {counts}")
    lines = json.dumps(found, sort_keys=True).replace('}, "', '},\n"')
    RESULTS.write_text(lines + "\n", encoding="utf-8")
    print("\n".join(f"worse: {case}" for case in worse))
    return bool(worse)


if __name__ == "__main__":
    sys.exit(main())
