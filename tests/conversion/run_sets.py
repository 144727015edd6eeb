"""`make test-convert`: converts all cases, runs them with MindSpore, and writes tests/data/converter/results.json.

    python tests/conversion/run_sets.py [--sets 1 2 3]

Fails if a case that passed no longer does, or if a value is wrong without a marked Cell. The interpreter needs what
tests need; MINDSCOPE_MINDSPORE names another one that has MindSpore.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx

if TYPE_CHECKING:
    import node_cases

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE)]
RESULTS = ROOT / "tests" / "data" / "converter" / "results.json"
OPS = ROOT / "tests" / "data" / "converter" / "ops"
PYTHON = os.environ.get("MINDSCOPE_MINDSPORE") or sys.executable
"""The interpreter with MindSpore."""
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
        converted(name, str(OPS / f"{name}.onnx"), str(OPS / f"{name}.npz"), entries, run, directory, {"float32"})
    return entries, run


def cases_of_set_2(
    directory: Path, chosen: Callable[[str], bool] = lambda _: True
) -> Iterator[tuple[node_cases.Case, Path]]:
    """Write the model of each case, always to the same file, of those tests whose name is chosen."""
    import node_cases

    path = directory / "case.onnx"
    operators = {*node_cases.TABLE, *node_cases.OTHERS, *node_cases.MORE}
    for case in itertools.chain(node_cases.of_onnx(operators, chosen), node_cases.written(chosen)):
        onnx.save(case.model, path)
        yield case, path


def set_2(directory: str) -> tuple[dict, list]:
    import node_cases

    entries, run = {}, []
    for number, (case, path) in enumerate(cases_of_set_2(Path(directory))):
        data = f"{directory}/case_{number}.npz"
        names = [value.name for value in case.model.graph.input if value.name in case.inputs]
        np.savez(data, **{f"in_{place}": case.inputs[name] for place, name in enumerate(names)},
                 **{f"r{place}": array for place, array in enumerate(case.outputs)})  # fmt: skip
        converted(case.name, str(path), data, entries, run, directory, case.dtypes)
        entries[case.name] |= {"operator": case.op, "of_78": case.op in {*node_cases.TABLE, *node_cases.OTHERS}}
    return entries, run


def set_3(directory: str) -> tuple[dict, list]:
    """Networks: every value is compared by the check of the command; then they are run in graph mode, too."""
    import networks
    import onnxruntime

    from app.conversion import convert
    from app.conversion.checking import References, check
    from app.conversion.output import weight_files, write_files

    entries, run = {}, []
    for name, path in networks.write_networks(Path(directory), values=True):
        result = convert(path)
        found = check(result, PYTHON)
        verdict = "marked" if result.script.refusals else "error" if found.error or found.state != "checked" else "passed"
        if found.first_beyond or found.constant:
            verdict = "wrong"
        print(f"  {name}: {verdict}, {found.first_beyond or found.constant or found.error or found.reason}", flush=True)
        largest = max((row["largest"] or 0.0 for row in found.rows), default=0.0)
        entries[name] = {"hash": code_hash(result.script.text), "verdict": verdict, "difference": float(f"{largest:.1e}"),
                         "values": len(found.rows), "text": (found.error or found.reason)[:120]}  # fmt: skip
        inputs = References(result, 0).inputs
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        outputs = onnxruntime.InferenceSession(str(path), options).run(
            None, dict(zip(result.model.inputs, inputs, strict=True))
        )
        data = f"{directory}/{name}.npz"
        np.savez(data, **{f"in_{place}": array for place, array in enumerate(inputs)},
                 **{f"r{place}": array for place, array in enumerate(outputs)})  # fmt: skip
        writers = weight_files(result)
        write_files(directory, writers)
        (checkpoint,) = writers
        script = f"{directory}/{name}.py"
        Path(script).write_text(result.script.text, encoding="utf-8")
        run.append({"name": name, "script": script, "model_class": result.script.model_class, "data": data,
                    "checkpoint": f"{directory}/{checkpoint}"})  # fmt: skip
        path.unlink()
        path.with_suffix(".data").unlink()
    return entries, run


def measured(entries: dict, run: list, directory: str, graph: bool) -> None:
    Path(f"{directory}/cases.json").write_text(json.dumps(run))
    command = [
        PYTHON,
        str(HERE / "run_scripts.py"),
        f"{directory}/cases.json",
        f"{directory}/out.jsonl",
        *(["--graph"] if graph else []),
    ]
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


SETS = {"1": set_1, "2": set_2, "3": set_3}
VERDICTS = ("passed", "marked", "error", "wrong")


def of_set(name: str) -> dict:
    """Make the cases of a set, run them, and return their entries."""
    with tempfile.TemporaryDirectory() as directory:
        entries, run = SETS[name](directory)
        if name != "3":
            measured(entries, run, directory, graph=False)
        if name != "2":
            measured(entries, run, directory, graph=True)
    return entries


def is_worse(old: dict, new: dict) -> bool:
    """Return whether a case that passed no longer does, or a value is wrong without a marked Cell."""
    lost = any(old.get(mode) == "passed" and new.get(mode) != "passed" for mode in ("verdict", "graph"))
    return lost or "wrong" in (new.get("verdict"), new.get("graph"))


def stored() -> dict:
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {"sets": {}}


def mindspore_version() -> str:
    code = "import mindspore; print('MindSpore', mindspore.__version__)"
    printed = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout
    return printed.rpartition("MindSpore ")[2].strip()


def main() -> int:
    import onnxruntime

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS), help="(default: all)")
    chosen = parser.parse_args().sets
    before = stored()
    found = {
        "versions": {"onnx": onnx.__version__, "onnxruntime": onnxruntime.__version__, "mindspore": mindspore_version()},
        "sets": {},
    }
    worse = {}
    for name in chosen:
        entries = of_set(name)
        old = before["sets"].get(name, {})
        worse |= {case: entries.get(case, {}) for case in old | entries if is_worse(old.get(case, {}), entries.get(case, {}))}
        found["sets"][name] = entries
        counts = {verdict: sum(entry["verdict"] == verdict for entry in entries.values()) for verdict in VERDICTS}
        print(f"set {name}: {len(entries)} cases, {counts}")
        if name == "2":
            few = [entry["verdict"] == "passed" for entry in entries.values() if entry["of_78"] and entry["common_types"]]
            print(f"  of the 78 operators in common types: {sum(few)} of {len(few)} passed")
    found["sets"] = stored()["sets"] | found["sets"]  # other sets may have been run at the same time
    lines = json.dumps(found, sort_keys=True).replace('}, "', '},\n"')
    if not worse:
        RESULTS.write_text(lines + "\n", encoding="utf-8")
    for case, entry in worse.items():
        print(f"worse: {case}: {entry or 'the case no longer exists'}")
    return bool(worse)


if __name__ == "__main__":
    sys.exit(main())
