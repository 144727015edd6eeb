"""`make bench`: measure every figure the README promises and print it next to its bound. Options: names of parts; -n TIMES."""

from __future__ import annotations

import argparse
import os

from benchmarks import PARTS
from benchmarks.measure import compile_programs
from benchmarks.measured import PAGE, keep, kept, measure, page
from benchmarks.starting import bare_imports


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[], help="parts to measure (all)")
    parser.add_argument("-n", type=int, default=5, help="number of repetitions (5)")
    parser.add_argument("--keep", action="store_true", help="keep what is measured for docs/measurements.md")
    options = parser.parse_args()
    compile_programs()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; CPU seconds and ratios count, wall times do not")
    imports = bare_imports()
    print(f"bare imports of a server's libraries: {imports:.2f} CPU s")
    for part in options.parts or PARTS:
        print(f"\n{part}", flush=True)
        measured = measure(part, options.n, imports)
        if options.keep:
            keep(part, measured)
            PAGE.write_text(page(kept(), PARTS), encoding="utf-8")


if __name__ == "__main__":
    main()
