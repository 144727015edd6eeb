"""What is fuzzed: one target for each kind of file, made from the registries, so that a new format is covered as it is added.

A target takes the bytes of one file, as a reader finds them, and does with them what the application does. It returns for
damage and may raise only what is documented; `Broken` says that a result is not what it promises to be.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from app.commands.settings import SettingError
from app.store.runs.notes_format import Newer
from app.store.runs.notes_format import decode as decode_notes
from parsers import open_run
from parsers.analysis import ExpressionError, evaluate, parse_expression
from parsers.checkpoints import PLACE, landscape_plan
from parsers.debugger import messages
from parsers.errors import FormatError, PayloadError, SourceError
from parsers.events.reader import EventReader
from parsers.events.wire import WireError
from parsers.explanation_frames import EXPLANATION_FRAMES
from parsers.explanations.access import RunExplanations
from parsers.frames import EDGES, NODES, SCALARS
from parsers.graphs.access import Graphs
from parsers.graphs.formats import FORMATS, GraphFormat
from parsers.graphs.graph import Graph, Origin
from parsers.lineage.configs import read_config
from parsers.lineage.description import Description
from parsers.mlflow.database import sources_in
from parsers.mlflow.directories import MLFLOW_METRIC
from parsers.model import COMPUTED_LANDSCAPES, CONFIG, Reader, Series
from parsers.payloads.access import INDEXES
from parsers.payloads.decoding import DECODERS
from parsers.payloads.images import encoded_image
from parsers.payloads.pictures import grey_picture
from parsers.payloads.twins import with_twin
from parsers.payloads.values import TensorValue
from parsers.profiler import snapshot as frame_snapshot
from parsers.profiler.registry import FILE_KINDS, FRAMES
from parsers.profiler.trace.files import TRACE_FILES
from parsers.recording.wire import delimited, float32, float64, number
from parsers.registry import KINDS, READERS
from parsers.runs import Run
from parsers.snapshot import dump, load
from parsers.tuning.config import read_tuning
from parsers.tuning.expressions import parse_constraint
from parsers.tuning.journal import StudyFile
from parsers.tuning_frames import command_of, parameters_frame, trials_frame, values_frame, workers_frame
from tests.fuzz import (
    clients,
    dumped,
    engine_answers,
    hostile_files,
    landscape_files,
    live_calls,
    memory_snapshot_files,
    profile_files,
    settings_files,
)
from tests.fuzz.corpus import Files, Seeds
from tests.fuzz.promises import DERIVED_OF, Broken, check_problems, is_chosen, write_file
from tests.writers.mlflow import write_database

MOST_VALUES = 6
"""Tags of one kind, graphs of a file and nodes of a graph that are looked at."""


@dataclass(frozen=True)
class Target:
    """One kind of file: its name, the form its files are mutated by, how those of the corpus are had, and what is done with the
    bytes.

    kinds names the entries of the registries that it covers. `run` is called with the bytes and a directory for files; refuses
    are the exceptions that document what is refused.
    """

    name: str
    form: str
    corpus: Callable[[], Files]
    run: Callable[[bytes, str], None]
    refuses: tuple[type[Exception], ...] = ()
    kinds: tuple[str, ...] = ()

    @cached_property
    def seeds(self) -> Files:
        """The files of the corpus. Some are made by reading others, so none are before they are used."""
        return self.corpus()


def all_targets(seeds: Seeds) -> dict[str, Target]:
    """Return every target by its name."""
    found = {target.name: target for target in _targets(seeds)}
    return dict(sorted(found.items()))


def _targets(seeds: Seeds) -> Iterator[Target]:
    for reader in READERS:
        for suffix, (name, files) in seeds.recorded(reader.name).items():
            form = "records" if isinstance(reader, EventReader) else _FORMS.get(suffix, _form(files))
            yield Target(f"{reader.name}{suffix}", form, _given(files), partial(_read_run, reader, name), kinds=(reader.name,))
    for graph in FORMATS:
        form = _GRAPH_FORMS.get(graph.name, "text")
        run = partial(_decode_graph, graph)
        yield Target(f"graph-{graph.name}", form, partial(seeds.graphs, graph), run, (FormatError,), (graph.name,))
    for (reader_name, kind), decoder in DECODERS.items():
        refuses = (FormatError, WireError, IndexError)  # as `decode` has them; a MemoryError is no excuse here
        files = partial(seeds.values, reader_name, kind)
        yield Target(f"value-{reader_name}-{kind}", "message", files, partial(_decode_value, decoder), refuses)
    for kind in FILE_KINDS:
        for suffix, (name, files) in seeds.profiles(kind).items():
            form, run = _FORMS.get(suffix, "table"), partial(profile_files.read_profile, kind, name, seeds)
            if name.endswith(".gz"):
                # Small ones: a recorded trace takes as long as ten of them.
                plain = seeds.profiles(kind)[".json"][1]
                form, files = "compressed", tuple(gzip.compress(file, 1, mtime=0) for file in plain)
            yield Target(f"profile-{kind}{suffix}", form, _given(files), run, kinds=(kind,))
            if form == "database":
                yield Target(f"schema-{kind}", "schema", _given(files), run)
                yield Target(
                    f"log-{kind}", "logged", partial(hostile_files.logs, files), partial(hostile_files.read_log, name, run)
                )
    for suffix, (name, files) in seeds.recorded(CONFIG).items():
        yield Target(f"config{suffix}", _FORMS.get(suffix, "text"), _given(files), partial(_read_config, name), kinds=(CONFIG,))
    yield Target("mlflow-database", "database", _given(_mlflow()), _read_mlflow, kinds=("mlflow_db", "mlflow_run"))
    yield Target("mlflow-metric", "text", _given((b"1795782911940 0.1 0\n1795782911950 nan 1\n",)), _read_metric)
    yield Target("landscape-plan", "tree", seeds.plans, _read_plan, (FormatError,))
    kinds = (COMPUTED_LANDSCAPES,)
    facts, points = _given(landscape_files.FACTS), _given(landscape_files.points())
    yield Target("landscape-facts", "tree", facts, landscape_files.read_facts, (FormatError,), kinds)
    yield Target("landscape-points", "text", points, landscape_files.read_points, (FormatError,), kinds)
    yield Target("npy", "npy", seeds.arrays, _read_twin)
    yield Target("image", "png", seeds.images, _decode_image, (FormatError,))
    yield Target("snapshot", "snapshot", seeds.snapshots, _load_snapshot, (FormatError,))
    yield Target("frame-snapshot", "snapshot", seeds.frame_snapshots, _load_frame, (FormatError,))
    traces = tuple(file for kind in TRACE_FILES for _, files in seeds.profiles(kind.name).values() for file in files[:4])
    yield Target("trace-text", "text", _given(traces), profile_files.read_trace)
    yield Target("trace-compressed", "plain", lambda: tuple(map(gzip.compress, traces)), profile_files.read_trace)
    yield Target("trace-storage", "plain", seeds.stored_traces, profile_files.open_trace, (FormatError,))
    yield Target("torch-memory", "plain", memory_snapshot_files.files, memory_snapshot_files.read)
    for name, form, found, run in dumped.targets(seeds.named, check_problems):
        yield Target(name, form, _given(tuple(found)), run)
    yield Target("notes", "notes", seeds.notes, _decode_notes, (Newer,))
    yield Target("debugger", "message", _given(_DEBUGGER), _read_debugger)
    yield Target("expression", "text", _given(_EXPRESSIONS), _evaluate, (ExpressionError,))
    yield Target("search", "text", _given(_SEARCHES), _read_search, (FormatError,))
    yield Target("constraint", "text", _given(_CONSTRAINTS), _violate, (FormatError,))
    content = hostile_files.contents(seeds)
    tree = partial(hostile_files.read_tree, content, _look_at)
    yield Target("directory", "request", partial(hostile_files.trees, content), tree, (SourceError,))
    yield Target("schema-mlflow", "schema", _given(_mlflow()), _read_mlflow)
    yield Target("server-settings", "text", _given(settings_files.CONFIGS), settings_files.read_settings, (SettingError,))
    refused = (FormatError, SourceError)
    yield Target("watchpoints", "text", _given(settings_files.WATCHPOINTS), settings_files.read_watched, refused)
    yield Target("gates", "text", _given(settings_files.GATES), settings_files.read_gates, refused)
    yield Target("baseline", "tree", _given(settings_files.BASELINES), settings_files.read_saved, refused)
    yield Target("query", "request", clients.queries, clients.ask)
    yield Target("body", "request", clients.bodies, clients.change)
    yield Target("callback", "request", clients.callbacks, clients.call_back)
    yield Target("live-calls", "message", live_calls.cases, live_calls.call)
    yield Target("engine-answers", "plain", engine_answers.cases, engine_answers.take)
    yield Target("journal", "text", _given(_JOURNALS), _read_journal)


_FORMS: Mapping[str, str] = {
    ".json": "tree", ".csv": "table", ".txt": "table", ".db": "database", ".yaml": "text", ".yml": "text", ".ir": "text",
    ".dot": "text", ".pb": "message", ".onnx": "message",
}  # fmt: skip
"""Ending of a file name -> form."""
_GRAPH_FORMS: Mapping[str, str] = {"mindspore": "message", "tensorflow": "message", "onnx": "message"}
"""Format of graphs -> form, where it is not "text"."""


def _given(files: Files) -> Callable[[], Files]:
    return lambda: files


def _form(files: tuple[bytes, ...], binary: str = "plain") -> str:
    return "text" if all(b"\x00" not in file for file in files) else binary


_DEBUGGER = tuple(
    delimited(1, b"a/b-op1") + number(2, 7) + delimited(3, delimited(1, b"0") + number(2, 3)) + delimited(4, b"GPU") + more
    for more in (b"", number(5, 1) + float32(6, 0.5), delimited(5, b"\x08\x01" * 3) + float64(6, 2.0))
)
_DEBUGGER_READERS = (
    messages.read_metadata, messages.read_chunk, messages.read_piece, messages.read_base, messages.read_summary,
    messages.read_hit, messages.read_heartbeat,
)  # fmt: skip


def _read_debugger(data: bytes, _folder: str) -> None:
    """Read what may come from the network as each message of live training."""
    for read in _DEBUGGER_READERS:
        with contextlib.suppress(FormatError):
            read(data)


_EXPRESSIONS = (
    b"train/loss - val/loss", b"log10(abs(a / b)) * 2e-3", b"mean('grad-norm', 100 steps) + diff(\"it\"\"s\")",
    b"min(rate(a), max(exp(b), sqrt(a))) - -(a + mean(a, 20))", "'步骤' / 损失".encode(),
)  # fmt: skip
_CURVE = Series(
    np.array([-(2**63), 0, 1, 1, 7, 2**63 - 1]), np.arange(6.0), np.array([1.0, 0.0, -1.0, np.nan, np.inf, 1e308]),
    np.zeros(6, np.int32), np.arange(6),
)  # fmt: skip


def _evaluate(data: bytes, _folder: str) -> None:
    """Parse a text as a request may send it, and evaluate it over two curves whose steps differ."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        expression = parse_expression(text)
    except ExpressionError as error:
        if not 1 <= error.column <= len(text) + 1:
            raise Broken(f"an error in column {error.column} of {len(text)} characters") from error
        str(error).encode()
        raise
    other = Series(*(column[::2] for column in _CURVE))
    found = evaluate(expression, lambda tag: (other, _CURVE)[len(tag) % 2]).series
    if len({column.size for column in found}) > 1 or not bool((found.step[1:] > found.step[:-1]).all()):
        raise Broken("the columns of a derived curve differ in length, or its steps do not rise")


