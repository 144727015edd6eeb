"""The schemas of the frames of a profile: of one rank in one session of the profiler."""

from __future__ import annotations

from parsers.schema import Column, Schema

FILE = Column("file", "category", "", "file the row is from, below the directory of the session")
_STEP = Column("step", "int64", "step", "training step; -1 for unknown")
_MARKED_STEP = Column("step", "int64", "step", "training step")
_TYPE = Column("type", "category", "", "operator type; empty for unknown")
_DEVICE = Column("device", "int64", "", "device; -1 for unknown")
_NUMBER = Column("device", "int64", "", "number of the device on its machine, not the rank; -1 for unknown")
_TIME = Column("time_ns", "int64", "ns", "time by the clock of the file; -1 for unknown")
_DURATION = Column("duration_ns", "int64", "ns", "time it took, to the nearest nanosecond")
_TIMES = (
    Column("total_ns", "float64", "ns", "time of all of them"),
    Column("mean_ns", "float64", "ns", "time of one"),
    Column("min_ns", "float64", "ns", "shortest"),
    Column("max_ns", "float64", "ns", "longest"),
)
STEP_PARTS = (
    Column("computing_ns", "float64", "ns", "computing"),
    Column("exposed_ns", "float64", "ns", "communication that no computing overlaps"),
    Column("overlapped_ns", "float64", "ns", "communication that computing overlaps"),
    Column("communication_ns", "float64", "ns", "communication: exposed + overlapped"),
    Column("free_ns", "float64", "ns", "neither computing nor communication"),
    Column("stage_ns", "float64", "ns", "time of a stage of the pipeline, bubble excepted"),
)
"""What a step consists of, in the frames of a rank and of a job."""
_SHAPES = (
    Column("input_shapes", "category", "", "shapes of the inputs, separated by ; as in 32,3,224,224;64 - empty for unknown"),
    Column("input_types", "category", "", "their types, separated by ;"),
    Column("input_formats", "category", "", "their formats, separated by ;"),
    Column("output_shapes", "category", "", "shapes of the outputs"),
    Column("output_types", "category", "", "their types"),
    Column("output_formats", "category", "", "their formats"),
)
_CORE = Column(
    "core", "category", "",
    "what it ran on: AI_CORE, AI_VECTOR_CORE, MIX_AIC ..., AI_CPU, COMMUNICATION, COPY (copies and fills of memory), HOST_CPU, "
    "GPU, GPU_KERNEL; empty for unknown",
)  # fmt: skip

OPERATORS = Schema(
    "operators",
    "What operators took, a row per full name or, where the file has single executions with more to tell, per execution. "
    "Times are sums over the profile or, of legacy Ascend files, over one step. Shapes, types and formats are those of every "
    "execution, empty where executions differ.",
    (
        Column("name", "category", "", "name"),
        Column("full_name", "category", "", "name with its scopes, parts separated by /; the name where the file has no other"),
        _TYPE,
        _CORE,
        Column("count", "float64", "", "executions that the times are of; NaN for unknown"),
        *_TIMES,
        Column("share", "float64", "", "part of the time of all operators of the file, as written: 0 to 1"),
        Column("self_ns", "float64", "ns", "time on the host without what it calls; NaN for unknown"),
        Column("device_ns", "float64", "ns", "time of what it and what it calls started on the device; NaN for unknown"),
        Column("device_self_ns", "float64", "ns", "time of what it started there itself; NaN for unknown"),
        Column("dispatch_ns", "float64", "ns", "time to dispatch it; NaN for unknown"),
        Column("start_ns", "int64", "ns", "begin of a single execution, by the clock of the file; -1 for none"),
        Column("flops", "float64", "", "operations of the cube unit in one execution"),
        Column("flops_per_s", "float64", "1/s", "operations of the cube unit in a second"),
        Column("flops_use", "float64", "", "part of what the cube unit can do: 0 to 1"),
        Column("vector_flops", "float64", "", "operations of the vector unit in one execution"),
        Column("vector_flops_per_s", "float64", "1/s", "operations of the vector unit in a second"),
        Column("vector_flops_use", "float64", "", "part of what the vector unit can do: 0 to 1"),
        Column("subgraph", "category", "", "subgraph; empty for unknown"),
        Column("shapes", "int64", "", "different shapes of inputs among the executions, scalars included; -1 for unknown"),
        *_SHAPES,
        Column("stack", "category", "", "lines of the program that called it; empty for unknown"),
        FILE,
    ),
)

