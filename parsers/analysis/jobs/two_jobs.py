"""Two jobs side by side: values of each rank, operations, links and groups, with their differences.

Ranks are matched by their number, groups by what they are for and their ranks, links by both ranks and the transport. Times,
bytes and counts are per rank and step, so that jobs of different lengths can be compared. Differences are those of the first
job from the second one: positive where the first has more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from parsers.analysis.jobs.links import totals
from parsers.analysis.jobs.peers import alike
from parsers.analysis.jobs.ranks_by_step import waits_by_step
from parsers.analysis.jobs.step_parts import rank_steps
from parsers.analysis.jobs.stragglers import Straggler
from parsers.analysis.jobs.warm_up import steady
from parsers.analysis.jobs.who_is_slow import who_is_slow
from parsers.deferred import pandas as pd
from parsers.model import Floats

TIMES = (
    "total", "computing", "exposed", "overlapped", "communication", "free", "bubble", "preparing", "interval",
    "forward_backward", "tail",
)  # fmt: skip
METRICS = (*TIMES, "operations", "waited", "lateness", "peak_allocated", "peak_reserved", "flops", "flops_per_s")
"""Values of a rank that can be compared: times in ns per step, highest memory in bytes, operations per step and per second."""
SUMMANDS = ("computing", "exposed", "free")
"""Parts that together are the whole step."""
LEGACY = ("interval", "forward_backward", "tail")
ROUNDING = 1e-10
"""Relative difference that sums of the same numbers may have."""
_COLUMNS = {name: "own_bubble_ns" if name == "bubble" else f"{name}_ns" for name in TIMES}
_SHORT = {"tensor_model": "tp", "context": "cp", "expert_model": "ep", "pipeline_model": "pp", "data": "dp"}
Frames = Mapping[str, "pd.DataFrame | None"]


def rank_values(frames: Frames, step: int | None = None) -> pd.DataFrame:
    """Return a row for each rank of a job, by rank: its host, and the values of METRICS, NaN for unknown.

    frames are those of the job by name (JOB_FRAMES). Times are those of one step, or the means over the steps for None.
    """
    parts = [_times(frames.get("cluster_steps"), step), _sums(frames, step), _facts(frames.get("ranks"))]
    found = pd.concat([part for part in parts if part is not None] or [pd.DataFrame()], axis=1)
    hosts = found.pop("host") if "host" in found else pd.Series("", index=found.index)
    values = found.reindex(columns=list(METRICS)).astype("float64").sort_index()
    values.insert(0, "host", hosts.reindex(values.index).fillna("").astype("str"))
    values.index.name = "rank"
    return values


def _at(frame: pd.DataFrame, step: int | None) -> pd.DataFrame:
    return frame if step is None else frame[frame["step"] == step]


def _times(steps: pd.DataFrame | None, step: int | None) -> pd.DataFrame | None:
    if steps is None:
        return None
    kinds = steps["kind"].astype("str")
    rows = _at(steps[kinds == "rank"], step)
    if len(rows):
        table = rank_steps([rows])
        return pd.DataFrame({name: table.at(name, step) for name in TIMES}, index=table.ranks)
    means = steps[kinds == "mean"] if step is None else rows
    return means.groupby("rank")[list(_COLUMNS.values())].mean().set_axis(list(_COLUMNS), axis=1)


def _sums(frames: Frames, step: int | None) -> pd.DataFrame | None:
    """Return the time of all operations, and what ranks of the same work wait for each other, as the page Cluster has it."""
    collectives, groups, steps = (frames.get(name) for name in ("collectives", "groups", "cluster_steps"))
    if collectives is None or not len(collectives):
        return None
    rows = _at(collectives, step)
    by_rank = rows.groupby("rank")
    found = by_rank["elapse_ns"].sum(min_count=1).div(by_rank["step"].nunique()).to_frame("operations")
    if groups is None or steps is None or not len(steps):
        return found
    table = rank_steps([_at(steps, step)])
    waits = waits_by_step(table, [collectives], alike(groups))
    return found.join(pd.DataFrame({name: table.of(values, step) for name, values in waits.items()}, index=table.ranks))


def _facts(ranks: pd.DataFrame | None) -> pd.DataFrame | None:
    if ranks is None or not len(ranks):
        return None
    rows = ranks.drop_duplicates("rank").set_index("rank")
    found = pd.DataFrame({"host": rows["host"].astype("str")})
    for name in ("peak_allocated", "peak_reserved"):
        found[name] = rows[f"{name}_bytes"].where(rows[f"{name}_bytes"] >= 0).astype("float64")
    found["flops"] = rows["cube_flops"].add(rows["vector_flops"], fill_value=0.0)
    found["flops_per_s"] = rows["flops_per_s"]
    return found


def compared(one: pd.DataFrame, other: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return two tables with the same index as one: one, other, difference = one - other, change = difference / other.

    The rows with the largest difference come first, those that only one of them has a value for come last. Rows that neither
    has a value for are left out.
    """
    joined = pd.DataFrame({"one": one[value]}).join(pd.DataFrame({"other": other[value]}), how="outer", sort=True)
    joined = joined[joined.notna().any(axis=1)]
    joined["difference"] = difference(joined["one"].to_numpy(np.float64), joined["other"].to_numpy(np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        joined["change"] = np.where(joined["other"] != 0.0, joined["difference"] / joined["other"], np.nan)
    order = np.argsort(-joined["difference"].abs().to_numpy(), kind="stable")  # NaN last
    return joined.iloc[order]


def difference(one: Floats, other: Floats) -> Floats:
    """Return one - other; 0 where they differ by no more than rounding."""
    found = one - other
    same = np.abs(found) <= ROUNDING * np.maximum(np.abs(one), np.abs(other))
    cleared: Floats = np.where(same, 0.0, found)
    return cleared


def medians(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Return the medians of each metric over the ranks that both jobs (`rank_values`) have a value of; in order of METRICS.

    Columns: those of `compared`, ranks (how many), most_one, most_other (the highest of these ranks).
    """
    rows: dict[str, list[Any]] = {}
    for name in METRICS:
        both = pd.DataFrame({"one": one[name], "other": other[name]}).dropna()
        if not len(both):
            continue
        a, b = float(both["one"].median()), float(both["other"].median())
        left = float(difference(np.array([a]), np.array([b]))[0])
        change = left / b if b else np.nan
        rows[name] = [a, b, left, change, len(both), float(both["one"].max()), float(both["other"].max())]
    columns = ["one", "other", "difference", "change", "ranks", "most_one", "most_other"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


# Operations, links, groups ---------------------------------------------------------------------------------------------------


def operations(frames: Frames, *, by_rank: bool, step: int | None = None) -> pd.DataFrame:
    """Return operations by group (kind and ranks of it) and kind, with `by_rank` also by rank.

    Columns, per rank and step: count, elapse_ns, waited_ns (NaN for unknown), size_bytes.
    """
    keys = ["group_kind", "group_ranks", "operation", *(["rank"] if by_rank else [])]
    collectives = frames.get("collectives")
    rows = _at(collectives, step) if collectives is not None else None
    if rows is None or not len(rows):
        empty = pd.MultiIndex.from_arrays([[] for _ in keys], names=keys)
        return pd.DataFrame(columns=["count", "elapse_ns", "waited_ns", "size_bytes"], index=empty, dtype="float64")
    kinds, ranks = (_of_group(frames.get("groups"), rows, name) for name in ("kind", "ranks"))
    size = rows["size_bytes"].to_numpy(np.float64)
    table = pd.DataFrame({
        "group_kind": kinds, "group_ranks": ranks, "operation": rows["kind"].array, "rank": rows["rank"].to_numpy(),
        "elapse_ns": rows["elapse_ns"].to_numpy(), "waited_ns": rows["own_wait_ns"].to_numpy(),
        "size_bytes": np.where(size >= 0.0, size, np.nan),
    })  # fmt: skip
    groups = table.groupby(keys, observed=True, sort=True)
    found = groups[["elapse_ns", "waited_ns", "size_bytes"]].sum(min_count=1)
    found.insert(0, "count", groups.size().astype("float64"))
    pairs = pd.DataFrame({key: table[key] for key in keys} | {"of": table["rank"], "step": rows["step"].to_numpy()})
    number = pairs.drop_duplicates().groupby(keys, observed=True, sort=True).size()
    return found.div(number, axis=0)


def _of_group(groups: pd.DataFrame | None, rows: pd.DataFrame, name: str) -> pd.Categorical:
    """Return a column of the group of each row."""
    hashes = rows["group"].cat.categories.astype("str")
    told: dict[str, str] = {}
    if groups is not None and len(groups):
        told = dict(zip(groups["group"].astype("str"), groups[name].astype("str"), strict=True))
    texts = [told.get(one, "") for one in hashes]
    place = {text: number for number, text in enumerate(dict.fromkeys([*texts, ""]))}
    places = np.array([place[text] for text in (*texts, "")], np.int32)
    return pd.Categorical.from_codes(places[rows["group"].cat.codes.to_numpy()], categories=pd.Index(list(place), dtype="str"))


def link_values(frames: Frames) -> pd.DataFrame:
    """Return links between ranks by source, target and transport: size_bytes and time_ns per step, bandwidth in B/s."""
    links = frames.get("links")
    keys = ["source", "target", "transport"]
    if links is None or not len(links):
        empty = pd.MultiIndex.from_arrays([[], [], []], names=keys)
        return pd.DataFrame(columns=["size_bytes", "time_ns", "bandwidth"], index=empty, dtype="float64")
    found = totals(links).astype({"transport": "str"}).set_index(keys)
    steps = max(int(links["step"].nunique()), 1)
    return found.assign(size_bytes=found["size_bytes"] / steps, time_ns=found["time_ns"] / steps)


def unknown_links(links: pd.DataFrame | None) -> int:
    """Return how many links are left out because the rank of one of their ends is unknown."""
    if links is None or not len(links):
        return 0
    rows = links[(links["source"] < 0) | (links["target"] < 0)]
    return len(rows.drop_duplicates(["group", "source_local", "target_local"]))


def group_values(frames: Frames) -> pd.DataFrame:
    """Return how many groups there are by what they are for and their ranks: number, size."""
    groups = frames.get("groups")
    keys = ["group_kind", "group_ranks"]
    if groups is None or not len(groups):
        empty = pd.MultiIndex.from_arrays([[], []], names=keys)
        return pd.DataFrame(columns=["number", "size"], index=empty, dtype="float64")
    rows = groups[groups["group"].astype("str") != ""]
    texts = {"group_kind": rows["kind"].astype("str"), "group_ranks": rows["ranks"].astype("str")}
    sizes = pd.DataFrame({**texts, "size": rows["size"]}).groupby(keys, sort=True)["size"]
    return pd.DataFrame({"number": sizes.size(), "size": sizes.first()}).astype("float64")


def beside(one: pd.DataFrame, other: pd.DataFrame, value: str, more: Sequence[str] = ()) -> pd.DataFrame:
    """Return `compared` of a value of two tables with the same keys, with further values of both: name_one, name_other."""
    found = compared(one, other, value)
    for name in more:
        for which, table in (("one", one), ("other", other)):
            found[f"{name}_{which}"] = table[name].reindex(found.index)
    return found


def largest_part(parts: pd.DataFrame) -> tuple[str, float]:
    """Return the part of the step that differs most between two jobs (`medians`), and by how much; ("", 0.0) for none."""
    names = [name for name in (*SUMMANDS, *LEGACY) if name in parts.index]
    if not names:
        return "", 0.0
    differences: Floats = parts.loc[names, "difference"].to_numpy(np.float64)
    place = int(np.argmax(np.abs(differences)))
    return names[place], float(differences[place])


# One job ---------------------------------------------------------------------------------------------------------------------


def steps_of(frames: Frames) -> tuple[int, ...]:
    """Return the numbers of the steps of ranks, in order."""
    steps = frames.get("cluster_steps")
    return () if steps is None else tuple(sorted({int(one) for one in steps["step"][steps["kind"].astype("str") == "rank"]}))


def parallel_sizes(parallel: Mapping[str, int]) -> dict[str, int]:
    """Return the size of each known dimension by its short name, from sizes as in `JobFiles.parallel`."""
    names = {f"{long}_parallel_size": short for long, short in _SHORT.items()}
    return {short: parallel[name] for name, short in names.items() if name in parallel}


def late_ranks(frames: Frames) -> tuple[Straggler, ...] | None:
    """Return the ranks of a job that others wait for, slow or in single steps; None if that cannot be judged."""
    found = who_is_slow(steady(frames))
    return None if found.reason not in ("", "steps") else (*found.slow, *found.once)
