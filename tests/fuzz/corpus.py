"""The files that are mutated: real ones of tests/data and the folder MINDSCOPE_TEST_DATA, small, MOST of a kind.

A larger file is cut: tables and texts at a line, event files at a record. For kinds of which there is no real file there are
those of `tests.parsers.profiler.written` and a few made here. The order is the same every time, so that a seed makes the same
cases.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import sqlite3
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from app.store.runs.notes_format import Content, RunNote, SavedMark, SavedView, encode
from layouts.runs.notes import Mark, NamedView, Note
from parsers import open_run
from parsers.checkpoints import PLACE
from parsers.errors import MindscopeError
from parsers.events.reader import EventReader
from parsers.graphs.formats import HEAD, GraphFormat, format_of
from parsers.model import CONFIG
from parsers.payloads.png import SIGNATURE
from parsers.profiler import snapshot as frame_snapshot
from parsers.profiler.access import Profile
from parsers.profiler.registry import FILE_KINDS, FRAMES, classify
from parsers.profiler.sessions import ProfileFile
from parsers.profiler.trace import sources, storage
from parsers.profiler.trace.files import TRACE_FILES
from parsers.recording import EventWriter, Histogram, Image, Tensor, Text
from parsers.registry import KINDS, kind_of, reader_named
from parsers.snapshot import dump
from tests.fuzz.mutated_trees import join_records, split_records
from tests.parsers.graphs.test_onnx import small
from tests.parsers.profiler.written import FILES
from tests.writers.profiler_database import TABLES

ROOT = Path(__file__).resolve().parents[2]
MOST = 20
"""Files of a target."""
LARGEST = 24 << 10
"""Bytes of a file that cannot be cut."""
CUT = 8 << 10
"""Bytes to which larger tables, texts and event files are cut."""
_SUFFIXES = (".csv", ".txt", ".json", ".db", ".pb", ".ir", ".dot", ".onnx", ".yaml", ".yml")
_WRITTEN: Mapping[str, str] = {
    "op_summary_20240101.csv": "Step Id,Model ID,Task ID,Stream ID,Op Name,OP Type,Task Type,Start Time(us),Task Duration(us),"
    "Task Wait Time(us),Block Dim,Input Shapes,aicore_time(us)\n"
    '2,4294967295,9,2,Default/MatMul-op1,MatMul,AI_CORE,1695115378713661,496.8508,0,48,"""2,3;3,4""",0.5\n',
    "minddata_aicpu_0.txt": "GetNext_dequeue_wait 154907895305 154907895306 3\n"
    "GetNext_dequeue_wait 154907895614 154907895614 2\n",
    "step_trace_point_info_0.json": '{"fp_start": "Default/Conv2D-op1", "bp_end": "Default/Grad/ReLU-op9"}',
    "minddata_pipeline_summary_0.csv": "op_ids,0,1\nop_names,Batch,Map\navg_cpu_pct_per_worker,1.5,2.25\n",
    "config.json": '{"lr": 0.01, "model": {"type": "lenet", "layers": [1, 2]}, "seed": NaN, "name": "x"}',
    "hparams.yaml": "lr: 1e-3\nbase: &base {epochs: 10, on: yes}\nrunner_config:\n  <<: *base\n"
    "  sizes: [1, 0x1F, 1:30, .inf]\n",
    "trace_code_graph_1": "",
    "communication_matrix.json": '{"step5": {"p2p": {}, "collective": {"allreduce-total@39": {"0-1": {"Transport Type":'
    ' "HCCS", "Transit Size(MB)": 8.388608, "Transit Time(ms)": 0.4007, "Bandwidth(GB/s)": 20.9, "Op Name": "a"}}}}}',
    "hccl_raw_0.csv": "step_num,communication_cost,wait_cost,link_info,communication_operator_cost\n"
    '1,2.6,270.25,"{""1-0"": {""SDMA"": [2.5, 52706.8, 2170311.4]}}","{""stream_1_AllReduce-op4"": [""1"", 2.6, 1.5, {""1-0"": '
    '{""SDMA"": [2.5, 52706.8, 2170311.4]}}]}"\n',
    "ascend_cluster_analyse_pipeline-parallel_2_4_0.csv": "computation_time,communication_alone_time,stage_time,"
    "receive_alone_time,collective_communication_alone_time\n13.8,164.4,121.8,56.3,108.1\n14.6,164.2,122.4,56.4,107.7\n",
    "cluster_step_trace_time.csv": "Step,Type,Index,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n"
    '13,rank,0,231.5,420.25,0.0,420.25,158.5\n13,stage,"(0, 1)",231.5,420.25,0.0,420.25,158.5\n',
    "cluster_communication.json": '{"(0, 1)": {"step5": {"hcom_allReduce__1@39": {"0": {"Communication Time Info": '
    '{"Start Timestamp(us)": 1764246877147674.5, "Elapse Time(ms)": 0.4}, "Communication Bandwidth Info": {"HCCS": '
    '{"Transit Size(MB)": 8.3, "Transit Time(ms)": 0.4, "Size Distribution": {"8.3": [1, 0.4]}}}}}}}}',
    "cluster_communication_matrix.json": '{"p2p": {"step5": {"send-total@39": {"0-8": {"Transport Type": "RDMA", '
    '"Transit Size(MB)": 20.9, "Transit Time(ms)": 0.8}}}}}',
    "communication_group.json": '{"collective": [[0, 1]], "p2p": [], "comm_group_parallel_info": [{"type": "collective", '
    '"rank_set": [0, 1], "group_name": "39", "group_id": "group_1", "pg_name": "dp"}]}',
}
_DATABASES: Mapping[str, str] = {
    "ascend_mindspore_profiler_0.db": f"""
        PRAGMA page_size = 1024;
        {TABLES}
        CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);
        INSERT INTO STEP_TIME VALUES (1, 1764246877073569600, 1764246877073569900);""",
    "analysis.db": """
        CREATE TABLE StepTraceTime (step TEXT, computing NUMERIC, communication_not_overlapped NUMERIC, overlapped NUMERIC,
            communication NUMERIC, free NUMERIC, stage NUMERIC, bubble NUMERIC, preparing NUMERIC);
        CREATE TABLE CommAnalyzerTime (hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC, elapse_time NUMERIC,
            transit_time NUMERIC, wait_time NUMERIC, synchronization_time NUMERIC, idle_time NUMERIC, step TEXT, type TEXT);
        INSERT INTO StepTraceTime VALUES ('step5', 10.5, 1.5, 0.5, 2.0, 3.0, 15.0, 0.0, 0.25);
        INSERT INTO CommAnalyzerTime VALUES
            ('hcom_allReduce__1@2', 'g', 1736412474757059.5, 2.5, 0.5, 1.5, 0.25, 0.5, 'step5', 'collective');""",
    "cluster_analysis.db": """
        CREATE TABLE CommunicationGroupMapping (type TEXT, rank_set TEXT, group_name TEXT, group_id TEXT, pg_name TEXT);
        CREATE TABLE ClusterStepTraceTime (step TEXT, type TEXT, "index" TEXT, computing REAL, free REAL);
        CREATE TABLE ClusterCommunicationTime (step TEXT, rank_id INTEGER, hccl_op_name TEXT, group_name TEXT,
            start_timestamp NUMERIC, elapsed_time NUMERIC);
        CREATE TABLE ClusterCommunicationMatrix (step TEXT, hccl_op_name TEXT, group_name TEXT, src_rank REAL, dst_rank REAL,
            transport_type TEXT, transit_size NUMERIC, transit_time NUMERIC);
        INSERT INTO CommunicationGroupMapping VALUES ('collective', '(0,2)', '39', '', '');
        INSERT INTO ClusterStepTraceTime VALUES ('13', 'rank', '0', 231.5, 158.5);
        INSERT INTO ClusterCommunicationTime VALUES ('step13', 0, 'hcom_allReduce__1', '39', 1764246877147674.5, 0.5);
        INSERT INTO ClusterCommunicationMatrix VALUES ('step13', 'allreduce-total', '39', 0.0, 2.0, 'HCCS', 8.5, 0.5);""",
}
_GIF = b"GIF89a\x02\x00\x03\x00\x00\x00\x00;"
_JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xc0\x00\x11\x08\x00\x03\x00\x02\x03\xff\xd9"
_WEBP = b"RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00/\x01\x80\x00\x00" + bytes(12)

Files = tuple[bytes, ...]
Named = tuple[str, Files]
"""The name of a file, as its reader finds it, and contents."""


class Seeds:
    """Files by what they are for. Nothing is read before it is asked for."""

    def recorded(self, kind: str) -> dict[str, Named]:
        """Return the files of a kind in `parsers.registry` by the ending of their names."""
        return self._by_suffix({name: paths for name, paths in self._found.items() if _recorded_kind(name) == kind})

    def profiles(self, kind: str) -> dict[str, Named]:
        """Return the files of a kind in `parsers.profiler.registry` by the ending of their names."""
        return self._profiles[kind]

    @cached_property
    def _profiles(self) -> dict[str, dict[str, Named]]:
        names: dict[str, dict[str, list[bytes]]] = {kind: {} for kind in FILE_KINDS}
        for name, contents in self._found.items():
            known = classify(name)
            if known is not None:
                names[known[0]][name] = contents
        return {kind: self._by_suffix(found) for kind, found in names.items()}

    def graphs(self, form: GraphFormat) -> Files:
        """Return the graphs of a format, in files of their own and in event files."""
        files = [data for _, data in self._all("graph") if format_of(data[:HEAD], "") is form]
        inside = {"mindspore": ("events",), "tensorflow": ("tensorboard",)}.get(form.name, ())
        files += [data for reader in inside for data in self.values(reader, "graph")]
        return _chosen([*files, *([small()] if form.name == "onnx" else [])])

    def values(self, reader: str, kind: str) -> Files:
        """Return the messages of values of a kind in the event files of a reader."""
        return _chosen(self._values.get((reader, kind), [b"\x0a\x01x\x12\x00"]))

    @cached_property
    def _values(self) -> dict[tuple[str, str], list[bytes]]:
        found: dict[tuple[str, str], list[bytes]] = {}
        with tempfile.TemporaryDirectory() as folder:
            for kind in (kind.name for kind in KINDS if isinstance(kind, EventReader)):
                for name, data in self._all(kind):
                    path = Path(folder, name)
                    path.write_bytes(data)
                    for value_kind, value in _messages(path):
                        found.setdefault((kind, value_kind), []).append(value)
                    path.unlink()
        return found

    def plans(self) -> Files:
        """Return plans for landscapes."""
        written = b'{"epoch_group": {"0": [1, 2]}, "model_params_file_map": {"1": "a"}, "unit": "epoch", "step_per_epoch": 5}'
        return _chosen([*self._others(re.escape(os.path.basename(PLACE))), written])

    def arrays(self) -> Files:
        """Return .npy files."""
        made = io.BytesIO()
        np.save(made, np.arange(6, dtype=np.float32).reshape(2, 3))
        return _chosen([*self._others(r".*\.npy"), made.getvalue()])

    def named(self, pattern: str) -> list[bytes]:
        """Return some files whose names match a pattern, of different sizes."""
        return list(_chosen(self._others(pattern)))[:12]

    def images(self) -> Files:
        """Return encoded images of all types."""
        header = b"IHDR" + bytes((0, 0, 0, 2, 0, 0, 0, 3, 8, 0, 0, 0, 0))
        png = SIGNATURE + b"".join(map(_chunk, (header, b"IDAT" + zlib.compress(bytes(9)), b"IEND")))
        return _chosen([*self._others(r".*\.(?:png|jpe?g|gif|webp)"), png, _GIF, _JPEG, _WEBP])

    def snapshots(self) -> Files:
        """Return snapshots of runs."""
        found = []
        with tempfile.TemporaryDirectory() as folder:
            for kind in (kind.name for kind in KINDS if isinstance(kind, EventReader)):
                for name, data in self._all(kind):
                    Path(folder, name).write_bytes(data)
                    with suppress(MindscopeError):
                        found.append(b"".join(dump(list(open_run(Path(folder, name)).states.values())) or ()))
                    Path(folder, name).unlink()
        return _chosen([one for one in found if len(one) <= LARGEST])

    def frame_snapshots(self) -> Files:
        """Return snapshots of frames of profiles."""
        found = []
        with tempfile.TemporaryDirectory() as folder:
            for kind in FILE_KINDS:
                for name, files in self.profiles(kind).values():
                    path = Path(folder, name)
                    path.write_bytes(files[0])
                    profile = Profile("", 0, (ProfileFile(str(path), name, kind, 0, len(files[0]), 0),))
                    frames = [FRAMES[frame] for frame in FRAMES if profile.gives(frame)]
                    parts = [frame_snapshot.dump(one, profile.frame(one.name), profile.problems) for one in frames]
                    found += [b"".join(part) for part in parts if part is not None]
        return _chosen([one for one in found if len(one) <= LARGEST])

    def notes(self) -> Files:
        """Return files of remarks, tags, views and marks."""
        notes = {"k1": RunNote("/a", Note('"so"\nfar 训练', (":star", "paper"))), "k2": RunNote("/b", Note("", (":bug",)))}
        views = {"v1": SavedView("/data", NamedView("v1", "Losses", "scalars?run=a&smooth=0.6"))}
        marks = {"m1": SavedMark("k1", "/a", Mark("m1", "stall", "profiler", 3, (1200, 5600)))}
        return encode(Content(notes, views, marks)), encode(Content(notes, views)), encode(Content()), encode(Content(notes))

    # Where they come from ----------------------------------------------------------------------------------------------

    @cached_property
    def _found(self) -> dict[str, list[bytes]]:
        """Contents of the files of every known kind by name, cut where they are large."""
        found: dict[str, list[bytes]] = {}
        for path in _paths():
            name = os.path.basename(path)
            if (classify(name) or _recorded_kind(name)) and (data := _cut(path, name)):
                found.setdefault(name, []).append(data)
        for name, text in (*FILES.items(), *_WRITTEN.items()):
            found.setdefault(name, []).append(text.encode())
        for name, script in _DATABASES.items():
            with closing(sqlite3.connect(":memory:")) as connection:
                connection.executescript(script)
                found.setdefault(name, []).append(connection.serialize())
        found["msprof_20240101.db"] = found["ascend_mindspore_profiler_0.db"]
        found["model.onnx"] = [small()]
        found.update({name: [data] for name, data in _made_events().items()})
        return found

    def _all(self, kind: str) -> Iterator[tuple[str, bytes]]:
        for name, contents in sorted(self._found.items()):
            if _recorded_kind(name) == kind:
                yield from ((name, data) for data in contents)

    def stored_traces(self) -> Files:
        """Return stored traces: the length of the header in four bytes, the header, the columns."""
        found = []
        with tempfile.TemporaryDirectory() as folder:
            for kind in TRACE_FILES:
                for name, files in self.profiles(kind.name).values():
                    path = Path(folder, name)
                    path.write_bytes(files[0])
                    storage.write(sources.read(str(path)), folder)
                    header, columns = (Path(folder, part).read_bytes() for part in (storage.HEADER, storage.COLUMNS))
                    found.append(len(header).to_bytes(4, "little") + header + columns)
        return _chosen([one for one in found if len(one) <= LARGEST])

    def _by_suffix(self, names: Mapping[str, list[bytes]]) -> dict[str, Named]:
        found: dict[str, list[tuple[str, bytes]]] = {}
        for name, contents in sorted(names.items()):
            found.setdefault(_suffix(name), []).extend((name, data) for data in contents)
        # The shortest name is the plainest one.
        return {
            suffix: (min((name for name, _ in files), key=lambda name: (len(name), name)), _chosen([data for _, data in files]))
            for suffix, files in sorted(found.items())
        }

    def _others(self, pattern: str) -> list[bytes]:
        fitting = re.compile(pattern)
        paths = [path for path in _paths() if fitting.fullmatch(os.path.basename(path)) and os.path.getsize(path) <= LARGEST]
        return [Path(path).read_bytes() for path in paths[:: max(1, len(paths) // 200)]]


def _recorded_kind(name: str) -> str:
    found = kind_of(name)
    return found[0].name if found is not None and classify(name) is None else ""


def _suffix(name: str) -> str:
    return next((suffix for suffix in _SUFFIXES if name.endswith(suffix)), "")


@cache
def _paths() -> tuple[str, ...]:
    """Return every file of tests/data and of MINDSCOPE_TEST_DATA."""
    roots = [str(ROOT / "tests" / "data"), os.environ.get("MINDSCOPE_TEST_DATA", "")]
    found = [os.path.join(folder, name) for root in roots if root for folder, _, names in os.walk(root) for name in names]
    return tuple(sorted(path for path in found if not path.endswith(".golden") and os.path.isfile(path)))


def _cut(path: str, name: str) -> bytes:
    """Return a file, or as much of its beginning as LARGEST allows; nothing if it cannot be cut."""
    with open(path, "rb") as file:
        data = file.read(LARGEST + 1)
    kind = _recorded_kind(name)
    if len(data) > CUT and kind and isinstance(reader_named(kind), EventReader):
        return join_records(split_records(data[:CUT])) or join_records(split_records(data)[:3])
    if len(data) > CUT and kind != CONFIG and _suffix(name) in (".csv", ".txt", ".ir", ".dot", ""):
        return data[: data.rfind(b"\n", 0, CUT) + 1]
    return data if len(data) <= LARGEST else b""


def _chosen(files: Iterable[bytes]) -> Files:
    """Return at most MOST different files: half of them the smallest, the others of all sizes."""
    distinct = {hashlib.sha256(data).digest(): data for data in files}
    ordered = [data for _, data in sorted(distinct.items(), key=lambda one: (len(one[1]), one[0]))]
    rest = ordered[MOST // 2 :]
    step = max(1, -(-len(rest) // (MOST // 2)))
    return (*ordered[: MOST // 2], *rest[step - 1 :: step])


def _messages(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield kind and bytes of some values of an event file."""
    run = open_run(path)
    for kind in run.kinds():
        for tag in run.tags(kind)[:5] if kind not in ("scalar", CONFIG, "profile") else ():
            with suppress(MindscopeError):
                data = bytes(run.raw(kind, tag, 0))
                if len(data) <= LARGEST:
                    yield kind, data


def _made_events() -> dict[str, bytes]:
    """One event file of each form with every kind of value that our writer knows."""
    found = {}
    values = np.linspace(-1, 1, 12).reshape(3, 4)
    with tempfile.TemporaryDirectory() as folder:
        for name, form in (("x.out.events.summary.1.h_MS", "mindspore"), ("events.out.tfevents.1.h", "tensorboard")):
            with EventWriter(os.path.join(folder, name), form) as writer:
                for step in range(3):
                    texts = {"text": Text("# a *text*")} if form == "tensorboard" else {}
                    image = Image(_GIF, 3, 2)
                    writer.add(step, {"loss": 0.5, "h": Histogram(values), "t": Tensor(values), "i": image, **texts})
            found[name] = Path(folder, name).read_bytes()
    return found


def _chunk(content: bytes) -> bytes:
    return (len(content) - 4).to_bytes(4, "big") + content + zlib.crc32(content).to_bytes(4, "big")

