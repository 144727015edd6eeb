"""The worst file of each format costs at most five times what an intact one of its size costs, and 64 MB more memory."""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

from benchmarks.measure import cpu_seconds, started_by
from parsers import discover, open_run
from parsers.dumps.access import RunDump
from parsers.dumps.npy import read_header
from parsers.dumps.statistic_csv import parse_statistics
from parsers.errors import FormatError
from parsers.explanation_frames import EXPLANATION_FRAMES
from parsers.files import RegularFile
from parsers.graphs.reader import read_file
from parsers.lineage.configs import read_config
from parsers.profiler.communication_json import read_links
from parsers.profiler.lines import Complaints
from parsers.profiler.trace import chrome
from parsers.tuning.journal import StudyFile
from parsers.weights.recognition import opened
from tests.amounts import long_after, some_or_every
from tests.writers.worst_binaries import BINARIES, names_by_hundreds
from tests.writers.worst_databases import DATABASES
from tests.writers.worst_files import FORMATS
from tests.writers.worst_texts import TEXTS

ALL = FORMATS | BINARIES | TEXTS | DATABASES
MEMORY = 64 << 20
"""Bytes at the peak beyond those of an intact file."""
TIMES = 5.0
GRAPHS = ("ir", "dot", "onnx", "mindspore", "tensorflow")
FLOOR = 0.5
"""Seconds that any file may take: below, the ratio is that of two noises."""
STARTING_TWICE = 100
"""Seconds after which a process is given up."""


def read(kind: str, path: Path, run: Path) -> int:
    """Read one file as the program does; return the nodes of a graph, 0 for other files."""
    if kind in GRAPHS:
        return _read_graph(str(path))
    if kind == "trace":
        chrome.read(str(path), None)
    elif kind in BINARIES:
        _read_binary(kind, str(path), run)
    elif kind in TEXTS:
        _read_dump(run)
    elif kind == "matrix":
        read_links(str(path), Complaints(str(path)))
    elif kind == "journal":
        StudyFile(str(path)).refresh()
    elif kind.startswith("metrics"):
        len(open_run(run).scalars["step"])
    else:
        profiled = open_run(run)
        for key in profiled.profile:
            profile = profiled.profile[key]
            profile.frame("kernels" if kind in DATABASES else "operators" if kind == "kineto" else kind)
            list(profile.problems)
        for job in profiled.profile.jobs:
            for frame in ("device_times", "collectives"):
                job.frame(frame)
            list(job.problems)
    return 0


def _read_binary(kind: str, path: str, run: Path) -> None:
    if kind == "events":
        list(open_run(run).scalars)
    elif kind == "explain":
        explained = open_run(run).explanations
        assert sum(len(getattr(explained, name)) for name in EXPLANATION_FRAMES if name != "outcomes")
    elif kind == "yaml":
        read_config(path)
    elif kind == "statistics":
        for _ in parse_statistics(Path(path).read_text("utf-8")):
            pass
    else:
        try:
            if kind == "npy":
                with RegularFile(path) as file:
                    read_header(file)
            else:
                opened(path)
        except FormatError:
            pass  # says what is wrong: what is measured is what it took to find out


def _read_graph(path: str) -> int:
    """Read a graph, and what a page asks of its nodes: one that is opened, and a text that is searched for; count its nodes."""
    graph = read_file(path)
    rows = range(len(graph.nodes))
    for row in {*rows[:2], *rows[-2:]}:
        graph.attributes(row)
        graph.source_lines(row)
    graph.having("shape")
    return len(graph.nodes)


def _read_dump(run: Path) -> None:
    for source in discover(run):
        dump = RunDump(source.path, [directory for leaf in source.leaves for directory in leaf.dump_dirs])
        for row in range(min(len(dump.statistics), 1)):
            dump.stack(row)
            dump.parents(row)
        list(dump.problems)


