"""The guides page of a run of 1M points of 20 tags and a profile of 100,000 kernels: CPU seconds of the whole server until the
first states are sent, until all quick questions of all symptoms are answered, and the frames that the first states read.

`python -m benchmarks.guides FOLDER` prints one measurement. No index is used: every frame is read from its files.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, Figure, cpu_of_family, in_fresh_process
from benchmarks.memory_data import memory_record, operator_memory
from benchmarks.profiler_data import OPERATORS, kernel_details

TAGS, POINTS = 20, 50_000
KERNELS = 100_000
BEGUN = 1_764_246_877.0
_STEP_HEADER = (
    "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
    "Communication(Not Overlapped and Exclude Receive),Preparing\n"
)


def figures(times: int) -> list[Figure]:
    """Measure in fresh processes. The page has been opened before, for a small run, so its modules are imported."""
    folder = Path(os.environ.get("MINDSCOPE_BENCH_DATA", ROOT / "bench-data")) / "guides"
    if not folder.is_dir():
        made = folder.with_name("guides.made")
        _write(made)
        made.rename(folder)
    found = in_fresh_process("benchmarks.guides", str(folder), times=times)
    note = f"{found[0]['thread']:.2f} CPU s of them in requests, {found[0]['requests']:.0f} requests"
    return [
        Figure("first states of a run of 1M points and 100,000 kernels", "CPU s", 0.5, tuple(one["first"] for one in found)),
        Figure("answers to all quick questions", "CPU s", 2.0, tuple(one["all"] for one in found), note),
        Figure("the same again, when nothing changed", "CPU s", 0.1, tuple(one["again"] for one in found)),
    ]


def _write(folder: Path) -> None:
    """A large run, and a small one that has curves and a profile, too."""
    from parsers.recording import EventWriter

    (folder / "small").mkdir(parents=True)
    with EventWriter(str(folder / "small" / "events.out.tfevents.1764246877.host"), "tensorboard") as writer:
        for step in range(100):
            writer.add(step, {"loss": 1.0 / (step + 1)}, wall_time=BEGUN + step)
    _write_profile(folder / "small", 2 * OPERATORS)
    _write_profile(folder / "large", KERNELS)
    names = [f"part{tag // 5}/tag{tag % 5}" for tag in range(TAGS - 2)]
    with EventWriter(str(folder / "large" / "events.out.tfevents.1764246877.host"), "tensorboard") as writer:
        for step in range(POINTS):
            wave = (step * 7919 % 1009) / 1009
            values = {name: (1 + place) / (1 + step) ** 0.3 + 0.1 * wave for place, name in enumerate(names)}
            writer.add(step, values | {"loss": 2 / (1 + step) ** 0.2 + 0.2 * wave, "lr": 1e-3}, wall_time=BEGUN + step)


def _write_profile(run: Path, kernels: int) -> None:
    output = run / "host_1_20261120233012998_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output.parent / "profiler_info_0.json").write_text(json.dumps({"rank_id": 0}))
    kernel_details(output / "kernel_details.csv", kernels)
    operator_memory(output / "operator_memory.csv", kernels // 10)
    memory_record(output / "memory_record.csv", kernels // 5)
    lines = (f"{step},800000.0,90000.5,40000.25,130000.75,{60_000 + step},0,0,90000.5,17483.75\n"
             for step in range(kernels // OPERATORS))  # fmt: skip
    (output / "step_trace_time.csv").write_text(_STEP_HEADER + "".join(lines))


@contextmanager
def _timed(told: dict[str, float], name: str) -> Iterator[None]:
    begun = cpu_of_family(os.getpid())
    yield
    told[name] = cpu_of_family(os.getpid()) - begun


def measure(folder: str) -> dict[str, float]:
    """Ask as the browser does: until nothing is read any more, then for each symptom in turn."""
    from app.store.store import Store
    from layouts.runs.guides.page import shown
    from layouts.runs.symptoms.answering import SymptomAnswers
    from layouts.runs.symptoms.registry import SYMPTOMS

    store = Store([folder], interval=0).start()
    if not store.wait(120):
        raise RuntimeError("the runs were not read in 120 s")
    while store.runs.status().loaded < store.runs.status().total:
        time.sleep(0.05)
    answers = SymptomAnswers(store)
    told = {"requests": 0.0, "thread": 0.0}

    def ask(run: str, symptom: str = "") -> Any:
        begun = time.thread_time()
        found = shown(store, answers, {"run": [run], **({"symptom": [symptom]} if symptom else {})}, None)
        json.dumps(found)
        told["requests"] += 1
        told["thread"] += time.thread_time() - begun
        return found

    for symptom in SYMPTOMS:
        while ask("small", symptom)["again"]:
            time.sleep(0.05)
    told["requests"] = told["thread"] = 0.0
    time.sleep(1)  # what is verified when nothing else is due
    with _timed(told, "all"):
        with _timed(told, "first"):
            ask("large")
        for symptom in SYMPTOMS:
            while ask("large", symptom)["again"]:
                time.sleep(0.5)
    with _timed(told, "again"):
        for symptom in SYMPTOMS:
            ask("large", symptom)
    store.stop()
    return told


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
