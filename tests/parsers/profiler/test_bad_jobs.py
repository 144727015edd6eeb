"""Files of jobs that are damaged, incomplete or unusual: each is told, the rest is shown.

The formats without a public sample (communication between hosts by RDMA, legacy files of GPUs) are written here by their
documented columns.
"""

from __future__ import annotations

import json
import math
import sqlite3
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from parsers import open_run
from parsers.cluster_frames import JOB_FRAMES
from parsers.errors import FormatError
from parsers.model import KINDS
from parsers.profiler import json_entries
from parsers.profiler.columns import unpacked
from parsers.profiler.groups import hash_of
from parsers.profiler.job_access import Job
from parsers.profiler.ranks import FRAMES, columns_of
from parsers.profiler.sessions import ProfileFile

STEPS = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n"
HCCL = "step_num,communication_cost,wait_cost,link_info,communication_operator_cost\n"
NOTHING = {"Transit Size(MB)": 0, "Transit Time(ms)": 0, "Size Distribution": {}}


def operation(elapse: Any = 2.0, *, start: float = 1e15, bands: Any = None) -> dict[str, Any]:
    times = {
        "Start Timestamp(us)": start, "Elapse Time(ms)": elapse, "Transit Time(ms)": 0.5, "Wait Time(ms)": 1.0,
        "Synchronization Time(ms)": 0.5, "Idle Time(ms)": 0.5,
    }  # fmt: skip
    return {"Communication Time Info": times, "Communication Bandwidth Info": {} if bands is None else bands}


def band(size: float, time: float = 1.0, packets: dict[str, list[float]] | None = None) -> dict[str, Any]:
    return {"Transit Size(MB)": size, "Transit Time(ms)": time, "Size Distribution": packets or {}}


def rank(
    base: Path, number: int, content: Any = None, *, matrix: Any = None, steps: str = "1,10,20,0,20,30\n", groups: Any = None
) -> Path:
    output = base / f"rank_{number}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output.parent / f"profiler_info_{number}.json").write_text("{}")
    (output / "step_trace_time.csv").write_text(STEPS + steps)
    for name, told in (("communication", content), ("communication_matrix", matrix)):
        if told is not None:
            (output / f"{name}.json").write_text(told if isinstance(told, str) else json.dumps(told))
    if groups is not None:
        (output.parent / "profiler_metadata.json").write_text(json.dumps({"parallel_group_info": groups}))
    return output


def job_of(path: Path) -> Job:
    (job,) = open_run(path).profile.jobs
    return job


def texts(job: Job) -> str:
    return "\n".join(problem.text for problem in job.problems)


DP = {"g": {"group_name": "dp", "global_ranks": [0, 1]}}
OP = f"hcom_allReduce__1_0@{hash_of('g')}"


def test_sdma_beside_its_parts_counts_once(tmp_path: Path) -> None:
    whole = band(8.0, packets={"4.0": [2, 1.0]})
    told = {
        "a@1": operation(bands={"HCCS": band(6.0, packets={"3.0": [2, 0.5]}), "PCIE": band(2.0), "SDMA": whole}),
        "b@1": operation(bands={"SDMA": whole, "RDMA": band(16.0, packets={"16.0": [1, 2.0]})}),
        "c@1": operation(bands={"HCCS": NOTHING, "SDMA": NOTHING}), "d@1": operation(),
    }  # fmt: skip
    rank(tmp_path, 0, {"step1": {"collective": told}})
    job = job_of(tmp_path)
    assert job.collectives["size_bytes"].tolist() == [8_000_000, 24_000_000, 0, -1]
    listed = job.packets[["transport", "size_bytes", "count", "time_ns"]].astype({"transport": "str"}).values.tolist()
    assert listed == [["HCCS", 3_000_000, 2, 5e5], ["SDMA", 4_000_000, 2, 1e6], ["RDMA", 16_000_000, 1, 2e6]]


def test_negative_sizes_and_times_are_told(tmp_path: Path) -> None:
    told = {"a@1": operation(bands={"HCCS": band(-6.0)}), "b@1": operation(-1.0), "c@1": operation()}
    links = {"0-1": {"Transport Type": "HCCS", "Transit Size(MB)": -1.0, "Transit Time(ms)": 1.0}}
    rank(tmp_path, 0, {"step1": {"collective": told}}, matrix={"step1": {"collective": {"allreduce-total@1": links}}})
    job = job_of(tmp_path)
    assert job.collectives["name"].tolist() == ["a", "c"]
    assert job.collectives["size_bytes"].tolist() == [-1, -1]
    assert job.links["size_bytes"].tolist() == [-1]
    for text in ("a: expected a Transit Size(MB)", "b: expected Elapse Time(ms)", "found -1"):
        assert text in texts(job)