def measured(kind: str, make: str, folder: Path) -> tuple[float, int, int]:
    """Return seconds of the processor and bytes at the peak of a process that reads one file, and the nodes of a graph."""
    path = folder / make / ALL[kind].path
    path.parent.mkdir(parents=True)
    written = ALL[kind].intact if make == "intact" else ALL[kind].worst[make]
    path.write_bytes(written())
    for name, content in ALL[kind].beside.items():
        (folder / make / name).write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-m", "tests.parsers.test_worst_files", kind, str(path), str(folder / make)],
        capture_output=True, text=True, timeout=STARTING_TWICE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    seconds, peak, nodes = json.loads(done.stdout.splitlines()[-1])
    return seconds, peak, nodes


TAG_BYTES = 420
"""What a tag with one value takes in a run and in its frame: the result of reading, beside which MEMORY counts."""
NODE_BYTES = 480
"""What a node of a graph takes while it is read; less than half of it stays."""
FEW_RECORDS = 60
TAGS = {("events", "names_of_one"): 269_089, ("events", "names_by_hundreds"): 252_600}
"""Tags in the result of files of which each value has one of its own."""
FEW = [
    ("metrics_csv", "quotes"), ("metrics_csv", "some_quoted_cells"), ("journal", "empty_arrays"), ("trace", "nesting"),
    ("torch", "lists"), ("statistics", "cut"), ("kernels", "steps"), ("memory", "components"),
    ("kineto", "nested"), ("kineto", "functions"), ("kineto", "collectives"),
]  # fmt: skip
"""What is measured in each run: a reader of each kind with what was slow or large once."""
CASES = [(kind, make) for kind in ALL for make in ALL[kind].worst if (kind, make) not in FEW]
CASES = FEW + CASES


@pytest.mark.parametrize(("kind", "make"), long_after(len(FEW), CASES))
def test_the_worst_file_costs_little_more_than_an_intact_one(kind: str, make: str, tmp_path: Path) -> None:
    intact, peak, nodes = measured(kind, "intact", tmp_path)
    worst, highest, found = measured(kind, make, tmp_path)
    assert worst <= max(FLOOR, TIMES * intact)
    result = TAG_BYTES * TAGS.get((kind, make), 0) + NODE_BYTES * max(found - nodes, 0)
    assert highest - peak <= MEMORY + result


def test_a_node_takes_little_while_its_graph_is_read(tmp_path: Path) -> None:
    path = tmp_path / "graph_0001.ir"
    path.write_bytes(ALL["ir"].worst["constants"]()[: 1 << 18])
    read_file(str(path))  # modules that are imported
    tracemalloc.start()
    try:
        graph = read_file(str(path))
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(graph.nodes) > 10_000
    assert peak <= NODE_BYTES * len(graph.nodes)
    assert held <= 0.4 * NODE_BYTES * len(graph.nodes)


@some_or_every
def test_a_tag_takes_little_in_the_result(tmp_path: Path, every: bool) -> None:
    """Without `every` of the tags of a few records, beside whose size that of the run itself is small."""
    path = tmp_path / "events.out.tfevents.1.host"
    path.write_bytes(ALL["events"].worst["names_of_one"]() if every else names_by_hundreds(FEW_RECORDS))
    len(open_run(tmp_path).scalars)  # modules that are imported
    tracemalloc.start()
    try:
        run = open_run(tmp_path)
        frame = run.scalars
        gc.collect()
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(frame) == len(run.tags("scalar")) == (TAGS["events", "names_of_one"] if every else 300 * FEW_RECORDS)
    assert held <= TAG_BYTES * len(frame)


def _peak(pid: int) -> int:
    # Not getrusage: its peak is at least that of the process that started this one.
    return int(Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()[0]) * 1024


if __name__ == "__main__":
    begin = time.process_time()
    found = read(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    # Databases are read by a process of their own, which waits for the next one.
    started = started_by(os.getpid())
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.process_time() - begin + ended.ru_utime + ended.ru_stime + sum(map(cpu_seconds, started))
    sys.stdout.write(json.dumps([seconds, sum(map(_peak, (os.getpid(), *started))), found]))
