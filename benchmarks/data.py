"""The generated sets: S1 one run of 10 tags x 100,000 steps, S2 100 runs of 10 tags x 1,000, S4 1 GB of tensors and images.

They are made by the generator that MINDSCOPE_BENCH_GENERATOR names (default: ../shared/bench/gen.py beside the checkout),
once, into MINDSCOPE_BENCH_DATA (default: bench-data in the checkout).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import ROOT

SETS = ("S1", "S2", "S4")
TAGS = ("loss", "accuracy", "lr", "grad_norm", "throughput", "val/loss", "val/accuracy", "epoch_time", "mem/used", "temp")


def folder() -> Path:
    """Return the folder with ms/<set> and tb/<set>; generate it if it does not exist."""
    where = Path(os.environ.get("MINDSCOPE_BENCH_DATA", ROOT / "bench-data"))
    missing = [name for name in SETS if not (where / "ms" / name).is_dir() or not (where / "tb" / name).is_dir()]
    if missing:
        generator = Path(os.environ.get("MINDSCOPE_BENCH_GENERATOR", ROOT.parent / "shared" / "bench" / "gen.py"))
        if not generator.is_file():
            raise SystemExit(f"no data in {where} and no generator at {generator}: set MINDSCOPE_BENCH_GENERATOR")
        print(f"making {', '.join(missing)} in {where} ...", flush=True)
        environment = dict(os.environ, BENCH_DATA=str(where))
        subprocess.run([sys.executable, str(generator), *missing], env=environment, check=True, stdout=subprocess.DEVNULL)
    return where