OPERATOR_TYPES = Schema(
    "operator_types",
    "What operators took by type. Times are sums over the profile or, of legacy Ascend files, over one step.",
    (
        Column("type", "category", "", "operator type"),
        _CORE,
        Column("count", "float64", "", "executions that the times are of"),
        *_TIMES[:2],
        Column("min_ns", "float64", "ns", "shortest; NaN for unknown"),
        Column("max_ns", "float64", "ns", "longest; NaN for unknown"),
        Column("share", "float64", "", "part of the time of all types of the file, as written: 0 to 1"),
        Column("per_step", "float64", "", "executions in one step; NaN for unknown"),
        Column("self_ns", "float64", "ns", "time on the host without what they call; NaN for unknown"),
        Column("device_ns", "float64", "ns", "time of what they and what they call started on the device; NaN for unknown"),
        Column("device_self_ns", "float64", "ns", "time of what they started there themselves; NaN for unknown"),
        FILE,
    ),
)

KERNELS = Schema(
    "kernels",
    "Single executions, in the order of the file: of kernels on the device, of communication, of operators on the host.",
    (
        _STEP,
        Column("name", "category", "", "kernel; of MindSpore {operator}/{kernel}"),
        _TYPE,
        _CORE,
        Column("start_ns", "int64", "ns", "begin by the clock of the file: of new files since 1970-01-01 UTC; -1 for unknown"),
        _DURATION,
        Column("wait_ns", "float64", "ns", "time between the end of the one before and its begin; NaN for unknown"),
        _DEVICE,
        Column("stream", "int64", "", "stream, of the host a thread; -1 for unknown"),
        Column("task", "int64", "", "task; -1 for unknown"),
        Column("model", "int64", "", "graph; -1 for none"),
        Column("blocks", "int64", "", "cores it was spread over; -1 for unknown"),
        Column("state", "category", "", "dynamic or static; empty for unknown"),
        *_SHAPES,
        FILE,
    ),
    (
        Column("pmu/", "", "", "a counter of the device under the name and in the unit the file has: float64, or text"),
        Column("launch/", "int64", "", "begin_ns and end_ns (ns) of the call of the host that launched it; -1 for unknown"),
    ),
)

SHAPE_TIMES = Schema(
    "shape_times",
    "Executions of operators and, on GPU, kernels by step, with the shapes of their inputs, as files about dynamic shapes "
    "have them.",
    (
        _STEP,
        Column("name", "category", "", "operator; of a kernel {operator}/{kernel}"),
        Column("type", "category", "", "operator type; of a kernel its name"),
        _CORE,
        _DURATION,
        *_SHAPES[:2],
        Column("blocks", "category", "", "of a kernel on GPU: threads of a block; empty for unknown"),
        Column("grid", "category", "", "of a kernel on GPU: blocks of the grid; empty for unknown"),
        FILE,
    ),
)

STEPS = Schema(
    "steps",
    "What a step is made of. Legacy files have interval, forward and backward, and tail; new ones computing, communication "
    "and free. What a file does not have is NaN.",
    (
        Column("step", "int64", "step", "training step; -1 for the average over steps, and where the file has no steps"),
        Column("kind", "category", "", "step; average: as the writer computed it; cut: the recording ended within it"),
        _DEVICE,
        Column("start_ns", "int64", "ns", "begin by the clock of the device; -1 for unknown"),
        Column("total_ns", "float64", "ns", "whole step; of new files computing + exposed communication + free"),
        Column("interval_ns", "float64", "ns", "iteration interval: waiting for data"),
        Column("forward_backward_ns", "float64", "ns", "forward and backward"),
        Column("tail_ns", "float64", "ns", "after backward: gathering of gradients, update of parameters"),
        *STEP_PARTS,
        Column("bubble_ns", "float64", "ns", "send and receive operations"),
        Column("exposed_without_receive_ns", "float64", "ns", "exposed communication, bubble excepted"),
        Column("preparing_ns", "float64", "ns", "begin of the step on the host to the first task on the device"),
        Column("copies_ns", "float64", "ns", "part of free_ns in which memory of the device was copied or filled"),
        Column("fetching_ns", "float64", "ns", "part of the step in which the host fetched data: torch's DataLoader"),
        FILE,
    ),
)

STEP_TIMES = Schema(
    "step_times",
    "When each step began and ended on the host, in order of time, by the clock of memory and operator_memory.",
    (
        _MARKED_STEP,
        Column("start_ns", "int64", "ns", "begin"),
        Column("end_ns", "int64", "ns", "end"),
        FILE,
    ),
)

