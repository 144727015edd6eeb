"""How many small faults in the changed lines of the parsers do the tests notice? `make mutants` runs this with cosmic-ray.

In a copy of the repository, one line at a time is changed (a sign, a comparison, a number), and the tests beside the module are
run: a mutant that no test fails with has survived, and is printed with its difference. Of each module a random part of the
mutants is tried, as there are thousands.

`mutation_score.json` has the share that was noticed when it was last recorded (`--record`), and the floor below which `--floor`
fails.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cosmic_ray.work_db import WorkDB, use_db  # type: ignore[import-not-found]  # in an environment of its own
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult  # type: ignore[import-not-found]

ROOT = Path(__file__).resolve().parents[1]
SCORE = Path(__file__).with_name("mutation_score.json")
FEWEST = 12
"""Mutants from which on a share says something."""
CONFIG = """[cosmic-ray]
module-path = "{module}"
timeout = {seconds}
excluded-modules = []
test-command = "{python} -m pytest -x -q -p no:cacheprovider {tests}"

[cosmic-ray.distributor]
name = "local"

[cosmic-ray.filters.git-filter]
branch = "{base}"

# "|" stands in annotations, which nothing evaluates.
[cosmic-ray.filters.operators-filter]
exclude-operators = ["core/ReplaceBinaryOperator_BitOr_.*"]
"""


def main() -> None:
    """Mutate the modules of the command line, or those that differ from the base, and print the score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help="files below parsers/ (default: all with changed lines)")
    parser.add_argument("--base", default="HEAD~20", help="commit whose lines count as unchanged")
    parser.add_argument("--most", type=int, default=10, help="mutants per module")
    parser.add_argument("--seed", type=int, default=None, help="of the choice among mutants (default: a new one, printed)")
    parser.add_argument("--python", default=str(ROOT / ".venv" / "bin" / "python"), help="interpreter that runs the tests")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no further module after so long")
    parser.add_argument("--floor", action="store_true", help=f"fail if a smaller share is noticed than {SCORE.name} demands")
    parser.add_argument("--record", action="store_true", help=f"write the share into {SCORE.name}")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 31)
    base = _base(options.base)
    changed = _git(ROOT, "diff", "--name-only", "--diff-filter=AM", base, "HEAD", "--", "parsers").split()
    modules = options.modules or [name for name in changed if name.endswith(".py") and not name.endswith("__init__.py")]
    random.Random(seed).shuffle(modules)
    until = time.monotonic() + options.seconds
    print(f"seed {seed}, base {base[:12]}, {len(modules)} modules", flush=True)
    killed = survived = 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as directory:
        copy = Path(directory) / "repository"
        subprocess.run(["git", "clone", "-q", "--shared", str(ROOT), str(copy)], check=True)
        for module in modules:
            if time.monotonic() > until:
                break
            found = _mutate(copy, module, base, options.python, options.most, random.Random(f"{seed} {module}"))
            killed, survived = killed + found[0], survived + found[1]
            print(f"{module}: {found[0]} of {sum(found)} noticed", flush=True)
    total = killed + survived
    score = killed / max(total, 1)
    print(f"Mutants noticed: {killed} of {total} ({100.0 * score:.1f} %)")
    known = json.loads(SCORE.read_text(encoding="utf-8"))
    if options.record:
        SCORE.write_text(json.dumps({**known, "noticed": killed, "mutants": total}, indent=2) + "\n", encoding="utf-8")
    if options.floor and total >= FEWEST and score < known["floor"]:
        sys.exit(f"At least {100.0 * known['floor']:.0f} % must be noticed ({SCORE.name}). Test what survived.")


def _base(name: str) -> str:
    """Return the commit a name stands for, or the oldest one there is, as in a checkout of the last few commits."""
    try:
        return _git(ROOT, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    except subprocess.CalledProcessError:
        return _git(ROOT, "rev-list", "--reverse", "--first-parent", "HEAD").split()[0]


def _mutate(copy: Path, module: str, base: str, python: str, most: int, chance: random.Random) -> tuple[int, int]:
    """Return the numbers of noticed and surviving mutants of one module."""
    tests = _tests_of(copy, module)
    command = [python, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests.split()]
    began = time.monotonic()
    done = subprocess.run(command, cwd=copy, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{module}: the tests fail without a mutant:\n{done.stdout[-2000:]}")
    seconds = 10.0 + 4.0 * (time.monotonic() - began)
    config, session = copy.parent / "config.toml", copy.parent / "session.sqlite"
    config.write_text(CONFIG.format(module=module, seconds=seconds, python=python, tests=tests, base=base))
    session.unlink(missing_ok=True)
    tools = Path(sys.executable).parent
    for step in (["cosmic-ray", "init", config, session], ["cr-filter-git", session, "--config", config],
                 ["cr-filter-operators", session, config]):  # fmt: skip
        subprocess.run([tools / step[0], *step[1:]], cwd=copy, check=True)
    with use_db(session, WorkDB.Mode.open) as work:
        waiting = sorted(work.pending_work_items, key=lambda item: str(item.mutations))
        for item in chance.sample(waiting, max(0, len(waiting) - most)):
            work.set_result(item.job_id, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))
    subprocess.run([tools / "cosmic-ray", "exec", config, session], cwd=copy, check=True)
    with use_db(session, WorkDB.Mode.open) as work:
        results = [result for _, result in work.results if result.worker_outcome != WorkerOutcome.SKIPPED]
    survivors = [result for result in results if result.test_outcome == TestOutcome.SURVIVED]
    for result in survivors:
        print(result.diff, flush=True)
    return len(results) - len(survivors), len(survivors)


def _tests_of(copy: Path, module: str) -> str:
    """Return the tests beside a module: its own files in the mirrored folder, else the files of the nearest folder above.

    Its own are test_NAME.py and test_NAME_*.py, such as those with data of another hand.
    """
    place = Path("tests") / module
    folder = copy / place.parent
    own = [*folder.glob(f"test_{place.stem}.py"), *folder.glob(f"test_{place.stem}_*.py")]
    if own:
        return " ".join(str(path.relative_to(copy)) for path in own)
    folder = next(path for path in place.parents if any((copy / path).glob("test_*.py")))
    return " ".join(str(path.relative_to(copy)) for path in sorted((copy / folder).glob("test_*.py")))


def _git(directory: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=directory, check=True, capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
