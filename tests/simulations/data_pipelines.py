"""Simulated data pipelines: dataset operations, bounded queues, a way to the device and a network, event by event.

Each operation takes a row when one of its workers is free, serves it for a random time, and puts it once its queue has room, in
order, as MindSpore's do. An item is simulated when it is asked for: its times depend on earlier items only, so the events are
those of a simulation in order of time. Times are ms since the start of the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

OWN = 2  # Items that wait for each worker, and items that it can leave: they go on in order.
AHEAD = 45  # Steps simulated after the recording: what lies in queues at its end comes from them.
EFFECTS = (0.05, 0.2, 0.5)


@dataclass(frozen=True)
class Operation:
    """A dataset operation: `load` is the time it needs for the rows of a step, all workers at work, by the time of the network.

    `spread` is the coefficient of variation of a service time, `cpu` the share of it on a core, `buffer` the rows of a shuffle.
    """

    kind: str
    workers: int
    queue: int
    load: float
    spread: float
    cpu: float
    buffer: int = 0


@dataclass(frozen=True)
class Plan:
    """A run and what of it is recorded: `compute` and `push` are ms a step, `host` ms of custom code before each step."""

    sink: bool
    operations: tuple[Operation, ...]  # From the source to the batch.
    batch: int
    compute: float
    steps: int
    skipped: int  # Steps before the recording.
    noise: float  # Coefficient of variation of `compute`.
    push: float
    device_queue: int
    host: float = 0.0
    warm_up: tuple[float, ...] = ()  # Factors of the first recorded steps.
    cores: int = 32
    traced: bool = True  # Whether there is a step trace.
    stall: tuple[int, int, float] | None = None  # Operation, steps between two, ms.
    slow_until: tuple[int, int, float] | None = None  # Operation, step, factor of its load.


@dataclass
class Stage:
    """An operation at work: when each item was put into its queue and taken out, and when it was served (ms)."""

    take_input: Callable[[float], float] | None
    queue: int
    workers: int
    rows: int  # Of its input for one of its output.
    service: Callable[[int], float]
    put: list[float] = field(default_factory=list)
    taken: list[float] = field(default_factory=list)
    started: list[float] = field(default_factory=list)
    served: list[float] = field(default_factory=list)
    asked: float = 0.0

    def take(self, at: float) -> float:
        """When an item asked for at `at` is had."""
        self.make()
        had = max(at, self.put[len(self.taken)])
        self.taken.append(had)
        return had

    def make(self) -> None:
        number = len(self.put)
        waiting, left = number - self.workers * OWN, number - self.workers * (1 + OWN)
        self.asked = max(self.asked, self.started[waiting] if waiting >= 0 else 0.0)
        for _ in range(self.rows if self.take_input else 0):
            self.asked = self.take_input(self.asked) if self.take_input else self.asked
        free = self.served[number - self.workers] if number >= self.workers else 0.0
        self.started.append(max(self.asked, free, self.put[left] if left >= 0 else 0.0))
        self.served.append(self.started[-1] + self.service(number))
        self.put.append(max(self.served[-1], self.put[-1] if self.put else 0.0, self.room(number)))

    def room(self, number: int) -> float:
        return self.taken[number - self.queue] if number >= self.queue else 0.0


@dataclass
class Shuffle(Stage):
    """Puts a row only once `rows` of them are in its buffer."""

    held: int = 0

    def make(self) -> None:
        assert self.take_input is not None
        self.asked = max(self.asked, self.put[-1] if self.put else 0.0)
        while self.held < self.rows:
            self.asked = self.take_input(self.asked)
            self.held += 1
        self.held -= 1
        number = len(self.put)
        self.started.append(self.asked)
        self.served.append(self.asked)
        self.put.append(max(self.asked, self.put[-1] if self.put else 0.0, self.room(number)))


@dataclass(frozen=True)
class Recording:
    """What happened: per operation its stage, per batch and per step when it went on (ms)."""

    plan: Plan
    stages: tuple[Stage, ...]
    fetched: np.ndarray  # (batches, 3): asked, had, pushed.
    steps: np.ndarray  # (steps, 4): asked, had, started, ended.
    start: float
    end: float

    @property
    def lost(self) -> float:
        """The time that recorded steps waited for data, by the rest of their time; without the first."""
        part = self.recorded()[1:]
        waited = float((part[:, 1] - part[:, 0]).sum())
        return waited / (float(part[-1, 3] - part[0, 0]) - waited)

    def recorded(self) -> np.ndarray:
        return self.steps[self.plan.skipped : self.plan.skipped + self.plan.steps]


def simulate(plan: Plan, seed: int) -> Recording:
    """The events of a run of `plan`, with the random times of `seed`."""
    random = np.random.default_rng([seed, 1])
    stages = _stages(plan, random)
    count = plan.skipped + plan.steps + AHEAD
    factors = np.ones(count)
    factors[plan.skipped : plan.skipped + len(plan.warm_up)] = plan.warm_up
    compute = plan.compute * factors * np.maximum(1 + plan.noise * random.standard_normal(count), 0.5)
    push = plan.push * random.gamma(25, 1 / 25, count)
    fetched, steps = np.zeros((count, 3)), np.zeros((count, 4))
    free = 0.0
    for number in range(count):
        if plan.sink:
            asked = fetched[number - 1, 2] if number else 0.0
            had = stages[-1].take(asked)
            room = steps[number - plan.device_queue, 1] if number >= plan.device_queue else 0.0
            fetched[number] = asked, had, max(had + push[number], room)
            arrived = max(free, fetched[number, 2])
        else:
            arrived = stages[-1].take(free)
            fetched[number] = free, arrived, arrived
        begun = arrived + plan.host * random.gamma(16, 1 / 16)
        steps[number] = free, arrived, begun, begun + compute[number]
        free = begun + compute[number] + 0.02
    first, last = plan.skipped, plan.skipped + plan.steps - 1
    return Recording(plan, stages, fetched, steps, steps[first, 0], steps[last, 3])


def _stages(plan: Plan, random: np.random.Generator) -> tuple[Stage, ...]:
    stages: list[Stage] = []
    for index, operation in enumerate(plan.operations):
        source = stages[-1].take if stages else None
        rows = {"Batch": plan.batch, "Shuffle": operation.buffer}.get(operation.kind, 1)
        stage = Shuffle if operation.kind == "Shuffle" else Stage
        stages.append(stage(source, operation.queue, operation.workers, rows, _service(plan, index, random)))
    return tuple(stages)


def _service(plan: Plan, index: int, random: np.random.Generator) -> Callable[[int], float]:
    operation = plan.operations[index]
    step = 1 if operation.kind == "Batch" else plan.batch
    mean = operation.load * plan.compute * operation.workers / step
    shape = 1 / operation.spread**2
    stall_at = set()
    if plan.stall and plan.stall[0] == index:
        offset = int(random.integers(plan.stall[1] // 3, plan.stall[1]))
        stall_at = set(range((plan.skipped + offset) * step, 100000 * step, plan.stall[1] * step))

    def service(number: int) -> float:
        time = mean * random.gamma(shape, 1 / shape)
        if plan.slow_until and plan.slow_until[0] == index and number < plan.slow_until[1] * step:
            time *= plan.slow_until[2]
        return time + (plan.stall[2] if plan.stall and number in stall_at else 0.0)

    return service


def healthy_plan(seed: int, *, load: tuple[float, float] = (0.2, 0.6), spread: tuple[float, float] = (0.1, 0.4)) -> Plan:
    """A pipeline that feeds its network in time: every operation needs `load` of the time that the network takes for a step."""
    random = np.random.default_rng([seed, 0])
    queue = int(random.choice([4, 8, 16, 16, 16]))
    batch = int(random.choice([4, 8, 16]))

    def operation(kind: str, workers: int, cpu: float, buffer: int = 0) -> Operation:
        share = 0.01 if kind == "Shuffle" else float(random.uniform(*load))
        return Operation(kind, workers, queue, share, float(random.uniform(*spread)), cpu, buffer)

    workers = int(random.choice([2, 4, 8]))
    made = [operation(str(random.choice(["ImageFolder", "TFReader", "Generator"])), int(random.choice([1, 4])), 0.3)]
    made += [operation("Map", workers, float(random.uniform(0.7, 1.0)))]
    if random.random() < 0.7:
        made.append(operation("Shuffle", 1, 0.1, buffer=int(random.choice([2, 4])) * batch))
    if random.random() < 0.6:
        made.append(operation("Map", workers, float(random.uniform(0.7, 1.0))))
    made.append(operation("Batch", int(random.choice([1, 2, 4])), 0.5))
    compute = float(random.uniform(25, 200))
    return Plan(sink=bool(random.random() < 0.5), operations=tuple(made), batch=batch, compute=compute,
                steps=int(random.integers(30, 90)), skipped=int(random.choice([0, 30])),
                noise=float(random.uniform(0.002, 0.05)),
                push=compute * float(random.uniform(0.02, 0.2)), device_queue=int(random.choice([2, 4, 12])),
                traced=bool(random.random() < 0.7))


def _maps(plan: Plan) -> list[int]:
    return [index for index, operation in enumerate(plan.operations) if operation.kind == "Map"]


def with_operation(plan: Plan, index: int, **changes: float) -> Plan:
    made = list(plan.operations)
    made[index] = replace(made[index], **changes)  # type: ignore[arg-type]
    return replace(plan, operations=tuple(made))


def slow_map(seed: int, effect: float) -> tuple[Plan, int]:
    """A map with as many workers as cores that still takes longer than the network."""
    plan = healthy_plan(seed)
    index = _maps(plan)[seed % len(_maps(plan))]
    return replace(with_operation(plan, index, load=1 + effect, workers=8), cores=8), index


def few_workers(seed: int, effect: float) -> tuple[Plan, int]:
    """A map with one worker, busy on its core, on a machine with cores to spare."""
    plan = healthy_plan(seed)
    index = _maps(plan)[seed % len(_maps(plan))]
    return with_operation(plan, index, load=1 + effect, workers=1, cpu=0.97), index


def slow_source(seed: int, effect: float) -> tuple[Plan, int]:
    """Storage that takes longer than the network, without work on a core."""
    return with_operation(healthy_plan(seed), 0, load=1 + effect, cpu=0.05), 0


def slow_batch(seed: int, effect: float) -> tuple[Plan, int]:
    plan = healthy_plan(seed)
    index = len(plan.operations) - 1
    return with_operation(plan, index, load=1 + effect), index


def slow_push(seed: int, effect: float) -> tuple[Plan, None]:
    plan = replace(healthy_plan(seed), sink=True)
    return replace(plan, push=plan.compute * (1 + effect)), None


def host_code(seed: int, effect: float) -> tuple[Plan, None]:
    """Custom code between iterator and network: the pipeline is not to blame."""
    plan = replace(healthy_plan(seed), sink=False, traced=True)
    return replace(plan, host=plan.compute * effect), None


def stalls(seed: int, effect: float) -> tuple[Plan, int]:
    """One worker of a map stops now and then, for longer than what the queues after it hold."""
    plan = healthy_plan(seed, load=(0.1, 0.4))
    index = _maps(plan)[seed % len(_maps(plan))]
    later = plan.operations[index:]
    rows = sum(operation.queue for operation in later[:-1]) + sum((1 + OWN) * operation.workers for operation in later[1:-1])
    held = later[-1].queue + (1 + OWN) * later[-1].workers + rows / plan.batch + (plan.device_queue + 1 if plan.sink else 0)
    between = int(held * 1.5) + 20
    plan = replace(plan, steps=4 * between, stall=(index, between, (held + 1 + effect * between) * plan.compute))
    return plan, index


def first_epoch(seed: int, effect: float) -> tuple[Plan, int]:
    """Storage that is slow until the files are cached, after 2 of 5 steps: there the effect is 2.5 times as large."""
    plan = replace(healthy_plan(seed), skipped=0)
    until = int(plan.steps * 0.4)
    return replace(plan, slow_until=(0, until, (1 + effect / 0.4) / plan.operations[0].load)), 0


def hiccup(seed: int) -> Plan:
    """A worker stops once, for less than what lies in the queues."""
    plan = replace(healthy_plan(seed, load=(0.1, 0.4)), skipped=30)
    return replace(plan, stall=(_maps(plan)[0], plan.steps, 0.4 * plan.operations[-1].queue * plan.compute))


def short(seed: int, steps: int) -> Plan:
    return replace(healthy_plan(seed), steps=steps)


def warm_up(seed: int) -> Plan:
    """The first steps compile: they take up to 60 times as long."""
    factors = (float(20 + seed % 40), 3.0, 1.5)
    return replace(healthy_plan(seed), skipped=0, warm_up=factors)


def large_batches(seed: int) -> Plan:
    plan = healthy_plan(seed, load=(0.2, 0.5))
    made = tuple(replace(o, queue=2 if o.kind == "Batch" else o.queue, buffer=o.buffer * 2) for o in plan.operations)
    return replace(plan, operations=made, batch=32, compute=plan.compute * 10, steps=min(plan.steps, 40))


FAULTS: dict[str, Callable[[int, float], tuple[Plan, int | None]]] = {
    "slow_map": slow_map, "few_workers": few_workers, "slow_source": slow_source, "slow_batch": slow_batch,
    "slow_push": slow_push, "host_code": host_code, "stalls": stalls, "first_epoch": first_epoch,
}  # fmt: skip
HARMLESS = 0.005
"""Healthy runs wait for data for less than this, by the rest of their time: those that wait longer are not healthy."""
HEALTHY: dict[str, Callable[[int], Plan]] = {
    "fast": healthy_plan,
    "noisy": lambda seed: replace(healthy_plan(seed, spread=(0.8, 1.2)), noise=0.15),
    "close": lambda seed: healthy_plan(seed, load=(0.75, 0.9)),
    "compute_bound": lambda seed: healthy_plan(seed, load=(0.02, 0.1)),
    "large_batches": large_batches,
    "warm_up": warm_up,
    "steps_3": lambda seed: short(seed, 3),
    "steps_8": lambda seed: short(seed, 8),
    "steps_20": lambda seed: short(seed, 20),
    "hiccup": hiccup,
}