REDUCES = Schema(
    "reduces",
    "Gradient aggregation and other marked operators within the steps of a legacy step trace.",
    (
        _MARKED_STEP,
        Column("stream", "int64", "", "stream"),
        Column("number", "int64", "", "place among those of the stream, from 0"),
        Column("name", "category", "", "operator, such as AllReduce-op4582; parallel in the oldest files"),
        Column("start_ns", "int64", "ns", "begin by the clock of the device"),
        Column("duration_ns", "int64", "ns", "time it took"),
        FILE,
    ),
)

PIPELINE = Schema(
    "pipeline",
    "Operations of the data set pipeline, the last one first; rows of dataset.csv are stages of operations.",
    (
        Column("op_id", "int64", "", "operation; -1 in rows of dataset.csv"),
        Column("type", "category", "", "operation as in the file: Batch, BatchOp"),
        Column("stage", "category", "", "stage of the operation; empty for the whole of it"),
        Column("parent", "int64", "", "operation that takes its data; -1 for the last one"),
        Column("workers", "int64", "", "parallel workers; -1 for unknown"),
        Column("queue_mean", "float64", "", "mean of the entries in its output queue"),
        Column("queue_length", "float64", "", "entries its output queue can hold; NaN for no queue"),
        Column("queue_use", "float64", "", "mean / length: 0 to 1"),
        Column("queue_empty", "float64", "", "part of the samples in which the queue was empty: 0 to 1"),
        Column("interval_ns", "float64", "ns", "time between two samples of the queue"),
        Column("cpu", "float64", "", "mean CPU use of one worker: 1 is one core"),
        Column("count", "float64", "", "times it ran; NaN for unknown"),
        Column("mean_ns", "float64", "ns", "mean time of one; NaN for unknown"),
        Column("info", "category", "", "what else the writer noted; empty for nothing"),
        FILE,
    ),
)

QUEUES = Schema(
    "queues",
    "Queues as data went through: per step on the host (queue: host, or iterator where nothing is sunk) and on the device, "
    "per sample behind an operation of the pipeline.",
    (
        Column("queue", "category", "", "host, iterator, device or operator"),
        Column("op_id", "int64", "", "operation whose output queue it is; -1 for none"),
        Column("step", "int64", "step", "step from 1, of an operation the number of the sample from 0"),
        _TIME,
        Column("size", "float64", "", "entries in the queue; NaN for unknown"),
        Column("capacity", "float64", "", "entries it can hold; NaN for unknown"),
        Column("total_ns", "float64", "ns", "time the step waited or was fed; NaN for unknown"),
        Column("push_ns", "float64", "ns", "time to push the data on; NaN for unknown"),
        Column("get_ns", "float64", "ns", "time to get the data; NaN for unknown"),
        FILE,
    ),
)

CPU = Schema(
    "cpu",
    "Use of the CPU in samples, by machine, process and operations of the pipeline. Uses are parts of all cores: 0 to 1.",
    (
        Column("sample", "int64", "", "number of the sample from 0"),
        Column("time_ns", "int64", "ns", "time by the clock of the queue files; -1 for unknown"),
        Column("step", "int64", "step", "step under way; 0 before the first, -1 where no queue file tells"),
        Column("scope", "category", "", "machine, process or operator"),
        Column("op_id", "int64", "", "operation of the pipeline; -1 for none"),
        Column("user", "float64", "", "in programs"),
        Column("system", "float64", "", "in the kernel"),
        Column("io", "float64", "", "waiting for devices; NaN for unknown"),
        Column("idle", "float64", "", "idle; NaN for unknown"),
        Column("runnable", "float64", "", "runnable processes; NaN for unknown"),
        Column("context_switches", "float64", "", "context switches since the sample before; NaN for unknown"),
        Column("cores", "int64", "", "logical cores of the machine"),
        FILE,
    ),
)

COMMUNICATION = Schema(
    "communication",
    "Communication operators of one rank: how long each took and what that time consists of.",
    (
        _STEP,
        Column("kind", "category", "", "collective or p2p"),
        Column("name", "category", "", "operator without its group: hcom_allReduce__271_0_1"),
        Column("group", "category", "", "group of ranks that communicate; empty for unknown"),
        Column("start_ns", "int64", "ns", "begin by the clock of the file; -1 for unknown"),
        Column("duration_ns", "float64", "ns", "time between begin and end: transit + wait + idle"),
        Column("transit_ns", "float64", "ns", "transferring data"),
        Column("wait_ns", "float64", "ns", "waiting for other ranks"),
        Column("synchronisation_ns", "float64", "ns", "part of wait_ns before the first transfer"),
        Column("idle_ns", "float64", "ns", "neither transferring nor waiting"),
        FILE,
    ),
)

