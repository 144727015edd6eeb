"""The frames of a job: what was read of all ranks that ran together, and what follows from comparing them.

Times are ns, sizes bytes (a MB of communication files is 10^6 bytes), bandwidth bytes per second. -1 stands for an unknown
whole number, NaN for an unknown time.
"""

from __future__ import annotations

from collections.abc import Mapping

from parsers.profile_frames import STEP_PARTS
from parsers.schema import Column, Schema

_FILE = Column("file", "category", "", "file the row is from, below the directory of the run")
_STEP = Column("step", "int64", "step", "training step; -1 where none was marked")
_GROUP = Column("group", "category", "", "hash of the group's name, as communication files have it; empty for unknown")
_SECTION = Column("section", "category", "", "p2p or collective")
_RANK = Column("rank", "int64", "", "rank whose file tells it")
_DEVICE = Column("device", "int64", "", "device, which need not have the number of the rank; -1 for unknown")
_TRANSPORT = Column("transport", "category", "", "HCCS, PCIE, SIO, RDMA, LOCAL; SDMA where nothing more is known")

GROUPS = Schema(
    "groups",
    "Groups of ranks that communicate. Several groups may have the same ranks.",
    (
        _GROUP,
        Column("name", "category", "", "name of the group; empty for unknown"),
        Column("kind", "category", "", "what it is for: dp, tp, pp, dp_cp, mp, embd, default_group ...; empty for unknown"),
        Column("ranks", "category", "", "its ranks: 0-3,8; of a group without information those in whose files it occurs"),
        Column("size", "int64", "", "number of these ranks"),
        Column("told", "category", "", "yes if a file lists the ranks, no if they are those in whose files it occurs"),
        Column("sections", "category", "", "what it does: p2p, collective or p2p;collective; empty for nothing"),
        _FILE,
    ),
)

COLLECTIVES = Schema(
    "collectives",
    "Communication operations of all ranks: how long each took and what that time consists of.",
    (
        _STEP,
        _GROUP,
        Column("name", "category", "", "operation without its group: hcom_allReduce__271_0_1; the same in all its ranks"),
        Column("kind", "category", "", "allreduce, allgather, reducescatter, alltoall, broadcast, send ...; empty for unknown"),
        _SECTION,
        _RANK,
        Column("start_ns", "int64", "ns", "begin by the clock of the rank; -1 for unknown"),
        Column("elapse_ns", "float64", "ns", "time between begin and end: transit + wait + idle"),
        Column("transit_ns", "float64", "ns", "transferring data"),
        Column("wait_ns", "float64", "ns", "waiting for other ranks, as the file has it"),
        Column("synchronisation_ns", "float64", "ns", "part of wait_ns before the first transfer"),
        Column("idle_ns", "float64", "ns", "neither transferring nor waiting"),
        Column("size_bytes", "int64", "B", "bytes sent; -1 for unknown"),
        Column("idle_explained", "category", "", "no: bytes moved but no transit or wait was recorded, so idle tells nothing"),
        Column("own_wait_ns", "float64", "ns", "elapse - least elapse of the group; NaN unless all ranks have it"),
        Column("lateness_ns", "float64", "ns", "what others waited for this rank: second least - least elapse"),
        _FILE,
    ),
)

PACKETS = Schema(
    "packets",
    "Packets of communication operations by size.",
    (
        _STEP,
        _GROUP,
        Column("name", "category", "", "operation without its group"),
        _SECTION,
        _RANK,
        _TRANSPORT,
        Column("size_bytes", "int64", "B", "size of one packet"),
        Column("count", "int64", "", "number of packets"),
        Column("time_ns", "float64", "ns", "time of all of them"),
        _FILE,
    ),
)

LINKS = Schema(
    "links",
    "Traffic between two ranks. Only rows of one class may be added: total is the sum of the single operations.",
    (
        _STEP,
        _GROUP,
        Column("name", "category", "", "type of operation (allreduce), or one operation (class single); empty for all"),
        _SECTION,
        Column("class", "category", "", "total, top1, middle, bottom1 to bottom3 (by bandwidth), single, or mean (over steps)"),
        Column("operation", "category", "", "the one operation that the row is of; empty for several"),
        _RANK,
        Column("source", "int64", "", "rank of the job that sends; -1 where only its number in the group is known"),
        Column("target", "int64", "", "rank of the job that receives; -1 as above"),
        Column("source_local", "int64", "", "number of the sender in its group, as the file has it; -1 for none"),
        Column("target_local", "int64", "", "number of the receiver in its group; -1 for none"),
        _TRANSPORT,
        Column("size_bytes", "int64", "B", "bytes transferred; -1 for unknown"),
        Column("time_ns", "float64", "ns", "time of the transfers"),
        Column("bandwidth", "float64", "B/s", "size / time; NaN where one of them is 0 or unknown"),
        _FILE,
    ),
)

