"""The communication page: requests, tables, sentences and figures, over real profiles and made jobs."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from layouts.jobs.communication import figures, page, tables
from layouts.jobs.rank_traffic import TABLES, Traffic, TrafficRequest
from layouts.kit import units as fmt
from layouts.kit.i18n import CATALOGUE
from layouts.kit.state import BadInput
from parsers import open_run
from parsers.analysis.jobs.traffic import RankSpread
from parsers.cluster_frames import JOB_FRAMES
from parsers.profile_frames import KERNELS
from tests.sources import MemorySource
from tests.writers.clusters import make

FOUR = "profiler_new/torch_npu_st_4ranks_pp2"
ASK = {"run": ["a"], "session": ["."], "rank": ["0"]}
DP_CP, PP = "5862276114690318097", "3985310405473756128"


def source_of(frames: dict[str, pd.DataFrame]) -> MemorySource:
    return MemorySource({"a": {"profiles": {(".", 0): frames}}})


def real(path: Path) -> MemorySource:
    (job,) = open_run(path).profile.jobs
    return source_of({name: job.frame(name) for name in JOB_FRAMES})


def traffic(source: MemorySource, **state: str) -> Traffic:
    ask = TrafficRequest.read_any(ASK | {name.rstrip("_"): [value] for name, value in state.items()})
    assert ask is not None
    return Traffic(source, ask)


def texts_in(component: Any) -> str:
    """All English texts in plain lists and components, in their order."""
    if isinstance(component, str | int | float):
        return str(component)
    if isinstance(component, list | tuple):
        if len(component) == 3 and isinstance(component[0], str) and isinstance(component[1], dict):
            return "" if component[1].get("class") == "zh" else texts_in(component[2])
        return " ".join(texts_in(part) for part in component)
    plain = getattr(component, "data-plain", None)
    if plain is not None:
        return texts_in(json.loads(plain))
    if getattr(component, "className", None) == "zh":
        return ""
    return texts_in(getattr(component, "children", None) or "")


def rows_of(component: Any) -> list[list[str]]:
    """The texts of the cells of a table."""
    found: list[list[str]] = []

    def walk(one: Any) -> None:
        if isinstance(one, list | tuple):
            for part in one:
                walk(part)
        elif type(one).__name__ == "Tr":
            found.append([" ".join(texts_in(cell).split()) for cell in one.children])
        elif hasattr(one, "children"):
            walk(one.children)

    walk(component)
    return found


# Requests --------------------------------------------------------------------------------------------------------------------


def test_an_ask_without_a_profile_is_none() -> None:
    assert TrafficRequest.read_any(None) is None
    assert TrafficRequest.read_any({"measure": ["bytes"]}) is None


def test_an_ask_has_its_defaults_and_units() -> None:
    ask = TrafficRequest.read_any(ASK | {"hccs": ["20"], "small_rdma": ["2"], "slow": ["70"]})
    assert ask is not None
    assert (ask.group, ask.step, ask.measure, ask.of, ask.by, ask.inner) == ("", None, "bandwidth", "total", "kind", False)
    assert ask.references == {"HCCS": 20e9, "SDMA": 20e9, "PCIE": 20e9, "RDMA": 12.5e9}
    assert (ask.small["RDMA"], ask.small["HCCS"]) == (2_000_000, 16_000_000)
    assert (ask.setting("slow"), ask.setting("held")) == (pytest.approx(0.7), 0.8)


@pytest.mark.parametrize(
    "bad",
    [
        {"measure": ["speed"]}, {"class": ["best"]}, {"by": ["host"]}, {"inner": ["yes"]}, {"step": ["x"]}, {"hccs": ["-1"]},
        {"hccs": ["nan"]}, {"kind": ["x" * 50]}, {"op": ["x" * 500]}, {"rank": ["one"]}, {"group": ["9" * 60]},
        {"how": ["median"]},
    ],
)  # fmt: skip
def test_malformed_asks_are_refused(bad: dict[str, list[str]]) -> None:
    with pytest.raises(BadInput):
        TrafficRequest.read_any(ASK | bad)


# Pages of nothing and of real profiles ---------------------------------------------------------------------------------------


def test_without_rows_the_page_says_so() -> None:
    source = source_of({name: schema.empty() for name, schema in JOB_FRAMES.items()})
    head, links, operation, packets, first, second, facts = page.drawn(traffic(source))
    assert "No communication operation was recorded" in texts_in(head)
    assert "Links were not checked" in texts_in(head)
    assert "The files have no links" in texts_in(links)
    assert "The files have no packets" in texts_in(packets)
    assert "No communication operation" in texts_in(operation)
    assert (first, second, facts["names"], facts["kinds"], facts["links"]) == (None, None, [], [], False)
    assert "No communication operation" in texts_in(page.totals(traffic(source)))
    for name in TABLES:
        if name != "contention":
            traffic(source).table(name)
    assert not len(traffic(source).matrix().row)


def test_the_sentence_of_the_four_ranks(real_data: Path) -> None:
    source = real(real_data / FOUR)
    said = texts_in(page.head(traffic(source), {}))
    own = traffic(source).collectives
    mean = own.groupby("rank")["elapse_ns"].sum().mean() / 1e6
    assert f"spends {mean:.3g} ms of a step" in said
    judged = own[own["own_wait_ns"].notna()]
    share = judged["own_wait_ns"].sum() / judged["elapse_ns"].sum()
    assert f"{100 * share:.1f} % of the" in said
    assert "None of 8 links is slower" in said
    assert re.search(r"44.3 % of the HCCS packets are smaller than 16.0 MB; they take 0.877 % of the time", said)
    unexplained = own.loc[own["idle_explained"] == "no", "idle_ns"].sum() / own["rank"].nunique() / 1e6
    assert f"{unexplained:.3g} ms of idle time per step is not explained" in said


def test_the_table_of_the_four_ranks(real_data: Path) -> None:
    source = real(real_data / FOUR)
    rows = rows_of(page.totals(traffic(source, by="rank")))
    assert rows[0][:5] == ["Group", "Kind", "Rank", "Count", "Elapse (ms)"]
    by_name = {tuple(row[:3]): row for row in rows[1:]}
    assert by_name["pp 0,2", "batchsendrecv", "0"][4] == "313.9"
    sums = [float(row[4]) for key, row in by_name.items() if key[0] == "dp_cp 0-1" and key[2] == "0"]
    assert sum(sums) == pytest.approx(65.41234, abs=0.01)
    assert "not explained" in by_name["dp_cp 0-1", "allgather", "0"][8]
    assert "not explained" not in by_name["mp 0,2", "allreduce", "2"][8]


def test_waiting_is_that_of_the_files_where_ours_is_unknown(real_data: Path) -> None:
    source = real(real_data / "mindinsight_legacy/cluster_propose")
    rows = rows_of(page.totals(traffic(source)))
    assert "Wait (ms)" in rows[0]
    assert "Own wait (ms)" not in rows[0]
    assert "Slow link: 0 → 1 has 5.06 GB/s" in texts_in(page.head(traffic(source), {}))  # 5.0552


def test_tables_are_sorted_as_asked(real_data: Path) -> None:
    source = real(real_data / FOUR)
    for name, way in (("bandwidth", "desc"), ("elapse_ns", "asc"), ("count", "desc")):
        found = traffic(source, sort=f"{name}:{way}").totals[name].dropna()
        assert found.is_monotonic_decreasing if way == "desc" else found.is_monotonic_increasing
    assert traffic(source, sort="nothing:desc").totals["elapse_ns"].is_monotonic_decreasing


def test_a_group_or_step_of_another_job_means_all(real_data: Path) -> None:
    source = real(real_data / FOUR)
    everything = traffic(source).totals["elapse_ns"].tolist()
    assert traffic(source, group="12345", step="99").totals["elapse_ns"].tolist() == everything
    assert traffic(source, step="13").ask.step == 13
    assert traffic(source, group=PP).ask.group == PP


def test_bandwidth_is_compared_with_the_reference_of_its_transport(real_data: Path) -> None:
    source = real(real_data / FOUR)
    found = traffic(source, hccs="20").totals.set_index(["group", "kind"])
    assert found.loc[(PP, "batchsendrecv"), "reference"] == 20e9
    tiny = found[found["carried_bytes"] < 1e6]
    assert len(tiny)
    assert tiny["reference"].isna().all()
    slowest = traffic(source, by="operation", sort="of_reference:asc").totals
    judged = slowest["of_reference"].dropna()
    assert judged.is_monotonic_increasing
    assert slowest["of_reference"].iloc[: len(judged)].notna().all()
    assert judged.iloc[0] == pytest.approx((slowest["bandwidth"] / 18e9)[slowest["carried_bytes"] >= 1e6].min())


def test_links_of_unknown_ranks_are_named_by_their_group(real_data: Path) -> None:
    source = real(real_data / "profiler_new/torch_npu_text_level2")
    _, links, *_ = page.drawn(traffic(source))
    assert "rank 0 → number 7 of 1102…5271 0-1" in " ".join(texts_in(links).split())
    assert traffic(source).matrix().rows == 8
    row = traffic(source).slow_links.iloc[0].to_dict()
    assert tables.link_text(row, {row["group"]: "dp 0-1"}) == f"dp 0-1: {row['source']} → #{row['target_local']}"


# One operation ---------------------------------------------------------------------------------------------------------------


def made(**more: Any) -> MemorySource:
    job = make(5, ranks=32, slow_rank=11, slower=0.1, **more)
    return source_of({"groups": job.groups, "collectives": job.collectives, "links": job.links, "cluster_steps": job.steps})


def test_the_rank_that_came_last_is_named_and_marked() -> None:
    found = traffic(made())
    said = texts_in(page.operation(found, {}))
    assert re.search(r"Rank 11 came last in \d+ of 10 steps", said)
    figure = figures.operation(found.spread)
    assert figure is not None
    assert [trace["meta"] for trace in figure["data"]] == ["own_wait", "unexplained"]  # no bytes, so no transfer
    (mark,) = figure["layout"]["annotations"]
    assert figure["data"][0]["x"][mark["x"]] == "11"
    one = texts_in(page.operation(traffic(made(), step="3", op="hcom_allReduce__2"), {}))
    assert "hcom_allReduce__2" in one
    assert "came last; the others waited" in one


def test_who_comes_last_in_a_pipeline_says_nothing(real_data: Path) -> None:
    source = real(real_data / FOUR)
    embd = texts_in(page.operation(traffic(source, op="hcom_allReduce__170_1_1"), {}))
    assert "follows from the pipeline" in embd
    pipeline = texts_in(page.operation(traffic(source, op="hcom_batchSendRecv__128_4_1"), {}))
    assert "cannot be told" in pipeline
    assert traffic(source).operation == (DP_CP, "hcom_reduceScatter__097_4_1")
    assert traffic(source, group=PP).operation[0] == PP
    assert traffic(source, op="no such operation").operation == (DP_CP, "hcom_reduceScatter__097_4_1")


def test_parts_of_an_operation_sum_to_its_elapse(real_data: Path) -> None:
    source = real(real_data / FOUR)
    for name in ("", "hcom_batchSendRecv__128_4_1", "hcom_allReduce__170_1_1"):
        spread = traffic(source, **({"op": name} if name else {})).spread
        assert sum(figures.parts_of(spread).values()) == pytest.approx(spread.elapse_ns)


def test_many_ranks_keep_the_longest_of_neighbours() -> None:
    count = 5_000
    elapse = np.random.default_rng(1).random(count)
    nothing = np.full(count, math.nan)
    spread = RankSpread(np.arange(count), elapse, *[nothing] * 4, np.zeros(count, np.int64), 0, 1, nothing, nothing)
    places, block = figures.shown_ranks(spread)
    assert (block, len(places)) == (9, 556)
    assert places.tolist() == [at + int(elapse[at : at + 9].argmax()) for at in range(0, count, 9)]
    cut = [part[:600] for part in (spread.ranks, elapse, *[nothing] * 4, spread.last)]
    few = RankSpread(*cut, 0, 1, nothing, nothing)
    assert figures.shown_ranks(few)[1] == 1


# Packets and contention ------------------------------------------------------------------------------------------------------


def test_packets_of_a_group(real_data: Path) -> None:
    source = real(real_data / FOUR)
    found = traffic(source, group=DP_CP).table("packets")
    assert found["from_bytes"].min() == 2**24
    assert traffic(source).table("packets")["count"].sum() == 122
    figure = figures.packets(found)
    assert figure is not None
    assert figure["data"][0]["x"] == [fmt.prefixed(low, "B") for low in found["from_bytes"]]
    assert [fmt.prefixed(one, "B") for one in (5, 4_000, 2**24, 2**40)] == ["5 B", "4.00 kB", "16.8 MB", "1.10 TB"]


def test_names_of_transports_are_text_for_plotly() -> None:
    row = {"transport": "<b>odd</b>", "from_bytes": 16, "to_bytes": 32, "count": 1, "size_bytes": 20, "time_ns": 5.0}
    figure = figures.packets(pd.DataFrame([{**row, "bandwidth": 4e9}]))
    assert figure is not None
    assert "<b>" not in json.dumps(figure["data"][0]["name"]) + json.dumps(figure["data"][0]["customdata"])
    assert figure["data"][0]["name"] == "&lt;b&gt;odd&lt;/b&gt;"


def test_a_file_with_many_transports_has_few_colours(real_data: Path) -> None:
    (job,) = open_run(real_data / FOUR).profile.jobs
    frames = {name: job.frame(name) for name in JOB_FRAMES}
    sent = frames["packets"]
    names = pd.Categorical([f"made{place}" for place in range(len(sent))])
    assert len(sent) > 9
    drawn = page.drawn(traffic(source_of(frames | {"packets": sent.assign(transport=names)})))
    assert len(drawn[5]["data"]) == 9
    assert drawn[5]["data"][-1]["meta"] == tables.OTHER
    said = texts_in(drawn[3])
    assert len(set(re.findall(r"made\d+", said))) == 8
    assert " other " in said


def test_contention_says_what_it_did_not_check(real_data: Path) -> None:
    path = real_data / "profiler_new/torch_npu_text_level2"
    run = open_run(path)
    (job,) = run.profile.jobs
    frames = {name: job.frame(name) for name in JOB_FRAMES}
    said, again = page.contention(traffic(source_of(frames)))
    assert (again, "Not checked: rank 0 has no kernel_details.csv" in texts_in(said)) == (0, True)
    said, _ = page.contention(traffic(source_of(frames | {"kernels": KERNELS.empty()})))
    assert "no matrix multiplication with a time" in texts_in(said)
    kernels = run.profile[job.files.members[0].session, 0].kernels
    said, _ = page.contention(traffic(source_of(frames | {"kernels": kernels})))
    assert "No operation of rank 0 of 1 MB or more ran beside one of 9 matrix" in texts_in(said)
    longer = frames | {"kernels": kernels.assign(duration_ns=10**10)}
    said, _ = page.contention(traffic(source_of(longer)))
    assert "2 of 4 operations of rank 0 of 1 MB or more ran beside" in texts_in(said)
    high, _ = page.contention(traffic(source_of(longer), hccs="100"))
    assert "4 of 4 operations of rank 0 of 1 MB or more ran beside" in texts_in(high)
    whole = MemorySource({"a": {"profiles": {(".", -1): frames}}})
    ask = TrafficRequest.read_any(ASK | {"rank": ["-1"]})
    assert ask is not None
    assert "Choose a rank" in texts_in(page.contention(Traffic(whole, ask))[0])


def test_both_languages_have_the_same_fields() -> None:
    fields = {
        key: (sorted(set(re.findall(r"\{(\w+)\}", english))), sorted(set(re.findall(r"\{(\w+)\}", chinese))))
        for key, (english, chinese) in CATALOGUE.items() if key.startswith("communication.")
    }  # fmt: skip
    assert [key for key, (english, chinese) in fields.items() if english != chinese] == []
