"""The frames of a dump: which tensors it holds, their statistics, and what follows from them.

Times are ns, sizes bytes. -1 stands for an unknown whole number, NaN for an unknown value.
"""

from __future__ import annotations

from collections.abc import Mapping

from parsers.schema import Column, Schema

_RANK = Column("rank", "int64", "", "rank; 0 where the dump names none")
_PART = Column("part", "category", "", "directory of the rank: rank_0, rank1, proc4711")
_GRAPH = Column("graph", "int64", "", "number of the graph; -1 for none, as in msprobe's dumps")
_ITERATION = Column("iteration", "int64", "", "iteration, or step of msprobe, from 0; -1 for constants")
_NAME = Column("name", "category", "", "operator with its scopes, as in the graph or the execution order; else as in the file")
_IO = Column("io", "category", "", "input, output, parameter, constant, gradient (of a parameter), or saved (by a user)")
_SLOT = Column("slot", "int64", "", "which input or output, from 0")
_KEY = Column(
    "key", "category", "", "place within nested arguments, or name of a parameter: weight, kwargs.x, 0.h; mostly empty"
)
_DTYPE = Column("dtype", "category", "", "type of the values: float32, bfloat16, int64 ...; empty for unknown")
_SHAPE = Column("shape", "category", "", "shape such as 32x3x224x224; [] for a scalar, empty for unknown")
_ROW = Column("row", "int64", "", "row in the frame of tensors")
_TYPE = Column("type", "category", "", "operator type")
_LINE = Column("source", "category", "", "line of the program: file:line code; empty for unknown")
_PLACE = (_RANK, _PART, _GRAPH, _ITERATION)
_OUTPUT = (_NAME, _IO, _SLOT)
_TENSOR = (_ROW, _RANK, _ITERATION, *_OUTPUT)

DUMP_TENSORS = Schema(
    "dump_tensors",
    "The tensors of a dump by rank, graph and iteration, in the order they were written. No tensor has been read: dtype and "
    "shape are those that file names, tables and JSON state.",
    (
        _RANK,
        _PART,
        Column("net", "category", "", "name of the network; empty for none"),
        _GRAPH,
        _ITERATION,
        Column("type", "category", "", "operator type, module class or API"),
        _NAME,
        Column("recorded", "category", "", "operator as the file names it; its -op<n> may differ from that of the graph"),
        Column("scope", "category", "", "scopes the operator is in, separated by /; empty at the top"),
        _IO,
        _SLOT,
        _KEY,
        _DTYPE,
        _SHAPE,
        Column("format", "category", "", "layout of the values as the dump names it: DefaultFormat, ND, NC1HWC0 ..."),
        Column("size_bytes", "int64", "B", "size of the file; of the values where they are a part of a file or in none"),
        Column("time_ns", "int64", "ns", "when it was written, by the clock of the host; -1 for unknown"),
        Column("order", "int64", "", "position of the operator in the execution order of its graph; -1 for unknown"),
        Column(
            "occurrence", "int64", "", "how often this tensor was written before in the same iteration: loops, repeated runs"
        ),
        Column(
            "parameter", "category", "", "parameter that this tensor is: of files of parameters, and of inputs by the graph"
        ),
        Column("file", "str", "", "file below the directory of the run; empty where there are only statistics"),
    ),
)

DUMP_STATISTICS = Schema(
    "dump_statistics",
    "Statistics of tensors. Of those computed here, moments, max and min are of the finite values; those of a file are as "
    "written there.",
    (
        *_TENSOR,
        _DTYPE,
        _SHAPE,
        Column("max", "float64", "", "greatest value"),
        Column("min", "float64", "", "least value"),
        Column("mean", "float64", "", "mean"),
        Column("std", "float64", "", "standard deviation of the population"),
        Column("l2", "float64", "", "L2 norm"),
        Column("abs_mean", "float64", "", "mean of the absolute values"),
        Column("count", "int64", "", "number of values"),
        Column("zero", "int64", "", "zeros"),
        Column("negative", "int64", "", "values below zero, -Inf included"),
        Column("positive", "int64", "", "values above zero, Inf included"),
        Column("nan", "int64", "", "NaN"),
        Column("positive_inf", "int64", "", "+Inf"),
        Column("negative_inf", "int64", "", "-Inf"),
        Column("non_finite", "int64", "", "1 if there is NaN or Inf, 0 if there is none, -1 for unknown"),
        Column("hash", "category", "", "hash of the bytes as the file has it: MD5, SHA1, CRC-32; empty for none"),
        Column("source", "category", "", "statistic.csv, dump.json, computed; empty where the tensor cannot be read"),
    ),
)

