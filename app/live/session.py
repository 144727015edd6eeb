"""One training that is connected: its state, the orders for it, and what it has sent.

Calls of training come from the server's threads, orders and questions from those of pages. One lock guards all of it; nothing
is computed or decoded while it is held.
"""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.live.asking import Asking, Want
from app.live.received import ReceivedValues
from app.live.receiving import TensorReceiver
from app.live.watching import MOST_HITS, MOST_WATCHPOINTS, NumberedWatchpoints
from layouts.dumps import live_sessions as live
from layouts.dumps.live_sessions import LiveSession, Order, UnfitOrder
from parsers.analysis.dumps.watchpoints.conditions import CONDITIONS, Watchpoint
from parsers.debugger import commands
from parsers.debugger.messages import Heartbeat, Hit, Metadata, TensorHead, TensorSummary, WireTensorName
from parsers.debugger.tensors import GraphTensors
from parsers.errors import FormatError

SUPPORTED = ((1, 5), (2, 2))
"""Versions of MindSpore (major, minor), the first and the last, that speak the protocol."""
MISSED = 3
"""Signs of life that are missed before contact counts as lost."""
ANSWER_SECONDS = 60.0
"""Seconds within which training that waits answers what it is asked for, piece by piece."""
SHORTEST_PERIOD, LONGEST_PERIOD = 5, 3600
"""Seconds between signs of life that are accepted, as by MindInsight."""
MOST_REFUSED = 1000
"""Messages that are refused before a session is ended."""
MOST_STEPS = 10_000
"""Steps whose times are kept."""
MOST_STATISTICS = 100_000
"""Tensors at a step whose statistics are kept, the newest."""
_PATIENCE = 1.0
"""Seconds after which a thread that waits for orders looks whether training is still connected."""
_OPEN = (live.WAITING, live.NODE_TOO_LARGE)


@dataclass(slots=True)
class RunOrder:
    """What is left of an order to run: steps (-1 until a hit), or the operator to stop at, "" for the next one."""

    steps: int = 0
    node: str | None = None


