"""The memory page: what its callbacks answer, against numbers computed from the raw files and plain loops."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from layouts.pages.memory import curve, explained, look, page
from layouts.pages.memory.asks import read_ask
from layouts.pages.memory.recordings import Recordings, recording
from layouts.state import BadInput
from parsers import open_run
from parsers.frames import MEMORY, OPERATOR_MEMORY
from parsers.profiler.parts import categorical, frame_of
from tests.sources import MemorySource
from tests.writers import memory_files
from tests.writers.memory_files import BEFORE, BEGIN_NS, MIB, STEP_NS

RANK_0 = "profiler_new/torch_npu_st_4ranks_pp2/rank_0_ascend_pt"
RANK_2 = "cluster_samples/msinsight/torch_npu_st_4ranks_pp2/rank_2_ascend_pt"
FRAMES = (*page.FRAMES, "step_times")
Page = tuple[MemorySource, Recordings]


def opened(**folders: Path) -> Page:
    """Runs by name, each with the only profile of a directory as (".", 0)."""
    data: dict[str, Mapping[str, Any]] = {}
    for name, folder in folders.items():
        (profile,) = open_run(folder).profile.values()
        frames = {frame: found for frame in FRAMES if len(found := profile.frame(frame))}
        data[name] = {"profiles": {(".", 0): frames}}
    source = MemorySource(data)
    return source, Recordings(source)


def of_frames(**frames: pd.DataFrame) -> Page:
    source = MemorySource({"a": {"profiles": {(".", 0): frames}}})
    return source, Recordings(source)


def ask(**more: object) -> Any:
    found = read_ask({"run": ["a"], "session": ["."], "rank": ["0"], **{key: [str(value)] for key, value in more.items()}})
    assert found is not None
    return found


def texts_in(parts: Any, language: str = "en") -> str:
    """The texts of plain elements in one language."""
    if isinstance(parts, str):
        return parts
    if isinstance(parts, list) and len(parts) == 3 and isinstance(parts[0], str) and isinstance(parts[1], dict):
        other = {"en": "zh-CN", "zh": "en"}[language]
        return "" if parts[1].get("lang") == other else texts_in(parts[2], language)
    return " ".join(" ".join(filter(None, (texts_in(part, language) for part in parts))).split())


def titles(parts: Any) -> list[str]:
    """The titles of plain elements, in order."""
    if not isinstance(parts, list):
        return []
    if len(parts) == 3 and isinstance(parts[0], str) and isinstance(parts[1], dict):
        return [*([parts[1]["title"]] if "title" in parts[1] else []), *titles(parts[2])]
    return [one for part in parts for one in titles(part)]


def bytes_of(title: str) -> int:
    return int(title.removesuffix(" B").replace(",", ""))


# Requests ----------------------------------------------------------------------------------------------------------------


def test_no_profile_and_no_rows() -> None:
    assert read_ask(None) is None
    assert read_ask({}) is None
    source, known = of_frames(memory=MEMORY.empty(), operator_memory=OPERATOR_MEMORY.empty())
    answer, figure = page.overall(source, known, ask())
    assert (answer["head"], answer["modules"], figure) == ([], [], None)
    assert "memory_record.csv" in texts_in(answer["absent"])
    assert page.drawn(source, known, ask()) is None
    assert page.at_moment(source, known, ask()) == {"facts": None}
    assert page.saved(source, known, ask(), "groups") is None


@pytest.mark.parametrize(
    ("key", "value"),
    [("at", "x"), ("at", "1,"), ("at", "1,y"), ("at", "9" * 40), ("from", "1.5"), ("to", "²"), ("by", "colour"), ("clock", "s"),
     ("view", "both"), ("capacity", "-1"), ("capacity", "nan"), ("device", "a"), ("node", "--1"), ("columns", "1e9")],
)  # fmt: skip
def test_untrusted_values(key: str, value: str) -> None:
    if (key, value) == ("at", "1,"):
        assert ask(at="1,").at == (1, 0)
        return
    with pytest.raises(BadInput):
        ask(**{key: value})


def test_unknown_names_mean_the_defaults(real_data: Path) -> None:
    source, known = opened(a=real_data / RANK_0)
    answer, _ = page.overall(source, known, ask(component="none", device="9", clock="event", graph="7"))
    assert answer["facts"]["component"] == "PTA+GE"
    assert (answer["facts"]["device"], answer["facts"]["clock"]) == (0, "ns")


# Real files --------------------------------------------------------------------------------------------------------------


def test_the_sentence_and_the_figures_of_the_peak(real_data: Path) -> None:
    source, known = opened(a=real_data / RANK_0)
    answer, _ = page.overall(source, known, ask(capacity="32"))
    head = texts_in(answer["head"])
    # 10,282.749 MiB of 10,372.0 reserved; 4,304.957 MiB from before
    assert head.startswith("Peak 10.04 GiB allocated at 316.6 ms: 42 % from before the recording, 21 % by aten::matmul. "
                           "89.25 MiB reserved but unused. A leak cannot be told: the files do not say when ")  # fmt: skip
    assert "Whole process 11.65 GiB" in head
    # the process holds 11.65 of 32 GiB, so 20.35 GiB are left
    assert "Capacity (as set) 32 GiB (36 %) Largest request that would still fit 20.35 GiB at least, as new memory" in head
    assert "预留未用 89.25 MiB" in texts_in(answer["head"], "zh")
    modules = texts_in(answer["modules"])
    assert "3 of 77 components reserve at least 100 MiB." in modules
    assert [name in modules for name in ("APP", "HCCL", "SLOG", "RUNTIME")] == [True, True, True, False]


def test_groups_at_the_peak_are_those_of_the_raw_file_and_add_up_to_the_curve(real_data: Path) -> None:
    source, known = opened(a=real_data / RANK_0)
    folder = real_data / RANK_0 / "ASCEND_PROFILER_OUTPUT"
    record = pd.read_csv(folder / "memory_record.csv", dtype=str).apply(lambda column: column.str.strip())
    record = record[record["Component"] == "PTA+GE"]
    total = record["Total Allocated(MB)"].astype(float)
    peak = record.loc[total.idxmax(), "Timestamp(us)"]
    blocks = pd.read_csv(folder / "operator_memory.csv", dtype=str).apply(lambda column: column.str.strip())
    start, end, active = (
        np.array([int(cell.replace(".", "")) if isinstance(cell, str) else 2**62 for cell in blocks[f"{name} Time(us)"]])
        for name in ("Allocation", "Release", "Active Release")
    )
    at = int(peak.replace(".", ""))
    alive = (start <= at) & (at < np.minimum(end, active))
    size = (blocks["Size(KB)"].astype(float) * 1024).astype(int)
    wanted = size[alive].groupby(blocks["Name"][alive]).sum()

    made = page.saved(source, known, ask(), "groups")
    assert made is not None
    rows = {row["group"]: int(row["size_bytes"]) for row in csv.DictReader(io.StringIO(made["content"]))}
    before = rows.pop("before recording")
    assert rows == wanted.to_dict()
    assert before + sum(rows.values()) == round(total.max() * MIB)
    answer = page.at_moment(source, known, ask())
    shown = [bytes_of(title) for title in titles(answer["table"]) if title.endswith(" B")]
    assert sum(shown[:-1]) == shown[-1] == round(total.max() * MIB)
    areas = sum(tile[2] * tile[3] for tile in answer["tiles"])
    assert areas == pytest.approx(1.0, abs=1e-3)
    first = next(tile for tile in answer["tiles"] if tile[4] == explained.BEFORE)
    assert first[2] * first[3] == pytest.approx(before / round(total.max() * MIB), abs=1e-3)


@pytest.mark.parametrize("by", ["name", "size", "component"])
def test_at_any_moment_blocks_sum_to_the_curve(by: str, real_data: Path) -> None:
    source, known = opened(a=real_data / "profiler_new/torch_npu_text_level2/rank0_ascend_pt")
    found = known.of(ask().choice, ask())
    assert found is not None
    for time in found.series.time[:: len(found.series.time) // 23].tolist():
        answer = page.at_moment(source, known, ask(at=time - found.origin, by=by))
        assert answer["facts"]["at"] == time - found.origin
        shown = [bytes_of(title) for title in titles(answer["table"]) if title.endswith(" B")]
        assert sum(shown[:-1]) == shown[-1] == found.series.value[found.series.time <= time][-1]


def test_steps_of_a_database_are_on_its_axis(real_data: Path) -> None:
    source, known = opened(a=real_data / "profiler_new/torch_npu_db_level2/rank0_ascend_pt")
    answer, _ = page.overall(source, known, ask())
    assert "in step 50 (at " in texts_in(answer["head"])
    assert "A leak cannot be told from one step; it takes 10." in texts_in(answer["head"])
    figure = page.drawn(source, known, ask())
    assert figure is not None
    assert [note["text"] for note in figure["layout"]["annotations"]] == ["Step 50"]


def test_two_ranks_side_by_side(real_data: Path) -> None:
    source, known = opened(a=real_data / RANK_0, b=real_data / RANK_2)
    against = {"with_run": "b", "with_session": ".", "with_rank": "0"}
    answer, _ = page.overall(source, known, ask(**against))
    assert "10.04 GiB 10.56 GiB -535.3 MiB" in texts_in(answer["head"])  # 10,282.749 and 10,818.063 MiB
    figure = page.drawn(source, known, ask(**against))
    assert figure is not None
    assert {"allocated", "with_allocated", "with_reserved"} <= {trace["meta"]["role"] for trace in figure["data"]}
    made = page.saved(source, known, ask(**against), "groups")
    assert made is not None
    rows = list(csv.DictReader(io.StringIO(made["content"])))
    assert sum(int(row["second_bytes"]) for row in rows) == round(10_282.7490234375 * MIB)
    differences = [int(row["difference_bytes"]) for row in rows]
    assert sum(differences) == sum(int(row["second_bytes"]) - int(row["first_bytes"]) for row in rows)
    assert [abs(one) for one in differences] == sorted((abs(one) for one in differences), reverse=True)


# Curve -------------------------------------------------------------------------------------------------------------------


def values_of(figure: dict[str, Any], role: str, axis: str) -> np.ndarray[Any, Any]:
    import base64

    (trace,) = (one for one in figure["data"] if one["meta"]["role"] == role)
    return np.frombuffer(base64.b64decode(trace[axis]["bdata"]), trace[axis]["dtype"])


def records(times: list[int], values: list[int], component: str = "PTA", device: int = 0) -> pd.DataFrame:
    columns = {"time_ns": times, "allocated_bytes": values, "component": categorical([component] * len(times)),
               "device": [device] * len(times)}  # fmt: skip
    return frame_of(MEMORY, len(times), columns, "f")


def test_a_spike_of_one_record_in_a_million_is_drawn_and_pressed() -> None:
    number = 200_000
    values = np.full(number, 5 * MIB)
    values[123_457] = 9 * MIB
    memory = records((BEGIN_NS + np.arange(number) * 100).tolist(), values.tolist())
    source, known = of_frames(memory=memory)
    figure = page.drawn(source, known, ask(columns=500))
    assert figure is not None
    assert figure["layout"]["meta"]["reduced"]
    assert values_of(figure, "allocated", "y").max() == 9.0
    assert len(values_of(figure, "allocated", "y")) < 20
    column = figure["layout"]["meta"]["column"]
    pressed = 123_457 * 100 // column * column
    answer = page.at_moment(source, known, ask(at=f"{pressed},{column}"))
    assert answer["facts"]["at"] == 123_457 * 100
    assert (answer["facts"]["previous"], answer["facts"]["next"]) == (123_456 * 100, 123_458 * 100)
    assert page.at_moment(source, known, ask(at="700,50"))["facts"]["at"] == 700
    zoomed = page.drawn(source, known, ask(columns=500, **{"from": 123_400 * 100, "to": 123_500 * 100}))
    assert zoomed is not None
    assert not zoomed["layout"]["meta"]["reduced"]
    scale = zoomed["layout"]["meta"]["scale"]
    at = values_of(zoomed, "allocated", "x")[np.argmax(values_of(zoomed, "allocated", "y"))]
    assert round(float(at) * scale) == 123_457 * 100


def test_capacity_is_a_line_if_it_is_near_and_a_note_if_not() -> None:
    source, known = of_frames(memory=records([BEGIN_NS, BEGIN_NS + 1000], [MIB << 10, MIB << 10]))
    near, far = (page.drawn(source, known, ask(capacity=size)) for size in (2, 64))
    none = page.drawn(source, known, ask())
    assert near is not None
    assert far is not None
    assert none is not None
    assert len(near["layout"]["shapes"]) == 1
    assert (len(far["layout"]["shapes"]), far["layout"]["annotations"][0]["text"]) == (0, "Capacity 64 GiB ↑")
    assert none["layout"]["annotations"] == []
    answer, _ = page.overall(source, known, ask(capacity="0.5"))
    assert "1 GiB is more than the capacity." in texts_in(answer["head"])


def test_each_device_of_a_database_is_shown_alone() -> None:
    both = records([BEGIN_NS, BEGIN_NS + 9], [MIB, 2 * MIB], device=4), records([BEGIN_NS], [7 * MIB], device=5)
    memory = pd.concat(both, ignore_index=True)
    memory["component"] = categorical(["PTA"] * 3)
    columns = {"allocated_ns": [BEGIN_NS + 5, BEGIN_NS], "released_ns": [-1, -1], "size_bytes": [MIB, 3 * MIB],
               "device": [4, 5], "component": categorical(["PTA"] * 2), "name": categorical(["x", "y"])}  # fmt: skip
    source, known = of_frames(memory=memory, operator_memory=frame_of(OPERATOR_MEMORY, 2, columns, "f"))
    for device, size, name in ((4, "2 MiB", "x"), (5, "7 MiB", "y")):
        answer, _ = page.overall(source, known, ask(device=device))
        assert answer["facts"]["devices"] == [4, 5]
        assert texts_in(answer["head"]).startswith(f"Peak {size} allocated")
        assert name in texts_in(page.at_moment(source, known, ask(device=device))["table"]).split()


def test_a_kept_recording_is_used_again_and_the_oldest_is_dropped() -> None:
    source, _ = of_frames(memory=records([BEGIN_NS, BEGIN_NS + 1], [1, 2]))
    known = Recordings(source, most_bytes=1)
    first = known.of(ask().choice, ask())
    assert known.of(ask().choice, ask()) is first
    assert known.of(ask().choice, ask(component="PTA")) is not first
    assert known.of(ask().choice, ask()) is not first


# Made files --------------------------------------------------------------------------------------------------------------


def test_a_leak_is_told_with_its_size_and_none_where_there_is_none(tmp_path: Path) -> None:
    memory_files.recording(tmp_path / "leaking", leak_bytes=MIB)
    memory_files.recording(tmp_path / "fine")
    memory_files.recording(tmp_path / "short", steps=9, leak_bytes=MIB)
    source, known = opened(a=tmp_path / "leaking", b=tmp_path / "fine", c=tmp_path / "short")
    said = {}
    for run in "abc":
        asked = read_ask({"run": [run], "session": ["."], "rank": ["0"]})
        assert asked is not None
        answer, _ = page.overall(source, known, asked)
        said[run] = texts_in(answer["head"])
    assert "It leaks: the least memory of a step grows by +1 MiB per step (99 %: +1 MiB to +1 MiB), +19 MiB (3.6 %" in said["a"]
    assert "Most of it by Default/cache/Append-op9 (+19 MiB)." in said["a"]
    assert "No leak: over 20 steps the least memory of a step changes by 0 B" in said["b"]
    assert "A leak cannot be told from 9 steps; it takes 10." in said["c"]
    figure = page.drawn(source, known, ask())
    assert figure is not None
    least = values_of(figure, "least", "y")[::3] * (1 << 30 if figure["layout"]["yaxis"]["ticksuffix"] == " GiB" else MIB)
    assert least.tolist() == [BEFORE + step * MIB for step in range(20)]


def test_sessions_of_one_step_tell_a_leak_together() -> None:
    def source_of(sessions: int, leak: int) -> Page:
        profiles = {}
        for number in range(sessions):
            # the process counts down, so that only the time in the name has the order
            name = f"host_{99 - number}_202611202330{number:02d}998_ascend_ms"
            values = [(MIB << 9) + leak * number + more for more in (0, 512, 9)]
            profiles[name, 0] = {"memory": records([BEGIN_NS, BEGIN_NS + 1, BEGIN_NS + 2], values)}
        source = MemorySource({"a": {"profiles": profiles}})
        return source, Recordings(source)

    said = {}
    for sessions, leak in ((12, MIB), (12, 0), (9, MIB)):
        source, known = source_of(sessions, leak)
        asked = read_ask({"run": ["a"], "session": ["host_99_20261120233000998_ascend_ms"], "rank": ["0"]})
        assert asked is not None
        said[sessions, leak] = texts_in(page.overall(source, known, asked)[0]["head"])
    assert "the least memory of a session grows by +1 MiB per session (99 %: +1 MiB to +1 MiB), +11 MiB" in said[12, MIB]
    assert "No leak: over 12 sessions of this rank the least memory changes by 0 B" in said[12, 0]
    assert "A leak cannot be told" in said[9, MIB]


def test_scopes_and_blocks_of_a_group(tmp_path: Path) -> None:
    memory_files.recording(tmp_path / "a", leak_bytes=MIB)
    source, known = opened(a=tmp_path / "a")
    at = 1_000_000 + 3 * STEP_NS + STEP_NS // 2  # in the fourth step, all blocks of which are there
    answer = page.at_moment(source, known, ask(at=at, by="scope", part="Default/network/backbone"))
    assert answer["facts"]["groupings"] == ["name", "scope", "size"]
    assert "Default/network/backbone 1 256 MiB" in texts_in(answer["table"])
    assert "Default/cache 4 4 MiB" in texts_in(answer["table"])
    assert "Default/network/backbone: 1 blocks in use, 256 MiB" in texts_in(answer["blocks"])
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
    assert said.startswith("From 1 ms to 51.0000 ms: 4 blocks allocated (449 MiB), 3 released (448 MiB), net +1 MiB.")
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
    assert f"{look.size(sum(sizes))} in use, {look.size(int(holes.sum()))} free in holes" in said
    assert f"the largest hole is {look.size(int(holes.max()))}" in said
    assert f"{100 * (1 - holes.max() / holes.sum()):.3g} %" in said
    widths = sum(cell[2] for cell in answer["pool"])
    assert widths == pytest.approx(12, abs=0.01)
    assert {cell[3] for cell in answer["pool"]} == {"used", "hole", "largest"}
    head = texts_in(page.overall(source, known, ask())[0]["head"])
    assert f"Largest request that would still fit {look.size(int(holes.max()))} in the pool" in head


def test_the_plan_of_old_files_with_forward_start_and_backward_end(tmp_path: Path) -> None:
    memory_files.legacy(tmp_path / "profiler")
    source, known = opened(a=tmp_path / "profiler")
    answer, figure = page.overall(source, known, ask())
    assert figure is not None
    assert texts_in(answer["head"]).startswith("Plan of graph 0: at most 7.750 GiB in use at once, at node 59;")
    assert "Capacity (peak of it) 32 GiB (24 %)" in texts_in(answer["head"])
    notes = {note["text"]: note["x"] for note in figure["layout"]["annotations"]}
    assert (notes["Forward starts"], notes["Backward ends"]) == (2, 116)
    assert (answer["facts"]["graph"], answer["facts"]["node"]) == (0, 59)
    answer, _ = page.overall(source, known, ask(node="5"))
    assert texts_in(answer["plan-at"]).startswith("At node 5: 6 blocks in use, 768 MiB")
    assert "0 – 120 kOutputOnly float16 32,64 NCHW" in texts_in(answer["plan-at"])


def test_the_plan_beside_a_curve(real_data: Path) -> None:
    source, known = opened(a=real_data / "profiler_new/msinsight_server/test_rank_1")
    answer, _ = page.overall(source, known, ask(graph="1"))
    assert answer["facts"]["graphs"] == [0, 1]
    # 19,910.5, 19,784.7 and 8,496.5 KB
    assert texts_in(answer["plan-said"]).startswith(
        "Plan of graph 1: 19.44 MiB by the file; its blocks add up to 19.32 MiB, at most 8.297 MiB in use at once"
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
    assert texts_in(answer["head"]).startswith("Peak 1 MiB allocated at 0 s. 39 MiB reserved but unused.")
    assert "The blocks of the file have 3 MiB more than its curve at this moment." in texts_in(answer["head"])
    table = page.at_moment(source, known, ask())["table"]
    assert [bytes_of(title) for title in titles(table) if title.endswith(" B")] == [4 * MIB, -3 * MIB, MIB]


def test_every_text_of_an_answer_is_in_both_languages_and_json(tmp_path: Path) -> None:
    memory_files.tracker(tmp_path / "a")
    source, known = opened(a=tmp_path / "a")
    answers = [page.overall(source, known, ask()), page.at_moment(source, known, ask(part="x")),
               page.drawn(source, known, ask(lang="zh"))]  # fmt: skip
    text = json.dumps(answers, ensure_ascii=False)
    assert "已申请" in text
    assert look.size(0) == "0 B"
    assert (look.percent(0, 0), look.percent(1, 10**9)) == ("–", "< 0.01 %")
    assert (look.offset(0, "ns"), look.offset(1_500, "ns"), look.offset(7, "event")) == ("0 s", "1.50000 µs", "7")
    assert recording(MEMORY.empty(), OPERATOR_MEMORY.empty()) is None
    assert curve.COLOURS.keys() >= {"allocated", "reserved", "active"}
