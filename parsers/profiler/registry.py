"""The frames of profiles: one line for each frame of each kind of file.

To add a frame, write a module with its `Schema`, its `ProfileFileKind` and a `FrameReader`, and add the reader to
FRAME_READERS. Discovery, `run.profile.<frame>`, the disk cache, CSV export and the contract tests take it from there; the
contract tests need a sample of the file under tests/data/<producer>/<version>/. A file that fills several frames in one pass
has a reader for each of them with the same `together`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from parsers.deferred import pandas as pd
from parsers.profile_frames import KERNELS, OPERATOR_TYPES, OPERATORS
from parsers.profiler import (
    ascend_output,
    communication,
    database,
    device_info,
    dynamic_shape,
    flops,
    gpu,
    host,
    legacy_ascend,
    minddata,
    strategy,
)
from parsers.profiler.derived import operators_of, types_of
from parsers.profiler.frame_parts import FrameReader, ProfileFileKind, numbered
from parsers.profiler.job_files import JOB_FILES
from parsers.profiler.kineto.frame_readers import READERS
from parsers.profiler.memory import databases, modules, operators, plan, records, snapshots, tracker
from parsers.profiler.step_times import STEPS_OF_MSPROF, STEPS_OF_PROFILER, STEPS_OF_TRACE
from parsers.profiler.trace.files import TRACE_FILES
from parsers.schema import Schema

# Rows of a frame come in the order of its readers here.
FRAME_READERS: tuple[FrameReader, ...] = (
    legacy_ascend.AICORE_DETAILS,
    legacy_ascend.AICPU,
    legacy_ascend.PYNATIVE_DETAILS,
    gpu.DETAILS,
    gpu.ACTIVITY_DATA,
    host.DETAILS,
    ascend_output.OPERATOR_DETAILS,
    ascend_output.OP_STATISTIC,
    legacy_ascend.AICORE_TYPES,
    legacy_ascend.PYNATIVE_TYPES,
    gpu.TYPES,
    host.TYPES,
    ascend_output.KERNEL_DETAILS,
    ascend_output.OP_SUMMARY,
    legacy_ascend.TIMELINE,
    gpu.ACTIVITIES,
    gpu.EXECUTIONS,
    dynamic_shape.EXECUTIONS,
    host.EXECUTIONS,
    ascend_output.DATA_PREPROCESS,
    database.KERNELS_OF_PROFILER,
    database.KERNELS_OF_MSPROF,
    dynamic_shape.SHAPES,
    ascend_output.STEP_TRACE_TIME,
    database.ANALYSIS,
    legacy_ascend.STEP_TRACE,
    legacy_ascend.REDUCES_OF_STEP_TRACE,
    STEPS_OF_TRACE,
    STEPS_OF_PROFILER,
    STEPS_OF_MSPROF,
    minddata.PIPELINE_PROFILING,
    minddata.PIPELINE_RAW,
    ascend_output.DATASET,
    minddata.DEVICE_QUEUE,
    minddata.DATASET_ITERATOR,
    minddata.GET_NEXT_ASCEND,
    minddata.GET_NEXT_GPU,
    minddata.QUEUES_OF_PROFILING,
    minddata.QUEUES_OF_RAW,
    minddata.CPU_UTILIZATION,
    minddata.MEMORY,
    host.MEMORY,
    ascend_output.API_STATISTIC,
    database.API_OF_PROFILER,
    database.API_OF_MSPROF,
    communication.OPERATORS_OF_COMMUNICATION,
    database.COMMUNICATION_OF_ANALYSIS,
    flops.SUMMARY,
    flops.SCOPES,
    device_info.DEVICES,
    device_info.NAMES_OF_PROFILER,
    device_info.NAMES_OF_MSPROF,
    records.MEMORY_RECORD,
    databases.MEMORY_OF_PROFILER,
    databases.MEMORY_OF_MSPROF,
    operators.OPERATOR_MEMORY_FILE,
    databases.BLOCKS_OF_PROFILER,
    databases.BLOCKS_OF_MSPROF,
    tracker.MEMORY_BLOCKS,
    plan.STATIC_OP_MEM,
    plan.MEMORY_SUMMARY,
    plan.MEMORY_DETAILS,
    modules.NPU_MODULE_MEM,
    databases.MODULES_OF_PROFILER,
    databases.MODULES_OF_MSPROF,
    strategy.STRATEGIES_OF_FILE,
    *READERS,
    *snapshots.READERS,
)

# Files that describe a session and hold no rows.
INFO = ProfileFileKind("profiler_info", numbered("profiler_info", "json"), marks_profile=True)
METADATA = ProfileFileKind("profiler_metadata", re.compile(r"profiler_metadata\.json"))
STEP_POINTS = ProfileFileKind("step_trace_points", numbered("step_trace_point_info", "json"))


@dataclass(frozen=True, slots=True)
class DerivedFrame:
    """Rows of one frame computed from another one, for what no file gives: compute(rows of source, known rows)."""

    schema: Schema
    source: Schema
    compute: Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame]


DERIVED: Mapping[str, DerivedFrame] = {
    derived.schema.name: derived
    for derived in (DerivedFrame(OPERATORS, KERNELS, operators_of), DerivedFrame(OPERATOR_TYPES, OPERATORS, types_of))
}

FRAMES: Mapping[str, Schema] = {reader.schema.name: reader.schema for reader in FRAME_READERS}
FILE_KINDS: Mapping[str, ProfileFileKind] = {
    kind.name: kind
    for kinds in (
        (INFO, METADATA, STEP_POINTS, *TRACE_FILES, *JOB_FILES),
        *((reader.file, *reader.also_reads) for reader in FRAME_READERS),
    )
    for kind in kinds
}


def kinds_giving(schema: Schema) -> tuple[str, ...]:
    """Return the kinds of files any of which gives a frame; those from which it is derived come last."""
    return _KINDS_GIVING[schema.name]


def _kinds_giving(name: str) -> tuple[str, ...]:
    own = tuple(dict.fromkeys(reader.file.name for reader in FRAME_READERS if reader.schema.name == name))
    derived = DERIVED.get(name)
    return own if derived is None else tuple(dict.fromkeys((*own, *_kinds_giving(derived.source.name))))


_KINDS_GIVING = {name: _kinds_giving(name) for name in FRAMES}


def display_name(kind: str) -> str:
    """Return the file name of a kind as users know it: aicore_intermediate_*_detail.csv."""
    if FILE_KINDS[kind].shown:
        return FILE_KINDS[kind].shown
    pattern = FILE_KINDS[kind].pattern.pattern
    for regex, text in ((_RANKED, ""), (_RANK, "*"), (r"(?:_\d+)*", ""), ("(?:gpu_)?", "gpu_"), ("\\.", ".")):
        pattern = pattern.replace(regex, text)
    return re.sub(r"\((?:\?:)?([^|()]*)\|[^()]*\)", r"\1", pattern)


_RANK = r"(?P<rank>\d{1,9})"
_RANKED = rf"(?:_{_RANK})?"


@lru_cache(maxsize=1 << 12)  # the ranks of a job have files of the same names
def classify(name: str) -> tuple[str, int | None] | None:
    """Return the kind of a file by its name, and the rank in it; None for a file of no interest."""
    for kind in FILE_KINDS.values():
        match = kind.pattern.fullmatch(name)
        if match is not None:
            digits = match.groupdict().get("rank")
            return kind.name, int(digits) if digits else None
    return None


_MARKS = re.compile(
    "|".join(kind.pattern.pattern.replace("(?P<rank>", "(?:") for kind in FILE_KINDS.values() if kind.marks_profile)
)


def marks_profile(name: str) -> bool:
    """Return whether a directory that holds a file of this name is a profile."""
    return _MARKS.fullmatch(name) is not None