def test_negative_parts_of_steps_are_told_and_shown(tmp_path: Path) -> None:
    rank(tmp_path, 0, steps="1,10,20,0,20,-3\n2,10,20,0,20,30\n")
    job = job_of(tmp_path)
    assert job.cluster_steps["free_ns"].tolist() == [-3000.0, 30_000.0]
    (problem,) = [problem for problem in job.problems if "below" in problem.text or "at least 0" in problem.text]
    assert "free: expected a time of at least 0, found -3,000 ns" in problem.text


def test_bandwidth_is_absent_for_zero_time_or_bytes(tmp_path: Path) -> None:
    links = {f"0-{place}": {"Transit Size(MB)": size, "Transit Time(ms)": time} for place, (size, time) in enumerate(
        ((1.0, 0.0), (0.0, 1.0), (2.0, 0.5)))}  # fmt: skip
    rank(tmp_path, 0, matrix={"step1": {"collective": {"allreduce-total@1": links}}})
    found = job_of(tmp_path).links["bandwidth"].tolist()
    assert [math.isnan(value) for value in found] == [True, True, False]
    assert found[2] == pytest.approx(4e9)


def test_links_of_unknown_groups_take_the_ranks_that_tell_a_link_to_themselves(tmp_path: Path) -> None:
    sent = {"Transit Size(MB)": 1.0, "Transit Time(ms)": 1.0}
    for number, local in ((4, 0), (7, 3), (9, 999_999_999)):
        links = {f"{local}-{local}": sent, f"{local}-0": sent, f"{local}-3": sent, f"{local}-1": sent}
        rank(tmp_path, number, matrix={"step1": {"collective": {"allreduce-total@5": links}}})
    found = job_of(tmp_path).links[["source", "target"]].values.tolist()
    assert found == [[4, 4], [4, 7], [4, -1], [7, 7], [7, 4], [7, -1], [9, 9], [9, 4], [9, 7], [9, -1]]


def test_large_numbers_in_unknown_groups_take_no_memory(tmp_path: Path) -> None:
    sent = {"1048575-1048575": {"Transit Size(MB)": 1.0, "Transit Time(ms)": 1.0}}
    rank(tmp_path, 0, matrix={"step1": {"collective": {f"allreduce-total@{group}": sent for group in range(1, 21)}}})
    job = job_of(tmp_path)
    tracemalloc.start()
    try:
        found = job.links
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found["source"].tolist() == found["target"].tolist() == [0] * 20
    assert peak < 32 << 20


def test_what_no_file_tells_of_groups_and_links_is_told(tmp_path: Path) -> None:
    sent = {"Transport Type": "HCCS", "Transit Size(MB)": 1.0, "Transit Time(ms)": 1.0}
    matrix = {"allreduce-top1@77": {"0-1": sent}, "allreduce-total@78": {"0-1": sent}}
    told_of = {"step1": {"collective": {"hcom_allReduce__1@77": operation()}}}
    rank(tmp_path, 0, told_of, matrix={"step1": {"collective": matrix}})
    job = job_of(tmp_path)
    assert job.groups[["group", "ranks", "told"]].astype("str").values.tolist() == [["77", "0", "no"]]
    assert job.links["source_local"].tolist() == [0, 0]
    told = texts(job)
    assert "Expected the ranks of group 77 in a file, found its hash only" in told
    assert "found only numbers in the group in 2 links, first of group 77" in told
    assert "Expected the sums (total) of links of group 77" in told
    assert "78" not in told


@pytest.mark.parametrize(("step", "told"), [("x", True), ("9" * 30, True), ("", False), ("step", False), ("step7", False)])
def test_a_step_that_is_no_number_is_told(step: str, told: bool, tmp_path: Path) -> None:
    rank(tmp_path, 0, {step: {"collective": {OP: operation()}}}, steps=f"{step},1,2,0,2,3\n", groups=DP)
    job = job_of(tmp_path)
    expected = 7 if step == "step7" else -1
    assert job.collectives["step"].tolist() == job.cluster_steps["step"].tolist() == [expected]
    assert texts(job).count("Expected the number of a step") == (2 if told else 0)


