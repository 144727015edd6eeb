"""`make bench`: measure every figure the README promises and print it next to its bound. Options: names of parts; -n TIMES."""

from __future__ import annotations

import argparse
import importlib
import os

PARTS = (
    "listing", "many", "serving_many", "reading", "holes", "values", "graphs", "profiler", "showing", "tables",
    "starting", "drawing", "saving", "long_series", "derived", "loggers", "graphs_view", "painted", "lineage",
    "insights", "digests", "timeline", "memory", "dumps", "live", "clusters", "matrices", "pipeline", "ranks", "strategy",
    "browsing", "growth", "explanations", "tuning", "ahead", "conversion", "recording", "landscapes", "torch_profiles",
    "idle", "visits", "open_pages", "team", "mirror", "guides", "peers", "replays",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[], help="parts to measure (all)")
    parser.add_argument("-n", type=int, default=5, help="number of repetitions (5)")
    options = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; CPU seconds and ratios count, wall times do not")
    for part in options.parts or PARTS:
        print(f"\n{part}", flush=True)
        for figure in importlib.import_module(f"benchmarks.{part}").figures(options.n):
            print(figure.line(), flush=True)


if __name__ == "__main__":
    main()
