"""Fuzzing guided by coverage, with atheris: what reaches new code is kept and mutated further.

atheris must be imported before what it instruments; `prepare` is therefore called before anything of ours is imported. Our own
mutations make three of four cases, those of libFuzzer the others.

Nearly all of the time of a case is its reader's. Cases are therefore short at first (`longest`), libFuzzer prefers to mutate
the quick ones, and what is computed from frames is asked of cases that reach new code, and of few others.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import re
import sys
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fuzz.cases import Failure, Slot
    from tests.fuzz.targets import Target

MOST_RUNS = 25_000
"""Cases of a target in one turn, so that those that take little time do not make up most of a run."""
SHORT = 4 << 10
"""Maximum bytes of the first cases of a target, unless a file of its corpus is longer."""
GROWS = 20_000
"""Cases after which those of a target may be twice as long."""
LONG_OF = 32
"""One case of this many may be of any length from the beginning."""
_LINE = re.compile(rb"^#(\d+)\s+(\w+)\s+cov: (\d+)", re.MULTILINE)
"""What libFuzzer writes now and then: number of the case, event, edges of the code that were reached by then."""
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
    usual = gc.get_threshold()
    gc.set_threshold(10_000, 10, 50)  # it makes objects for each instruction: 9 s of a processor instead of 15
    try:
        with atheris.instrument_imports(include=list(INSTRUMENTED), enable_loader_override=False):
            importlib.import_module("tests.fuzz.targets")
    finally:
        gc.set_threshold(*usual)
        os.dup2(said, 2)
        os.close(quiet)
        os.close(said)
    return atheris


def longest(largest: int, cases: int, most: int) -> int:
    """Return the maximum bytes of a case after `cases` of a target whose largest file has `largest` bytes; `most` at last."""
    return min(max(largest, SHORT) << min(cases // GROWS, 20), most)


def newest(said: bytes) -> int:
    """Return the number of the last case of a turn that reached code no case before had reached; 0 if there was none.

    said is what libFuzzer wrote. The files that it reads again as a turn begins are neither new nor counted.
    """
    found, read, reached = 0, 0, -1
    for number, event, edges in _LINE.findall(said):
        if event == b"INITED":
            read, reached = int(number), int(edges)
        elif 0 <= reached < int(edges):
            found, reached = int(number) - read, int(edges)
    return found


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
    before: int = 0,
    most_cases: int = MOST_RUNS,
) -> Callable[[Callable[[Failure], None]], None]:
    """Return what a process does that fuzzes one target for some seconds.

    It keeps what it learns in the directory `kept`, and what it and libFuzzer say in the file `said`. before is the number of
    cases that the target had in earlier sessions, most_cases the maximum number of those in this turn.
    """
    from tests.fuzz.cases import execute, limit
    from tests.fuzz.mutated_texts import MOST
    from tests.fuzz.mutation import mutate
    from tests.fuzz.promises import everything

    def run(report: Callable[[Failure], None]) -> None:
        limited = False
        last, written, edges, begun = b"", 0, 0, False
        largest = max(map(len, target.seeds), default=0)

        def one(data: bytes) -> None:
            nonlocal limited, last
            if not limited:  # atheris has its own memory by now
                limit()
                limited = True
            last = data
            slot.begin(number, data, again=not begun)
            check(data)

        def check(data: bytes) -> None:
            failure = execute(target, data, folder)
            slot.end()
            if failure is not None and failure.what not in known:
                known.add(failure.what)
                report(failure)

        def check_new() -> None:
            """Ask everything of the last case if it reached new code, which libFuzzer writes a line for.

            This is done between two cases, whose coverage it is no part of.
            """
            nonlocal edges, written
            size = os.fstat(2).st_size
            if size == written:
                return
            with open(said, "rb") as file:
                file.seek(written)
                found = [int(edges) for _, _, edges in _LINE.findall(file.read())]
            written, before_it, edges = size, edges, max([edges, *found])
            if 0 < before_it < edges:
                slot.begin(number, last, again=True)
                with everything():
                    check(last)

        def mutated(data: bytes, most: int, case: int) -> bytes:
            nonlocal begun
            begun = True  # what was read until now are the files of the corpus and those that were kept
            check_new()
            random = Random(case)
            if random.randrange(LONG_OF):
                most = max(longest(largest, before + slot.counts()[number], most), len(data))
            if random.random() < 0.25:
                return bytes(atheris.Mutate(data, most))
            made = mutate(target.form, bytes(data), target.seeds, random)
            if len(made) > most:  # another one, since a part of a file is seldom one
                made = mutate(target.form, bytes(data), target.seeds, random)
            return made[:most]

        os.makedirs(kept, exist_ok=True)
        for place, data in enumerate(target.seeds):
            with open(os.path.join(kept, f"seed-{place}"), "wb") as file:
                file.write(data)
        runs = 1 + len(os.listdir(kept)) + most_cases  # an empty one and those that were kept are read first
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)  # libFuzzer writes a line for each case that it keeps
        options = (
            f"-max_total_time={seconds}", f"-runs={runs}", f"-seed={seed}", f"-max_len={MOST}", "-len_control=0",
            "-entropic_scale_per_exec_time=1", "-timeout=100000", "-report_slow_units=100000", "-rss_limit_mb=0",
            "-malloc_limit_mb=0", "-detect_leaks=0", "-handle_segv=0", "-handle_abrt=0", "-reload=0",
        )  # fmt: skip
        atheris.Setup([sys.argv[0], kept, *options], one, custom_mutator=mutated)
        # Between cases: what those before have left fills the memory that this process may have, so that a mutation finds no
        # room. It ends here, and another process goes on. A case that takes too much memory is a failure (`execute`).
        with contextlib.suppress(MemoryError):
            atheris.Fuzz()

    return run