HOST_MEMORY = Schema(
    "host_memory",
    "Memory of the host over time.",
    (
        _TIME,
        Column("scope", "category", "", "system, process, or pool: MindSpore's own on the host"),
        Column("measure", "category", "", "total, available, used; vss, rss, pss; allocated, reserved, active"),
        Column("size_bytes", "int64", "B", "size"),
        FILE,
    ),
)

API = Schema(
    "api",
    "Calls of the host into the runtime of the device, by level and name.",
    (
        Column("level", "category", "", "acl, runtime, driver, node, hccl, communication, model"),
        Column("name", "category", "", "function"),
        Column("count", "float64", "", "calls"),
        *_TIMES,
        Column("variance_ns2", "float64", "ns2", "variance of the times"),
        FILE,
    ),
)

FLOPS = Schema(
    "flops",
    "Floating point operations of one step by the unit that did them, as the writer of the file summed them up.",
    (
        Column("unit", "category", "", "cube or vector"),
        Column("flops", "float64", "", "operations"),
        Column("flops_per_s", "float64", "1/s", "operations in a second"),
        Column("flops_use", "float64", "", "part of what the unit can do: 0 to 1; NaN for unknown"),
        FILE,
    ),
)

FLOPS_SCOPES = Schema(
    "flops_scopes",
    "Floating point operations of scopes, a row for each scope in another one; a scope may be in several.",
    (
        Column("parent", "category", "", "the scope it is in; Total for the outermost ones"),
        Column("scope", "category", "", "the scope"),
        Column("flops", "float64", "", "its operations within the parent"),
        FILE,
    ),
)

STRATEGIES = Schema(
    "strategies",
    "The graph that a rank of a parallel job runs: operators, then parameters and constants, as parallel_strategy has them.",
    (
        Column("number", "int64", "", "place in the file, from 0"),
        Column("name", "category", "", "name as in the file, a number of most operators"),
        Column("kind", "category", "", "operator, parameter or constant"),
        Column("full_name", "category", "", "name with its scopes; the name where the file has no other"),
        Column("scope", "category", "", "scopes it is in, separated by /; empty at the top"),
        Column("type", "category", "", "operator type; Parameter or Const"),
        Column("instance", "category", "", "instance name as in the file; empty for none"),
        Column("phase", "category", "", "by its scope: forward, backward, recompute or optimizer; empty for other kinds"),
        Column("inserted", "category", "", "by its instance name: redistribution, gradient (their aggregation), or empty"),
        Column("strategy", "category", "", "shards of each dimension of each input, as in 2,1,1,1;1,1; empty for none"),
        Column("strategy_from", "category", "", "attribute with the strategy: gen_strategy or in_strategy; empty for none"),
        Column("output_type", "category", "", "type of the output, such as Tensor[Float32]; empty for unknown"),
        Column("shape", "category", "", "shape of the output, such as 32x3x224x224, as the file has it; empty for unknown"),
        Column("inputs", "category", "", "numbers of what it takes, as in 0;^3: ^ says only what comes first; -1: unknown"),
        Column("attributes", "category", "", "JSON object of attributes as text; empty for none"),
        FILE,
    ),
)

MEMORY = Schema(
    "memory",
    "Memory of the device over time, by component, in the order of time. Components joined by + are sums of the others; APP is "
    "what the process holds, device what the whole device does.",
    (
        Column("component", "category", "", "PTA, MindSpore, GE, WORKSPACE, APP, device, a sum such as PTA+GE; CUDA, HIP, CPU"),
        Column("stream", "int64", "", "stream whose request changed the totals, which are those of all streams; -1 for none"),
        _NUMBER,
        Column("time_ns", "int64", "ns", "time by the clock of the file"),
        Column("allocated_bytes", "int64", "B", "memory in use; -1 for unknown"),
        Column("reserved_bytes", "int64", "B", "memory taken from the device; -1 for unknown"),
        Column("active_bytes", "int64", "B", "memory in use or waiting for another stream; -1 for unknown"),
        FILE,
    ),
)

