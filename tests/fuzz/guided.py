"""Fuzzing guided by coverage, with atheris: what reaches new code is kept and mutated further.

atheris must be imported before what it instruments; `prepare` is therefore called before anything of ours is imported. Our own
mutations make three of four cases, those of libFuzzer the others.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fuzz.cases import Failure, Slot
    from tests.fuzz.targets import Target

MOST_RUNS = 20_000
"""Cases of a target in one turn, so that those that take little time do not make up most of a run."""
INSTRUMENTED = ("parsers", "app.store.runs.notes_format")


def prepare() -> Any:
    """Import what is fuzzed so that its coverage is measured; None if atheris is not installed."""
    try:
        atheris = importlib.import_module("atheris")
    except ImportError:
        return None
    sys.stdout.flush()
    quiet, said = os.open(os.devnull, os.O_WRONLY), os.dup(2)
    os.dup2(quiet, 2)  # atheris names every module that it instruments
    try:
        with atheris.instrument_imports(include=list(INSTRUMENTED), enable_loader_override=False):
            importlib.import_module("tests.fuzz.targets")
    finally:
        os.dup2(said, 2)
        os.close(quiet)
        os.close(said)
    return atheris


def work(
    atheris: Any,
    target: Target,
    slot: Slot,
    number: int,
    folder: str,
    kept: str,
    said: str,
    seconds: int,
    seed: int,
    known: set[str],
) -> Callable[[Callable[[Failure], None]], None]:
    """Return what a process does that fuzzes one target for some seconds.

    It keeps what it learns in the directory `kept`, and what it and libFuzzer say in the file `said`.
    """
    from tests.fuzz.cases import execute, limit
    from tests.fuzz.mutated_texts import MOST
    from tests.fuzz.mutation import mutate

    def run(report: Callable[[Failure], None]) -> None:
        limited = False

        def one(data: bytes) -> None:
            nonlocal limited
            if not limited:  # atheris has its own memory by now
                gc.collect()
                gc.freeze()  # what was imported is not looked at again by each collection
                limit()
                limited = True
            slot.begin(number, data)
            failure = execute(target, data, folder)
            slot.end()
            if failure is not None and failure.what not in known:
                known.add(failure.what)
                report(failure)

        def mutated(data: bytes, most: int, number: int) -> bytes:
            random = Random(number)
            if random.random() < 0.25:
                return bytes(atheris.Mutate(data, most))
            return mutate(target.form, bytes(data), target.seeds, random)[:most]

        os.makedirs(kept, exist_ok=True)
        for place, data in enumerate(target.seeds):
            with open(os.path.join(kept, f"seed-{place}"), "wb") as file:
                file.write(data)
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)  # libFuzzer writes a line for each case that it keeps
        options = (
            f"-max_total_time={seconds}", f"-runs={MOST_RUNS}", f"-seed={seed}", f"-max_len={MOST}", "-len_control=0",
            "-timeout=100000", "-report_slow_units=100000", "-rss_limit_mb=0", "-malloc_limit_mb=0", "-detect_leaks=0",
            "-handle_segv=0", "-handle_abrt=0", "-reload=0",
        )  # fmt: skip
        atheris.Setup([sys.argv[0], kept, *options], one, custom_mutator=mutated)
        atheris.Fuzz()

    return run