def test_long_lists_of_ranks_are_read_as_others(tmp_path: Path) -> None:
    every = [*range(0, 400_000, 2)]  # beyond what is remembered
    groups = {"all": {"group_name": "dp", "global_ranks": every}, "odd": {"group_name": 5, "global_ranks": [1.5]}}
    for number in (0, 1):
        rank(tmp_path, number, groups=groups)
    job = job_of(tmp_path)
    assert job.groups["size"].tolist() == [len(every)]
    assert job.groups["ranks"].tolist()[0].startswith("0,2,4,")
    assert "Group odd: expected global_ranks" in texts(job)


def test_a_sum_over_the_group_counts_only_without_sums_by_type(tmp_path: Path) -> None:
    link = {"0-1": {"Transport Type": "HCCS", "Transit Size(MB)": 4.0, "Transit Time(ms)": 1.0, "op_name": "x"}}
    keys = {"Total Op Info@1": link, "allreduce-total@1": link, "Total Op Info@2": link, "allreduce-top1@2": link}
    rank(tmp_path, 0, matrix={"step1": {"collective": keys}})
    links = job_of(tmp_path).links
    total = links[links["class"] == "total"]
    assert total[["group", "name"]].astype("str").values.tolist() == [["1", "allreduce"], ["2", ""]]
    assert links.loc[links["class"] == "top1", "operation"].tolist() == ["x"]


def test_steps_that_are_empty_or_differ_between_ranks(tmp_path: Path) -> None:
    rank(tmp_path, 0, {"step": {"collective": {OP: operation()}}}, steps=",1,2,0,2,3\n", groups=DP)
    rank(tmp_path, 1, {"step7": {"collective": {OP: operation(3.0)}}}, steps="7,1,2,0,2,3\n", groups=DP)
    job = job_of(tmp_path)
    assert job.collectives["step"].tolist() == [-1, 7]
    assert job.collectives["own_wait_ns"].isna().all()  # no operation is known of both
    assert job.cluster_steps["step"].tolist() == [-1, 7]


def test_waiting_needs_no_clock(tmp_path: Path) -> None:
    rank(tmp_path, 0, {"step1": {"collective": {OP: operation(5.0, start=1e15)}}}, groups=DP)
    rank(tmp_path, 1, {"step1": {"collective": {OP: operation(2.0, start=1e15 + 7.2e9)}}}, groups=DP)  # two hours later
    found = job_of(tmp_path).collectives
    assert found["own_wait_ns"].tolist() == [3e6, 0.0]
    assert found["lateness_ns"].tolist() == [0.0, 3e6]


def test_waiting_needs_all_ranks_of_the_group(tmp_path: Path) -> None:
    groups = {"g": {"group_name": "dp", "global_ranks": [0, 1, 2]}}
    for number in (0, 1):
        rank(tmp_path, number, {"step1": {"collective": {OP: operation(5.0 - number)}}}, groups=groups)
    assert job_of(tmp_path).collectives["own_wait_ns"].isna().all()


def test_an_operation_that_occurs_twice_is_two(tmp_path: Path) -> None:
    same, other = operation(5.0, start=1e15), operation(2.0, start=1e15 + 1)
    text = json.dumps({"step1": {"p2p": {OP: other}, "collective": {OP: same}}})
    rank(tmp_path, 0, text, groups=DP)
    rank(tmp_path, 1, text, groups=DP)
    assert job_of(tmp_path).collectives["own_wait_ns"].tolist() == [0.0] * 4


def test_a_group_told_in_two_ways_is_reported(tmp_path: Path) -> None:
    rank(tmp_path, 0, groups={"g": {"group_name": "dp", "global_ranks": [0, 1]}, "h": {"global_ranks": "all"}})
    rank(tmp_path, 1, groups={"g": {"group_name": "tp", "global_ranks": [0, 1, 2]}})
    job = job_of(tmp_path)
    assert job.groups["ranks"].tolist() == ["0-1"]
    assert "found 0-1 and 0-2" in texts(job)
    assert "Group h: expected global_ranks" in texts(job)


def test_ranks_without_communication_are_named(tmp_path: Path) -> None:
    rank(tmp_path, 0, {"step1": {"collective": {OP: operation()}}})
    rank(tmp_path, 1)
    job = job_of(tmp_path)
    assert job.without("collectives") == (1,)
    assert job.without("cluster_steps") == ()


@pytest.mark.parametrize("block", [64, 1000, 1 << 22])
def test_a_damaged_entry_costs_only_itself(tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_entries, "BLOCK", block)
    told = {f"op_{place}@1": operation() for place in range(40)}
    text = json.dumps({"step1": {"p2p": {}, "collective": told}, "step2": {"collective": {"last@1": operation()}}})
    damaged = text.replace('"op_7@1": {"Communication Time Info": {"Start', '"op_7@1": {"Communication Time Info" {"Start')
    rank(tmp_path, 0, damaged)
    job = job_of(tmp_path)
    names = job.collectives["name"].tolist()
    assert len(names) == 40
    assert "op_7" not in names
    assert names[-1] == "last"
    assert "expected JSON" in texts(job)