def _mlflow() -> Files:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "mlflow.db"
        write_database(path, {"a1": 0.5}, 3)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.executescript("PRAGMA page_size = 1024; VACUUM")  # or most of the file would be empty
        return (path.read_bytes(),)


def _read_mlflow(data: bytes, folder: str) -> None:
    for source in sources_in(write_file(folder, "mlflow.db", data), "mlflow.db"):
        run = Run(source)
        run.refresh(source)
        SCALARS.check(run.scalars)
        check_problems([*source.problems, *run.problems])
        str(run.settings)


def _read_metric(data: bytes, folder: str) -> None:
    batch = MLFLOW_METRIC.read(write_file(folder, "loss", data))
    check_problems(batch.problems)


_STUDY = Path(__file__).resolve().parents[1] / "data" / "optuna" / "5.0.0"
_SEARCHES = ((_STUDY / "search.yaml").read_bytes(),)
_JOURNALS = ((_STUDY / "journal.log").read_bytes(),)
_CONSTRAINTS = (b"layers * width ** 2 <= 4096", b"1 < x < 3 and not_a / x != 0 or -x % 7 // 2 >= 1e-3", b"name == 'sgd'")


def _read_search(data: bytes, folder: str) -> None:
    for one in read_tuning(write_file(folder, "search.yaml", data)).parameters:
        if one.kind != "choice" and not one.low <= one.high:
            raise Broken(f"a parameter from {one.low} to {one.high}")


