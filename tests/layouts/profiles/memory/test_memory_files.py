"""The memory page on files in which everything is known: leaks, scopes, windows, the tracker's pool, plans, and damage."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from layouts.kit import units as fmt
from layouts.profiles.frames import ProfileFrame
from layouts.profiles.memory import curve, memory_texts, page
from layouts.profiles.memory.asks import MemoryRequest
from layouts.profiles.memory.recordings import Recordings
from parsers.analysis.profiles.memory import recording
from parsers.profile_frames import MEMORY, OPERATOR_MEMORY
from tests.layouts.profiles.memory.requests import ask, bytes_of, opened, records, sessions_of, texts_in, titles, values_of
from tests.sources import MemorySource
from tests.writers import memory_files
from tests.writers.memory_files import BEFORE, BEGIN_NS, MIB, STEP_NS

# Made files --------------------------------------------------------------------------------------------------------------


def test_a_leak_is_told_with_its_size_and_none_where_there_is_none(tmp_path: Path) -> None:
    memory_files.recording(tmp_path / "leaking", leak_bytes=MIB)
    memory_files.recording(tmp_path / "fine")
    memory_files.recording(tmp_path / "short", steps=9, leak_bytes=MIB)
    source, known = opened(a=tmp_path / "leaking", b=tmp_path / "fine", c=tmp_path / "short")
    said = {}
    for run in "abc":
        asked = MemoryRequest.read_any({"run": [run], "session": ["."], "rank": ["0"]})
        assert asked is not None
        answer, _ = page.overall(source, known, asked)
        said[run] = texts_in(answer["head"])
    leaks = "It leaks: the least memory of a step grows by +1.00 MiB per step (99 %: +1.00 MiB to +1.00 MiB), +19.0 MiB (3.6"
    assert leaks in said["a"]
    assert "Most of it by Default/cache/Append-op9 (+19.0 MiB)." in said["a"]
    assert "No leak: over 20 steps the least memory of a step changes by 0 B" in said["b"]
    assert "A leak cannot be told from 9 steps; it takes 10." in said["c"]
    figure = page.drawn(source, known, ask())
    assert figure is not None
    least = values_of(figure, "least", "y")[::3] * (1 << 30 if figure["layout"]["yaxis"]["ticksuffix"] == " GiB" else MIB)
    assert least.tolist() == [BEFORE + step * MIB for step in range(20)]


def test_steps_that_are_still_being_read_are_asked_for_again() -> None:
    frames = {"memory": records([BEGIN_NS, BEGIN_NS + 9], [1, 2]), "step_times": ProfileFrame("reading", done=1, total=9)}
    source = MemorySource({"a": {"profiles": {(".", 0): frames}}})
    answer, _ = page.overall(source, Recordings(source), ask())
    assert answer["facts"]["again"]
    assert "Whether it leaks is not known yet: steps are being read." in texts_in(answer["head"])
    assert "ProfilerStep" not in texts_in(answer["absent"])


def test_sessions_of_one_step_tell_a_leak_together() -> None:
    said = {}
    for sessions, leak in ((12, MIB), (12, 0), (9, MIB)):
        source, state = sessions_of(sessions, leak)
        known, asked = Recordings(source), MemoryRequest.read_any(state)
        assert asked is not None
        said[sessions, leak] = texts_in(page.overall(source, known, asked)[0]["head"])
    grows = "the least memory of a session grows by +1.00 MiB per session (99 %: +1.00 MiB to +1.00 MiB), +11.0 MiB"
    assert grows in said[12, MIB]
    assert "No leak: over 12 sessions of this rank the least memory changes by 0 B" in said[12, 0]
    assert "A leak cannot be told" in said[9, MIB]


def test_scopes_and_blocks_of_a_group(tmp_path: Path) -> None:
    memory_files.recording(tmp_path / "a", leak_bytes=MIB)
    source, known = opened(a=tmp_path / "a")
    at = 1_000_000 + 3 * STEP_NS + STEP_NS // 2  # in the fourth step, all blocks of which are there
    answer = page.at_moment(source, known, ask(at=at, by="scope", part="Default/network/backbone"))
    assert answer["facts"]["groupings"] == ["name", "scope", "size"]
    assert "Default/network/backbone 1 256 MiB" in texts_in(answer["table"])
    assert "Default/cache 4 4.00 MiB" in texts_in(answer["table"])
    assert "Default/network/backbone: 1 block in use, 256 MiB" in texts_in(answer["blocks"])
    assert "152 ms 200 ms 48 ms" in texts_in(answer["blocks"])
    made = page.saved(source, known, ask(at=at, by="scope", part="Default/cache"), "part")
    assert made is not None
    rows = list(csv.DictReader(io.StringIO(made["content"])))
    assert [(row["name"], row["size_bytes"]) for row in rows] == [("Default/cache/Append-op9", str(MIB))] * 4


def test_scopes_are_framed_by_the_first_part_in_which_they_differ(tmp_path: Path) -> None:
    memory_files.recording(tmp_path / "a", leak_bytes=MIB)
    source, known = opened(a=tmp_path / "a")
    found = page.at_moment(source, known, ask(at=1_000_000 + STEP_NS // 2, by="scope"))["tiles"]
    areas = {tile[4]: (tile[0], tile[1], tile[0] + tile[2], tile[1] + tile[3], tile[5], tile[7]) for tile in found}
    frame = areas["\0frameDefault/network"]
    assert frame[4:] == ("Default/network", "402,653,184 B")
    for name, label in (("Default/network/backbone", "backbone"), ("Default/network/head", "head")):
        inner = areas[name]
        assert inner[4] == label
        assert frame[0] < inner[0] < inner[2] < frame[2]
        assert frame[1] < inner[1] < inner[3] < frame[3]
    assert areas["Default/optimizer"][4] == "Default/optimizer"
    tops = [area for key, area in areas.items() if not key.startswith("Default/network/")]
    assert sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1, *_ in tops) == pytest.approx(1.0, abs=1e-3)


def test_what_changed_in_the_window(tmp_path: Path) -> None:
    memory_files.recording(tmp_path / "a", leak_bytes=MIB)
    source, known = opened(a=tmp_path / "a")
    window = {"from": 1_000_000, "to": 1_000_000 + STEP_NS - 1}
    said = texts_in(page.at_moment(source, known, ask(view="changed", **window))["blocks"])
    assert said.startswith("From 1 ms to 51.0000 ms: 4 blocks allocated (449 MiB), 3 released (448 MiB), net +1.00 MiB.")
    made = page.saved(source, known, ask(view="changed", **window), "changed")
    assert made is not None
    assert len(list(csv.DictReader(io.StringIO(made["content"])))) == 4
    nothing = texts_in(page.at_moment(source, known, ask(view="changed", **{"from": 0, "to": 1}))["blocks"])
    assert "0 blocks allocated (0 B), 0 released (0 B), net 0 B." in nothing


def test_the_memory_tracker_by_source_stack_and_pool(tmp_path: Path) -> None:
    memory_files.tracker(tmp_path / "a")
    source, known = opened(a=tmp_path / "a")
    with (tmp_path / "a/rank_0/memory_block.csv").open() as file:
        raw = list(csv.DictReader(file))
    answer = page.at_moment(source, known, ask(by="source"))
    assert answer["facts"]["groupings"] == ["name", "scope", "source", "stack", "kind", "owner", "size"]
    found = known.of(ask().choice, ask())
    assert found is not None
    assert (found.clock, found.component) == ("event", "Default")
    time = answer["facts"]["at"] + found.origin
    alive = [row for row in raw if int(row["start_time_stamp"]) <= time
             and (int(row["end_time_stamp"]) < 0 or time < int(row["end_time_stamp"]))]  # fmt: skip
    sizes = [int(row["size"]) for row in alive]
    levels = np.zeros(700, np.int64)
    for row in raw:
        end = int(row["end_time_stamp"])
        levels[int(row["start_time_stamp"]) : end if end >= 0 else 700] += int(row["size"])
    assert sum(sizes) == levels.max()
    by_line: dict[str, int] = {}
    for row in alive:
        line = f"{row['file_name']}:{row['line_num']}"
        by_line[line] = by_line.get(line, 0) + int(row["size"])
    made = page.saved(source, known, ask(by="source"), "groups")
    assert made is not None
    assert {row["group"]: int(row["size_bytes"]) for row in csv.DictReader(io.StringIO(made["content"]))} == by_line
    assert "train.py:12 forward" in texts_in(page.at_moment(source, known, ask(by="stack"))["table"])
    # the pool: every place that was ever used, with a hole wherever nothing lies now
    ever = sorted({(int(row["device_addr"], 16), int(row["device_addr"], 16) + int(row["size"])) for row in raw})
    covered = np.zeros(64 * 2 * MIB >> 10, np.bool_)
    used = np.zeros_like(covered)
    for low, high in ever:
        covered[(low - memory_files.ADDRESS) >> 10 : (high - memory_files.ADDRESS) >> 10] = True
    for row in alive:
        low = (int(row["device_addr"], 16) - memory_files.ADDRESS) >> 10
        used[low : low + (int(row["size"]) >> 10)] = True
    free = np.flatnonzero(np.diff(np.concatenate(([0], (covered & ~used).astype(int), [0]))))
    holes = (free[1::2] - free[::2]) << 10
    said = texts_in(answer["pool-said"])
    assert f"{fmt.size(sum(sizes))} in use, {fmt.size(int(holes.sum()))} free in holes" in said
    assert f"the largest hole is {fmt.size(int(holes.max()))}" in said
    assert f"{100 * (1 - holes.max() / holes.sum()):.3g} %" in said
    widths = sum(cell[2] for cell in answer["pool"])
    assert widths == pytest.approx(12, abs=0.01)
    assert {cell[3] for cell in answer["pool"]} == {"used", "hole", "largest"}
    head = texts_in(page.overall(source, known, ask())[0]["head"])
    assert f"Largest request that would still fit {fmt.size(int(holes.max()))} in the pool" in head


def test_the_plan_of_old_files_with_forward_start_and_backward_end(tmp_path: Path) -> None:
    memory_files.legacy(tmp_path / "profiler")
    source, known = opened(a=tmp_path / "profiler")
    answer, figure = page.overall(source, known, ask())
    assert figure is not None
    assert texts_in(answer["head"]).startswith("Plan of graph 0: at most 7.75 GiB in use at once, at node 59;")
    assert "Capacity (peak of it) 32.0 GiB (24." in texts_in(answer["head"])
    notes = {note["text"]: note["x"] for note in figure["layout"]["annotations"]}
    assert (notes["Forward starts"], notes["Backward ends"]) == (2, 116)
    assert (answer["facts"]["graph"], answer["facts"]["node"]) == (0, 59)
    answer, _ = page.overall(source, known, ask(node="5"))
    assert texts_in(answer["plan-at"]).startswith("At node 5: 6 blocks in use, 768 MiB")
    assert "0 – 120 kOutputOnly float16 32,64 NCHW" in texts_in(answer["plan-at"])


def test_the_plan_beside_a_curve(real_data: Path) -> None:
    source, known = opened(a=real_data / "profiler_new/msinsight_server/test_rank_1")
    answer, _ = page.overall(source, known, ask(graph="1"))
    assert "blocks was in use while the curve was recorded" in texts_in(answer["head"])
    assert answer["facts"]["graphs"] == [0, 1]
    # 19,910.5, 19,784.7 and 8,496.5 KB
    assert texts_in(answer["plan-said"]).startswith(
        "Plan of graph 1: 19.4 MiB by the file; its blocks add up to 19.3 MiB, at most 8.30 MiB in use at once"
    )


# Damage ------------------------------------------------------------------------------------------------------------------


def written(folder: Path, record: str, blocks: str) -> Path:
    header = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Device Type\n"
    columns = "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Stream Ptr,Device Type\n"
    (folder / "profiler_info_0.json").write_text("{}")
    (folder / "memory_record.csv").write_text(header + record)
    (folder / "operator_memory.csv").write_text(columns + blocks)
    return folder


def test_rounded_times_are_called_useless(tmp_path: Path) -> None:
    rows = "".join(f"PTA,1.76424687707E+15,{size},40,{size},NPU:0\n" for size in (10, 30, 20, 10))
    source, known = opened(a=written(tmp_path, rows, "aten::a,1024,1.76424687707E+15,1.76424687708E+15,,1,NPU:0\n"))
    answer, _ = page.overall(source, known, ask())
    assert "The times in the files are rounded" in texts_in(answer["head"])
    assert page.drawn(source, known, ask()) is not None


def test_damaged_rows_are_left_out_and_the_rest_is_shown(tmp_path: Path) -> None:
    record = "PTA,1764246877073570,10,20,10,NPU:0\nPTA,1764246877073560,30,40,30,NPU:0\n"
    blocks = (
        "aten::late,1024,,1764246877073565,,1,NPU:0\n"  # released without an allocation
        "aten::turned,1024,1764246877073570,1764246877073561,,1,NPU:0\n"  # ends before it begins
        "aten::negative,-5,1764246877073570,1764246877073571,,1,NPU:0\naten::good,1024,1764246877073560,,,1,NPU:0\n"
    )
    source, known = opened(a=written(tmp_path, record, blocks))
    answer = page.at_moment(source, known, ask())
    text = texts_in(answer["table"])
    assert [name in text for name in ("aten::late", "aten::good")] == [True, True]
    assert [name in text for name in ("aten::turned", "aten::negative")] == [False, False]
    assert [bytes_of(title) for title in titles(answer["table"]) if title.endswith(" B")][-1] == 30 * MIB
    assert "before" in texts_in(page.at_moment(source, known, ask(part="aten::late"))["blocks"])


def test_blocks_beyond_the_curve_are_told(tmp_path: Path) -> None:
    folder = written(tmp_path, "PTA,1764246877073560,1,40,1,NPU:0\n", "aten::a,4096,1764246877073550,,,1,NPU:0\n")
    source, known = opened(a=folder)
    answer, _ = page.overall(source, known, ask())
    assert texts_in(answer["head"]).startswith("Peak 1.00 MiB allocated at 0 s. 39.0 MiB reserved but unused.")
    assert "The blocks of the file have 3.00 MiB more than its curve at this moment." in texts_in(answer["head"])
    table = page.at_moment(source, known, ask())["table"]
    assert [bytes_of(title) for title in titles(table) if title.endswith(" B")] == [4 * MIB, -3 * MIB, MIB]


def test_every_text_of_an_answer_is_in_both_languages_and_json(tmp_path: Path) -> None:
    memory_files.tracker(tmp_path / "a")
    source, known = opened(a=tmp_path / "a")
    answers = [page.overall(source, known, ask()), page.at_moment(source, known, ask(part="x")),
               page.drawn(source, known, ask(lang="zh"))]  # fmt: skip
    text = json.dumps(answers, ensure_ascii=False)
    assert "已申请" in text
    assert fmt.size(0) == "0 B"
    assert (memory_texts.percent(0, 0), memory_texts.percent(1, 10**9)) == ("–", "1.00e-7 %")
    assert (memory_texts.offset(0, "ns"), memory_texts.offset(1_500, "ns")) == ("0 s", "1.50000 µs")
    assert memory_texts.offset(7, "event") == "7"
    assert recording(MEMORY.empty(), OPERATOR_MEMORY.empty()) is None
    assert curve.COLOURS.keys() >= {"allocated", "reserved", "active"}
