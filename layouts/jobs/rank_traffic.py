"""The communication of a job as tables and as a matrix: what the communication page shows and its plain routes send.

Values of tables are means per rank and step unless their name says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from parsers.analysis.jobs import contention as beside
from parsers.analysis.jobs import links as slow
from parsers.analysis.jobs import packets as sizes
from parsers.analysis.jobs import traffic
from parsers.analysis.jobs.choosing import coded, rows_of
from parsers.analysis.jobs.matrix import (
    CLASSES,
    HOWS,
    MEASURES,
    LinkCells,
    Matrix,
    Measure,
    cells,
    matrix,
    members_of,
    only_group,
)
from parsers.cluster_frames import COLLECTIVES, GROUPS, LINKS, PACKETS
from parsers.deferred import pandas as pd
from parsers.model import Ints
from parsers.schema import Schema

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.kit.state import number, text
from layouts.profiles.profile_choice import ProfileChoice, profile, read_group, read_step
from layouts.sources import ProfileSources

FRAMES = ("collectives", "links", "packets", "groups")
LEVELS = tuple(traffic.LEVELS)
SETTINGS: Mapping[str, tuple[str, float, float]] = {
    "hccs": ("GB/s", traffic.REFERENCE["HCCS"], 1e9), "pcie": ("GB/s", traffic.REFERENCE["PCIE"], 1e9),
    "rdma": ("GB/s", traffic.REFERENCE["RDMA"], 1e9), "small": ("MB", float(sizes.SMALL["SDMA"]), 1e6),
    "small_rdma": ("MB", float(sizes.SMALL["RDMA"]), 1e6), "slow": ("%", slow.SHARE, 0.01), "held": ("%", beside.SHARE, 0.01),
}  # fmt: skip
"""Key of a setting -> unit in which it is typed, default, and the size of that unit."""
TABLES = ("totals", "operation", "links", "packets", "contention", "matrix")
_LONGEST = 400
_MOST = 1e6


def _settings(data: Any) -> tuple[tuple[str, float], ...]:
    return tuple(
        (name, number(data, name, 0.0, 0.0, _MOST) * unit) for name, (_, _, unit) in SETTINGS.items() if text(data, name)
    )


@dataclass(frozen=True, slots=True)
class TrafficRequest(Request):
    """A request: a profile, whose job is meant; group "" and step None for all; kind of operation and operation, "" for all.

    of: one of CLASSES. by: one of LEVELS. inner: also links of a rank to itself. how: what a cell of the matrix that stands for
    several links shows, one of HOWS, "" for the default of the measure. sort: column and direction of the totals, ""
    for the longest first. settings: one value for each of SETTINGS, in B/s, bytes and shares.
    """

    choice: ProfileChoice = profile()
    group: str = asked.part(read_group, "group", default="")
    step: int | None = asked.part(read_step, "step")
    kind: str = asked.word("kind", limit=40)
    operation: str = asked.word("op", limit=_LONGEST)
    measure: Measure = asked.one_of("measure", MEASURES, "bandwidth")
    of: str = asked.one_of("class", CLASSES, "total")
    inner: bool = asked.switch("inner")
    how: str = asked.one_of("how", ("", *HOWS))
    by: str = asked.one_of("by", LEVELS, "kind")
    sort: str = asked.word("sort", limit=40)
    settings: tuple[tuple[str, float], ...] = asked.part(_settings, *SETTINGS, default=())

    def setting(self, name: str) -> float:
        """Return the value of a setting."""
        return dict(self.settings).get(name, SETTINGS[name][1])

    @property
    def references(self) -> dict[str, float]:
        """The usual bandwidth of each transport in B/s."""
        chip = self.setting("hccs")
        return {"HCCS": chip, "SDMA": chip, "PCIE": self.setting("pcie"), "RDMA": self.setting("rdma")}

    @property
    def small(self) -> dict[str, int]:
        """Bytes below which a packet is small, by transport."""
        return {name: int(self.setting("small_rdma" if name == "RDMA" else "small")) for name in sizes.SMALL}


class Traffic:
    """The communication of the job that a request names. Properties are computed on first use; a frame no file has is empty.

    A group or a step that the job does not have, such as that of another job, means all of them.
    """

    def __init__(
        self, source: ProfileSources, ask: TrafficRequest, frame: Callable[[str], pd.DataFrame | None] | None = None
    ) -> None:
        self.source = source
        self._asked = ask
        self._frame = frame or (lambda name: ask.choice.frame(source, name))

    @cached_property
    def ask(self) -> TrafficRequest:
        """The request, of groups and steps that the job has."""
        asked = self._asked
        if asked.group and not coded(self.groups["group"], (asked.group,)).any():
            asked = replace(asked, group="")
        steps = (self.collectives["step"].to_numpy(), self.links["step"].to_numpy())
        if asked.step is not None and not any((one == asked.step).any() for one in steps):
            asked = replace(asked, step=None)
        return asked

    @cached_property
    def collectives(self) -> pd.DataFrame:
        """The operations of all ranks."""
        return _or_empty(self._frame("collectives"), COLLECTIVES)

    @cached_property
    def links(self) -> pd.DataFrame:
        """The links between ranks."""
        return _or_empty(self._frame("links"), LINKS)

    @cached_property
    def packets(self) -> pd.DataFrame:
        """The packets of operations."""
        return _or_empty(self._frame("packets"), PACKETS)

    @cached_property
    def groups(self) -> pd.DataFrame:
        """The groups of the job."""
        return _or_empty(self._frame("groups"), GROUPS)

    @cached_property
    def rows(self) -> Ints:
        """The rows of collectives that were asked for."""
        return rows_of(self.collectives, group=self.ask.group, kind=self.ask.kind, step=self.ask.step)

    @cached_property
    def sent(self) -> pd.DataFrame:
        """What the operations asked for sent."""
        rows = rows_of(self.packets, group=self.ask.group, kind=self.ask.kind, step=self.ask.step)
        found = traffic.sent_of(self.packets, self.links, rows)
        return found if self.ask.step is None or len(self.packets) else found[found["step"] == self.ask.step]

    @cached_property
    def totals(self) -> pd.DataFrame:
        """The totals at the level asked for, in the order asked for."""
        found = traffic.totals(self.collectives, self.sent, self.ask.by, self.rows)
        found = traffic.with_reference(found, self.ask.references)
        name, _, way = self.ask.sort.rpartition(":")
        if name in found.columns and way in ("asc", "desc"):
            found = found.sort_values(name, ascending=way == "asc", kind="stable", ignore_index=True, na_position="last")
        return found

    @cached_property
    def operation(self) -> tuple[str, str]:
        """(group, name) of the operation whose ranks are shown: the one asked for, else that with the longest waiting.

        Waiting in groups that carry the shape of the pipeline counts only where there are no others.
        """
        if self.ask.operation:
            named = self.rows[coded(self.collectives["name"], (self.ask.operation,))[self.rows]]
            if len(named):
                return str(self.collectives["group"].iloc[named[0]]), self.ask.operation
        return traffic.waited_for(self.collectives, self.groups, self.rows)

    @cached_property
    def spread(self) -> traffic.RankSpread:
        """The operation over its ranks."""
        rows = traffic.operation_rows(self.collectives, *self.operation, self.ask.step)
        return traffic.spread(self.collectives, rows, self.links)

    @cached_property
    def slow_links(self) -> pd.DataFrame:
        """Every link, the slowest first."""
        ask = self.ask
        return slow.listed(self.links, group=ask.group, kind=ask.kind, step=ask.step, share=ask.setting("slow"))

    @cached_property
    def packet_rows(self) -> Ints:
        """The rows of packets that were asked for."""
        rows = rows_of(self.packets, group=self.ask.group, kind=self.ask.kind, step=self.ask.step)
        return rows[coded(self.packets["name"], (self.ask.operation,))[rows]] if self.ask.operation else rows

    @cached_property
    def group_of_matrix(self) -> str:
        """The group whose block the matrix is: the one asked for, or the only one that has links; "" for the whole job."""
        return self.ask.group or only_group(self.links)

    @cached_property
    def cells(self) -> LinkCells:
        """The cells of the matrix."""
        ask, group = self.ask, self.group_of_matrix
        members = members_of(self.groups, group)
        if not group:
            choice = ask.choice
            known = self.source.profiles.members(choice.run, choice.session, choice.rank)
            members = np.array(sorted({rank for _, _, rank in known if rank >= 0}), np.int64)
        return cells(self.links, group=group, members=members, kind=ask.kind, step=ask.step, of=ask.of, inner=ask.inner)

    def matrix(self, first: int = 0, last: int | None = None) -> Matrix:
        """Return the matrix of the places from first up to last."""
        return matrix(self.cells, self.ask.measure, how=self.ask.how, first=first, last=last)

    def table(self, name: str) -> pd.DataFrame:
        """Return one of TABLES but contention, as its CSV has it."""
        if name == "operation":
            return self.spread.table(*self.operation)
        if name == "links":
            return self.slow_links
        if name == "packets":
            return sizes.histogram(self.packets, self.packet_rows)
        return self.cells.table(self.group_of_matrix) if name == "matrix" else self.totals

    def contention(self, kernels: pd.DataFrame) -> beside.Contention:
        """Return what ran beside matrix multiplications of the chosen rank, whose kernels these are."""
        rank = self.ask.choice.rank
        mine = self.rows[self.collectives["rank"].to_numpy()[self.rows] == rank]
        sent = self.sent[self.sent["rank"] == rank]
        limit = self.ask.setting("hccs") * self.ask.setting("held")
        return beside.contention(self.collectives.iloc[mine], sent, kernels, limit=limit)


def _or_empty(found: pd.DataFrame | None, schema: Schema) -> pd.DataFrame:
    return schema.empty() if found is None else found
