"""Frames of the dumps in tests/data as text. `python -m tests.parsers.dumps.golden` writes the golden files anew."""

from __future__ import annotations

import sys
from pathlib import Path

from parsers import discover
from parsers.dumps.access import RunDump
from parsers.model import Source

DATA = Path(__file__).resolve().parents[2] / "data" / "dumps"
TENSORS = ("rank", "part", "net", "graph", "iteration", "type", "name", "io", "slot", "key", "dtype", "shape", "format",
           "size_bytes")  # fmt: skip
PLACES = ("time_ns", "order", "occurrence", "parameter")
STATISTICS = ("max", "min", "mean", "std", "l2", "count", "zero", "negative", "nan", "positive_inf", "negative_inf",
              "non_finite", "hash")  # fmt: skip


def samples() -> dict[str, Source]:
    """Name -> the dumps in tests/data."""
    return {source.name: source for source in discover(DATA)}


def golden(name: str) -> Path:
    return Path(__file__).with_name("golden") / (name.replace("/", "-") + ".txt")


def text(source: Source) -> str:
    """Everything that a dump gives, a line per row; numbers with seven digits."""
    dump = RunDump(source.path, [path for leaf in source.leaves for path in leaf.dump_dirs])
    statistics = dump.statistics
    parts = [dump.tensors[[*TENSORS, *PLACES]].join(statistics[[*STATISTICS, "source"]])]
    parts += [dump.executions, dump.overflows, dump.first_cause()]
    tables = [part.to_csv(sep="\t", index=False, float_format="%.7g", lineterminator="\n") for part in parts if len(part)]
    problems = [f"{problem.kind}\t{problem.text}\n" for problem in dump.problems]
    return "\n".join([*tables, "".join(problems)])


if __name__ == "__main__":
    for name, source in samples().items():
        golden(name).parent.mkdir(exist_ok=True)
        golden(name).write_text(text(source), encoding="utf-8")
        sys.stdout.write(f"{golden(name)}: {len(golden(name).read_text(encoding='utf-8').splitlines())} lines\n")
