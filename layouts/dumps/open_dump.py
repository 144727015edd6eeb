"""What pages know of dumps: that of a run or of live training, and work on it that the application does in the background."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from parsers import Graph, Problem, SourceLine
from parsers.deferred import pandas as pd
from parsers.dumps.graphs import GraphFlow
from parsers.dumps.store import StatisticsTable
from parsers.dumps.values import Array, TensorHeader
from parsers.model import Ints

from layouts.kit import work


class DumpView(Protocol):
    """The dump of a run (`parsers.dumps.access.RunDump`), or what live training has sent so far.

    A row is a position in `tensors`, valid while `OpenDump.mark` is the same. Methods about one tensor raise IndexError for a
    row that is none, and PayloadError, whose text is meant for the user, if it has no values or they cannot be read.
    """

    @property
    def tensors(self) -> pd.DataFrame:
        """Every tensor (schema DUMP_TENSORS)."""
        ...

    @property
    def series(self) -> Ints:
        """Number of the tensor of each row: rows of one tensor in all iterations of a rank have the same."""
        ...

    @property
    def executions(self) -> pd.DataFrame:
        """Runs of graphs (schema DUMP_EXECUTIONS)."""
        ...

    @property
    def overflows(self) -> pd.DataFrame:
        """Overflows that a device reported (schema DUMP_OVERFLOWS)."""
        ...

    @property
    def graphs(self) -> Mapping[tuple[int, int], Graph]:
        """(rank, number) -> computation graph, decoded when it is asked for."""
        ...

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that have tensors."""
        ...

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Damage found so far."""
        ...

    def tensor(self, row: int) -> Array:
        """Return the values of a tensor."""
        ...

    def header(self, row: int) -> TensorHeader:
        """Return type and shape of a tensor from its file."""
        ...

    def pieces(self, row: int, *, size_bytes: int = 1 << 20) -> Iterator[Array]:
        """Yield the values of a tensor in pieces; each is overwritten by the next."""
        ...

    def previous(self, row: int) -> int | None:
        """Return the row of the same tensor in the iteration before, or None."""
        ...

    def history(self, row: int) -> tuple[int, ...]:
        """Return the rows of the same tensor in all iterations, the earliest first."""
        ...

    def stack(self, row: int) -> tuple[SourceLine, ...]:
        """Return the lines of the program that the operator of a row is from, outermost call first; none if unknown."""
        ...

    def flow(self, row: int) -> GraphFlow | None:
        """Return what the graph of a row says of names and values; None without a graph."""
        ...

    def parents(self, row: int) -> Mapping[str, str]:
        """Return entry -> the module it is in, of the step of a row of msprobe; {} for other dumps."""
        ...

    def measured(self, rows: Ints, *, computed: bool = False) -> StatisticsTable:
        """Return the statistics of all rows as columns; those of these rows are computed now if they are not known."""
        ...

    def statistics_of(self, rows: Sequence[int] | None = None, *, computed: bool = False) -> pd.DataFrame:
        """Return the statistics of rows (schema DUMP_STATISTICS), computing those that no file states."""
        ...


@dataclass(frozen=True, slots=True)
class OpenDump:
    """The dump of a run, or the progress of listing it.

    state: "ready" (dump is set), "reading" (it is being listed: ask again), "missing" (the run has none) or "failed" (text is
    the reason). mark changes whenever rows do.
    """

    state: str
    dump: DumpView | None = None
    mark: str = ""
    text: str = ""


class DumpReport(work.Report, Protocol):
    """What work on a dump calls. Both methods raise Cancelled (`parsers.profiler.progress`) soon after it was cancelled."""

    def measure(self, rows: Ints, *, computed: bool = False, of: DumpView | None = None) -> None:
        """Compute statistics of these rows (of another dump: `of`) in processes; `measured` then answers from memory."""
        ...


class DumpJob(Protocol):
    """Work on a dump: a function without side effects."""

    def __call__(self, dump: DumpView, report: DumpReport) -> Any:
        """Return the result. It is shared between callers, so never write into it."""
        ...


class DumpWork(work.Work[DumpJob]):
    """Work on a dump."""

    __slots__ = ()
