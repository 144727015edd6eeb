"""Formats of device memory without a public sample, on files written from their documented columns, and damage.

No file of MindSpore on Ascend about memory is public: its memory_record and operator_memory, memory_usage_summary and
memory_usage_details, memory_block and task.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from parsers import open_run
from parsers.profile_frames import OPERATOR_MEMORY
from parsers.profiler.access import Profile
from tests.parsers.profiler.written import FILES
from tests.writers.profiler_database import TABLES

RECORD = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Device Type\n"
BLOCK = "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Stream Ptr,Device Type\n"


def profile_of(folder: Path) -> Profile:
    (profile,) = open_run(folder).profile.values()
    return profile


def texts(profile: Profile) -> list[str]:
    return [problem.text for problem in profile.problems]


def read(folder: Path, name: str, text: str, frame: str) -> tuple[list[dict[str, object]], list[str]]:
    (folder / "profiler_info_0.json").write_text("{}")
    (folder / name).write_text(text)
    profile = profile_of(folder)
    return profile.frame(frame).to_dict("records"), texts(profile)


def test_mb_of_mindspore_are_a_thousand_kb_of_1024_bytes(tmp_path: Path) -> None:
    rows = RECORD + "MindSpore,1764246877073569.641,2.048,4.096,2.048,NPU:3\nGE,1764246877073570.641,0.512,1.0,0,NPU:3\n"
    rows += "MindSpore+GE,1764246877073570.641,2.56,5.096,2.048,NPU:3\nAPP,1764246877073571.641,0.0,512.0,0.0,NPU:3\n"
    found, problems = read(tmp_path, "memory_record.csv", rows, "memory")
    assert [(row["component"], row["allocated_bytes"], row["reserved_bytes"], row["active_bytes"]) for row in found] == [
        ("MindSpore", 2_097_152, 4_194_304, 2_097_152), ("GE", 524_288, 1_024_000, 0),
        ("MindSpore+GE", 2_621_440, 5_218_304, 2_097_152), ("APP", -1, 524_288_000, -1),
    ]  # fmt: skip
    assert [(row["time_ns"], row["device"], row["stream"]) for row in found[:1]] == [(1764246877073569641, 3, -1)]
    assert not problems


def test_of_a_component_per_row_it_is_said_that_not_all_have_a_curve(tmp_path: Path) -> None:
    rows = [f"c{number},{1764246877073569 + number}.5,1.0,2.0,1.0,NPU:0\n" for number in range(101)]
    found, problems = read(tmp_path, "memory_record.csv", RECORD + "".join(rows[:100]), "memory")
    assert (len(found), problems) == (100, [])
    found, problems = read(tmp_path, "memory_record.csv", RECORD + "".join(rows), "memory")
    assert len(found) == 101
    (problem,) = problems
    assert "Column Component: expected at most 100 components, found 101; charts offer sums" in problem


def test_a_file_of_a_mindspore_session_without_its_component(tmp_path: Path) -> None:
    folder = tmp_path / "vm_1_20261120233012998_ascend_ms" / "ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    (folder / "memory_record.csv").write_text(RECORD + "GE,1764246877073570.641,0.512,1.0,0,NPU:3\n")
    (folder / "operator_memory.csv").write_text(
        BLOCK + "Default/net/Mul-op1,1.0,1764246877073570.641,N/A,N/A,0,NPU:3\ncann::x,1.0,1764246877073571,N/A,N/A,0,NPU:3\n"
    )
    profile = profile_of(tmp_path)
    assert profile.memory["reserved_bytes"].tolist() == [1_024_000]
    assert profile.operator_memory[["component", "scope", "released_ns", "size_bytes"]].values.tolist() == [
        ["MindSpore", "Default/net", -1, 1024], ["GE", "", -1, 1024],
    ]  # fmt: skip
    assert not profile.problems


def test_blocks_with_a_duration_in_place_of_a_release(tmp_path: Path) -> None:
    """operator_memory_<rank>.csv of MindSpore's memory tracker: every line ends in a comma."""
    text = "Name,Size(KB),Allocation Time(us),Duration(us),"
    text += "Allocation Total Allocated(MB),Allocation Total Reserved(MB),Device,\n"
    text += "Default/net/Mul-op1,2,1764246877073570,250,1.5,2,Default,\n"
    text += "Default/net/Add-op2,1,1764246877073580,,1.5,2,Default,\n"
    found, problems = read(tmp_path, "operator_memory_0.csv", text, "operator_memory")
    assert [(row["allocated_ns"], row["released_ns"], row["total_allocated_bytes"], row["component"]) for row in found] == [
        (1764246877073570000, 1764246877073820000, 1_572_864, "MindSpore"),
        (1764246877073580000, -1, 1_572_864, "MindSpore"),
    ]
    assert not problems


