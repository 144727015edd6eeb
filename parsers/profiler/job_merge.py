"""Joins what was read of each rank into the frames of a job, and adds what only all ranks together tell.

Where a rank has files of its own, those of `cluster_analysis_output` only serve to be compared with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.jobs import bubble
from parsers.analysis.jobs.choosing import coded, kind_of, numbered
from parsers.analysis.jobs.lateness import idle_explained, waits
from parsers.analysis.jobs.rank_places import rank_places
from parsers.analysis.jobs.stages import chains
from parsers.cluster_frames import CLUSTER_STEPS, COLLECTIVES, DEVICE_TIMES, GROUPS, LINKS, PACKETS, RANKS
from parsers.deferred import pandas as pd
from parsers.model import Problem
from parsers.profiler.columns import JoinedRanks, RankColumns, packed
from parsers.profiler.frame_parts import categorical, changed, constant, joined, with_columns
from parsers.profiler.groups import ranks_of, text_of
from parsers.profiler.jobs import JobMember
from parsers.profiler.lines import MOST_COMPLAINTS, Complaints
from parsers.profiler.tables import NONE
from parsers.schema import Schema

_RELATIVE = 1e-6
_LEAST_NS = 1_000.0
_AT_ONCE = 1 << 17
"""Rows of links converted at a time: of a large job there are millions."""


@dataclass(frozen=True, slots=True)
class RankPiece:
    """What was read of one rank (rank -1: of all), of which session, and the directory it is of.

    A piece may be of several ranks: then its rows say themselves which rank and file they are of (`JoinedRanks.file_rows`).
    """

    session: str
    path: str
    rank: int
    columns: RankColumns

    @classmethod
    def of(cls, member: JobMember, columns: RankColumns) -> RankPiece:
        """Return what was read of the files of a rank."""
        return cls(member.session, member.path, member.rank, columns)


@dataclass(slots=True)
class Parts:
    """Rows of all ranks' own files, and of files about all ranks."""

    own: dict[str, pd.DataFrame]
    whole: dict[str, pd.DataFrame]
    problems: list[Problem]
    whole_path: str = ""


def joined_parts(pieces: Iterable[RankPiece], schemas: Sequence[Schema]) -> Parts:
    """Join pieces as they arrive."""
    own = {schema.name: JoinedRanks(schema) for schema in schemas}
    whole = {schema.name: JoinedRanks(schema) for schema in schemas}
    problems: list[Problem] = []
    path = ""
    for piece in pieces:
        problems += piece.columns.problems
        path = piece.path if piece.rank < 0 else path
        for joining in (own if piece.rank >= 0 else whole).values():
            joining.add(piece.columns, piece.session, piece.rank)
        del piece  # before the frames are made
    return Parts(
        {name: one.frame() for name, one in own.items()}, {name: one.frame() for name, one in whole.items()}, problems, path
    )  # fmt: skip


def packed_pieces(pieces: Iterable[RankPiece], schemas: Sequence[Schema]) -> tuple[bytes, list[Problem]]:
    """Join pieces of ranks as `joined_parts` does; return them as the bytes of one piece, and the problems."""
    joined_ranks = [JoinedRanks(schema) for schema in schemas]
    problems: list[Problem] = []
    for piece in pieces:
        problems += piece.columns.problems
        for joining in joined_ranks:
            joining.add(piece.columns, piece.session, piece.rank)
    return packed((one.file_rows() for one in joined_ranks), problems), problems


# Communication ---------------------------------------------------------------------------------------------------------------


def communication(parts: Parts) -> tuple[dict[str, pd.DataFrame], list[Problem]]:
    """Return groups, collectives and packets of a job."""
    problems = list(parts.problems)
    complaints = Complaints(parts.whole_path)
    own = parts.own[COLLECTIVES.name]
    _compare_operations(own, parts.whole[COLLECTIVES.name], complaints)
    ranks = own["rank"].unique()
    rows = {
        name: joined(schema, [parts.own[name], _without(parts.whole[name], ranks)])
        for name, schema in ((COLLECTIVES.name, COLLECTIVES), (PACKETS.name, PACKETS))
    }
    collectives = rows[COLLECTIVES.name].copy(deep=False)
    collectives["kind"] = changed(collectives["name"].array, kind_of)
    groups = groups_of(joined(GROUPS, [parts.own[GROUPS.name], parts.whole[GROUPS.name]]), collectives, problems)
    explained = idle_explained(collectives)
    known = collectives["idle_ns"].notna().to_numpy()
    told = np.where(~known, 2, np.where(explained, 0, 1)).astype(np.int8)
    collectives["idle_explained"] = pd.Categorical.from_codes(told, categories=pd.Index(["yes", "no", ""], dtype="str"))
    collectives["own_wait_ns"], collectives["lateness_ns"] = waits(collectives, groups)
    problems += complaints.all()
    return {GROUPS.name: groups, COLLECTIVES.name: collectives, PACKETS.name: rows[PACKETS.name]}, problems


