"""Compares runs, and directories of runs with their copies, datum by datum."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from parsers import Run, discover, open_run

DATA = Path(__file__).parents[1] / "data"
PRODUCERS = sorted(path.name for path in DATA.iterdir() if path.is_dir() and path.name not in ("converter", "hta"))
"""All whose files are runs: not models that are converted, and not another program's figures."""
_NOT_DATA = ("README.md", ".golden", ".ckpt", ".pt", ".npz", "_gcm.bin", "_cbc.bin", "31415926535897932384626433832795.npy")
"""Ends of names of what no page reads: expected results, weights from which landscapes are computed, a dump named by chance."""
FRAMES = ("scalars", "histograms", "images", "tensors", "texts", "lineage")


def same_frames(one: Run, other: Run) -> None:
    """Check that all frames of two runs are equal, but for the paths of their files, and that the same is damaged."""
    for name in FRAMES:
        first, second = getattr(one, name), getattr(other, name)
        if not isinstance(first, pd.DataFrame):
            assert type(first) is type(second), name
            continue
        columns = [column for column in first.columns if column not in ("file", "path")]
        pd.testing.assert_frame_equal(first[columns], second[columns], obj=name)
    assert [(problem.kind, problem.offset) for problem in one.problems] == [(two.kind, two.offset) for two in other.problems]


def same_runs(name: str, copy: Path) -> None:
    """Check that the copy of a producer's runs has the same runs, frames and files."""
    here, there = ({source.name: source for source in discover(base)} for base in (DATA / name, copy))
    assert there.keys() == here.keys()
    for one, source in here.items():
        same_frames(open_run(source), open_run(there[one]))
    # What frames do not have: dumps, values of tensors, databases, journals.
    originals, copies = files(DATA / name), files(copy)
    assert [path for path in originals.keys() - copies.keys() if not path.endswith(_NOT_DATA)] == []
    for path in originals.keys() & copies.keys():
        assert copies[path].read_bytes() == originals[path].read_bytes()


def files(directory: Path) -> dict[str, Path]:
    """Return path relative to the directory -> file."""
    return {path.relative_to(directory).as_posix(): path for path in sorted(directory.rglob("*")) if path.is_file()}