@pytest.mark.parametrize("block", [64, 1000])
def test_a_file_that_ends_within_an_entry(tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_entries, "BLOCK", block)
    text = json.dumps({"step1": {"collective": {f"op_{place}@1": operation() for place in range(10)}}})
    rank(tmp_path, 0, text[: len(text) // 2])
    job = job_of(tmp_path)
    assert 3 <= len(job.collectives) <= 5
    assert "ends within" in texts(job)


def test_names_with_braces_and_quotes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_entries, "WHOLE", 0)
    monkeypatch.setattr(json_entries, "BLOCK", 77)
    names = ['a{"b', "c}\\", '\\"{d', "\u4e2d\ud83d"]
    text = json.dumps({"step1": {"collective": {f"{name}@1": operation() for name in names}}})
    rank(tmp_path, 0, text)
    found = job_of(tmp_path).collectives["name"].tolist()
    assert found == [*names[:3], "\u4e2d\\ud83d"]


LONE = r"\ud800"
DAMAGED = '"x@1": {"Transit" 1}'


@pytest.mark.parametrize("damage", ["", f", {DAMAGED}"])
def test_unpaired_surrogates_within_entries_are_escaped(tmp_path: Path, damage: str) -> None:
    bands = {f"S{LONE}": band(1.0, packets={"1.0": [1, 1.0]})}
    link = {"0-1": {"Transport Type": LONE, "Transit Size(MB)": 1.0, "Transit Time(ms)": 1.0, "Op Name": LONE}}
    told = (json.dumps({"a@1": operation(bands=bands)}), json.dumps({"allreduce-total@1": link}))
    texts_of = [f'{{"step1": {{"collective": {one[:-1]}{damage}}}}}}}'.replace("\\\\ud", "\\ud") for one in told]
    assert all(LONE in text and "\\\\" not in text for text in texts_of)
    rank(tmp_path, 0, texts_of[0], matrix=texts_of[1])
    job = job_of(tmp_path)
    assert job.packets["transport"].tolist() == [f"S{LONE}"]
    assert job.links[["transport", "operation"]].astype("str").values.tolist() == [[LONE, LONE]]
    assert ("damaged entries were skipped" in texts(job)) == bool(damage)


def test_unpaired_surrogates_within_hccl_raw_are_escaped(tmp_path: Path) -> None:
    links = f'{{""0-1"": {{""{LONE}"": [1, 2, 3]}}}}'
    operations = f'{{""s_{LONE}-op1"": [""1"", 1, 2, {links}]}}'
    (tmp_path / "hccl_raw_0.csv").write_text(f'{HCCL}1,2,3,"{links}","{operations}"\n')
    job = job_of(tmp_path)
    assert job.links["transport"].tolist() == [LONE, LONE]
    assert job.collectives["name"].tolist() == [f"s_{LONE}-op1"]


def test_unpaired_surrogates_in_groups_of_databases_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "ascend_pytorch_profiler_0.db"
    told = f'{{"g{LONE}": {{"group_name": "d{LONE}", "global_ranks": [0, 1]}}}}'
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE META_DATA (name TEXT, value TEXT)")
        connection.execute("INSERT INTO META_DATA VALUES ('parallel_group_info', ?)", (told,))
    connection.close()
    found = unpacked(columns_of((ProfileFile(str(path), path.name, "database", 0, 0, 0),), ("groups",)))
    assert found.frames["groups"].texts["name"] == [f"g{LONE}"]
    assert found.frames["groups"].texts["kind"] == [f"d{LONE}"]


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"step1": 5}', '{"step1": {"collective": []}}', "\x00\x01", "{}" * 9])
def test_files_of_another_kind(tmp_path: Path, text: str) -> None:
    rank(tmp_path, 0, text, matrix=text)
    rank(tmp_path, 1, {"step1": {"collective": {OP: operation()}}})
    job = job_of(tmp_path)
    for name, schema in JOB_FRAMES.items():
        schema.check(job.frame(name))
    assert job.collectives["rank"].tolist() == [1]
    assert all(problem.kind in KINDS for problem in job.problems)
    assert {problem.path.rpartition("/")[2] for problem in job.problems} >= {"communication.json", "communication_matrix.json"}