def _without(frame: pd.DataFrame, ranks: NDArray[Any]) -> pd.DataFrame:
    return frame[~frame["rank"].isin(ranks)] if len(ranks) and len(frame) else frame


def _compare_operations(own: pd.DataFrame, whole: pd.DataFrame, complaints: Complaints) -> None:
    """Report ranks whose own files and files about all ranks tell other operations."""
    if not len(whole) or not len(own):
        return
    sums = [frame.groupby("rank")["elapse_ns"].agg(["size", "sum"]) for frame in (own, whole)]
    mine, theirs = (one.loc[sums[0].index.intersection(sums[1].index)] for one in sums)
    gap = (mine["sum"] - theirs["sum"]).abs() > _LEAST_NS + _RELATIVE * mine["sum"].abs()
    wrong = mine.index[(mine["size"] != theirs["size"]) | gap].tolist()

    def text(rank: int) -> str:
        (number, time), (other, other_time) = ((int(one["size"][rank]), one["sum"][rank] / 1e6) for one in (mine, theirs))
        here = f"{number:,} operations of {time:,.3f} ms together"
        found = f"Rank {rank}: expected {here}, as in its own files, found {other:,} of {other_time:,.3f} ms"
        return f"{found}; its own files are shown."

    _complain(complaints, wrong, text)


def _complain(complaints: Complaints, wrong: list[Any], text: Callable[[Any], str]) -> None:
    """Report what is wrong; what a file has no room for is only counted, as it may be a million rows."""
    room = max(0, MOST_COMPLAINTS - len(complaints.problems))
    for one in wrong[:room]:
        complaints.add(text(one))
    complaints.left_out += len(wrong[room:])


def groups_of(told: pd.DataFrame, collectives: pd.DataFrame, problems: list[Problem]) -> pd.DataFrame:
    """Return a row for each group that a file tells of or that operations name (schema GROUPS)."""
    first = told.drop_duplicates("group", ignore_index=True)
    pairs = told.drop_duplicates(["group", "ranks"])
    for group in pairs.loc[pairs["group"].duplicated(), "group"].astype("str").unique()[:8]:
        ranks = " and ".join(pairs.loc[pairs["group"] == group, "ranks"].astype("str").tolist()[:3])
        file = str(first.loc[first["group"] == group, "file"].iloc[0])
        text = f"Group {group}: expected the same ranks in all files, found {ranks}; the first ones are shown."
        problems.append(Problem(file, 0, 0, "bad_table", text))
    seen = collectives.drop_duplicates(["group", "section", "rank"])[["group", "section", "rank", "file"]]
    by_group: dict[str, tuple[set[str], list[int], str]] = {}
    for group, section, rank, file in zip(*(seen[name].tolist() for name in seen.columns), strict=True):
        sections, ranks_seen, _ = by_group.setdefault(group, (set(), [], file))
        sections.add(section)
        ranks_seen.append(rank)
    known = set(first["group"].astype("str"))
    new = [(group, found) for group, found in by_group.items() if group and group not in known]
    if new:
        others = f" and {len(new) - 1:,} more" if len(new) > 1 else ""
        text = f"Expected the ranks of group {new[0][0]}{others} in a file, found its hash only; those that have it are shown."
        problems.append(Problem(new[0][1][2], 0, 0, "bad_table", text))
    columns: dict[str, Any] = {name: categorical(["" for _ in new]) for name in ("name", "kind", "sections")}
    columns |= {"group": categorical([group for group, _ in new]), "ranks": categorical([text_of(one[1]) for _, one in new])}
    columns |= {"size": np.array([len(set(one[1])) for _, one in new], np.int64), "told": constant("no", len(new))}
    columns |= {"file": categorical([one[2] for _, one in new])}
    more = pd.DataFrame({name: columns[name] for name in GROUPS.names}, copy=False)
    found = joined(GROUPS, [first, more]) if len(new) else first
    found = found.copy(deep=False)
    does = [";".join(sorted(by_group[group][0], reverse=True)) if group in by_group else "" for group in found["group"]]
    found["sections"] = categorical(does)
    return found


# Links -----------------------------------------------------------------------------------------------------------------------