class TrainingSession:
    """One training. Methods of training raise FormatError for what it may not send."""

    def __init__(self, key: str, peer: str, kept: ReceivedValues, clock: Callable[[], float] = time.monotonic) -> None:
        self.key, self.peer, self.kept = key, peer, kept
        self._clock = clock
        self._changed = threading.Condition()
        self._state, self._reason = live.PENDING, live.NONE
        self._told = Metadata()
        self._unusual = self._has_graph = False
        self._queue: deque[RunOrder | bytes] = deque()
        self._left = RunOrder()
        self._serial = self._revision = 0
        self._waiting = False
        self._rechecked = False
        self._heard = clock()
        self._period = 0
        self._refused, self._refusal, self._no_graph = 0, "", ""
        self._new_hits: list[Hit] = []  # of a step that training names when it stops
        self.watched = NumberedWatchpoints()
        self.asking = Asking()
        self.tensors = GraphTensors({})
        self.steps: deque[tuple[int, int]] = deque(maxlen=MOST_STEPS)
        self.statistics: dict[tuple[int, int], TensorSummary] = {}
        self.heads: dict[tuple[int, int], TensorHead] = {}

    # What pages see --------------------------------------------------------------------------------------------------

    def look(self) -> LiveSession:
        """Return the session as pages see it."""
        with self._changed:
            told = self._told
            return LiveSession(
                self.key, self._state, self._reason, self.peer, told.device, told.backend, told.version, self._unusual,
                told.step, told.node, self._left.steps, len(self.watched.wanted), self.watched.unsent, self._can_recheck(),
                self.watched.found, self._clock() - self._heard, self._refused, self._refusal, self._no_graph, self.mark,
            )  # fmt: skip

    @property
    def mark(self) -> str:
        """Changes whenever what it has sent does."""
        return f"{self.key}.{self._revision}"

    @property
    def state(self) -> str:
        """The state, one of `layouts.dumps.live_sessions.STATES`."""
        return self._state

    @property
    def connected(self) -> bool:
        """Whether training is connected: it has neither ended nor been silent for too long."""
        return self._state not in (live.PENDING, live.ENDED) or (self._state == live.PENDING and self._reason == live.NONE)

    @property
    def heard(self) -> float:
        """When it was heard last, by its clock."""
        return self._heard

    @property
    def told(self) -> Metadata:
        """What training said of itself last."""
        return self._told

    @property
    def lock(self) -> threading.Condition:
        """Guards watched, asking, tensors, steps, statistics and heads."""
        return self._changed

    # Orders of pages -------------------------------------------------------------------------------------------------

    def order(self, order: Order) -> LiveSession:
        """Give an order; UnfitOrder, which says why, if training cannot follow it now."""
        with self._changed:
            {
                live.CONTINUE: self._continue, live.NODE: self._to_node, live.PAUSE: self._pause,
                live.TERMINATE: self._terminate, live.RECHECK: self._recheck,
            }.get(order.kind, _unknown)(order)  # fmt: skip
            self._changed.notify_all()
        return self.look()

    def watch(self, watchpoints: Sequence[Watchpoint]) -> LiveSession:
        """Set the watchpoints; training learns of them with the next order. UnfitOrder for too many."""
        if len(watchpoints) > MOST_WATCHPOINTS:
            raise UnfitOrder(f"expected up to {MOST_WATCHPOINTS} watchpoints, found {len(watchpoints):,}")
        with self._changed:
            if self.watched.want(watchpoints):
                self._rechecked = False
                self._revision += 1
        return self.look()

    def ask(self, wants: Sequence[Want]) -> str:
        """Ask training for tensors; return "" or why they cannot be had now."""
        with self._changed:
            if self._state not in _OPEN:
                return f"Training is {self._state}: tensors can be fetched while it waits."
            new = [self.asking.add(want) for want in wants]
            if any(new):
                self._changed.notify_all()
            return ""

    def _continue(self, order: Order) -> None:
        self._need_open()
        if order.steps != live.UNTIL_HIT and not 1 <= order.steps <= live.MOST_STEPS:
            raise UnfitOrder(f"expected 1 to {live.MOST_STEPS:,} steps, or {live.UNTIL_HIT} until a hit, found {order.steps:,}")
        self._send_watchpoints(runs=True)
        self._queue.append(RunOrder(steps=order.steps))
        self._enter(live.SENDING)

    def _to_node(self, order: Order) -> None:
        self._need_open()
        if self._told.backend == "Ascend":
            raise UnfitOrder("training on Ascend stops at steps, not at operators")
        if order.node and WireTensorName(order.node) not in self.tensors.places:
            raise UnfitOrder(f"expected an operator of the graph, found {order.node[:200]!r}")
        self._send_watchpoints(runs=True)
        self._queue.append(RunOrder(node=order.node))
        self._enter(live.SENDING)

    def _pause(self, _order: Order) -> None:
        if self._state != live.RUNNING:
            raise UnfitOrder(f"training is {self._state}, not running")
        self._left = RunOrder()
        self._queue.clear()
        self._enter(live.SENDING)

    def _recheck(self, _order: Order) -> None:
        self._need_open()
        if not self._can_recheck():
            raise UnfitOrder("no watchpoint has changed since the last check")
        self._send_watchpoints()
        self._queue.append(commands.recheck())
        self._rechecked = True
        self._enter(live.SENDING)

    def _terminate(self, _order: Order) -> None:
        if self._state in (live.PENDING, live.ENDED):
            raise UnfitOrder("training is not connected")
        self._left = RunOrder()
        self._queue.clear()
        self._queue.append(commands.exit_training())
        self._enter(live.SENDING)

    def _need_open(self) -> None:
        if self._state not in _OPEN:
            raise UnfitOrder(f"training is {self._state}, it does not wait for an order")

    def _can_recheck(self) -> bool:
        return self._state in _OPEN and not self._rechecked and bool(self.watched.wanted or self.watched.known)

    def _send_watchpoints(self, *, runs: bool = False) -> None:
        """Queue what training does not know; before it runs the first step also a check, as some are of the first weights."""
        initial = any(CONDITIONS[one.condition].initial for one in self.watched.wanted.values())
        checks = runs and self._told.step == 0 and initial and not self._rechecked
        step = self._told.step + (runs and not checks)
        self._queue.extend(self.watched.flush(self.tensors, ascend=self._told.backend == "Ascend", step=step))
        if checks:
            self._queue.append(commands.recheck())
            self._rechecked = True

    # Calls of training -----------------------------------------------------------------------------------------------

    def begin(self, told: Metadata) -> bytes:
        """Take the first message of a training; return the reply."""
        with self._changed:
            self._hear()
            self._told = told
            matched, self._unusual = version_fits(told.version)
            if not matched:
                self._enter(live.MISMATCH)
            return commands.version_matched(matched)

    def end(self, reason: str, *, told: Metadata | None = None) -> bytes:
        """Take the last message of a training, or end it; return the reply."""
        with self._changed:
            if told is not None:
                self._hear()
            self._lose(live.ENDED, reason)
            return commands.acknowledged()

    def take_graphs(self, tensors: GraphTensors, refused: str = "") -> bytes:
        """Take graphs, or why they were refused; return the reply."""
        with self._changed:
            self._hear()
            if self._state not in (live.MISMATCH, live.ENDED):
                self.tensors, self._no_graph = tensors, refused
                self._left, self._has_graph = RunOrder(), True
                self._queue.clear()
                self.watched.known = {}
                self._forget_values(None)
                self._reason = live.NONE
                self._enter(live.NODE_TOO_LARGE if refused else live.RECEIVE_GRAPH)
                self._changed.notify_all()
            return commands.acknowledged()

    def wait(self, told: Metadata, alive: Callable[[], bool]) -> bytes:
        """Return the next command, as soon as there is one. alive says whether training still waits for it."""
        with self._changed:
            self._hear()
            if self._state == live.ENDED or not (self._has_graph or self._state in (live.MISMATCH, live.SENDING)):
                return commands.acknowledged(commands.FAILED)
            self._serial += 1
            serial = self._serial
            self._changed.notify_all()
            self._arrive(told)
            if self._state == live.PENDING:
                self._enter(live.RECEIVE_GRAPH)
            while True:
                if serial != self._serial:
                    return commands.acknowledged(commands.PENDING)
                if self._state in (live.PENDING, live.ENDED):
                    return commands.acknowledged(commands.FAILED)
                if not alive():
                    self._waiting = False
                    self._lose(live.PENDING, live.GONE)
                    return commands.acknowledged(commands.FAILED)
                command = self._next()
                if command is not None:
                    self._waiting = False
                    return command
                self._waiting = True
                self._changed.wait(_PATIENCE)

    def beat(self, heartbeat: Heartbeat) -> bytes:
        """Take a sign of life; return the reply."""
        with self._changed:
            self._hear()
            if not SHORTEST_PERIOD <= heartbeat.period_s <= LONGEST_PERIOD:
                return commands.acknowledged(commands.FAILED)
            self._period = heartbeat.period_s
            return commands.acknowledged()

    def take_hits(self, hits: Sequence[Hit]) -> bytes:
        """Take and show what watchpoints found; a training that runs stops at its next step. Return the reply."""
        with self._changed:
            self._hear()
            running = self._state == live.RUNNING
            if running and any(not hit.error for hit in hits):
                self._left = RunOrder()
                self._queue.clear()
            self._new_hits = [*self._new_hits, *hits][-MOST_HITS:]
            self.watched.show_new(self._new_hits, self._told.step + running, self.tensors.places)
            self._revision += 1
            return commands.acknowledged()

    def take_summaries(self, summaries: Iterator[TensorSummary | TensorHead]) -> bytes:
        """Take statistics, or types and shapes, in the order they were asked for; return the reply."""
        with self._changed:
            self._hear()
            asked = [want for want in self.asking.under_way if want[2] != commands.VALUE]
        for place, one in enumerate(summaries):
            if place >= len(asked):
                raise FormatError(f"expected {len(asked)} tensors that were asked for, found more")
            head = one.head if isinstance(one, TensorSummary) else one
            with self._changed:
                self._take_summary(asked[place], head, one if isinstance(one, TensorSummary) else None)
        return commands.acknowledged()

    def _take_summary(self, want: Want, head: TensorHead, summary: TensorSummary | None) -> None:
        if want not in self.asking.under_way:
            raise FormatError("expected a tensor that was asked for, found one of an earlier step")
        if not head.dtype:
            self.asking.fail(want, "Training does not have this tensor at this step.")
        elif (want[2] == commands.STATISTICS) != (summary is not None):
            raise FormatError("expected what was asked for, found statistics for types or the other way round")
        else:
            self.asking.answered(want)
            self.heads[want[:2]] = head
            if summary is not None:
                self.statistics[want[:2]] = summary
        _shorten(self.statistics)
        _shorten(self.heads)
        self._revision += 1

    def take_tensors(self, messages: Iterator[bytes]) -> bytes:
        """Take the values of tensors that were asked for; return the reply."""
        receiver = TensorReceiver(lambda name: name in self.asking.names, self.kept.reserve)
        for message in messages:
            self._hear()
            found = receiver.add(message)
            if found is None:
                continue
            name, values = found
            with self._changed:
                want = self.asking.names.get(name)
                if want is None or want not in self.asking.under_way:
                    raise FormatError(f"expected a tensor that was asked for, found {name.node}:{name.slot}")
                if values is None:
                    self.asking.fail(want, "Training does not have this tensor at this step.")
                else:
                    self.kept.put((self.key, want[0], want[1]), values)
                    self.asking.answered(want)
                self._revision += 1
        if receiver.inside is not None:
            raise FormatError(f"expected all pieces of {receiver.inside.node}, found the end")
        with self._changed:
            self._hear()
        return commands.acknowledged()

    def refuse(self, why: str) -> None:
        """Count a message that could not be read or was not asked for; too many end the session."""
        with self._changed:
            self._refused += 1
            self._refusal = why
            if self._refused >= MOST_REFUSED and self._state != live.ENDED:
                self._lose(live.ENDED, live.REFUSED)

    def tick(self) -> None:
        """Notice that signs of life are missing."""
        with self._changed:
            silent = self._clock() - self._heard
            missed = self._period and silent > MISSED * self._period and self._state not in (live.PENDING, live.ENDED)
            unanswered = self._state in _OPEN and not self._waiting and silent > ANSWER_SECONDS
            if missed or unanswered:
                self._lose(live.PENDING, live.SILENT)

    def gone(self) -> None:
        """Note that its connection was closed."""
        with self._changed:
            if self.connected:
                self._lose(live.PENDING, live.GONE)

    def expect_graph(self) -> None:
        """Count contact as lost if there is no graph yet."""
        with self._changed:
            if self._state == live.PENDING and self._reason == live.NONE:
                self._lose(live.PENDING, live.SILENT)

    def wake(self) -> None:
        """Make the thread that waits for orders look whether training is still connected."""
        with self._changed:
            self._changed.notify_all()

    # Inside, with the lock -------------------------------------------------------------------------------------------

    def _enter(self, state: str) -> None:
        if state != self._state:
            self._state = state
            self._revision += 1

    def _hear(self) -> None:
        self._heard = self._clock()

    def _lose(self, state: str, reason: str) -> None:
        self._left = RunOrder()
        self._queue.clear()
        self.asking.clear()
        self._reason = reason
        self._period = 0
        self._revision += 1
        self._enter(state)
        self._changed.notify_all()

    def _arrive(self, told: Metadata) -> None:
        """Take what training says of itself when it stops."""
        self._reason = live.NONE
        if self._state == live.MISMATCH:
            return
        if self.asking.settle("Training did not send this tensor."):
            self._revision += 1
        if not self.steps or (told.step, told.node) != (self._told.step, self._told.node):
            self.asking.clear()
            self._rechecked = False
            self._revision += 1
            self._forget_values(told.step)
            if not self.steps or self.steps[-1][0] != told.step:
                self.steps.append((told.step, time.time_ns()))
        version = told.version or self._told.version
        self._told = replace(told, version=version, backend=told.backend or self._told.backend)
        if self._new_hits:
            self.watched.show_new(self._new_hits, told.step, self.tensors.places)
            self.watched.keep_new()
            self._new_hits = []
            self._revision += 1

    def _forget_values(self, step: int | None) -> None:
        """Forget values and statistics of a step, which are others now, or all of them."""
        self.kept.forget(self.key, step)
        self.statistics = {key: one for key, one in self.statistics.items() if step not in (None, key[1])}
        self.heads = {key: one for key, one in self.heads.items() if step not in (None, key[1])}

    def _next(self) -> bytes | None:
        """Return the next command, or None after entering the state in which training waits."""
        if self._state == live.MISMATCH or (self._state == live.SENDING and not self._has_graph):
            return self._exited() if self._queue else None
        while self._queue:
            entry = self._queue.popleft()
            if isinstance(entry, RunOrder):
                self._left = entry
            elif entry == commands.exit_training():
                self._queue.appendleft(entry)
                return self._exited()
            else:
                if entry == commands.recheck():
                    self.watched.drop(self._told.step)
                    self._revision += 1
                return entry
            return self._run()
        if self._left.steps or (self._left.node and self._left.node != self._told.node):
            return self._run()
        self._left = RunOrder()
        self._enter(live.NODE_TOO_LARGE if self._no_graph else live.WAITING)
        return self.asking.command(self.tensors.names, self._told.step)

    def _run(self) -> bytes:
        self.asking.clear()
        self._enter(live.RUNNING)
        if self._left.node is not None:
            if not self._left.node:
                self._left = RunOrder()
            return commands.run_node()
        self._left = RunOrder(self._left.steps - 1 if self._left.steps > 0 else self._left.steps)
        return commands.run_steps()

    def _exited(self) -> bytes:
        command = self._queue.popleft()
        assert isinstance(command, bytes)
        self._lose(live.ENDED, live.TERMINATED)
        return command


def version_fits(version: str) -> tuple[bool, bool]:
    """Return whether training of this version is accepted, and whether that has not been tried.

    SUPPORTED versions are. Later ones of the same major version may be, as in MindInsight, and those that name none.
    """
    if not version:
        return True, True
    match = re.match(r"(\d{1,4})\.(\d{1,4})", version)
    if match is None:
        return False, True
    found = int(match[1]), int(match[2])
    first, last = SUPPORTED
    if first <= found <= last:
        return True, False
    return found[0] == last[0] and found > last, True


def _shorten(known: dict[tuple[int, int], Any]) -> None:
    while len(known) > MOST_STATISTICS:
        del known[next(iter(known))]


def _unknown(order: Order) -> None:
    raise UnfitOrder(f"expected an order of {', '.join(live.ORDERS)}, found {order.kind[:80]!r}")