def _violate(data: bytes, _folder: str) -> None:
    found = parse_constraint(data.decode("utf-8", "surrogateescape"))
    for value in (2, -0.5, "a", None, True):
        if not isinstance(found.violation(dict.fromkeys(found.names, value)), float):
            raise Broken("a violation that is no number")


def _read_journal(data: bytes, folder: str) -> None:
    """Read a journal in two parts, as while it grows, and make every frame of the studies of some."""
    reader = StudyFile(write_file(folder, "journal.log", data[: len(data) // 2]))
    reader.refresh()
    write_file(folder, "journal.log", data)
    reader.refresh()
    check_problems(reader.problems)
    for study in reader.studies if is_chosen(data, DERIVED_OF) else ():
        for frame in (trials_frame, values_frame, parameters_frame, workers_frame):
            frame(study)
        for trial in study.trials[:20]:
            command_of(study, trial, "/r")


# Files of runs ---------------------------------------------------------------------------------------------------------------


def _read_run(reader: Reader, name: str, data: bytes, folder: str) -> None:
    path = write_file(folder, name, data)
    reader.sniff(data[:4096])
    check_problems(reader.verify(path))
    check_problems(reader.read(path, reader.read(path, limit=1).cursor).problems)
    if not is_chosen(data, DERIVED_OF):
        return
    run = open_run(folder)
    _look_at(run)
    states = list(run.states.values())
    parts = dump(states)
    if parts is not None and [state.records for state in load(b"".join(parts))] != [state.records for state in states]:
        raise Broken("the snapshot of the run has other records than the run")


def _look_at(run: Run) -> None:
    """Ask a run for everything that pages ask it for."""
    SCALARS.check(run.scalars)
    run.scalars_view()
    for kind, schema in INDEXES.items():
        schema.check(getattr(run, f"{kind}s"))
    for kind in run.kinds():
        for tag in run.tags(kind)[:MOST_VALUES] if kind not in ("config", "profile") else ():
            for place in {0, len(run.payload_series(kind, tag)) - 1} if kind != "scalar" else ():
                _refused(partial(run.value, kind, tag, place))
                _refused(partial(run.raw, kind, tag, place))
                if kind == "tensor":
                    _refused(partial(run.distribution, tag, place))
    if run.tags("explain"):
        _look_at_explanations(run.explanations)
    graphs = run.graphs
    for name in list(graphs)[:MOST_VALUES]:
        _refused(partial(_look_at_named, graphs, name))
    if len(run.lineage) != 1:
        raise Broken(f"expected one row of lineage, found {len(run.lineage)}")
    if run.dataset_graph is not None:
        _ = run.dataset_graph.mark
    while run.verify(limit=1 << 20):
        pass
    check_problems(run.problems)


def _look_at_explanations(found: RunExplanations) -> None:
    for name, schema in EXPLANATION_FRAMES.items():
        schema.check(found.outcomes(0.7) if name == "outcomes" else getattr(found, name))
    check_problems(found.problems)
    if len(found.samples) != len(set(found.samples["sample"])):
        raise Broken("a sample has two rows")


def _refused(ask: Callable[[], object]) -> None:
    """Ask for one value, which may be refused, but not because memory was short: the file is small."""
    try:
        ask()
    except PayloadError as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, MemoryError):
                raise MemoryError(str(error)) from error
            cause = cause.__cause__


def _look_at_named(graphs: Graphs, name: str) -> None:
    _look_at_graph(graphs[name])


def _look_at_graph(graph: Graph) -> None:
    NODES.check(graph.nodes)
    EDGES.check(graph.edges)
    size = len(graph.nodes)
    for row in {*range(min(size, MOST_VALUES)), *range(max(size - MOST_VALUES, 0), size)}:
        graph.attributes(row)
        graph.raw(row)
        graph.source_lines(row)
    graph.having("shape")
    if not all(0 <= row < size for row in graph.outputs):
        raise Broken(f"outputs {graph.outputs} of {size} nodes")
    for column in ("source", "target"):
        if not graph.edges[column].between(0, size - 1).all():
            raise Broken(f"an edge to a node that is none: {column}")
    check_problems(graph.problems)


def _decode_graph(form: GraphFormat, data: bytes, _folder: str) -> None:
    form.sniff(data[:4096])
    _look_at_graph(form.read(data, Origin("file")))


def _decode_value(decoder: Callable[[memoryview], object], data: bytes, _folder: str) -> None:
    with np.errstate(all="ignore"):
        decoder(memoryview(data))


def _read_config(name: str, data: bytes, folder: str) -> None:
    config = read_config(write_file(folder, name, data))
    Description().add_others(config.settings)
    check_problems(config.problems)


def _read_plan(data: bytes, folder: str) -> None:
    write_file(folder, PLACE, data)
    landscape_plan(folder)


_TENSOR = np.zeros((2, 3), np.float32)


def _read_twin(data: bytes, folder: str) -> None:
    write_file(folder, os.path.join("export_1", "tensor", "tag_1.npy"), data)
    with_twin(TensorValue(_TENSOR, "float32", "float32"), os.path.join(folder, "events"), "tag", 1)


def _decode_image(data: bytes, _folder: str) -> None:
    with contextlib.suppress(FormatError):
        grey_picture(data)
    encoded_image(data)


# Files of our own ------------------------------------------------------------------------------------------------------------


def _load_snapshot(data: bytes, _folder: str) -> None:
    load(data)


def _load_frame(data: bytes, _folder: str) -> None:
    for schema in FRAMES.values():
        with contextlib.suppress(FormatError):
            frame, problems = frame_snapshot.load(schema, data)
            if not isinstance(frame, pd.DataFrame):
                raise Broken(f"expected a frame, found {type(frame).__name__}")
            for column in frame.columns:
                frame[column].tolist()
            check_problems(problems)


def _decode_notes(data: bytes, _folder: str) -> None:
    decode_notes(data)


COVERED = (*(kind.name for kind in KINDS), *(form.name for form in FORMATS), *FILE_KINDS)
"""What the registries hold: each needs a target that names it in its `kinds`."""
