"""Frames of jobs of real files, compared with what other programs made of the same files and with numbers taken by hand."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from parsers import open_run
from parsers.analysis.jobs.stages import Ranks, stages
from parsers.cluster_frames import JOB_FRAMES
from parsers.profiler import job_merge
from parsers.profiler.groups import hash_of, ranks_of, text_of
from parsers.profiler.job_access import Job
from parsers.profiler.lines import MOST_COMPLAINTS, Complaints

FOUR = "profiler_new/torch_npu_st_4ranks_pp2"
MADE = "cluster_samples/made_with_msprof_analyze_26.2.0"
PARTS = {
    "computing_ns": "Computing", "exposed_ns": "Communication(Not Overlapped)", "overlapped_ns": "Overlapped",
    "communication_ns": "Communication", "free_ns": "Free", "stage_ns": "Stage", "bubble_ns": "Bubble",
    "exposed_without_receive_ns": "Communication(Not Overlapped and Exclude Receive)", "preparing_ns": "Preparing",
}  # fmt: skip


def job_of(path: Path) -> Job:
    (job,) = open_run(path).profile.jobs
    return job


@pytest.fixture
def four(real_data: Path) -> Job:
    return job_of(real_data / FOUR)


def cluster_file(real_data: Path, name: str) -> Any:
    text = (real_data / MADE / "torch_npu_st_4ranks_pp2_text" / name).read_text()
    return json.loads(text) if name.endswith(".json") else list(csv.DictReader(text.splitlines()))


def copied(real_data: Path, folder: Path, *, without: str) -> Job:
    """The four-rank job without some of its files."""
    shutil.copytree(real_data / FOUR, folder / "job", copy_function=shutil.copyfile)
    for path in [*folder.rglob(without)]:
        path.unlink()
    return job_of(folder / "job")


def test_a_job_without_files_has_empty_frames(tmp_path: Path) -> None:
    (tmp_path / "profiler_info_0.json").write_text("{}")
    (tmp_path / "operator_details.csv").write_text("Name,Host Self Duration(us)\n")
    job = job_of(tmp_path)
    for name in JOB_FRAMES:
        assert len(job.frame(name)) == (name == "ranks")  # a rank has a row there, whatever is known of it
        assert not job.gives(name)
        assert job.wanted(name)
    assert job.problems == ()


# Groups ----------------------------------------------------------------------------------------------------------------------


def test_the_hash_of_a_group() -> None:
    assert hash_of("group_name_19") == "3985310405473756128"
    assert hash_of("group_name_5") == "5862276114690318097"
    assert hash_of("") == "0"


def test_ranks_as_text() -> None:
    assert text_of([3, 0, 1, 2, 8, 8]) == "0-3,8"
    assert ranks_of("0-3,8") == (0, 1, 2, 3, 8)
    assert ranks_of(text_of([])) == ()


def test_groups_are_those_that_msprof_analyze_finds(four: Job, real_data: Path) -> None:
    told = cluster_file(real_data, "communication_group.json")["comm_group_parallel_info"]
    theirs = {(one["group_name"], one["group_id"], one["pg_name"], text_of(one["rank_set"]), one["type"]) for one in told}
    groups = four.groups[four.groups["sections"] != ""]  # those of one rank that never communicate are not in its file
    columns = (groups[name].tolist() for name in ("group", "name", "kind", "ranks", "sections"))
    ours = {(group, *rest, one) for group, *rest, does in zip(*columns, strict=True) for one in does.split(";")}
    assert ours == theirs
    assert set(four.groups["told"]) == {"yes"}


# Operations ------------------------------------------------------------------------------------------------------------------


def operations_of(content: Any) -> Iterator[tuple[tuple[str, str, int], Any]]:
    for steps in content.values():
        for step, operations in steps.items():
            for name, ranks in operations.items():
                if name != "Total Op Info":
                    yield from (((step, name, int(rank)), entry) for rank, entry in ranks.items())


def test_operations_are_those_of_the_cluster_file(four: Job, real_data: Path) -> None:
    told = dict(operations_of(cluster_file(real_data, "cluster_communication.json")))
    ours = four.collectives
    keys = [f"{name}@{group}" for name, group in zip(ours["name"], ours["group"], strict=True)]
    found = {("step13", key, rank): row for key, rank, row in zip(keys, ours["rank"], ours.to_dict("records"), strict=True)}
    assert found.keys() == {key for key in told if not key[1].startswith("Total")}
    for key, row in found.items():
        times = told[key]["Communication Time Info"]
        assert row["elapse_ns"] == pytest.approx(times["Elapse Time(ms)"] * 1e6)
        assert row["transit_ns"] == pytest.approx(times["Transit Time(ms)"] * 1e6)
        assert row["wait_ns"] == pytest.approx(times["Wait Time(ms)"] * 1e6)
        assert row["idle_ns"] == pytest.approx(row["elapse_ns"] - row["transit_ns"] - row["wait_ns"], abs=1e-3)
        assert row["start_ns"] == pytest.approx(times["Start Timestamp(us)"] * 1e3, abs=300)
        bands = told[key]["Communication Bandwidth Info"]
        assert row["size_bytes"] == round((bands["SDMA"]["Transit Size(MB)"] + bands["RDMA"]["Transit Size(MB)"]) * 1e6)


def test_sums_per_group(four: Job) -> None:
    groups = four.groups.set_index("group")["kind"].astype("str")
    own = four.collectives[four.collectives["rank"] == 0]
    sums = own.groupby(own["group"].astype("str").map(groups))["elapse_ns"].sum() / 1e6
    assert sums["pp"] == pytest.approx(313.8778)
    assert sums["dp_cp"] == pytest.approx(65.41234)


def test_lateness_of_the_four_ranks(four: Job) -> None:
    groups = four.groups.set_index("group")["kind"].astype("str")
    found = four.collectives.assign(of=four.collectives["group"].astype("str").map(groups))
    late = found.groupby(["of", "rank"])["lateness_ns"].sum() / 1e6
    assert late["dp_cp", 0] == pytest.approx(11.368, abs=1e-3)
    assert late["dp_cp", 3] == pytest.approx(6.565, abs=1e-3)
    assert late["dp", 3] == pytest.approx(9.682, abs=1e-3)
    assert four.collectives.loc[four.collectives["kind"] == "batchsendrecv", "own_wait_ns"].isna().all()


def test_idle_time_is_not_explained_where_small_tasks_were_not_recorded(four: Job) -> None:
    own = four.collectives[four.collectives["rank"] == 0]
    row = own[own["name"] == "hcom_reduceScatter__097_4_1"].iloc[0]
    assert (row["idle_explained"], row["idle_ns"], row["size_bytes"]) == ("no", pytest.approx(26.30914e6), 440_466_432)
    waiting = four.collectives[four.collectives["wait_ns"] > 0]
    assert set(waiting["idle_explained"]) == {"yes"}


def test_packets_sum_to_what_was_sent(four: Job) -> None:
    keys = ["rank", "group", "name"]
    sent = four.packets.assign(all=four.packets["size_bytes"] * four.packets["count"]).groupby(keys, observed=True)["all"].sum()
    told = four.collectives.groupby(keys, observed=True)["size_bytes"].sum()
    assert len(sent)
    assert (told[sent.index] - sent).abs().max() <= 100  # sizes of packets have six digits of a MB
    assert set(told[~told.index.isin(sent.index)]) == {0}


def without_file(frame: pd.DataFrame) -> pd.DataFrame:
    columns = [name for name in frame.columns if name != "file"]
    texts = {name: "str" for name in columns if str(frame[name].dtype) == "category"}
    return frame[columns].astype(texts).sort_values(columns, ignore_index=True)


def test_the_database_gives_what_the_text_gives(four: Job, real_data: Path, tmp_path: Path) -> None:
    other = copied(real_data, tmp_path, without="communication*.json")
    for name in ("groups", "collectives", "packets", "links"):
        mine, theirs = without_file(four.frame(name)), without_file(other.frame(name))
        pd.testing.assert_frame_equal(mine, theirs, rtol=1e-9, check_exact=False)
    assert other.problems == ()


@pytest.mark.parametrize("made", ["text", "db"])
def test_files_about_all_ranks_give_what_the_ranks_give(four: Job, real_data: Path, made: str) -> None:
    other = job_of(real_data / MADE / f"torch_npu_st_4ranks_pp2_{made}")
    assert other.ranks == ()
    for name in ("collectives", "packets"):
        mine, theirs = without_file(four.frame(name)), without_file(other.frame(name))
        pd.testing.assert_frame_equal(mine, theirs, rtol=1e-9, check_exact=False)
    ours = {(row.group, row.ranks) for row in four.groups.itertuples() if row.sections}
    assert {(row.group, row.ranks) for row in other.groups.itertuples()} == ours


def test_the_ranks_own_files_win_and_a_difference_is_reported(real_data: Path, tmp_path: Path) -> None:
    job = copied(real_data, tmp_path, without="nothing")
    output = tmp_path / "job" / "cluster_analysis_output"
    shutil.copytree(real_data / MADE / "torch_npu_st_4ranks_pp2_text", output, copy_function=shutil.copyfile)
    job = job_of(tmp_path / "job")
    frames = {name: job.frame(name) for name in JOB_FRAMES}
    assert job.problems == ()
    assert not any("cluster_analysis_output" in file for file in frames["collectives"]["file"])
    path = output / "cluster_communication.json"
    path.write_text(path.read_text().replace('"Elapse Time(ms)": 158.55328', '"Elapse Time(ms)": 58.55328'))
    path = output / "cluster_step_trace_time.csv"
    path.write_text(path.read_text().replace("231290.09999999995", "131290.1", 1))
    path = output / "cluster_communication_matrix.json"
    path.write_text(path.read_text().replace('"Transit Size(MB)": 1127.446', '"Transit Size(MB)": 127.446'))
    changed = job_of(tmp_path / "job")
    for name, frame in frames.items():
        pd.testing.assert_frame_equal(changed.frame(name), frame)
    told = [problem.text for problem in changed.problems]
    assert any(text.startswith("Rank 0: expected 15 operations of 420.174 ms") for text in told)
    assert any(text.startswith("Rank 0, step 13, computing: expected 231.290 ms") for text in told)


def test_of_many_differences_only_those_that_are_kept_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    described: list[str] = []
    monkeypatch.setattr(Complaints, "add", lambda _, text, kind="": described.append(text))
    ranks, steps = np.repeat(np.arange(100), 3), np.tile(np.arange(3), 100)
    own = pd.DataFrame({
        "rank": ranks, "step": steps, "kind": pd.Categorical(["rank"] * 300), "computing_ns": 1e9, "exposed_ns": 1e8,
        "free_ns": 1e7, "elapse_ns": 1e9, "class": pd.Categorical(["total"] * 300), "source": ranks, "target": steps,
        "size_bytes": 1_000,
    })  # fmt: skip
    whole = own.assign(computing_ns=2e9, elapse_ns=2e9, size_bytes=5_000)
    for compare, number in (("_compare_steps", 300), ("_compare_operations", 100), ("_compare_links", 300)):
        described.clear()
        complaints = Complaints("file")
        getattr(job_merge, compare)(own, whole, complaints)
        assert (len(described), complaints.left_out) == (MOST_COMPLAINTS, number - MOST_COMPLAINTS)


# Links -----------------------------------------------------------------------------------------------------------------------


def test_links_are_those_of_the_cluster_file(four: Job, real_data: Path) -> None:
    theirs: dict[tuple[str, str, int, int], tuple[float, float]] = {}
    for steps in cluster_file(real_data, "cluster_communication_matrix.json").values():
        for key, links in steps["step13"].items():
            name, _, group = key.partition("@")
            for link, told in links.items():
                source, target = map(int, link.split("-"))
                theirs[name, group, source, target] = told["Transit Size(MB)"] * 1e6, told["Transit Time(ms)"] * 1e6
    theirs = {key: value for key, value in theirs.items() if not key[0].startswith("Total")}
    ours = {
        (f"{row['name']}-{row['class']}", row["group"], row["source"], row["target"]): (row["size_bytes"], row["time_ns"])
        for row in four.links.to_dict("records")
    }
    assert ours.keys() == theirs.keys()
    for key, value in ours.items():
        assert value == pytest.approx(theirs[key], abs=1.0)


@pytest.mark.parametrize(
    ("kind", "source", "target", "expected"), [("dp_cp", 0, 1, 18.9444), ("pp", 0, 2, 20.9093), ("embd", 0, 2, 19.0587)]
)
def test_bandwidth_of_links(four: Job, kind: str, source: int, target: int, expected: float) -> None:
    group = four.groups.loc[(four.groups["kind"] == kind) & four.groups["ranks"].isin(("0-1", "0,2")), "group"].iloc[0]
    rows = four.links[(four.links["group"] == group) & (four.links["class"] == "total")]
    rows = rows[(rows["source"] == source) & (rows["target"] == target)]
    assert rows["size_bytes"].sum() / rows["time_ns"].sum() == pytest.approx(expected, abs=1e-4)
    assert (rows["bandwidth"] / 1e9).tolist() == pytest.approx((rows["size_bytes"] / rows["time_ns"]).tolist())


def test_numbers_in_an_unknown_group_stay_unless_a_rank_tells_its_own(real_data: Path) -> None:
    job = job_of(real_data / "profiler_new/torch_npu_text_level2")
    links = job.links[job.links["class"] == "total"]
    assert set(job.groups["told"]) == {"no"}
    ends = set(zip(links["source"], links["target"], links["target_local"], strict=True))
    assert {(0, 1, 1), (1, 0, 0)} <= ends
    unknown = links[links["target"] == -1]
    assert set(unknown["target_local"]) == {2, 3, 4, 5, 6, 7}
    assert (unknown["bandwidth"] > 1e9).all()


def test_the_oldest_files_have_ranks_of_the_job(real_data: Path) -> None:
    job = job_of(real_data / "profiler_new/msinsight_server/test_rank_0")
    sends = job.links[(job.links["transport"] == "RDMA") & (job.links["name"] == "hcom_send__822_0")]
    assert sends[["source", "target", "class", "source_local"]].values.tolist() == [[0, 8, "single", -1]]
    assert sends["bandwidth"].iloc[0] == pytest.approx(20.97152e6 / 0.86381540625e-3)
    total = job.links[job.links["class"] == "total"]
    assert set(total["name"]) == {""}
    keys = ["section", "source", "target"]
    single = job.links[job.links["class"] == "single"].groupby(keys, observed=True)["size_bytes"].sum()
    sums = total.groupby(keys, observed=True)["size_bytes"].sum()
    assert sums.to_dict() == pytest.approx(single.to_dict(), abs=20)


# Steps -----------------------------------------------------------------------------------------------------------------------


def stage_rows(steps: pd.DataFrame, of: list[Ranks]) -> pd.DataFrame:
    """Return a row for each stage and step: the highest of its ranks, column by column (schema CLUSTER_STEPS)."""
    own = steps[steps["kind"].astype("str") == "rank"]
    times = [name for name in steps.columns if name.endswith("_ns")]
    frames = []
    for number, ranks in enumerate(of):
        highest = own[own["rank"].isin(ranks)].groupby("step", sort=True)[times].max()
        made = pd.DataFrame(index=range(len(highest)), columns=steps.columns)
        made["step"], made["kind"], made["rank"] = highest.index.to_numpy(), "stage", -1
        made["ranks"], made["device"], made["pp"], made["dp"], made["tp"] = text_of(ranks), -1, number, -1, -1
        made[times] = highest.to_numpy()
        made["bubble_source"], made["file"] = "", ""
        frames.append(made)
    if not frames:
        return steps.iloc[:0]
    return pd.concat(frames, ignore_index=True).astype(steps.dtypes.astype("str").to_dict())


def test_parts_of_steps_are_those_of_the_cluster_file(four: Job, real_data: Path) -> None:
    rows = cluster_file(real_data, "cluster_step_trace_time.csv")
    steps = four.cluster_steps
    of = stages(four.groups, ranks_of)
    assert of == [(0, 1), (2, 3)]
    ours = pd.concat([steps, stage_rows(steps, of)], ignore_index=True)
    assert len(rows) == len(ours) == 6
    for row in rows:
        ranks = text_of(json.loads(row["Index"].replace("(", "[").replace(")", "]"))) if row["Type"] == "stage" else ""
        found = ours[(ours["ranks"] == ranks) if ranks else (ours["rank"] == int(row["Index"]))].iloc[0]
        assert (found["kind"], found["step"]) == (row["Type"], 13)
        for name, column in PARTS.items():
            assert found[name] / 1e3 == pytest.approx(float(row[column]), abs=1e-6), (row["Index"], name)
        if not ranks:
            assert [found["dp"], found["pp"], found["tp"]] == [int(row[f"{name} Index"]) for name in ("DP", "PP", "TP")]
            assert found["device"] == [0, 1, 4, 5][found["rank"]]
    whole = job_of(real_data / MADE / "torch_npu_st_4ranks_pp2_text").cluster_steps
    columns = [*PARTS, "step"]
    pd.testing.assert_frame_equal(
        whole.sort_values(["kind", "rank", "ranks"])[columns].reset_index(drop=True),
        ours.astype({"kind": "str"}).sort_values(["kind", "rank", "ranks"])[columns].reset_index(drop=True),
    )


def test_the_bubble_of_batch_send_recv(four: Job) -> None:
    first = four.cluster_steps[four.cluster_steps["rank"] == 0].iloc[0]
    assert (first["bubble_ns"], first["bubble_source"]) == (0.0, "exact")
    assert first["own_bubble_ns"] / 1e6 == pytest.approx(313.8778)
    assert first["total_ns"] / 1e6 == pytest.approx(810.0224, abs=1e-3)


def test_a_stage_row_with_an_empty_step(real_data: Path) -> None:
    steps = job_of(real_data / "cluster_samples/msprof_analyze/cluster_analysis_output").cluster_steps
    assert steps["kind"].tolist() == ["rank"] * 8 + ["stage"]
    assert set(steps["step"]) == {-1}
    assert steps["ranks"].iloc[-1] == "0-7"
    assert steps["preparing_ns"].isna().all()
    ranks = steps.iloc[:8]
    for name in ("computing_ns", "exposed_ns", "free_ns", "stage_ns"):
        assert steps[name].iloc[-1] == ranks[name].max()


def test_four_devices_in_one_database(real_data: Path) -> None:
    job = job_of(real_data / "cluster_samples/msinsight/multi_device_msprof_db")
    steps = job.cluster_steps
    assert steps["device"].tolist() == [0, 1, 2, 3]
    assert set(steps["step"]) == {-1}
    assert (steps["computing_ns"] / 1e3).tolist()[:3] == [75.72, 72.7, 73.36]
    assert any("found 4" in problem.text for problem in job.problems)


# Databases of profilers ------------------------------------------------------------------------------------------------------


def test_waiting_of_two_ranks_from_their_databases(real_data: Path, tmp_path: Path) -> None:
    shutil.copytree(real_data / "profiler_new/torch_npu_db_level2", tmp_path / "job", copy_function=shutil.copyfile)
    exact = job_of(tmp_path / "job")
    for path in tmp_path.rglob("analysis.db"):
        path.unlink()
    job = job_of(tmp_path / "job")
    wait = job.collectives.groupby("rank")["own_wait_ns"].sum()
    assert wait.tolist() == [8_002.0, 6_258_006.0]
    transfer = job.collectives["elapse_ns"] - job.collectives["own_wait_ns"]
    assert transfer[job.collectives["rank"] == 0].sum() == 94_099_519.0
    assert set(job.collectives["step"]) == {50}
    assert exact.collectives["own_wait_ns"].sum() == pytest.approx(8_002.0 + 6_258_006.0, rel=1e-4)
    # What analysis.db has of the same tasks.
    assert job.collectives["size_bytes"].tolist() == exact.collectives["size_bytes"].tolist()
    both = [one.links[one.links["class"] == "total"].sort_values(["rank", "target_local"]) for one in (job, exact)]
    assert both[0]["size_bytes"].tolist() == both[1]["size_bytes"].tolist()
    assert both[0]["transport"].tolist() == both[1]["transport"].tolist()
    assert both[0]["time_ns"].tolist() == pytest.approx(both[1]["time_ns"].tolist(), rel=1e-3)
    packets = [
        one.packets[one.packets["transport"] != "SDMA"].groupby(["rank", "name", "size_bytes"], observed=True)["count"].sum()
        for one in (job, exact)
    ]
    assert packets[0].to_dict() == packets[1].to_dict()


# Legacy ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "names", "expected"),
    [
        (
            "mindinsight_legacy/run_2/normal_run", ["interval", "forward_backward", "tail", "total"],
            [0, 23.6681, 0.041, 23.7091],
        ),
        ("cluster_samples/mindinsight/run_3", ["interval", "computing", "exposed"], [0, 651.9051, 1293.1231]),
        (
            "cluster_samples/mindinsight/run_4", ["interval", "computing", "exposed", "stage", "receive", "collective"],
            [0, 651.9051, 1293.1231, 1577.1234, 368.7766, 227.1234],
        ),
    ],
)  # fmt: skip
def test_steps_that_mindinsight_expects(path: str, names: list[str], expected: list[float], real_data: Path) -> None:
    steps = job_of(real_data / path).cluster_steps
    first = steps[steps["step"] == 1].iloc[0]
    assert [first[f"{name}_ns"] / 1e6 for name in names] == pytest.approx(expected, abs=5.01e-5)
    assert first["rank"] == 1


def test_means_are_taken_as_they_are_written(real_data: Path) -> None:
    steps = job_of(real_data / "mindinsight_legacy/cluster_propose").cluster_steps
    means = steps[steps["kind"] == "mean"].sort_values("rank")
    assert [round(value / 1e6, 4) for value in means["interval_ns"]] == [1.5722, 1.5588, 2.4318, 2.3954]
    assert means["computing_ns"].tolist() == pytest.approx([14.6986e6, 14.7254e6, 123.1813e6, 122.3056e6])
    rows = steps[steps["kind"] == "rank"]
    assert np.allclose(rows["exposed_ns"], rows["receive_ns"] + rows["collective_ns"])
    assert np.allclose(rows["stage_ns"], rows["computing_ns"] + rows["exposed_ns"] - rows["receive_ns"])
    assert set(rows["bubble_source"]) == {"receive"}


def test_bandwidth_of_legacy_links_is_not_a_sum_of_bandwidths(real_data: Path) -> None:
    links = job_of(real_data / "mindinsight_legacy/cluster_propose").links
    mean = links[links["class"] == "mean"].set_index(["rank", "source", "target"])["bandwidth"] / 1e3
    assert mean[:, 0, 1].iloc[0] == pytest.approx(5_055_173, rel=1e-6)
    assert mean[:, 3, 2].iloc[0] == pytest.approx(17_367_620, rel=1e-6)
    assert mean[:, 2, 3].iloc[0] == pytest.approx(19_375_526, rel=1e-6)
    total = links[(links["class"] == "total") & (links["rank"] == 2)]
    single = links[(links["class"] == "single") & (links["rank"] == 2)]
    sums: dict[tuple[int, int], int] = defaultdict(int)
    for source, target, size in zip(single["source"], single["target"], single["size_bytes"], strict=True):
        sums[source, target] += size
    whole = total.groupby(["source", "target"])["size_bytes"].sum().to_dict()
    assert whole.keys() == sums.keys()


def test_a_database_without_tables_is_told_and_the_rest_is_shown(real_data: Path, tmp_path: Path) -> None:
    job = copied(real_data, tmp_path, without="communication*.json")
    with closing(sqlite3.connect(tmp_path / "job/rank_1_ascend_pt/ASCEND_PROFILER_OUTPUT/analysis.db")) as database:
        database.execute("DROP TABLE CommAnalyzerTime")
        database.execute("DROP TABLE CommAnalyzerMatrix")
        database.commit()
    (tmp_path / "job/rank_3_ascend_pt/ASCEND_PROFILER_OUTPUT/analysis.db").write_bytes(b"no database at all")
    job = job_of(tmp_path / "job")
    assert sorted(job.collectives["rank"].unique()) == [0, 2]
    assert sorted(job.links["rank"].unique()) == [0, 2]
    assert sorted(job.cluster_steps["rank"].unique()) == [0, 1, 2, 3]
    assert any("rank_3" in problem.path for problem in job.problems)