def links(parts: Parts, groups: pd.DataFrame, offsets: Mapping[int, int]) -> tuple[pd.DataFrame, list[Problem]]:
    """Return the links of a job, with ranks of the job for numbers in groups where these are known.

    offsets is the first rank of the stage of each rank, for legacy files, whose numbers are those in the stage.
    """
    complaints = Complaints(parts.whole_path)
    # Nothing else holds these frames: each column that is replaced is freed, as those of many ranks are large.
    own, whole = _resolved(parts.own.pop(LINKS.name), groups, offsets), parts.whole.pop(LINKS.name)
    senders = own["rank"].unique() if len(own) else np.empty(0, np.int64)
    _compare_links(own, whole, complaints)
    left = whole[~whole["source"].isin(senders)] if len(senders) and len(whole) else whole
    frame = joined(LINKS, [own, left])
    size, time = frame["size_bytes"].to_numpy(), frame["time_ns"].to_numpy()
    bandwidth = np.full(len(frame), np.nan)
    np.divide(size, time, out=bandwidth, where=(size > 0) & (time > 0.0))
    bandwidth *= 1e9
    frame = with_columns(frame, {"bandwidth": bandwidth})
    return frame, [*parts.problems, *complaints.all(), *_incomplete(frame)]


def _incomplete(links: pd.DataFrame) -> list[Problem]:
    """Return what is missing: ranks of the job where files have only numbers in a group, and sums of groups."""
    found = []
    unknown = ((links["source"] < 0) | (links["target"] < 0)).to_numpy()
    groups, kinds = links["group"].array, links["class"].array
    if unknown.any():
        first = int(np.argmax(unknown))
        where = f"{np.count_nonzero(unknown):,} links, first of group {groups[first] or 'without a name'}"
        text = f"Expected ranks of the job in links, found only numbers in the group in {where}; they are shown by these."
        found.append(Problem(str(links["file"].iloc[first]), 0, 0, "bad_table", text))
    summed = np.asarray(kinds.categories == "total", bool)[kinds.codes]
    of_sum = np.isin(kinds.categories.to_numpy(object), ("top1", "middle", "bottom1", "bottom2", "bottom3"))[kinds.codes]
    without = of_sum & ~np.isin(groups.codes, groups.codes[summed])
    if without.any():
        first = int(np.argmax(without))
        text = f"Expected the sums (total) of links of group {groups[first] or 'without a name'}, found single operations only"
        text += "; the bandwidth of such links is not judged."
        found.append(Problem(str(links["file"].iloc[first]), 0, 0, "bad_table", text))
    return found


def _resolved(rows: pd.DataFrame, groups: pd.DataFrame, offsets: Mapping[int, int]) -> pd.DataFrame:
    """Return the rows with ranks of the job where there are numbers in a group."""
    local = rows["source_local"].to_numpy(), rows["target_local"].to_numpy()
    counted = local[0] >= 0
    if not counted.any():
        return rows
    members = _members(rows, counted, groups)
    nameless = np.asarray(rows["group"].cat.categories == "", bool)
    codes, ranks = rows["group"].cat.codes.to_numpy(), rows["rank"].to_numpy()
    for name, numbers in zip(("source", "target"), local, strict=True):
        values = rows[name].to_numpy().copy()
        for begin in range(0, len(counted), _AT_ONCE):
            chosen = counted[begin : begin + _AT_ONCE]
            place = slice(begin, begin + len(chosen)) if chosen.all() else begin + np.flatnonzero(chosen)
            group, mine = codes[place], numbers[place]
            found = members.ranks(group, mine)
            if nameless[group].any():
                first = np.array([offsets.get(rank, NONE) for rank in ranks[place].tolist()], np.int64)
                found = np.where(nameless[group], np.where(first >= 0, first + mine, NONE), found)
            values[place] = found
        rows = with_columns(rows, {name: values})
    return rows


@dataclass(frozen=True, slots=True)
class _GroupMembers:
    """The ranks of groups by their numbers in these.

    Those of known groups are `flat[starts[group] + number]`. Of other groups only some numbers are known, which a file can
    make as large as it likes: `keys` are group and number in one (`_keys`), sorted, and `told` is the rank of each.
    """

    starts: NDArray[np.int64]
    flat: NDArray[np.int64]
    keys: NDArray[np.int64]
    told: NDArray[np.int64]

    def ranks(self, group: NDArray[Any], number: NDArray[Any]) -> NDArray[np.int64]:
        """Return the rank for each group and number in it; NONE for unknown ones."""
        begins = self.starts[group]
        within = number < self.starts[group + 1] - begins
        if within.all():
            whole: NDArray[np.int64] = self.flat[begins + number]
            return whole
        found = np.full(len(group), NONE, np.int64)
        known = np.flatnonzero(within)
        found[known] = self.flat[self.starts[group[known]] + number[known]]
        if len(self.keys):
            keys = _keys(group, number)
            at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            found = np.where(self.keys[at] == keys, self.told[at], found)
        return found


