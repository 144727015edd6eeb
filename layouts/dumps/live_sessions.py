"""What pages know of live training: sessions with MindInsight's debugger protocol, and the orders they can be given."""

from __future__ import annotations

from dataclasses import dataclass

PENDING, RECEIVE_GRAPH, WAITING, RUNNING, SENDING, MISMATCH, NODE_TOO_LARGE, ENDED = STATES = (
    "pending", "receive_graph", "waiting", "running", "sending", "mismatch", "node_too_large", "ended",
)  # fmt: skip
"""States of a session.

pending: training has connected and not sent a graph, or contact with it is lost. receive_graph: it has sent its graph. waiting:
it waits for an order. sending: it has not fetched the last order yet. running: it runs. mismatch: its version is none that is
supported; it can only be ended. node_too_large: its graph is beyond the limits, and not shown; it waits for an order. ended:
it is over.
"""
NONE, DONE, TERMINATED, GONE, SILENT, REPLACED, REFUSED = REASONS = (
    "", "done", "terminated", "gone", "silent", "replaced", "refused",
)  # fmt: skip
"""Why a session is pending or ended.

done: training has finished. terminated: by an order. gone: the connection was closed. silent: three signs of life were missed.
replaced: the same program began another training. refused: it sent too much that could not be read.
"""
CONTINUE, NODE, PAUSE, TERMINATE, RECHECK, DISMISS = ORDERS = ("continue", "node", "pause", "terminate", "recheck", "dismiss")
UNTIL_HIT = -1
MOST_STEPS = (1 << 31) - 1
KEY = "live:"
"""What keys of live sessions begin with."""
TRAINING = "training"
"""Source of statistics that live training computed: it sends no norm."""


class UnfitOrder(ValueError):
    """An order that a session cannot follow in its state; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Order:
    """What training is to do.

    kind: "continue" (steps of them, UNTIL_HIT until a watchpoint is hit), "node" (run to the operator of this full name, "" for
    the next one), "pause", "terminate", "recheck" (check the watchpoints again), or "dismiss" (forget a training that is over).
    """

    kind: str
    steps: int = 1
    node: str = ""


@dataclass(frozen=True, slots=True)
class LiveSession:
    """A training that is or was connected.

    state is one of STATES, reason one of REASONS. client is its address, device the number of its device, version that of
    MindSpore; unusual says that this version has not been tried. step is the step it is at (0: before the first one), node the
    operator it stopped at, if any. left are the steps still to be run without asking, -1 until a hit. unsent are the changes
    of watchpoints that training does not know yet: they are sent with the next order. heard_s are the seconds since its last
    message. refused counts messages that could not be read or were not asked for, refusal is the last reason. graph says why
    there is no graph. mark changes whenever what can be shown of it does.
    """

    key: str
    state: str
    reason: str = NONE
    client: str = ""
    device: str = ""
    backend: str = ""
    version: str = ""
    unusual: bool = False
    step: int = 0
    node: str = ""
    left: int = 0
    watchpoints: int = 0
    unsent: int = 0
    recheck: bool = False
    hits: int = 0
    heard_s: float = 0.0
    refused: int = 0
    refusal: str = ""
    graph: str = ""
    mark: str = ""


@dataclass(frozen=True, slots=True)
class LiveStatus:
    """Whether training can connect: state is "off" or "listening" (at host and port), and the sessions, newest first.

    turned_away counts trainings that were refused because too many are connected. read_only is whether the visitor may give
    no orders.
    """

    state: str = "off"
    host: str = ""
    port: int = 0
    sessions: tuple[LiveSession, ...] = ()
    turned_away: int = 0
    read_only: bool = False


OFF = LiveStatus()
