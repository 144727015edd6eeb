"""Reads parallel_strategy_<r>.json: how MindSpore cut a model over devices, and the graph that one rank runs.

Written by the profiler of MindSpore 2.0 to 2.2 (`parallel_strategy=True`) in parallel modes. ProfilingParallel of
profiling_parallel.proto as JSON: {config: {rankId, stageId, parallelType, stageDevices}, graph: {node, parameters, constVals}}.
stageDevices lists the ranks of every stage. Not read: outputs of the graph and source lines.

A node of 10,000 takes 3 kB, so the file is read a MB at a time and cut between nodes. Damaged nodes are reported and skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from parsers.deferred import pandas as pd
from parsers.files import RegularFile
from parsers.json_text import all_encodable
from parsers.profile_frames import STRATEGIES
from parsers.profiler.frame_parts import FramePart, FrameReader, ProfileFileKind, ProfileInput, categorical, frame_of, numbered
from parsers.profiler.groups import MOST_RANKS
from parsers.profiler.json_entries import Scan
from parsers.profiler.lines import Complaints
from parsers.profiler.progress import report_read
from parsers.profiler.strategy_values import output_of, shards_of, type_named, value_text
from parsers.profiler.tables import NONE

MODES = ("data_parallel", "semi_auto_parallel", "auto_parallel")
"""Parallel modes, as parallelType has them."""
MOST_NODES = 500_000
"""Maximum operators, parameters and constants of a file; the rest is not shown."""
LONGEST_NODE = 4 << 20
"""Maximum bytes of one node."""
HEAD = 4 << 20
"""Bytes of a file in which config is looked for: that of 10,000 ranks has 0.6 MB, and it comes first."""
BLOCK = 1 << 20
STRATEGY_NAMES = ("gen_strategy", "in_strategy")
"""Attributes with the strategy of an operator: as generated, and as set by the user."""
REDISTRIBUTION, GRADIENT = "redistribution", "gradient"
_INSERTED = (("grad_mirror", GRADIENT), ("redistribution", REDISTRIBUTION))
_CONFIG = re.compile(rb'"config"\s*:\s*(?=\{)')
_DEPTH = 3
"""Braces around what a node holds: those of the file, of graph, and its own."""
_SECTIONS = ("node", "parameters", "constVals")
_TEXTS = (
    "name", "kind", "full_name", "scope", "type", "instance", "phase", "inserted", "strategy", "strategy_from", "output_type",
    "shape", "attributes",
)  # fmt: skip
_KNOWN, _SHORT = 20_000, 2_000
"""Attributes that are remembered by their bytes, and the most bytes of one: those of one type of operator are mostly equal."""


class _Input(msgspec.Struct, gc=False):
    name: str = ""
    type: str = ""


class _Attribute(msgspec.Struct, gc=False):
    name: str = ""
    value: msgspec.Raw = msgspec.Raw(b"null")


class _Node(msgspec.Struct, gc=False, rename="camel"):
    name: str = ""
    op_type: str = ""
    scope: str = ""
    full_name: str = ""
    instance_name: str = ""
    input: list[_Input] = []
    attribute: list[_Attribute] = []
    output_type: msgspec.Raw = msgspec.Raw(b"null")


class _Other(msgspec.Struct, gc=False):
    """A parameter (name, type) or a constant (key, value)."""

    name: str = ""
    key: str = ""
    type: msgspec.Raw = msgspec.Raw(b"null")
    value: msgspec.Raw = msgspec.Raw(b"null")


class _StrategyFile(msgspec.Struct):
    config: msgspec.Raw = msgspec.Raw(b"null")


@dataclass(frozen=True, slots=True)
class StrategyConfig:
    """What a file says of the job: its rank and stage (-1 for unknown), parallel mode ("" for unknown), ranks of all stages."""

    rank: int = NONE
    stage: int = NONE
    mode: str = ""
    stages: tuple[tuple[int, ...], ...] = ()


def read_config(path: str, complaints: Complaints) -> StrategyConfig | None:
    """Read config alone; None if there is none. Never raises for the content of the file."""
    try:
        with RegularFile(path) as file:
            if not file.size:
                complaints.add("The file is empty.", "empty_file")
                return None
            head = file.read(0, min(file.size, HEAD))
            report_read(len(head))
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}); what is in it is not shown.", "unreadable")
        return None
    found = _CONFIG.search(head)
    told = _first_object(head[found.end() :]) if found is not None else None
    if told is None:
        told = _config_in(head)
    if told is None:
        text = f"Expected config with the stages in the first {len(head):,} bytes of JSON; the stage of this rank is unknown."
        complaints.add(text)
        return None
    return _config(told, complaints)


def _first_object(data: bytes) -> dict[str, Any] | None:
    """Decode the JSON object that bytes begin with; None if it is not complete, or damaged."""
    try:
        found = json.JSONDecoder().raw_decode(data.decode("utf-8", "replace"))[0]
        return all_encodable(found) if isinstance(found, dict) else None
    except (ValueError, RecursionError):
        return None


def _config_in(data: bytes) -> dict[str, Any] | None:
    """Decode config of a whole file, wherever it is."""
    try:
        found = msgspec.json.decode(bytes(msgspec.json.decode(data, type=_StrategyFile).config))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _config(told: Mapping[str, Any], complaints: Complaints) -> StrategyConfig:
    rank, stage = _number(told.get("rankId")), _number(told.get("stageId"))
    mode = told.get("parallelType")
    if not isinstance(mode, str) or mode not in MODES:
        complaints.add(f"config.parallelType: expected one of {', '.join(MODES)}, found {str(mode)[:40]}.")
    stages = []
    listed = told.get("stageDevices")
    for number, one in enumerate(listed if isinstance(listed, list) else ()):
        ranks = _ranks(one)
        if ranks is None:
            complaints.add(f"config.stageDevices[{number}]: expected ranks under dim, found other content; it has no ranks.")
        stages.append(ranks or ())
    if not stages:
        complaints.add("config.stageDevices: expected the ranks of each stage, found none.")
    if stage == NONE:
        complaints.add("config.stageId: expected the number of the stage, found none.")
    elif stages and stage >= len(stages):
        complaints.add(f"config.stageId: expected a stage below {len(stages):,}, as stageDevices has them, found {stage:,}.")
    return StrategyConfig(rank, stage, mode[:40] if isinstance(mode, str) else "", tuple(stages))


def _ranks(told: Any) -> tuple[int, ...] | None:
    dims = told.get("dim") if isinstance(told, dict) else None
    if not isinstance(dims, list) or len(dims) > MOST_RANKS:
        return None
    ranks = [_number(one.get("size")) if isinstance(one, dict) else NONE for one in dims]
    return None if NONE in ranks else tuple(sorted(set(ranks)))


def _number(value: Any) -> int:
    """Return a whole number from 0 to 10^9, which protobuf's JSON may have as text; NONE for anything else."""
    text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else NONE


