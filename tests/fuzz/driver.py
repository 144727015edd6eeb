"""Chooses the cases, runs them in processes with limits, and reports what failed."""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import gc
import hashlib
import json
import math
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NoReturn

from tests.fuzz import guided, state
from tests.fuzz.cases import Failure, Slot, Work, attempt, execute, in_process, limit, scratch
from tests.fuzz.corpus import Seeds
from tests.fuzz.minimise import minimised
from tests.fuzz.mutation import mutate
from tests.fuzz.targets import Target, all_targets

FOUND = Path(__file__).resolve().parent / "found"
BLOCK = 32
"""Cases of one target that are run in a row, at least."""
BLOCKS, BLOCK_S = 8, 0.05
"""Of a target whose cases take little time, up to so many blocks are run in a row, until they have taken so many seconds."""
LIFE_S = 20.0
"""Seconds that one process runs cases; a new one begins without what the cases left in memory."""
SLICE_S = 120
"""Seconds that one target is fuzzed by coverage, at most, before the next one has its turn. A turn begins by running again all
that earlier ones of its target kept: few long turns leave more time for new cases than many short ones."""
LEAST_S, LEAST_KEPT_S = 2, 20
"""Seconds of a turn, at least: in a run that begins with the files of its targets, and in one with what earlier ones kept."""
PROGRESS_S = 60.0
"""Seconds between two lines that say how many cases were run; those of the state file are brought up to date then, too."""
MOST_ENDED = 5
"""Processes that a target may end, by a crash or a hang, before it is left out of this run."""


def main(arguments: Sequence[str], guide: Any) -> int:
    """Run as the command line says; return 1 if a case failed."""
    options = _options(arguments)
    targets = all_targets(Seeds())
    if options.replay is not None:
        return _replay(targets, options.replay)
    chosen = [target for name, target in targets.items() if is_meant(name, options.targets)]
    if not chosen:
        sys.exit(f"No target matches {options.targets}; there are {', '.join(targets)}.")
    place, of = options.share
    chosen = chosen[place - 1 :: of]
    seed = options.seed if options.seed is not None else secrets.randbelow(2**32)
    mutated = "by mutation" if options.unguided else "by mutation (atheris is not installed)"
    how = "guided by coverage (atheris)" if guide else mutated
    print(f"Fuzzing {len(chosen)} targets {how}, seed {seed}.", flush=True)
    earlier = state.load(options.state)
    for problem in earlier.problems:
        print(problem)
    with scratch() as folder:
        fuzzing = Fuzzing(chosen, seed, folder, options.seconds, options.executions, earlier.cases, options.kept, options.least)
        count = state.Count(options.state, targets) if options.count else None
        begun = time.monotonic()
        ended = signal.signal(signal.SIGTERM, fuzzing.stop)
        try:
            with contextlib.suppress(KeyboardInterrupt):  # what has been found by then is reported
                fuzzing.run(guide, count)
        finally:
            if count is not None:
                count.update(fuzzing.cases_run())
            signal.signal(signal.SIGTERM, ended)
        failed = fuzzing.report(options.found, time.monotonic() - begun)
    if count is not None:
        print(state.summary(state.load(options.state)))
    return 1 if failed else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.fuzz", description="Feed damaged files to every reader.")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after this time")
    parser.add_argument("--executions", type=float, default=math.inf, help="stop after so many cases")
    parser.add_argument("--seed", type=_seed, help="repeat a run by mutation; by default a new one each time")
    parser.add_argument("--targets", default="*", help="names of targets, such as 'profile-*,!*.db'")
    parser.add_argument("--share", type=share, default=(1, 1), metavar="K/N", help="of these, every N-th from the K-th on")
    parser.add_argument("--least", type=int, default=0, metavar="CASES", help="as long as some had fewer, run only those")
    parser.add_argument("--unguided", action="store_true", help="mutate only, even if atheris is installed")
    parser.add_argument("--found", type=Path, default=FOUND, help="directory for cases that fail")
    parser.add_argument("--state", type=Path, default=state.STATE, help="file with the cases of earlier runs")
    parser.add_argument("--count", action="store_true", help="add the cases of this run to that file")
    parser.add_argument("--kept", type=Path, help="directory for cases that reach new code, with which a guided run begins")
    parser.add_argument("--replay", type=Path, nargs="*", metavar="FILE", help="run these cases, or all that were found")
    options = parser.parse_args(arguments)
    if options.replay is None and options.seconds == options.executions == math.inf:
        options.seconds = 240.0
    return options


def is_meant(name: str, patterns: str) -> bool:
    """Return whether patterns, with commas between them, mean a name; those that begin with ! leave out what they match."""
    meant, left_out = [], []
    for pattern in patterns.split(","):
        (left_out if pattern.startswith("!") else meant).append(pattern.removeprefix("!"))
    return any(fnmatch.fnmatch(name, one) for one in meant or ["*"]) and not any(fnmatch.fnmatch(name, one) for one in left_out)