DUMP_COMPUTED = Schema(
    "dump_computed",
    "Statistics that were computed, with what tells whether the file is still the same: the index keeps them.",
    (
        Column("file", "category", "", "file below the directory of the run"),
        Column("offset", "int64", "B", "where the values begin in a file of several tensors; -1 for a file of its own"),
        Column("size_bytes", "int64", "B", "size, as in the frame of tensors"),
        Column("mtime_ns", "int64", "ns", "time of the last change of the file"),
        _DTYPE,
        _SHAPE,
        *DUMP_STATISTICS.columns[8:21],
    ),
)

DUMP_EXECUTIONS = Schema(
    "dump_executions",
    "Runs of graphs: those of root graphs as the dump lists them, with or without data, and others as their files show.",
    (
        *_PLACE,
        Column("order", "int64", "", "position among the runs of this graph"),
        Column("listed", "bool", "", "whether the dump lists the run; else it is known by its tensors only"),
        Column("tensors", "int64", "", "tensors dumped in it; 0 for none"),
        Column("time_ns", "int64", "ns", "time of the first of them; -1 for unknown"),
    ),
)

DUMP_OVERFLOWS = Schema(
    "dump_overflows",
    "Overflows that an Ascend device reported. The record names task and stream; the operator is the first other file of the "
    "directory with both.",
    (
        _RANK,
        _ITERATION,
        Column("name", "category", "", "operator as its file names it; empty if no file has the task and stream"),
        _TYPE,
        Column("unit", "category", "", "what overflowed: AI Core, L2 Atomic Add, AIC, AIV, AICPU, SDMA ..."),
        Column("task", "int64", "", "task id; -1 if the record has none"),
        Column("stream", "int64", "", "stream id; -1 if the record has none"),
        Column("status", "int64", "", "status word; 0 is no overflow"),
        Column("time_ns", "int64", "ns", "time in the file name; -1 for unknown"),
        Column("file", "category", "", "file of the record, below the directory of the run"),
    ),
)

DUMP_HITS = Schema(
    "dump_hits",
    "What watchpoints found: hits, and checks that were not possible. Values are those of the finite part of a tensor.",
    (
        Column("watchpoint", "int64", "", "position of the watchpoint among those checked"),
        Column("condition", "category", "", "condition, such as tensor_overflow"),
        Column("parameter", "category", "", "parameter that was compared; empty for a condition without any"),
        _ROW,
        _RANK,
        _GRAPH,
        _ITERATION,
        *_OUTPUT,
        Column("wanted", "float64", "", "limit; NaN for a condition without any"),
        Column("actual", "float64", "", "measured value; number of NaN and Inf for overflows; NaN for unknown"),
        Column("hit", "bool", "", "whether the condition holds"),
        Column("excluded", "int64", "", "NaN and Inf left out; -1 for unknown"),
        Column(
            "why", "category", "", "why it cannot be checked: no previous, no values, unreadable, shapes differ; else empty"
        ),
    ),
)

DUMP_CAUSES = Schema(
    "dump_causes",
    "Where values went bad: of each rank and iteration the first operator in the order of execution, the earliest first.",
    (
        _RANK,
        _PART,
        _ITERATION,
        Column("kind", "category", "", "non_finite, exploding or vanishing"),
        Column(
            "origin", "category", "",
            "here: inputs are fine; before: an input was bad already, in the iteration before; rank: of another rank; "
            "unknown: inputs were not dumped",
        ),
        _GRAPH,
        _NAME,
        _TYPE,
        _ROW,
        Column("nan", "int64", "", "NaN in the output; -1 for unknown"),
        Column("inf", "int64", "", "+Inf and -Inf in the output; -1 for unknown"),
        Column("measured", "float64", "", "L2 norm of the output where it explodes or vanishes; else NaN"),
        Column("usual", "float64", "", "median L2 norm of the iterations before; else NaN"),
        _LINE,
        Column("from_rank", "int64", "", "rank that the bad values came from; -1 for this one"),
        Column("from_name", "category", "", "operator or parameter that they came from; empty for this one or unknown"),
        Column(
            "grown", "float64", "",
            "norm of the parameter in from_name after its last update as a multiple of that before it; NaN for anything else",
        ),
        Column("affected", "int64", "", "operators with bad outputs in this iteration"),
        Column("operators", "int64", "", "operators dumped in this iteration"),
    ),
)  # fmt: skip