OPERATOR_MEMORY = Schema(
    "operator_memory",
    "Blocks of device memory that were allocated while recording, in the order of allocation. Times are either of the clock "
    "(ns) or, in files of MindSpore's memory tracker, numbers of events.",
    (
        Column("name", "category", "", "operator that allocated it, with its scopes where the file has them"),
        Column("scope", "category", "", "scopes of the operator, separated by /; empty for none"),
        Column("component", "category", "", "PTA, MindSpore, GE, CUDA ...; of the memory tracker the pool; empty for unknown"),
        Column("stream", "int64", "", "stream; -1 for unknown"),
        _NUMBER,
        Column("size_bytes", "int64", "B", "size; -1 for unknown"),
        Column("allocated_ns", "int64", "ns", "when it was allocated; -1 for before the recording, or unknown"),
        Column("released_ns", "int64", "ns", "when it was released as the file says; -1 for not while recording"),
        Column("active_released_ns", "int64", "ns", "when no stream used it any more; -1 for not while recording, or unknown"),
        Column("allocated_event", "int64", "", "event of the memory tracker that allocated it; -1 for none"),
        Column("released_event", "int64", "", "event of the memory tracker that released it; -1 for never"),
        Column("last_used_event", "int64", "", "event of the last task that used it; -1 for unknown"),
        Column("total_allocated_bytes", "int64", "B", "allocated by the component after this allocation; -1 for unknown"),
        Column("total_reserved_bytes", "int64", "B", "reserved by the component then; -1 for unknown"),
        Column("total_active_bytes", "int64", "B", "active then; -1 for unknown"),
        Column("address", "int64", "", "address on the device; -1 for unknown"),
        Column("kind", "category", "", "what the memory tracker says it holds: Weight, Workspace ...; empty for unknown"),
        Column("owner", "category", "", "task that allocated it, and its graph; empty for unknown"),
        Column("source", "category", "", "file and line of the allocation, as file:line; empty for unknown"),
        Column("stack", "category", "", "lines of the program that led to it; empty for unknown"),
        FILE,
    ),
)

STATIC_MEMORY = Schema(
    "static_memory",
    "The plan of device memory that was made when graphs were compiled. Life cycles are numbers of nodes. kind is block: "
    "memory in use from node first to node last; total: the whole plan as the file says; node: all memory in use at a node; "
    "static: memory of a graph in use at all nodes; capacity and peak of the device; "
    "allocations and releases, which are counts; forward_start and backward_end, which are nodes.",
    (
        Column("kind", "category", "", "what the row tells, as below"),
        Column("graph", "int64", "", "graph; -1 for all"),
        Column("model", "category", "", "model; empty for unknown"),
        Column("name", "category", "", "operator or tensor; empty for none"),
        Column("first", "int64", "", "first node at which it is in use; -1 for unknown"),
        Column("last", "int64", "", "last node at which it is in use; -1 for the last one of the graph, or unknown"),
        Column("size_bytes", "int64", "B", "size; -1 for unknown"),
        Column("count", "int64", "", "allocations or releases; -1 for other kinds"),
        Column("type", "category", "", "type of the tensor; empty for unknown"),
        Column("data_type", "category", "", "data type; empty for unknown"),
        Column("shape", "category", "", "shape, as in 32,3,224,224; empty for unknown"),
        Column("format", "category", "", "format; empty for unknown"),
        FILE,
    ),
)

MODULE_MEMORY = Schema(
    "module_memory",
    "Device memory reserved by components of CANN over time, in the order of time.",
    (
        Column("component", "category", "", "component, such as HCCL or SLOG; the number of one without a name"),
        _NUMBER,
        Column("time_ns", "int64", "ns", "time by the clock of the file"),
        Column("reserved_bytes", "int64", "B", "memory reserved; -1 for unknown"),
        FILE,
    ),
)

HARDWARE = Schema(
    "hardware",
    "Devices as CANN and torch describe them, by the order of the file; a row for each device of each file.",
    (
        _NUMBER,
        Column("cube_cores", "int64", "", "cores with a cube unit, of GPUs multiprocessors; -1 for unknown"),
        Column("vector_cores", "int64", "", "vector cores; 0 where vector units are part of the others; -1 for unknown"),
        Column("cube_hz", "float64", "1/s", "frequency of the cores with a cube unit; NaN for unknown"),
        Column("vector_hz", "float64", "1/s", "frequency of the vector cores; NaN for unknown"),
        Column("chip", "category", "", "name of the device: Ascend910B; empty for unknown"),
        Column("memory_bytes", "int64", "B", "memory of the device; -1 for unknown"),
        FILE,
    ),
)
