"""What tests of dumps look for in one."""

from __future__ import annotations

import numpy as np

from parsers.dumps.access import RunDump


def texts(dump: RunDump) -> list[str]:
    _ = dump.tensors
    return [problem.text for problem in dump.problems]


def one_of(dump: RunDump, **wanted: object) -> int:
    """The only row, or the first of several, with these values."""
    tensors = dump.tensors
    rows = np.flatnonzero(np.logical_and.reduce([(tensors[name] == value).to_numpy() for name, value in wanted.items()]))
    assert len(rows), wanted
    return int(rows[0])