def _keys(group: NDArray[Any], number: NDArray[Any]) -> NDArray[np.int64]:
    """Return groups and numbers in them in one; the numbers in links have at most nine digits."""
    return (group.astype(np.int64) << 30) | number.astype(np.int64)


def _members(rows: pd.DataFrame, counted: NDArray[Any], groups: pd.DataFrame) -> _GroupMembers:
    """Return the ranks of the groups of rows; of an unknown group those that tell a link to themselves."""
    told = groups[groups["told"].astype("str") == "yes"]
    known = dict(zip(told["group"].astype("str"), told["ranks"].astype("str"), strict=True))
    names = rows["group"].cat.categories.tolist()
    members = [np.array(ranks_of(known[name]) if name in known else (), np.int64) for name in names]
    unknown = np.array([name not in known for name in names], np.bool_)
    codes, number = rows["group"].cat.codes.to_numpy(), rows["source_local"].to_numpy()
    own = np.empty(0, np.int64)
    if unknown.any():
        own = np.flatnonzero(counted & unknown[codes] & (number == rows["target_local"].to_numpy()))[::-1]
    keys, first = np.unique(_keys(codes[own], number[own]), return_index=True)  # of several ranks the last one
    starts = np.cumsum([0, *map(len, members)])
    return _GroupMembers(starts, np.concatenate([*members, np.empty(0, np.int64)]), keys, rows["rank"].to_numpy()[own][first])


def _compare_links(own: pd.DataFrame, whole: pd.DataFrame, complaints: Complaints) -> None:
    if not len(whole) or not len(own):
        return
    sums = [
        frame[(frame["class"] == "total") & (frame["size_bytes"] > 0)].groupby(["source", "target"])["size_bytes"].sum()
        for frame in (own, whole)
    ]
    both = sums[0].index.intersection(sums[1].index)
    # Sizes are rounded to bytes row by row.
    wrong = both[np.abs(sums[0][both].to_numpy() - sums[1][both].to_numpy()) > len(own)]

    def text(pair: tuple[int, int]) -> str:
        a, b = (int(one[pair]) for one in sums)
        found = f"Link {pair[0]}-{pair[1]}: expected {a:,} bytes, as in the rank's own files, found {b:,}"
        return f"{found}; its own files are shown."

    _complain(complaints, wrong.tolist(), text)


# Steps -----------------------------------------------------------------------------------------------------------------------


def steps(
    parts: Parts, groups: pd.DataFrame, collectives: pd.DataFrame, parallel: Mapping[str, int]
) -> tuple[pd.DataFrame, list[Problem]]:
    """Return the steps of a job, with our own bubble and the place of each rank in the grid of parallel dimensions."""
    complaints = Complaints(parts.whole_path)
    own, whole = parts.own[CLUSTER_STEPS.name], parts.whole[CLUSTER_STEPS.name]
    own = own.copy(deep=False)
    own = _placed(own, groups, parallel, complaints)
    _compare_steps(own, whole, complaints)
    frame = joined(CLUSTER_STEPS, [own, _without(whole, own["rank"].unique())]).copy(deep=False)
    between = _between_ranks(frame, collectives)
    received, exact = frame["receive_ns"].to_numpy(np.float64), frame["own_bubble_ns"].to_numpy(np.float64)
    most = bubble.at_most(frame["exposed_ns"].to_numpy(np.float64), between)
    exact = np.where(most == 0.0, 0.0, exact)
    known = [received, exact, most]
    place = np.select([np.isfinite(values) for values in known], range(len(known)), len(known)).astype(np.int8)
    frame["own_bubble_ns"] = np.choose(place, [*known, np.nan])
    sources = pd.Index(["receive", "exact", "at most", ""], dtype="str")
    frame["bubble_source"] = pd.Categorical.from_codes(place, categories=sources)
    return frame, [*parts.problems, *complaints.all()]