@pytest.mark.long
def test_every_cut_of_every_file_is_read_without_an_exception(tmp_path: Path) -> None:
    link = {"0-1": {"Transport Type": "HCCS", "Transit Size(MB)": 4.0, "Transit Time(ms)": 1.0}}
    contents = {
        "communication": json.dumps({"step1": {"collective": {OP: operation(bands={"HCCS": band(1.0)})}}}),
        "communication_matrix": json.dumps({"step1": {"p2p": {"send-total@1": link}}}),
        "step_trace_time": STEPS + "1,10,20,0,20,30\n",
        "cluster_analyse": "computation_time,communication_alone_time,stage_time\n1.0,2.0,3.0\n",
        "hccl_raw": f'{HCCL}1,2,3,"{{""0-1"": {{""RDMA"": [1, 2, 3, 4]}}}}",'
        '"{""s_AllReduce-op1"": [""1"", 1, 2, {""0-1"": {""RDMA"": [1, 2, 3, 4]}}]}"\n',
        "cluster_groups": json.dumps({"comm_group_parallel_info": [{"rank_set": [0, 1], "group_name": "1", "pg_name": "dp"}]}),
        "cluster_communication": json.dumps({"(0, 1)": {"step1": {OP: {"0": operation(), "1": operation()}}}}),
        "cluster_matrix": json.dumps({"(0, 1)": {"step1": {"allreduce-total@1": link}}}),
        "cluster_steps": "Step,Type,Index,Computing\n1,rank,0,5.0\n1,stage,\"(0, 1)\",5.0\n",
    }  # fmt: skip
    for kind, text in contents.items():
        path = tmp_path / f"{kind}.file"
        file = ProfileFile(str(path), path.name, kind, 0, 0, 0)
        for end in range(len(text) + 1):
            path.write_text(text[:end])
            found = unpacked(columns_of((file,), FRAMES))
            assert found.problems or any(one.rows for one in found.frames.values()), (kind, end)
        assert any(one.rows for one in found.frames.values()), kind
        path.unlink()
        assert unpacked(columns_of((file,), FRAMES)).problems


def test_a_frame_that_no_rank_has_is_refused() -> None:
    with pytest.raises(KeyError):
        columns_of((), ("trace",))


def test_damaged_columns_are_refused(tmp_path: Path) -> None:
    output = rank(tmp_path, 0, {"step1": {"collective": {OP: operation()}}})
    path = output / "communication.json"
    data = columns_of((ProfileFile(str(path), path.name, "communication", 0, 0, 0),), FRAMES)
    assert unpacked(data).frames["collectives"].rows == 1
    for place in range(len(data)):
        with pytest.raises(FormatError):
            unpacked(data[:place])
        with pytest.raises(FormatError):
            unpacked(data[:place] + bytes((data[place] ^ 0xFF,)) + data[place + 1 :])


def test_a_legacy_file_of_gpus(tmp_path: Path) -> None:
    text = "iteration_interval, fp_and_bp, tail\n100,2000,30\n110,2100,31\n105,2050,30\n"
    (tmp_path / "gpu_cluster_analyse_data-parallel_1_2_1.csv").write_text(text)
    steps = job_of(tmp_path).cluster_steps
    assert steps["kind"].tolist() == ["rank", "rank", "mean"]
    assert (steps["interval_ns"].tolist(), steps["rank"].tolist()) == ([1000.0, 1100.0, 1050.0], [1, 1, 1])


def test_hccl_raw_with_rdma(tmp_path: Path) -> None:
    links = json.dumps({"0-1": {"RDMA": [2.0, 4000.0, 2e6, 0.5], "SDMA": [1.0, 1000.0, 1e6]}})
    operations = json.dumps({"s_1_Send-op1": ["1", 2.0, 3.0, json.loads(links)], "bad": [1]})
    cells = ["1", "2.0", "3.0", links, operations]
    line = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
    (tmp_path / "hccl_raw_0.csv").write_text(f"{HCCL}{line}\n")
    job = job_of(tmp_path)
    total = job.links[job.links["class"] == "total"].set_index("transport")
    assert total.loc["RDMA", ["size_bytes", "time_ns", "bandwidth"]].tolist() == [4_000_000, 2e6, 2e9]
    assert total["source"].tolist() == [-1, -1]  # no file tells the stage
    row = job.collectives.iloc[0]
    assert (row["kind"], row["section"], row["elapse_ns"], row["size_bytes"]) == ("send", "p2p", 5e6, 5_000_000)
    assert "bad: expected step" in texts(job)
