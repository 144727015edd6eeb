"""The text alternative of operators over ranks: how many there are, who runs longest, what is not joined."""

from __future__ import annotations

from parsers.analysis.jobs.rank_operators.tables import ShownOperators

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import alternative, listed, named
from layouts.kit.i18n import Text, both, define_texts

define_texts({
    "rank_rows.of": (
        "{operators} operators on {ranks} ranks over {time}", "{ranks} 个 rank 上的 {operators} 个算子，时长 {time}",
    ),
    "rank_rows.ends": (
        "Rank {first} ends first, rank {last} last, {time} later", "rank {first} 最先结束，rank {last} 最后结束，晚 {time}",
    ),
    "rank_rows.alone": ("Not joined with a neighbour", "未与相邻 rank 连接"),
    "rank_rows.rank": ("rank {rank}", "rank {rank}"),
    "rank_rows.aligned": ("Aligned by the ends of common collectives", "已按共同集合通信的结束时刻对齐"),
})  # fmt: skip


def of_ranks(shown: ShownOperators) -> Text:
    """Return the alternative of ranks over each other."""
    rows = shown.rows
    begin, end = shown.laid.extent
    values = {"operators": fmt.count(sum(row["operators"] for row in rows)), "ranks": fmt.count(len(rows))}
    said: list[Text | None] = [both("rank_rows.of", **values, time=fmt.duration((end - begin) / 1e9))]
    some = [row for row in rows if row["operators"]]
    if len(some) > 1:
        first, last = (way(some, key=lambda row: row["end_ns"]) for way in (min, max))
        later = fmt.duration((last["end_ns"] - first["end_ns"]) / 1e9)
        said.append(both("rank_rows.ends", first=str(first["rank"]), last=str(last["rank"]), time=later))
        alone = sorted((row for row in some if row["alone"]), key=lambda row: -row["alone"])
        names = [named(both("rank_rows.rank", rank=str(row["rank"])), fmt.count(row["alone"])) for row in alone]
        said.append(named(both("rank_rows.alone"), listed(names)) if names else None)
    said.append(both("rank_rows.aligned") if shown.aligned else None)
    return alternative(*said)