DUMP_SPREAD = Schema(
    "dump_spread",
    "How bad values spread in one iteration of a rank: operators with bad outputs in the order of execution.",
    (
        _ROW,
        _GRAPH,
        _NAME,
        _TYPE,
        Column("hops", "int64", "", "operators between it and the first one along the graph; -1 for unknown"),
        Column("nan", "int64", "", "NaN in its worst output; -1 for unknown"),
        Column("inf", "int64", "", "+Inf and -Inf in it; -1 for unknown"),
        Column("bad_inputs", "int64", "", "inputs with bad values"),
        _LINE,
        Column("place", "int64", "", "position of the operator among those dumped in the iteration, in the order they ran"),
        Column("count", "int64", "", "values of its worst output; -1 for unknown"),
    ),
)

DUMP_DEPARTURES = Schema(
    "dump_departures",
    "Outputs and parameters whose norm left its own history, once each, the earliest first.",
    (
        *_TENSOR,
        Column("kind", "category", "", "exploding or vanishing"),
        Column("measured", "float64", "", "L2 norm there"),
        Column("usual", "float64", "", "median L2 norm of the iterations before"),
        Column("decades", "float64", "", "decimal logarithm of measured / usual; -inf for a norm of 0"),
        Column("lag", "float64", "step", "iterations until the loss leaves its history; negative for before, NaN for never"),
    ),
)

_PAIR = (
    Column("place", "int64", "", "position of the operator in the order of execution of its dump"),
    Column("name", "category", "", "operator or parameter; empty if only the other dump has it"),
    _TYPE,
    Column("how", "category", "", "matched by name, without_op (name without -op<n>) or scope (with type, in order); or empty"),
    Column("other_name", "category", "", "operator of the other dump; empty for none"),
    _IO,
    _SLOT,
    _KEY,
    Column("row", "int64", "", "row in the frame of tensors; -1 for none"),
    Column("other_row", "int64", "", "row in the frame of tensors of the other dump; -1 for none"),
)

DUMP_PAIRS = Schema("dump_pairs", "Tensors of two dumps that go together, in the order of execution.", _PAIR)

DUMP_DIFFERENCES = Schema(
    "dump_differences",
    "How the tensors of two dumps differ, in the order of execution.",
    (
        *_PAIR,
        Column("by", "category", "", "values, statistics or hash; empty if they cannot be compared"),
        Column(
            "difference", "float64", "",
            "L2 norm of the difference relative to the larger norm; of statistics the greatest relative difference; Inf if NaN "
            "or Inf is in one only; NaN for unknown",
        ),
        Column("cosine", "float64", "", "cosine of both as vectors; NaN for unknown, and if one has only zeros"),
        Column("max_absolute", "float64", "", "greatest absolute difference"),
        Column("max_relative", "float64", "", "greatest difference relative to the value of the other"),
        Column("root_mean_square", "float64", "", "root mean square of the differences"),
        Column("count", "int64", "", "values; -1 for unknown"),
        Column("unlike", "int64", "", "values that are NaN or Inf in one only, or differently; -1 for unknown"),
        Column("why", "category", "", "why they cannot be compared: shapes differ, unreadable, no values, hashes differ"),
    ),
)  # fmt: skip

DUMP_FRAMES: Mapping[str, Schema] = {
    schema.name.removeprefix("dump_"): schema
    for schema in (
        DUMP_TENSORS, DUMP_STATISTICS, DUMP_EXECUTIONS, DUMP_OVERFLOWS, DUMP_HITS, DUMP_CAUSES, DUMP_SPREAD, DUMP_DEPARTURES,
    )
}  # fmt: skip
"""Frame -> its schema, by the name it has in a RunDump."""
