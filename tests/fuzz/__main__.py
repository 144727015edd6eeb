"""Fuzzes every reader: `make fuzz SECONDS=240 SEED=7`, or `python -m tests.fuzz --help`.

A case that fails is made as small as it still fails, written to tests/fuzz/found/<target>/, and from then on run by
tests/fuzz/test_fuzz.py. `--replay FILE...` runs such files again.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads and their memory would count as a reader's

from tests.fuzz import guided  # imports nothing that atheris instruments

GUIDE = None if {"--replay", "--unguided", "--help"} & set(sys.argv) else guided.prepare()

from tests.fuzz.driver import main  # noqa: E402  instrumented by now

sys.exit(main(sys.argv[1:], GUIDE))