def test_the_plan_before_2_3(tmp_path: Path) -> None:
    for name in ("memory_usage_summary_0.json", "memory_usage_details_0.json"):
        (tmp_path / name).write_text(FILES[name])
    (tmp_path / "profiler_info_0.json").write_text("{}")
    profile = profile_of(tmp_path)
    names = ["kind", "graph", "name", "first", "last", "size_bytes", "count"]
    gib = 1 << 30
    assert profile.static_memory[names].values.tolist() == [
        ["capacity", -1, "", -1, -1, 31 * gib, -1], ["peak", -1, "", -1, -1, gib * 3 // 2, -1],
        ["static", -1, "", -1, -1, gib // 4, -1], ["allocations", -1, "", -1, -1, -1, 12],
        ["releases", -1, "", -1, -1, -1, 12], ["static", 0, "", -1, -1, gib // 4, -1],
        ["forward_start", 0, "", 1, -1, -1, -1], ["backward_end", 0, "", 2, -1, -1, -1],
        ["node", 0, "Default/Cast-op1", 0, -1, gib // 4, -1], ["node", 0, "Default/Conv-op2", 1, -1, gib * 3 // 4, -1],
        ["node", 0, "ReLU-op3", 2, -1, gib // 2, -1], ["block", 0, "Conv-op2:0", 1, 2, gib // 2, -1],
    ]  # fmt: skip
    assert profile.static_memory.iloc[-1][["type", "data_type", "shape", "format"]].tolist() == [
        "kOutputOnly", "float16", "32,6", "NCHW",
    ]  # fmt: skip
    assert not profile.problems


def test_tensors_of_all_nodes_are_taken_once(tmp_path: Path) -> None:
    graph = json.loads(FILES["memory_usage_details_0.json"])
    tensor = graph["0"]["breakdowns"][0][0]
    for breakdowns in ([tensor, tensor], [[tensor], [tensor, tensor | {"tensor_id": 5, "size": 0.125}]]):
        graph["0"]["breakdowns"] = breakdowns
        found, problems = read(tmp_path, "memory_usage_details_0.json", json.dumps(graph), "static_memory")
        sizes = [row["size_bytes"] for row in found if row["kind"] == "block"]
        assert sizes == [1 << 29] if breakdowns[0] is tensor else sizes == [1 << 29, 1 << 27]
        assert not problems


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"static_mem": -1}, "Graph 0, static_mem: expected a size in GiB, found '-1'; it is unknown."),
        ({"fp_start": "x"}, "Graph 0, fp_start: expected a whole number, found 'x'; it is unknown."),
        ({"nodes": 3}, "Graph 0, nodes: expected a list, found int; it was skipped."),
        ({"breakdowns": ["x"]}, "Graph 0, breakdowns: expected objects, found str; it was skipped."),
    ],
)
def test_what_is_wrong_with_a_plan(change: dict[str, object], wanted: str, tmp_path: Path) -> None:
    graph = json.loads(FILES["memory_usage_details_0.json"])
    graph["0"] |= change
    found, problems = read(tmp_path, "memory_usage_details_0.json", json.dumps(graph), "static_memory")
    assert problems == [wanted]
    assert found


def test_a_life_that_ends_before_it_begins(tmp_path: Path) -> None:
    graph = json.loads(FILES["memory_usage_details_0.json"])
    graph["0"]["breakdowns"][0][0] |= {"life_start": 5, "life_end": 3}
    _, problems = read(tmp_path, "memory_usage_details_0.json", json.dumps(graph), "static_memory")
    assert problems == [
        "Graph 0, tensor Conv-op2:0: expected a last node after node 5, found 3; the block is in use at no node."
    ]
    text = FILES["static_op_mem.csv"].replace("conv,0,0,1,6", "conv,0,0,7,6")
    text = text.replace("relu,0,0,4,4294967295,8.0", "relu,0,0,4,9,-8.0")
    found, problems = read(tmp_path, "static_op_mem.csv", text, "static_memory")
    assert sorted(problems)[1:] == [
        "Line 2: expected a last node after node 7, found 6; the block is in use at no node.",
        "Line 3: column Size: expected a size of at least 0, found -8192 bytes; it is unknown.",
    ]
    assert [row["size_bytes"] for row in found[:3]] == [1280032, -1, 1536512]


def test_blocks_of_the_memory_tracker(tmp_path: Path) -> None:
    folder = tmp_path / "rank_5"
    folder.mkdir()
    for name in ("memory_block.csv", "task.csv"):
        (folder / name).write_text(FILES[name])
    run = open_run(tmp_path)
    ((_, rank),) = run.profile
    assert rank == 5
    (profile,) = run.profile.values()
    frame = OPERATOR_MEMORY.check(profile.operator_memory)
    names = ["name", "scope", "component", "stream", "size_bytes", "allocated_event", "released_event", "last_used_event"]
    # The second block lacks what its task is called; task.csv has it.
    assert frame[names].values.tolist() == [
        ["Default/net/Mul-op1", "Default/net", "Default", 0, 1024, 2, 9, 7],
        ["Default/net/Mul-op1", "Default/net", "Default", 0, 2048, 4, -1, -1],
    ]
    names = ["address", "kind", "owner", "source", "stack", "allocated_ns", "released_ns"]
    assert frame[names].values.tolist() == [
        [0x12C041200000, "KernelOutput", "kernel_graph_0 Default/Mul-op1", "kernel_actor.cc:51", "train.py:12", -1, -1],
        [0x12C041200400, "Weight", "kernel_graph_0 Default/Mul-op1", "", "train.py:12", -1, -1],
    ]
    assert not profile.problems


def test_columns_of_the_memory_tracker_vary(tmp_path: Path) -> None:
    """The first version has neither last_user_task nor is_persistent; -1 is never; a block within another one has no begin."""
    text = "start_time_stamp,end_time_stamp,device_addr,stream_id,pool_type,size,actual_peak_memory,user_tasks,\n"
    text += "2,-1,78953,0,Default,1024,1024,{3-12-5-},\n-1,-1,78953,0,Default,512,1024,{},\n9,4,1,0,Default,1,1,{},\n"
    found, problems = read(tmp_path, "memory_block.csv", text, "operator_memory")
    names = ("allocated_event", "released_event", "last_used_event", "address")
    assert [tuple(row[name] for name in names) for row in found] == [(-1, -1, -1, 78953), (2, -1, 12, 78953), (9, 4, -1, 1)]
    assert problems == [
        "Line 4: expected a release after the allocation (event 9), found event 4; the block counts at no time."
    ]


def test_a_database_of_mindspore(tmp_path: Path) -> None:
    """No real database of MindSpore is at hand: this one is made from its documentation."""
    connection = sqlite3.connect(tmp_path / "ascend_mindspore_profiler.db")
    connection.executescript(TABLES)
    connection.close()
    profile = profile_of(tmp_path)
    memory = profile.memory[["component", "time_ns", "allocated_bytes", "reserved_bytes", "device"]].values.tolist()
    start = 1764246877073569600
    assert memory == [
        ["APP", start + 40, -1, 2212081664, 3], ["GE", start + 41, 1536, 4096, 3], ["GE", start + 50, 3584, 4096, 3],
        ["device", start + 50, -1, 2460213248, 3], ["GE", start + 100, 3584, 4096, 3], ["GE", start + 200, 3072, 4096, 3],
    ]  # fmt: skip
    names = ["address", "size_bytes", "allocated_ns", "released_ns", "total_allocated_bytes"]
    assert profile.operator_memory[names].values.tolist() == [
        [20617629794304, 1024, start + 41, start + 100, 1536], [20617629795328, 2048, start + 50, -1, 3584],
        [20617629794304, 512, start + 200, -1, 3072],
    ]  # fmt: skip
    modules = profile.module_memory[["component", "reserved_bytes"]].values.tolist()
    assert modules == [["HCCL", 423690240], ["RUNTIME", 96714752]]
    assert not profile.problems


def test_what_is_wrong_with_events_of_a_database(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "ascend_mindspore_profiler.db")
    connection.executescript(TABLES)
    connection.executescript("""
        DELETE FROM ENUM_MODULE WHERE id = 45;
        INSERT INTO NPU_OP_MEM VALUES (1, 20617629795328, 5, 4096, 1764246877073569900, 1, 1, 1, 7, 3),
            (1, 30000, 6, 64, 1764246877073569900, 1, 1, 1, 7, 3), (1, 40000, 9, 64, 1764246877073569900, 1, 1, 1, 7, 3),
            (1, 50000, 5, -64, 1764246877073569900, 1, 1, 1, 7, 3);
        INSERT INTO NPU_MEM VALUES (0, 0, 5, 0, 3);
        """)
    connection.close()
    profile = profile_of(tmp_path)
    for frame in ("memory", "operator_memory", "module_memory"):
        profile.frame(frame)
    at = "Table NPU_OP_MEM, row"
    assert sorted(texts(profile)) == [
        "Table NPU_MEM, row 3: column timestamp: expected a time after 0, found 0; the row was skipped.",
        "Table NPU_MODULE_MEM: expected the names of all modules in ENUM_MODULE, found none for 45.",
        f"{at} 2: expected a release before the next allocation at this address, found none; it counts to the end.",
        (
            f"{at} 6: expected an allocation before the release at 1764246877073569900 ns, found none; "
            "the block counts from before the recording on."
        ),
        f"{at} 7: expected allocate or release, found '9'; the row was skipped.",
        f"{at} 8: column size_bytes: expected a size, found -64; it is unknown.",
    ]
    assert len(profile.operator_memory) == 6


def test_what_is_wrong_with_records(tmp_path: Path) -> None:
    text = RECORD + "PTA,1764246877073571.000,3,4,3,NPU:0\nPTA,1764246877073570.000,-2,4,3,NPU:0\nPTA,0,2,4,3,NPU:0\n"
    text += "PTA,,2,4,3,NPU:0\nGE,1764246877073569.5,x,4,3,NPU:0\n"
    found, problems = read(tmp_path, "memory_record.csv", text, "memory")
    assert [(row["component"], row["time_ns"], row["allocated_bytes"]) for row in found] == [
        ("GE", 1764246877073569500, -1), ("PTA", 1764246877073570000, -1), ("PTA", 1764246877073571000, 3 << 20),
    ]  # fmt: skip
    assert problems == [
        "Line 6, column Total Allocated(MB): expected a number, found 'x'.",
        "Line 5: expected numbers in Timestamp(us); the line was skipped.",
        "Line 3: column Total Allocated: expected a size of at least 0, found -2097152 bytes; it is unknown.",
        "Line 4: column Timestamp: expected a time after 0, found 0; the row was skipped.",
        "Line 3: column Timestamp: expected times that grow within a component, found an earlier one; they were sorted.",
    ]


def test_what_is_wrong_with_blocks(tmp_path: Path) -> None:
    rows = (
        "aten::a,1,1764246877073570,1764246877073580,,2,NPU:0", "aten::b,1,,1764246877073575,,2,NPU:0",
        "aten::c,1,1764246877073590,1764246877073580,,2,NPU:0", "aten::d,-1,1764246877073595,,,2,NPU:0",
        "aten::e,1,,,,2,NPU:0", "aten::f,1,0,1764246877073580,,2,NPU:0", "aten::g,1,1764246877073571,,,2,NPU:0",
    )  # fmt: skip
    found, problems = read(tmp_path, "operator_memory.csv", BLOCK + "\n".join(rows) + "\n", "operator_memory")
    assert [row["name"] for row in found] == ["aten::b", "aten::f", "aten::a", "aten::g", "aten::c", "aten::d"]
    assert [row["allocated_ns"] for row in found[:2]] == [-1, -1]
    assert problems == [
        "Line 5: column Size: expected a size of at least 0, found -1024 bytes; it is unknown.",
        "Line 7: column Allocation Time: expected a time after 0, found none; it is unknown.",
        (
            "Line 3 and 1 more: expected an allocation before the release at 1764246877073575000 ns, found none; "
            "the block counts from before the recording on."
        ),
        "Line 6: expected a time of allocation or release; the row was skipped.",
        "Line 4: expected a release after the allocation, found one 10,000 ns before it; the block counts at no time.",
        (
            "Line 8: column Allocation Time: expected times that grow within a component, found an earlier one; "
            "they were sorted."
        ),
    ]


def test_text_files_count_before_the_database_and_a_stamped_copy_is_not_read_twice(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "ascend_mindspore_profiler.db")
    connection.executescript(TABLES)
    connection.close()
    for name in ("memory_record.csv", "operator_memory.csv", "npu_module_mem.csv"):
        (tmp_path / name).write_text(FILES[name])
    (tmp_path / "npu_module_mem_20240101120000.csv").write_text(FILES["npu_module_mem.csv"])
    profile = profile_of(tmp_path)
    assert (len(profile.memory), len(profile.operator_memory), len(profile.module_memory)) == (3, 2, 2)
