"""What is fuzzed: one target for each kind of file, made from the registries, so that a new format is covered as it is added.

A target takes the bytes of one file, as a reader finds them, and does with them what the application does. It returns for
damage and may raise only what is documented; `Broken` says that a result is not what it promises to be.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from app.store.runs.notes_format import Newer
from app.store.runs.notes_format import decode as decode_notes
from parsers import open_run
from parsers.analysis import ExpressionError, evaluate, parse_expression
from parsers.analysis.profiles import memory
from parsers.checkpoints import PLACE, landscape_plan
from parsers.cluster_frames import JOB_FRAMES
from parsers.debugger import messages
from parsers.errors import FormatError, PayloadError
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
from parsers.model import COMPUTED_LANDSCAPES, CONFIG, Problem, Reader, Series
from parsers.model import KINDS as PROBLEM_KINDS
from parsers.payloads.access import INDEXES
from parsers.payloads.decoding import DECODERS
from parsers.payloads.images import encoded_image
from parsers.payloads.pictures import grey_picture
from parsers.payloads.twins import with_twin
from parsers.payloads.values import TensorValue
from parsers.profiler import snapshot as frame_snapshot
from parsers.profiler.access import Profile
from parsers.profiler.frame_parts import ProfileInput
from parsers.profiler.job_access import Job
from parsers.profiler.jobs import find_jobs
from parsers.profiler.ranks import KINDS as KINDS_OF_JOBS
from parsers.profiler.registry import FILE_KINDS, FRAME_READERS, FRAMES
from parsers.profiler.sessions import ProfileFile, Session
from parsers.profiler.trace import sources, storage
from parsers.profiler.trace.columns import Trace
from parsers.profiler.trace.files import SOURCES, TRACE_FILES
from parsers.recording.wire import delimited, float32, float64, number
from parsers.registry import KINDS, READERS
from parsers.runs import Run
from parsers.snapshot import dump, load
from parsers.tuning.config import read_tuning
from parsers.tuning.expressions import parse_constraint
from parsers.tuning.journal import StudyFile
from parsers.tuning_frames import command_of, parameters_frame, trials_frame, values_frame, workers_frame
from tests.fuzz import dumped, landscape_files
from tests.fuzz.corpus import Files, Seeds
from tests.writers.mlflow import write_database

MOST_VALUES = 6
"""Tags of one kind, graphs of a file and nodes of a graph that are looked at."""


class Broken(AssertionError):
    """A result is not what its schema or its documentation says."""


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
            form, run = _FORMS.get(suffix, "table"), partial(_read_profile, kind, name, seeds)
            yield Target(f"profile-{kind}{suffix}", form, _given(files), run, kinds=(kind,))
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
    yield Target("trace-text", "text", _given(traces), _read_trace)
    yield Target("trace-compressed", "plain", lambda: tuple(map(gzip.compress, traces)), _read_trace)
    yield Target("trace-storage", "plain", seeds.stored_traces, _open_trace, (FormatError,))
    for name, form, found, run in dumped.targets(seeds.named, _check_problems):
        yield Target(name, form, _given(tuple(found)), run)
    yield Target("notes", "notes", seeds.notes, _decode_notes, (Newer,))
    yield Target("debugger", "message", _given(_DEBUGGER), _read_debugger)
    yield Target("expression", "text", _given(_EXPRESSIONS), _evaluate, (ExpressionError,))
    yield Target("search", "text", _given(_SEARCHES), _read_search, (FormatError,))
    yield Target("constraint", "text", _given(_CONSTRAINTS), _violate, (FormatError,))
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
        return (path.read_bytes(),)


def _read_mlflow(data: bytes, folder: str) -> None:
    for source in sources_in(_write(folder, "mlflow.db", data), "mlflow.db"):
        run = Run(source)
        run.refresh(source)
        SCALARS.check(run.scalars)
        _check_problems([*source.problems, *run.problems])
        str(run.settings)


def _read_metric(data: bytes, folder: str) -> None:
    batch = MLFLOW_METRIC.read(_write(folder, "loss", data))
    _check_problems(batch.problems)


_STUDY = Path(__file__).resolve().parents[1] / "data" / "optuna" / "5.0.0"
_SEARCHES = ((_STUDY / "search.yaml").read_bytes(),)
_JOURNALS = ((_STUDY / "journal.log").read_bytes(),)
_CONSTRAINTS = (b"layers * width ** 2 <= 4096", b"1 < x < 3 and not_a / x != 0 or -x % 7 // 2 >= 1e-3", b"name == 'sgd'")


def _read_search(data: bytes, folder: str) -> None:
    for one in read_tuning(_write(folder, "search.yaml", data)).parameters:
        if one.kind != "choice" and not one.low <= one.high:
            raise Broken(f"a parameter from {one.low} to {one.high}")


def _violate(data: bytes, _folder: str) -> None:
    found = parse_constraint(data.decode("utf-8", "surrogateescape"))
    for value in (2, -0.5, "a", None, True):
        if not isinstance(found.violation(dict.fromkeys(found.names, value)), float):
            raise Broken("a violation that is no number")


def _read_journal(data: bytes, folder: str) -> None:
    """Read a journal in two parts, as while it grows, and make every frame of its studies."""
    reader = StudyFile(_write(folder, "journal.log", data[: len(data) // 2]))
    reader.refresh()
    _write(folder, "journal.log", data)
    reader.refresh()
    _check_problems(reader.problems)
    for study in reader.studies:
        for frame in (trials_frame, values_frame, parameters_frame, workers_frame):
            frame(study)
        for trial in study.trials[:20]:
            command_of(study, trial, "/r")


# Files of runs ---------------------------------------------------------------------------------------------------------------


def _read_run(reader: Reader, name: str, data: bytes, folder: str) -> None:
    path = _write(folder, name, data)
    reader.sniff(data[:4096])
    _check_problems(reader.verify(path))
    _check_problems(reader.read(path, reader.read(path, limit=1).cursor).problems)
    if not _chosen(data, 4):
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
    _check_problems(run.problems)


def _look_at_explanations(found: RunExplanations) -> None:
    for name, schema in EXPLANATION_FRAMES.items():
        schema.check(found.outcomes(0.7) if name == "outcomes" else getattr(found, name))
    _check_problems(found.problems)
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
    _check_problems(graph.problems)


def _decode_graph(form: GraphFormat, data: bytes, _folder: str) -> None:
    form.sniff(data[:4096])
    _look_at_graph(form.read(data, Origin("file")))


def _decode_value(decoder: Callable[[memoryview], object], data: bytes, _folder: str) -> None:
    with np.errstate(all="ignore"):
        decoder(memoryview(data))


def _read_config(name: str, data: bytes, folder: str) -> None:
    config = read_config(_write(folder, name, data))
    Description().add_others(config.settings)
    _check_problems(config.problems)


def _read_plan(data: bytes, folder: str) -> None:
    _write(folder, PLACE, data)
    landscape_plan(folder)


_TENSOR = np.zeros((2, 3), np.float32)


def _read_twin(data: bytes, folder: str) -> None:
    _write(folder, os.path.join("export_1", "tensor", "tag_1.npy"), data)
    with_twin(TensorValue(_TENSOR, "float32", "float32"), os.path.join(folder, "events"), "tag", 1)


def _decode_image(data: bytes, _folder: str) -> None:
    with contextlib.suppress(FormatError):
        grey_picture(data)
    encoded_image(data)


# Profiles --------------------------------------------------------------------------------------------------------------------


def _read_profile(kind: str, name: str, seeds: Seeds, data: bytes, folder: str) -> None:
    """Read every frame that a kind of file gives, or helps to give: then the file it helps lies beside it, intact."""
    files = [_profile_file(folder, name, kind, data)]
    helped = {reader.file.name for reader in FRAME_READERS if kind in {also.name for also in reader.also_reads}}
    for other in sorted(helped - {kind}):
        intact, found = next(iter(seeds.profiles(other).values()))
        files.append(_profile_file(folder, intact, other, found[0]))
    if _chosen(data, 8):
        profile = Profile("session", 0, tuple(files))
        for frame, schema in FRAMES.items():
            if profile.gives(frame):
                schema.check(profile.frame(frame))
        _check_problems(profile.problems)
    else:
        beside = {file.kind: ProfileInput(file.path, file.name, {}) for file in files}
        for file, reader in ((file, reader) for file in files for reader in FRAME_READERS if reader.file.name == file.kind):
            part = reader.read(ProfileInput(file.path, file.name, beside))
            reader.schema.check(part.frame)
            _check_problems(part.problems)
    _read_of_job(tuple(files))
    profile = Profile("session", 0, tuple(files))
    if kind in SOURCES:
        _look_at_trace(profile.trace.columns)
        _ = profile.trace.slices, profile.trace.tracks, profile.trace.flows, profile.trace.counters
    if any(profile.gives(frame) for frame in ("memory", "operator_memory", "static_memory", "module_memory")):
        _look_at_memory(profile)
    _ = profile.about, profile.step_points
    _check_problems(profile.problems)
    if kind in ("profiler_info", "profiler_metadata"):
        _check_problems(open_run(folder).problems)


def _look_at_memory(profile: Profile) -> None:
    """Check that blocks sum to the curve, and that the parts of a pool and of a plan are what they are said to be."""
    records, frame = profile.memory, profile.operator_memory
    for component in (*memory.components(records), "PTA"):
        series, blocks = memory.curve(records, component), memory.counted(records, frame, component)
        for time in (0, *series.time[:1].tolist(), *series.time[-1:].tolist()):
            found = memory.explain(frame, blocks, series, time)
            if found.before + int(found.groups["size_bytes"].sum()) != found.total:
                raise Broken("the blocks do not sum to the curve")
            memory.extremes(series, 0, time, 7)
        memory.peak(records, component)
    for clock in ("ns", "event"):
        blocks = memory.blocks_of(frame, clock=clock)
        pool = memory.pool_at(frame, blocks, int(blocks.start[0])) if len(blocks) else None
        if pool is not None and pool.used + pool.free != int(pool.map["size_bytes"].sum()):
            raise Broken("the parts of the pool do not sum to it")
    for graph in profile.static_memory["graph"].unique().tolist()[:MOST_VALUES]:
        memory.plan(profile.static_memory, graph)
    memory.large_components(profile.module_memory)


def _read_of_job(files: tuple[ProfileFile, ...]) -> None:
    """Read the frames of a job of one rank with these files."""
    kinds = {file.kind for file in files}
    wanted = [name for name, giving in KINDS_OF_JOBS.items() if kinds.intersection(giving)]
    if not wanted:
        return
    session = Session("session", os.path.dirname(files[0].path), files)
    for found in find_jobs((session,)):
        job = Job(found)
        for name in wanted:
            JOB_FRAMES[name].check(job.frame(name))
        _check_problems(job.problems)


def _profile_file(folder: str, name: str, kind: str, data: bytes) -> ProfileFile:
    path = _write(folder, os.path.join("profiler", name), data)
    return ProfileFile(path, name, kind, 0, len(data), 0)


def _read_trace(data: bytes, folder: str) -> None:
    _look_at_trace(sources.read(_write(folder, "trace.json", data)))


def _look_at_trace(trace: Trace) -> None:
    """Check what a trace promises, and ask for the arguments of some slices."""
    slices = trace.slices
    size = len(slices)
    if size and min(int(slices.start.min()), int(slices.duration.min()), int(slices.self.min())) < 0:
        raise Broken("a time of a slice is negative")
    if [(track.first, track.last) for track in trace.tracks if track.last > track.first] != [
        (int(rows[0]), int(rows[-1]) + 1)
        for rows in np.split(np.arange(size), np.flatnonzero(np.diff(slices.track)) + 1)
        if len(rows)
    ]:
        raise Broken("the slices are not in the order of their tracks")
    named = (slices.name, trace.names), (slices.category, trace.categories), (trace.counters.series, trace.series)
    for codes, texts in named:
        if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < len(texts):
            raise Broken("a number of a text that there is not")
    for ends in (trace.flows.source, trace.flows.target):
        if len(ends) and not 0 <= int(ends.min()) <= int(ends.max()) < size:
            raise Broken("an arrow to a slice that there is not")
    for row in {0, size - 1} if size else ():
        # A row that a damaged table lists may not be found by its number.
        with contextlib.suppress(*((LookupError,) if trace.path.endswith(".db") else ())):
            sources.arguments(trace, row)
    for text in (*trace.names, *trace.categories, *trace.series, *(track.process + track.thread for track in trace.tracks)):
        text.encode()
    _check_problems(trace.problems)


def _open_trace(data: bytes, folder: str) -> None:
    """Open a stored trace: the length of its header in four bytes, the header, the columns."""
    end = 4 + int.from_bytes(data[:4], "little")
    _write(folder, storage.HEADER, data[4:end])
    _write(folder, storage.COLUMNS, data[end:])
    trace = storage.open(folder)
    if len(trace.slices) != len(trace.slices.depth):
        raise Broken("columns of different lengths")
    list(trace.names)


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
            _check_problems(problems)


def _decode_notes(data: bytes, _folder: str) -> None:
    decode_notes(data)


# ---------------------------------------------------------------------------------------------------------------------------


def _chosen(data: bytes, of: int) -> bool:
    """Return whether this file is one, of `of`, that is also asked for what takes long; always the same for a file."""
    return zlib.crc32(data) % of == 0


def _write(folder: str, name: str, data: bytes) -> str:
    path = os.path.join(folder, name)
    try:
        file = open(path, "wb", buffering=0)  # noqa: SIM115  closed below; the directory is made once only
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        file = open(path, "wb", buffering=0)  # noqa: SIM115
    with file:
        file.write(data)
    return path


def _check_problems(problems: object) -> None:
    for problem in problems if isinstance(problems, list | tuple) else ():
        if not isinstance(problem, Problem) or problem.kind not in PROBLEM_KINDS or not problem.text:
            raise Broken(f"expected a problem of a known kind with a text, found {problem!r}")
        if re.search(r"[\ud800-\udfff]", problem.text):
            raise Broken(f"a text that no page can show: {problem.text!r}")


COVERED = (*(kind.name for kind in KINDS), *(form.name for form in FORMATS), *FILE_KINDS)
"""What the registries hold: each needs a target that names it in its `kinds`."""