def _seed(text: str) -> int | None:
    return int(text) if text else None


def share(text: str) -> tuple[int, int]:
    place, of = map(int, text.split("/"))
    if not 1 <= place <= of:
        raise ValueError(text)
    return place, of


class Fuzzing:
    """One run over some targets; it ends after `seconds`, or after that many `executions`.

    `before` has the cases of earlier runs by the name of their target. As long as some have had fewer than `least`, only those
    have turns.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        seed: int,
        folder: str,
        seconds: float,
        executions: float,
        before: Mapping[str, int] | None = None,
        kept: Path | None = None,
        least: int = 0,
    ) -> None:
        self.targets, self.seed, self.folder = list(targets), seed, folder
        self.slot = Slot(len(targets))
        self._before = [(before or {}).get(target.name, 0) for target in targets]
        self.failures: list[Failure] = []
        self.unrepeated: list[Failure] = []
        self._known: dict[str, set[str]] = {target.name: set() for target in targets}
        self._ended = dict.fromkeys(range(len(targets)), 0)
        self._until, self._most, self._least = time.monotonic() + seconds, executions, least
        self._guided = False
        self._said = os.path.join(folder, "said")
        self._kept = str(kept) if kept is not None else os.path.join(folder, "kept")
        self._least_s = LEAST_KEPT_S if kept is not None else LEAST_S
        self._coverage = dict.fromkeys(range(len(targets)), (0, 0))
        for target in targets:
            os.makedirs(self._place(target), exist_ok=True)
            _ = target.seeds  # before processes fork, each of which would make them again

    def run(self, guide: Any, count: state.Count | None = None) -> None:
        """Run cases until time or number is reached; count is brought up to date meanwhile."""
        self._guided = guide is not None
        names = [target.name for target in self.targets]
        gc.collect()
        gc.freeze()  # what was imported is not looked at again by each collection, in no process
        said = time.monotonic()
        while not self._over() and self._open():
            work = self._mutating if guide is None else self._by_coverage(guide)
            before = self.slot.counts()
            for failure in list(in_process(work, self.slot, names, self._said)):
                self._take(failure)
            if self._guided:
                self._note_coverage(before)
            if time.monotonic() - said > PROGRESS_S:
                said = time.monotonic()
                print(f"{sum(self.slot.counts()):,} cases", flush=True)
                if count is not None:
                    count.update(self.cases_run())

    def stop(self, *_signal: object) -> NoReturn:
        """End the run: at once, or after the turn of a target if this comes while Python ignores exceptions, as in a fork."""
        self._until = -math.inf
        raise KeyboardInterrupt

    def next(self) -> int:
        """Return the number of the target whose turn is next, and take it.

        Each target has a turn before any has a second, so that one that is slow or new does not take the time of the others; of
        those with as many turns, the one with the fewest cases, those of earlier sessions included, comes first.
        """
        turns, counts = self.slot.turns(), self.slot.counts()
        number = min(self._open(), key=lambda number: (turns[number], self._before[number] + counts[number], number))
        self.slot.take_turn(number)
        return number

    def _by_coverage(self, guide: Any) -> Work:
        left = self._until - time.monotonic()
        turns = self.slot.turns()
        round_ = min(turns[number] for number in self._open())
        waiting = sum(turns[number] == round_ for number in self._open())
        seconds = int(min(max(left / waiting, self._least_s), SLICE_S, max(left, LEAST_S)))
        number = self.next()
        target = self.targets[number]
        seed = Random(f"{self.seed}/{target.name}/{self.slot.counts()[number]}").randrange(1, 2**31)
        kept = os.path.join(self._kept, target.name)
        return guided.work(
            guide, target, self.slot, number, self._place(target), kept, self._said, seconds, seed, self._known[target.name],
            self._before[number], self.cases_of_turn(number),
        )  # fmt: skip

    def cases_of_turn(self, number: int) -> int:
        """Return the maximum cases of a turn of a target: no more than it needs while others have too few."""
        left = self._least - self._before[number] - self.slot.counts()[number]
        return min(left, guided.MOST_RUNS) if left > 0 else guided.MOST_RUNS

    def _note_coverage(self, before: Sequence[int]) -> None:
        """Note how many guided cases a turn had, and which of them was the last to reach new code."""
        for number, (earlier, now) in enumerate(zip(before, self.slot.counts(), strict=True)):
            if now > earlier:
                guided_cases, newest = self._coverage[number]
                found = guided.newest(Path(self._said).read_bytes())
                self._coverage[number] = (guided_cases + now - earlier, guided_cases + found if found else newest)

    def _mutating(self, report: Callable[[Failure], None]) -> None:
        """Mutate files of one target after the other."""
        limit()
        end = min(self._until, time.monotonic() + LIFE_S)
        while time.monotonic() <= end and sum(self.slot.counts()) < self._most:
            number = self.next()
            begun, count = time.process_time(), self.slot.counts()[number]
            for block in range(BLOCKS):
                if block and time.process_time() - begun > BLOCK_S:
                    break
                for _ in range(BLOCK):
                    self._one(self.targets[number], number, count, report)
                    count += 1

    def _one(self, target: Target, number: int, count: int, report: Callable[[Failure], None]) -> None:
        random = Random(f"{self.seed}/{target.name}/{count}")
        data = mutate(target.form, random.choice(target.seeds), target.seeds, random)
        self.slot.begin(number, data)
        failure = execute(target, data, self._place(target))
        self.slot.end()
        if failure is not None and failure.what not in self._known[target.name]:
            self._known[target.name].add(failure.what)
            report(failure)

    def _take(self, failure: Failure) -> None:
        """Keep a failure that happens again in a process of its own."""
        self._known[failure.target].add(failure.what)
        number = next(number for number, target in enumerate(self.targets) if target.name == failure.target)
        if not failure.details:
            self._ended[number] += 1
            if self._ended[number] == MOST_ENDED:
                print(f"{failure.target} is left out from here on: it has ended {MOST_ENDED} processes.", flush=True)
        again = self._again(failure)
        if again is None:
            self.unrepeated.append(failure)
            print(f"{failure.target}: {failure.what}; not when it was run once more, alone.", flush=True)
            return
        if any((one.target, one.what) == (again.target, again.what) for one in self.failures):
            return
        self._known[failure.target].add(again.what)
        self.failures.append(again)
        print(f"{again.target}: {again.what} ({len(again.data):,} bytes)", flush=True)

    def _again(self, failure: Failure) -> Failure | None:
        target = next(target for target in self.targets if target.name == failure.target)
        if not self._guided:
            return attempt(target, failure.data, self._place(target))
        # This process is instrumented, and therefore slow.
        path = Path(self.folder, "again", target.name, "case")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(failure.data)
        command = [sys.executable, "-m", "tests.fuzz", "--replay", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=FOUND.parents[2])
        said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return Failure(target.name, failure.data, said[0]["what"], said[0]["details"]) if said and said[0]["what"] else None

    def _place(self, target: Target) -> str:
        return os.path.join(self.folder, target.name)

    def _open(self) -> list[int]:
        """Return the targets that may have a turn: those with too few cases, or all if none has."""
        counts = self.slot.counts()
        left = [number for number, ended in self._ended.items() if ended < MOST_ENDED]
        return [number for number in left if self._before[number] + counts[number] < self._least] or left

    def _over(self) -> bool:
        return time.monotonic() > self._until or sum(self.slot.counts()) >= self._most

    def cases_run(self) -> dict[str, state.Ran]:
        """Return the cases of this run by the name of their target."""
        counts = self.slot.counts()
        return {one.name: state.Ran(counts[number], *self._coverage[number]) for number, one in enumerate(self.targets)}

    def report(self, found: Path, seconds: float) -> int:
        """Print what was run and what failed, write the failing cases; return their number."""
        counts = sorted(self.slot.counts())
        total = sum(counts)
        print(
            f"{total:,} cases in {seconds:,.0f} s, {total / max(seconds, 1):,.0f} a second: {counts[0]:,} to {counts[-1]:,} of "
            f"a target, seed {self.seed}; {len(self.failures)} failed."
        )
        for failure in self.failures:
            target = next(target for target in self.targets if target.name == failure.target)

            def fails(data: bytes, target: Target = target, failure: Failure = failure) -> bool:
                other = attempt(target, data, self._place(target))
                return other is not None and other.what == failure.what

            data = minimised(target.form, failure.data, fails)
            path = found / target.name / hashlib.sha256(data).hexdigest()[:12]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            print(f"\n{failure.target}: {failure.what}\n{failure.details}")
            print(f"Written to {path} ({len(data):,} bytes). Repeat it: python -m tests.fuzz --replay {path}", flush=True)
        return len(self.failures)


def cases(files: Sequence[Path]) -> list[Path]:
    """Return the given files, or all that were found."""
    return list(files) or sorted(path for path in FOUND.glob("*/*") if path.is_file())


def _replay(targets: dict[str, Target], files: Sequence[Path]) -> int:
    """Run cases of files, each in a process of its own, and print one line of JSON for each."""
    failed = 0
    with scratch() as folder:
        for path in cases(files):
            name = path.resolve().parent.name
            if name not in targets:
                sys.exit(f"{path}: expected a directory named after a target, found {name}")
            place = os.path.join(folder, name)
            os.makedirs(place, exist_ok=True)
            _ = targets[name].seeds  # as a run has them before its first case
            failure = attempt(targets[name], path.read_bytes(), place)
            failed += failure is not None
            said = {"case": str(path), "what": failure.what if failure else "", "details": failure.details if failure else ""}
            print(json.dumps(said), flush=True)
    return 1 if failed else 0