CLUSTER_STEPS = Schema(
    "cluster_steps",
    "What the steps of each rank are made of, and of each stage of a pipeline. What a file does not have is NaN.",
    (
        _STEP,
        Column("kind", "category", "", "rank, stage (highest of its ranks, column by column) or mean (of a rank, as written)"),
        Column("rank", "int64", "", "rank; -1 for a stage"),
        Column("ranks", "category", "", "ranks of a stage: 0-3,8; empty otherwise"),
        _DEVICE,
        Column("total_ns", "float64", "ns", "computing + exposed communication + free; of legacy files their parts"),
        *STEP_PARTS,
        Column("bubble_ns", "float64", "ns", "bubble as the file has it, which leaves out batchSendRecv"),
        Column("exposed_without_receive_ns", "float64", "ns", "exposed communication, bubble excepted"),
        Column("receive_ns", "float64", "ns", "waiting for another stage that no computing overlaps (legacy)"),
        Column("collective_ns", "float64", "ns", "exposed communication without receive_ns (legacy)"),
        Column("preparing_ns", "float64", "ns", "before the step: its begin on the host to the first task on the device"),
        Column("interval_ns", "float64", "ns", "iteration interval: waiting for data (legacy)"),
        Column("forward_backward_ns", "float64", "ns", "forward and backward (legacy)"),
        Column("tail_ns", "float64", "ns", "after backward (legacy)"),
        Column("own_bubble_ns", "float64", "ns", "bubble as computed here: exposed time of all operations between two ranks"),
        Column(
            "bubble_source", "category", "",
            "receive: receive_ns; exact: by begin and end of operations; at most: least of exposed_ns and sum of p2p; or empty",
        ),
        Column("dp", "int64", "", "place in the data-parallel dimension; -1 for unknown"),
        Column("pp", "int64", "", "stage, from 0; -1 for unknown"),
        Column("tp", "int64", "", "place in the tensor-parallel dimension; -1 for unknown"),
        _FILE,
    ),
)

RANKS = Schema(
    "ranks",
    "Where each rank ran, how much memory it took, and how much it computed.",
    (
        _RANK,
        Column("host", "category", "", "host; empty for unknown"),
        _DEVICE,
        Column("chip", "category", "", "name of the device: Ascend910B; empty for unknown"),
        Column("peak_allocated_bytes", "int64", "B", "highest memory of framework and GE together; -1 for unknown"),
        Column("peak_reserved_bytes", "int64", "B", "highest memory that these reserved; -1 for unknown"),
        Column("peak_process_bytes", "int64", "B", "highest memory of the whole process, the pools included; -1 for unknown"),
        Column("capacity_bytes", "int64", "B", "memory of the device; -1 where no file has it"),
        Column("cube_flops", "float64", "", "floating-point operations of cube units per step"),
        Column("vector_flops", "float64", "", "floating-point operations of vector units per step"),
        Column("flops_per_s", "float64", "1/s", "these operations by the time of the operators that did them"),
        Column("operators_ns", "float64", "ns", "operators on the device while recording, communication excepted"),
        Column("expert_rows", "int64", "", "rows of grouped matrix multiplications: tokens of its experts; -1 for unknown"),
        _FILE,
    ),
)

STAGES = Schema(
    "stages",
    "How the model was cut into the stages of a pipeline, as parallel_strategy of each rank states it.",
    (
        _RANK,
        Column("told_rank", "int64", "", "rank that the file states; -1 for unknown"),
        Column("stage", "int64", "", "stage of this rank, from 0; -1 for unknown"),
        Column("mode", "category", "", "data_parallel, semi_auto_parallel, auto_parallel, or another text; empty for unknown"),
        Column("stages", "category", "", "ranks of all stages, the first stage first: 0-7;8-15; empty for unknown"),
        _FILE,
    ),
)

DEVICE_TIMES = Schema(
    "device_times",
    "When each rank computed, and ranges that the program marked as forward_step and backward_step.",
    (
        _STEP,
        Column(
            "kind", "category", "",
            "computing; send, receive, exchange (both, as batchSendRecv) or collective: an operation between ranks; forward or "
            "backward: a marked range on the device; forward_host or backward_host: one that only the host has",
        ),
        _RANK,
        Column("start_ns", "int64", "ns", "begin by the clock of the rank"),
        Column("end_ns", "int64", "ns", "end by the clock of the rank"),
        Column("operations", "int64", "", "kernels that follow without a gap and count as one row; 0 for unknown"),
        _FILE,
    ),
)

JOB_FRAMES: Mapping[str, Schema] = {
    schema.name: schema for schema in (GROUPS, COLLECTIVES, PACKETS, LINKS, CLUSTER_STEPS, RANKS, DEVICE_TIMES, STAGES)
}