def _between_ranks(steps: pd.DataFrame, collectives: pd.DataFrame) -> NDArray[np.float64]:
    """Return for each step of a rank the time of all its operations between two ranks; NaN where it has no operation."""
    rows = len(steps)
    both = [np.concatenate([steps[name].to_numpy(), collectives[name].to_numpy()]) for name in ("rank", "step")]
    key, first = numbered(*both)
    own = key[rows:]
    time = np.full(len(first), np.nan)
    time[own] = 0.0
    p2p = coded(collectives["section"], ("p2p",))
    sums = collectives["elapse_ns"][p2p].groupby(own[p2p]).sum()
    time[sums.index.to_numpy()] = sums.to_numpy()
    return time[key[:rows]]


def _placed(own: pd.DataFrame, groups: pd.DataFrame, parallel: Mapping[str, int], complaints: Complaints) -> pd.DataFrame:
    if not len(own):
        return own
    found = rank_places(own["rank"].tolist(), groups, parallel)
    for name, size, listed in found.wrong:
        text = f"Parallel dimension {name}: expected groups of {size} ranks, the size in profiler_metadata, found {listed}"
        complaints.add(f"{text}; the listed groups count.")
    at = np.searchsorted(found.ranks, own["rank"].to_numpy())
    unknown = np.full(len(found.ranks), NONE, np.int64)
    for name in ("dp", "tp", "pp"):
        own[name] = found.of.get(name, unknown)[at]
    if "pp" not in found.of or found.told["pp"] == "sizes":
        place = {rank: number for chain in chains(groups, ranks_of) for number, rank in enumerate(chain)}
        stage = np.array([place.get(rank, NONE) for rank in found.ranks.tolist()], np.int64)[at]
        own["pp"] = np.where(stage >= 0, stage, own["pp"])
    return own


def _compare_steps(own: pd.DataFrame, whole: pd.DataFrame, complaints: Complaints) -> None:
    if not len(whole) or not len(own):
        return
    names = ["computing_ns", "exposed_ns", "free_ns"]
    mine, theirs = (
        frame[frame["kind"].astype("str") == "rank"].drop_duplicates(["rank", "step"]).set_index(["rank", "step"])[names]
        for frame in (own, whole)
    )
    both = mine.index.intersection(theirs.index)
    gap = (mine.loc[both] - theirs.loc[both]).abs()
    wrong = gap > _LEAST_NS + _RELATIVE * mine.loc[both].abs()

    def text(at: tuple[int, int]) -> str:
        name = next(name for name in names if wrong[name][at])
        a, b = (float(frame[name][at]) for frame in (mine, theirs))
        what = f"Rank {at[0]}, step {at[1]}, {name.removesuffix('_ns')}"
        told = f"expected {a / 1e6:,.3f} ms, as in its own files, found {b / 1e6:,.3f} ms"
        return f"{what}: {told}; its own files are shown."

    _complain(complaints, both[wrong.any(axis=1).to_numpy()].tolist(), text)


# Ranks -----------------------------------------------------------------------------------------------------------------------


def ranks(parts: Parts, hosts: Mapping[int, str]) -> tuple[pd.DataFrame, list[Problem]]:
    """Return a row for each rank, in their order. hosts are those in the names of directories, used where no file tells one."""
    own, whole = parts.own[RANKS.name].drop_duplicates("rank"), parts.whole[RANKS.name].drop_duplicates("rank")
    numbers = np.array(sorted({*hosts, *own["rank"].tolist(), *whole["rank"].tolist()}), np.int64)
    listed = [frame.set_index("rank") for frame in (own, whole)]
    columns: dict[str, Any] = {"rank": numbers}
    for column in RANKS.columns[1:]:
        missing: Any = {"category": "", "int64": NONE, "float64": np.nan}[column.dtype]
        values: list[Any] = [frame[column.name] for frame in listed]
        values = [one.astype("object") for one in values] if missing == "" else values
        values = [one.reindex(numbers, fill_value=missing) for one in values]
        if column.dtype == "category":
            texts = [one.tolist() for one in values]
            texts += [[hosts.get(rank, "") for rank in numbers.tolist()]] if column.name == "host" else []
            columns[column.name] = categorical([next(filter(None, one), "") for one in zip(*texts, strict=True)])
        elif column.dtype == "int64":
            columns[column.name] = np.where(values[0] != NONE, values[0], values[1])
        else:
            columns[column.name] = np.where(values[0].notna(), values[0], values[1])
    return RANKS.check(pd.DataFrame(columns, copy=False)), list(parts.problems)


# Device times ----------------------------------------------------------------------------------------------------------------


def device_times(parts: Parts) -> tuple[pd.DataFrame, list[Problem]]:
    """Return when ranks computed, in the order in which they were read: files about all ranks do not tell it."""
    return DEVICE_TIMES.check(parts.own[DEVICE_TIMES.name]), list(parts.problems)
