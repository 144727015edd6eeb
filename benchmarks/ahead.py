"""CPU of `mindscope index` over many small runs, against two processes that read them with the library and keep nothing.

`python -m benchmarks.ahead half DIR 0` reads every second run.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.many_data import make
from benchmarks.measure import NO_BOUND, ROOT, Figure

RUNS, TAGS, STEPS = 10_000, 10, 100


def figures(times: int) -> list[Figure]:
    """The ratio, in turns, and the CPU of reading ahead once more, when all is in the index; runs with profiles once more."""
    with tempfile.TemporaryDirectory() as place:
        base = Path(place) / "runs"
        base.mkdir()
        make(base, RUNS, TAGS, STEPS, "ms")
        ratios, firsts, again = [], [], []
        for number in range(times):
            library = _cpu(*(["benchmarks.ahead", "half", str(base), half] for half in "01"))
            index = ["app", "index", str(base), "--workspace", f"{place}/workspace{number}"]
            firsts.append(_cpu(index))
            again.append(_cpu(index))
            ratios.append(firsts[-1] / library)
    what = f"reading {RUNS:,} runs of {TAGS} tags x {STEPS:,} steps ahead"
    return [
        Figure(f"{what} / with two processes", "x", 1.2, tuple(ratios)),
        Figure(what, "CPU s", NO_BOUND, tuple(firsts)),
        Figure("the same with all of it in the index", "CPU s", NO_BOUND, tuple(again)),
        _profiles_again(times),
    ]


def _profiles_again(times: int) -> Figure:
    with tempfile.TemporaryDirectory() as workspace:
        index = ["app", "index", str(ROOT / "app" / "demo" / "runs"), "--workspace", workspace]
        _cpu(index)
        spent = tuple(_cpu(index) for _ in range(times))
    return Figure("the demo, runs and profiles, with nothing changed", "CPU s", 0.5, spent)


def _cpu(*commands: list[str]) -> float:
    """CPU seconds of programs that run at the same time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    running = [
        subprocess.Popen([sys.executable, "-m", *command], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    codes = [process.wait() for process in running]
    if any(codes):
        raise RuntimeError(f"{commands} failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def half(base: str, first: str) -> None:
    """Read every second run, from this one on."""
    from parsers import PayloadCache, discover
    from parsers.runs import Run

    for source in discover(base)[int(first) :: 2]:
        Run(source, PayloadCache()).refresh(source)


if __name__ == "__main__":
    half(*sys.argv[2:])
