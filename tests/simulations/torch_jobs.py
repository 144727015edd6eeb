"""Simulated data-parallel training with torch on GPUs: hosts that launch, streams in order, all-reduces, a data loader, copies.

All ranks run one program. A host needs time for each operator and may be ahead of its device, by the launches that fit into the
queue, or until it waits for the device. A kernel begins once it is launched and the one before it on its stream has ended.
An all-reduce begins on a rank once its gradients are there, is transferred once all ranks have begun it, and ends on all ranks
together. Times are whole ns on one clock; each rank's trace is written as torch.profiler writes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.writers.kineto_traces import NCCL_STREAM, STREAM, THREAD, KinetoWriter, write

US, MS = 1_000, 1_000_000
QUEUE = 1_024  # Launches that wait for the device, at most: CUDA then blocks the host.
CALL, LATENCY, BETWEEN = 4 * US, 2 * US, 800  # A launch, from its end to the device, and between two kernels of a stream.
AUTOGRAD, COPY_STREAM = THREAD + 100, 24
LOADERS = {"process": "_SingleProcessDataLoaderIter", "workers": "_MultiProcessingDataLoaderIter"}
PRODUCT, FLOAT32 = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_tn", "ampere_sgemm_128x64_tn"
TF32 = "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x64x32_stage3_warpsize2x2x1_tensor16x8x8_kernel"
KERNELS = (PRODUCT, "void at::native::vectorized_elementwise_kernel<4>", "void cunn_SoftMaxForward<4>")
SHORT = "void at::native::vectorized_elementwise_kernel<2, at::native::CUDAFunctor_add<float>>"


@dataclass(frozen=True)
class Plan:
    """A job and what of it is recorded; times are ns.

    kernel: median duration; host: per operator, with its launch; noise: coefficient of variation of a rank's step, and of a
    kernel. lead: steps that the host may be ahead of the device, 0 for `item` in each step, -1 for no limit but the queue.
    fetch: time that the loader needs for a batch, by the host (`process`) or until the next batch is there (`workers`).
    products: share of the layers whose kernel is `product`, on `device`. short, short_kernel: kernels of an optimizer that
    loops over parameters, and what each takes. lengths: how many lengths of samples there are, one drawn for each step, 0 for
    none; last: the last step has a smaller batch. items: `item` is called after the first of so many layers each, 0 for never.
    copy, copied: duration of a step's copy, "pageable", "pinned" (on the stream that computes) or "beside" (on another one).
    """

    ranks: int = 1
    steps: int = 12
    skipped: int = 2
    layers: int = 10
    kernel: int = 300 * US
    host: int = 20 * US
    noise: float = 0.01
    lead: int = 0
    loader: str = "workers"
    fetch: int = 0
    copied: str = "pinned"
    copy: int = 20 * US
    reduces: float = 0.15
    unequal: float = 0.0
    slow: tuple[int, float] | None = None
    hiccups: float = 0.0
    warm_up: float = 1.0
    graph: bool = False
    products: float = 0.0
    product: str = PRODUCT
    device: str = "NVIDIA A100-SXM4-40GB"
    short: int = 0
    short_kernel: int = 5 * US
    lengths: int = 0
    last: bool = False
    items: int = 0

    @property
    def computing(self) -> int:
        """Time that the kernels of a step take, about."""
        return self.kernel * (3 * self.layers + 2)


@dataclass
class Rank:
    """A rank at work: when its host and its streams are free, and what was written."""

    number: int
    writer: KinetoWriter
    factor: float = 1.0
    host: int = 0
    stream: dict[int, int] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    batch: int = 0  # When the workers have the next batch.
    since: int = -1  # When the recording began, -1 before.
    kernels: list[tuple[int, int]] = field(default_factory=list)

    def free(self, stream: int) -> int:
        """Return when a stream has ended what was launched."""
        return self.stream.get(stream, 0)

    def operator(self, name: str, start: int, duration: int, category: str = "cpu_op", **told: object) -> None:
        """Record an operator of the host."""
        if self.since >= 0:
            self.writer.host(name, start, duration, category, **told)

    def run(self, name: str, duration: int, stream: int = STREAM, *, after: int = 0, end: int = -1, waits: bool = False,
            call: str = "cudaLaunchKernel", category: str = "kernel", **told: object) -> int:  # fmt: skip
        """Launch something from now on, and return its end; a call that waits returns with it."""
        begin = self.host
        room = self.starts[-QUEUE] if len(self.starts) >= QUEUE else 0
        launched = max(begin + CALL, room)
        start = max(launched + LATENCY, self.free(stream) + BETWEEN, after)
        end = start + duration if end < 0 else max(end, start + US)
        self.host = end + US if waits else launched
        self.stream[stream] = end
        self.starts.append(start)
        if category == "kernel":
            self.kernels.append((start, end))
        self._record(name, begin, start, end - start, stream, call, category, told)
        return end

    @property
    def idle(self) -> float:
        """Share of the recording, to the end of its last kernel, in which no kernel runs."""
        at, busy = self.since, 0
        for start, end in sorted(self.kernels):
            busy += max(end - max(start, at), 0)
            at = max(at, end)
        return 1 - busy / (at - self.since)

    def _record(self, name: str, begin: int, start: int, duration: int, stream: int, call: str, category: str,
                told: dict[str, object]) -> None:  # fmt: skip
        if self.since >= 0:
            self.writer.external += 1  # The operator around the call is recorded next, when it has ended.
            self.writer.launch(
                name, begin, start, duration, stream, call=call, call_duration=self.host - begin, category=category, **told
            )
            self.writer.external -= 1
        else:
            self._before.append((name, start, duration, stream, category))

    _before: list[tuple[str, int, int, int, str]] = field(default_factory=list)

    def record(self) -> None:
        """Begin the recording: of what was launched before it, only the device tells."""
        self.since = self.host
        for number, (name, start, duration, stream, category) in enumerate(self._before):
            if start >= self.since:
                self.writer.kernel(name, start, duration, stream, category, correlation=10_000_000 + number)


class Job:
    """A job at work."""

    def __init__(self, plan: Plan, seed: int) -> None:
        """Draw what the operators take."""
        self.plan, self.chance = plan, np.random.default_rng(seed)
        count = 3 * plan.layers + 2
        shape = self.chance.lognormal(0.0, 0.5, count)
        self.durations = plan.kernel * shape / shape.mean()
        self.hosts = plan.host * self.chance.uniform(0.75, 1.25, count)
        several = plan.ranks > 1
        self.length = 256
        self.ranks = [
            Rank(number, KinetoWriter(number if several else None, plan.ranks, plan.device)) for number in range(plan.ranks)
        ]
        for rank in self.ranks:
            rank.host = MS + int(self.chance.integers(0, 200 * US))

    def simulate(self) -> list[KinetoWriter]:
        """Run all steps and return the trace of each rank."""
        for step in range(self.plan.skipped + self.plan.steps):
            begins = []
            for rank in self.ranks:
                if step == self.plan.skipped:
                    rank.record()
                begins.append(rank.host)
            self._step(step)
            for rank, begin in zip(self.ranks, begins, strict=True):
                rank.operator(f"ProfilerStep#{step}", begin, rank.host - begin, "user_annotation")
                rank.host += 15 * US
        return [rank.writer for rank in self.ranks]

    def _step(self, step: int) -> None:
        plan, layers = self.plan, self.plan.layers
        cold = plan.warm_up if step == plan.skipped else 1.0
        if plan.lengths:
            self.length = 128 + 8 * int(self.chance.integers(plan.lengths))
        elif plan.last and step == plan.skipped + plan.steps - 1:
            self.length = 96
        for rank in self.ranks:
            self._data(rank, cold)
            unequal = self.chance.uniform(-plan.unequal, plan.unequal)
            rank.factor = (1 + unequal) * max(0.5, self.chance.normal(1.0, plan.noise))
            if plan.slow is not None and plan.slow[0] == rank.number:
                rank.factor *= 1 + plan.slow[1]
            if plan.graph:
                self._graph(rank)
                continue
            for index in range(layers):
                self._layer(rank, index, "aten::addmm", cold)
        if not plan.graph:
            self._backward(cold)
        for rank in self.ranks:
            self._optimizer(rank)
            self._wait(rank, step)

    def _backward(self, cold: float) -> None:
        layers = self.plan.layers
        for index in range(layers, 3 * layers):
            for rank in self.ranks:
                rank.writer.thread = AUTOGRAD
                self._layer(rank, index, "aten::mm", cold, "autograd::engine::evaluate_function: AddmmBackward0")
            if self.plan.ranks > 1 and (index + 1 - layers) % max(layers // 2, 1) == 0:
                self._all_reduce()
        for rank in self.ranks:
            rank.writer.thread = THREAD

    def _data(self, rank: Rank, cold: float) -> None:
        plan, begin = self.plan, rank.host
        needed = int(plan.fetch * max(0.3, self.chance.normal(1.0, 5 * plan.noise)) + (cold - 1) * plan.computing)
        if plan.loader == "workers":
            rank.batch = max(rank.batch, begin - 2 * plan.fetch) + needed  # They are two batches ahead at most.
            rank.host = max(begin + 60 * US, rank.batch)
        else:
            rank.host = begin + needed + 60 * US
        name = f"enumerate(DataLoader)#{LOADERS[plan.loader]}.__next__"
        rank.operator(name, begin, rank.host - begin, "user_annotation")
        if plan.loader == "process":
            rank.operator("aten::stack", begin + (rank.host - begin) // 2, (rank.host - begin) // 3)
        rank.host += 10 * US
        self._copy(rank)

    def _copy(self, rank: Rank) -> None:
        plan, begin = self.plan, rank.host
        rank.host += 8 * US
        duration = int(plan.copy * max(0.3, self.chance.normal(1.0, 3 * plan.noise)))
        pageable = plan.copied == "pageable"
        stream = COPY_STREAM if plan.copied == "beside" else STREAM
        speed = 4 if pageable else 20  # Bytes per ns.
        kind = "Memcpy HtoD (Pageable -> Device)" if pageable else "Memcpy HtoD (Pinned -> Device)"
        rank.run(kind, duration, stream, call="cudaMemcpyAsync", category="gpu_memcpy", waits=pageable, bytes=duration * speed)
        rank.operator("aten::copy_", begin, rank.host + 2 * US - begin)
        rank.host += 12 * US

    def _layer(self, rank: Rank, index: int, name: str, cold: float, outer: str = "") -> None:
        plan, begin = self.plan, rank.host
        takes = max(int(self.hosts[index] * self.chance.lognormal(0.0, 0.1) * cold), CALL + 1_500)
        if self.chance.random() < plan.hiccups:
            takes += int(plan.computing * self.chance.uniform(0.005, 0.02))
        inner = begin + (takes - CALL) // 3
        rank.host = begin + (takes - CALL) // 2
        duration = self.durations[index] * rank.factor * max(0.3, self.chance.normal(1.0, 2 * plan.noise))
        product = index < plan.products * len(self.durations)
        rank.run(plan.product if product else KERNELS[index % len(KERNELS)], max(int(duration), US))
        dims = [[64], [32, self.length], [self.length, 64]]
        rank.operator(name, inner, rank.host - inner, Input_Dims=dims, Input_type=["float"] * 3)
        if outer:
            rank.operator(outer, begin, max(takes, rank.host - begin))
        rank.host = max(rank.host, begin + takes)
        if plan.items and index % plan.items == 0:
            self._item(rank)

    def _all_reduce(self) -> None:
        plan = self.plan
        transfer = int(plan.reduces / 4 * plan.computing * self.chance.normal(1.0, plan.noise))
        ready = [
            max(rank.host + 12 * US + CALL + LATENCY, rank.free(NCCL_STREAM) + BETWEEN, rank.free(STREAM) + 3 * US)
            for rank in self.ranks
        ]
        end = max(ready) + transfer
        told: dict[str, Any] = {
            "Collective_name": "allreduce", "In_msg_nelems": transfer, "Out_msg_nelems": transfer, "dtype": "Float",
            "Group_size": plan.ranks, "Process_Group_Name": "0", "Process_Group_Description": "default_pg",
        }  # fmt: skip
        args = {key.replace("_", " "): value for key, value in told.items()}
        for rank in self.ranks:
            begin = rank.host
            rank.host += 12 * US
            name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
            rank.run(name, 0, NCCL_STREAM, after=rank.free(STREAM) + 3 * US, end=end, call="cudaLaunchKernelExC", **args)
            rank.operator("record_param_comms", begin + 5 * US, rank.host - begin, **told)
            rank.host = max(rank.host, begin + 30 * US)

    def _graph(self, rank: Rank) -> None:
        """Run all kernels of forward and backward by one launch."""
        begin = rank.host
        rank.host += 10 * US
        at = max(rank.host + 10 * US, rank.free(STREAM) + BETWEEN)
        correlation = 0
        for index in range(3 * self.plan.layers):
            duration = max(int(self.durations[index] * rank.factor), US)
            name = KERNELS[index % len(KERNELS)]
            if rank.since >= 0 and index == 0:
                correlation = rank.writer.launch(name, rank.host, at, duration, call="cudaGraphLaunch", call_duration=9 * US)
            elif rank.since >= 0:
                rank.writer.kernel(name, at, duration, correlation=correlation)
            rank.kernels.append((at, at + duration))
            at += duration + BETWEEN
        rank.stream[STREAM] = at
        rank.host = begin + 25 * US

    def _optimizer(self, rank: Rank) -> None:
        begin = rank.host
        gradients = rank.free(NCCL_STREAM) + 2 * US
        for index in (-2, -1):
            rank.host += int(self.hosts[index])
            duration = max(int(self.durations[index] * self.chance.normal(1.0, self.plan.noise)), US)
            start = rank.host
            rank.run("void at::native::multi_tensor_apply_kernel<4>", duration, after=gradients)
            rank.operator("aten::_foreach_add_", start - 2 * US, rank.host + 2 * US - start)
        for _ in range(self.plan.short):
            start = rank.host
            rank.run(SHORT, max(int(self.plan.short_kernel * self.chance.normal(1.0, 5 * self.plan.noise)), US))
            rank.operator("aten::add_", start - 400, rank.host + 800 - start)
            rank.host += US
        rank.host += 4 * US
        rank.operator("Optimizer.step#SGD.step", begin, rank.host - begin, "user_annotation")

    def _item(self, rank: Rank) -> None:
        """Copy a number to the host, which waits for all that was launched before."""
        begin = rank.host
        rank.host += 4 * US
        rank.run("Memcpy DtoH (Device -> Pageable)", 1_500, call="cudaMemcpyAsync", category="gpu_memcpy", waits=True, bytes=4)
        rank.operator("aten::_local_scalar_dense", begin + 2 * US, rank.host - begin)
        rank.operator("aten::item", begin, rank.host + 4 * US - begin)
        rank.host += 8 * US

    def _wait(self, rank: Rank, step: int) -> None:
        lead, begin = self.plan.lead, rank.host
        rank.ends.append(rank.free(STREAM))
        if lead == 0:
            self._item(rank)
        elif 0 < lead <= step:
            rank.host = max(rank.host + 3 * US, rank.ends[step - lead])
            if rank.since >= 0:
                told = {"cbid": 135, "correlation": 20_000_000 + step}
                rank.writer.host("cudaEventSynchronize", begin, rank.host - begin, "cuda_runtime", **told)


def drawn(seed: int) -> Plan:
    """Return a healthy job of one rank: large kernels, few of them or many, and a host that is ahead or waits."""
    chance = np.random.default_rng(seed + 7_000_000)
    return Plan(
        steps=int(chance.integers(8, 21)), layers=int(chance.integers(6, 13)), kernel=int(chance.integers(150, 900)) * US,
        host=int(chance.integers(12, 30)) * US, noise=float(chance.choice([0.01, 0.03])),
        lead=int(chance.choice([0, 0, 1, 2, -1])), reduces=float(chance.uniform(0.05, 0.3)),
        skipped=int(chance.integers(0, 4)),
    )  # fmt: skip


def step_time(plan: Plan, seed: int) -> float:
    """Return the time (ns) of a step of a job, from long after its begin."""
    job = Job(replace(plan, skipped=3, steps=5), seed)
    job.simulate()
    first = job.ranks[0]
    return (first.ends[-1] - first.ends[2]) / 5


def simulate(plan: Plan, seed: int, directory: Path) -> Job:
    """Simulate a job and write the trace of each of its ranks."""
    job = Job(plan, seed)
    for number, made in enumerate(job.simulate()):
        write(directory / f"node_{number}.1712000000{number:03d}.pt.trace.json", made)
    return job