# The graph -------------------------------------------------------------------------------------------------------------------


def strategies(source: ProfileInput) -> FramePart:
    """Operators, parameters and constants in file order; inputs are numbers of rows of the file."""
    complaints = Complaints(source.path)
    rows = _StrategyRows(complaints)
    try:
        with RegularFile(source.path) as file:
            if not file.size:
                complaints.add("The file is empty.", "empty_file")
            else:
                for section, piece in _pieces(file, complaints):
                    rows.add(section, piece)
                if not rows.columns["name"] and not complaints.problems:
                    complaints.add("Expected a graph with nodes, found none.")
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}); what is in it is not shown.", "unreadable")
    return FramePart(rows.frame(source.name), complaints.all())


@dataclass(slots=True)
class _StrategyRows:
    """Collects rows; the first operator of a name is what inputs of that name take."""

    complaints: Complaints
    columns: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in _TEXTS})
    inputs: list[list[_Input]] = field(default_factory=list)
    known: dict[tuple[Callable[[Any], Any], bytes], Any] = field(default_factory=dict)

    def add(self, section: str, piece: bytes) -> None:
        """Add what one object of a section holds."""
        number = len(self.inputs)
        try:
            if section == "node":
                self._operator(msgspec.json.decode(piece, type=_Node))
            elif section == "parameters":
                told = msgspec.json.decode(piece, type=_Other)
                self._other("parameter", told.name, self._remembered(bytes(told.type), output_of))
            else:
                told = msgspec.json.decode(piece, type=_Other)
                shown, output_type = self._remembered(bytes(told.value), constant_of)
                self._other("constant", told.key, (output_type, ""), _json({"value": shown}))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            del self.inputs[number:]
            for values in self.columns.values():
                del values[number:]
            self.complaints.add(f"graph.{section}: expected an object as MindSpore writes it, found: {error}; it was skipped.")

    def _operator(self, node: _Node) -> None:
        attributes: dict[str, str] = {}
        strategy = strategy_from = ""
        for one in node.attribute:
            raw = bytes(one.value)
            attributes[one.name] = self._remembered(raw, value_text)
            if one.name in STRATEGY_NAMES and one.name != strategy_from and strategy_from != STRATEGY_NAMES[0]:
                shards = shards_of(msgspec.json.decode(raw))
                if shards is None:
                    found = attributes[one.name][:60]
                    self.complaints.add(f"{node.full_name[:100]}: expected numbers of shards in {one.name}, found {found}.")
                else:
                    strategy, strategy_from = shards, one.name
        full_name = node.full_name or node.name
        output = self._remembered(bytes(node.output_type), output_of)
        inserted = next((what for word, what in _INSERTED if word in node.instance_name), "")
        self._row(
            name=node.name, kind="operator", full_name=full_name, scope=node.scope, type=node.op_type,
            instance=node.instance_name, phase=phase_of(node.scope or full_name), inserted=inserted, strategy=strategy,
            strategy_from=strategy_from, output_type=output[0], shape=output[1], attributes=_json(attributes),
        )  # fmt: skip
        self.inputs.append(node.input)

    def _other(self, kind: str, name: str, output: tuple[str, str], attributes: str = "") -> None:
        self._row(
            name=name, kind=kind, full_name=name, scope="", type="Parameter" if kind == "parameter" else "Const", instance="",
            phase="", inserted="", strategy="", strategy_from="", output_type=output[0], shape=output[1], attributes=attributes,
        )  # fmt: skip
        self.inputs.append([])

    def _row(self, **cells: str) -> None:
        for name, values in self.columns.items():
            values.append(cells[name])

    def _remembered(self, raw: bytes, read: Callable[[Any], Any]) -> Any:
        """Return what `read` makes of JSON; of what comes again and again it is made once."""
        key = read, raw
        found = self.known.get(key)
        if found is None:
            found = read(msgspec.json.decode(raw))
            if len(raw) <= _SHORT and len(self.known) < _KNOWN:
                self.known[key] = found
        return found

    def frame(self, file: str) -> pd.DataFrame:
        """Return all rows (schema STRATEGIES)."""
        first: dict[str, int] = {}
        twice: dict[str, None] = {}
        for number, name in enumerate(self.columns["name"]):
            if first.setdefault(name, number) != number:
                twice[name] = None
        lost: dict[str, None] = {}
        inputs = []
        for own in self.inputs:
            found = []
            for one in own:
                place = first.get(one.name, NONE)
                if place == NONE:
                    lost[one.name] = None
                found.append(f"{'^' if one.type == 'CONTROL_EDGE' else ''}{place}")
            inputs.append(";".join(found))
        self._tell(("input names", "inputs name"), "no node of the graph", lost, "what takes it has one input less")
        self._tell(("name is", "names are"), "given to several nodes", twice, "inputs of such a name take the first one")
        made: dict[str, Any] = {name: categorical(values) for name, values in self.columns.items()}
        made |= {"number": np.arange(len(inputs)), "inputs": categorical(inputs)}
        return frame_of(STRATEGIES, len(inputs), made, file)

    def _tell(self, verbs: tuple[str, str], what: str, names: Mapping[str, None], so: str) -> None:
        if names:
            shown = ", ".join(name[:60] for name in list(names)[:3]) + (", …" if len(names) > 3 else "")
            self.complaints.add(f"{len(names):,} {verbs[len(names) > 1]} {what} ({shown}); {so}.", "bad_graph")


def constant_of(value: Any) -> tuple[str, str]:
    """Return the text and the type of a ValueProto: the type of its tensor, else its data type; "" for unknown."""
    about = value if isinstance(value, dict) else {}
    tensor = about.get("tensorVal")
    if isinstance(tensor, dict):
        return value_text(value), f"Tensor[{type_named(tensor.get('dataType'))}]"
    return value_text(value), type_named(about.get("dtype"))


def phase_of(scope: str) -> str:
    """Return forward, backward, recompute or optimizer, by the scope of an operator.

    MindSpore puts `recompute_` before the scope of what is computed again, gradients below Gradients, and the optimizer into a
    scope of its name.
    """
    parts = scope.split("/")
    if parts[0].startswith("recompute_"):
        return "recompute"
    if "Gradients" in parts:
        return "backward"
    if any(part.lower().startswith("optimizer") for part in parts):
        return "optimizer"
    return "forward"


def _json(texts: Mapping[str, str]) -> str:
    return json.dumps(texts, ensure_ascii=False) if texts else ""


def _pieces(file: RegularFile, complaints: Complaints) -> Iterator[tuple[str, bytes]]:
    """Yield (section, bytes) of each object in graph.node, graph.parameters and graph.constVals: those at depth three."""
    scan = Scan()
    outer = section = ""
    pending = bytearray()  # from the node that is not complete, or from the last brace
    inside = False
    at = number = 0
    while at < file.size:
        block = file.read(at, BLOCK)
        if not block:
            break
        report_read(len(block))
        at += len(block)
        before = len(pending)
        places, depths = scan.shallow(block, _DEPTH)
        pending += block
        begin = 0
        for place, level in zip((places + before).tolist(), depths.tolist(), strict=True):
            opens = pending[place] == 0x7B
            if level == _DEPTH and opens:
                section = _key(pending, begin, place) or section
                begin, inside = place, True
            elif inside and level == _DEPTH - 1:
                if outer == "graph" and section in _SECTIONS:
                    number += 1
                    if number > MOST_NODES:
                        complaints.add(f"Expected at most {MOST_NODES:,} nodes, found more; the rest is not shown.")
                        return
                    yield section, bytes(pending[begin : place + 1])
                begin, inside = place + 1, False
            elif not inside:
                if level == _DEPTH - 1:
                    outer, section = _key(pending, begin, place), ""
                begin = place + 1
        del pending[:begin]
        if scan.depth < 0:
            complaints.add("Expected JSON, found more braces that close than that open; what comes before is shown.")
            return
        if len(pending) > LONGEST_NODE:
            complaints.add(f"Expected nodes of at most {LONGEST_NODE:,} bytes, found a longer one; the rest was skipped.")
            return
    if scan.depth > 0:
        complaints.add("The file ends within its JSON; what comes before is shown.", "truncated")


_LAST_KEY = re.compile(rb'"([^"\\]{0,60})"\s*:\s*[\[\s]*\Z')


def _key(data: bytearray, begin: int, end: int) -> str:
    """Return the key before a brace, as in `"node": [ {`; "" for none."""
    found = _LAST_KEY.search(data, max(begin, end - 400), end)
    return found[1].decode("utf-8", "replace") if found else ""


# What is registered in `parsers.profiler.registry` ----------------------------------------------------------------------------

PARALLEL_STRATEGY = ProfileFileKind("parallel_strategy", numbered("parallel_strategy", "json"), marks_profile=True)
STRATEGIES_OF_FILE = FrameReader(STRATEGIES, PARALLEL_STRATEGY, strategies)
