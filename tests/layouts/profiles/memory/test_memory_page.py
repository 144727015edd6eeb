"""The memory page: what its callbacks answer on real files and made frames, against numbers computed without it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from layouts.kit.state import BadInput
from layouts.profiles.frames import ProfileFrame
from layouts.profiles.memory import explained, page
from layouts.profiles.memory.asks import MemoryRequest
from layouts.profiles.memory.recordings import Recordings
from parsers.analysis.jobs.held_memory import held_by, held_bytes
from parsers.cluster_frames import RANKS
from parsers.profile_frames import MEMORY, OPERATOR_MEMORY
from parsers.profiler.frame_parts import categorical, frame_of
from tests.layouts.profiles.memory.requests import ask, bytes_of, of_frames, opened, records, texts_in, titles, values_of
from tests.sources import MemorySource
from tests.writers import memory_files
from tests.writers.memory_files import BEGIN_NS, MIB

RANK_0 = "profiler_new/torch_npu_st_4ranks_pp2/rank_0_ascend_pt"
RANK_2 = "cluster_samples/msinsight/torch_npu_st_4ranks_pp2/rank_2_ascend_pt"


# Requests ----------------------------------------------------------------------------------------------------------------


def test_no_profile_and_no_rows() -> None:
    assert MemoryRequest.read_any(None) is None
    assert MemoryRequest.read_any({}) is None
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
    assert head.startswith("Peak 10.0 GiB allocated at 316.6 ms: 41.9 % from before the recording, 21.5 % by aten::matmul. "
                           "89.3 MiB reserved but unused. A leak cannot be told: the files do not say when ")  # fmt: skip
    assert "Whole process 11.6 GiB" in head
    # the process holds 11.65 of 32 GiB, so 20.35 GiB are left
    assert "Capacity (as set) 32.0 GiB (36.4 %) Largest request that would still fit 20.4 GiB at least, as new memory" in head
    assert "预留未用 89.3 MiB" in texts_in(answer["head"], "zh")
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
    assert "10.0 GiB 10.6 GiB −535 MiB" in texts_in(answer["head"])  # 10,282.749 and 10,818.063 MiB
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
    assert (len(far["layout"]["shapes"]), far["layout"]["annotations"][0]["text"]) == (0, "Capacity 64.0 GiB ↑")
    assert none["layout"]["annotations"] == []
    answer, _ = page.overall(source, known, ask(capacity="0.5"))
    assert "1.00 GiB is more than the capacity." in texts_in(answer["head"])


def test_the_most_that_the_process_held_is_said_if_it_is_not_at_the_peak_of_the_pool() -> None:
    pool, process = records([BEGIN_NS, BEGIN_NS + 9], [2 * MIB, MIB]), records([BEGIN_NS + 5], [0])
    process["reserved_bytes"] = np.array([7 * MIB])
    memory = pd.concat((pool, process), ignore_index=True)
    memory["component"] = categorical(["PTA", "PTA", "APP"])
    answer, _ = page.overall(*of_frames(memory=memory), ask())
    head = texts_in(answer["head"])
    assert head.startswith("Peak 2.00 MiB allocated")
    assert "Whole process, highest 7.00 MiB" in head
    ranks = frame_of(RANKS, 1, {"rank": [0], "peak_allocated_bytes": [2 * MIB], "peak_process_bytes": [7 * MIB]}, "made")
    assert (held_bytes(ranks).tolist(), held_by(ranks, 0)) == ([7 * MIB], "process")


def test_each_device_of_a_database_is_shown_alone() -> None:
    both = records([BEGIN_NS, BEGIN_NS + 9], [MIB, 2 * MIB], device=4), records([BEGIN_NS], [7 * MIB], device=5)
    memory = pd.concat(both, ignore_index=True)
    memory["component"] = categorical(["PTA"] * 3)
    columns = {"allocated_ns": [BEGIN_NS + 5, BEGIN_NS], "released_ns": [-1, -1], "size_bytes": [MIB, 3 * MIB],
               "device": [4, 5], "component": categorical(["PTA"] * 2), "name": categorical(["x", "y"])}  # fmt: skip
    source, known = of_frames(memory=memory, operator_memory=frame_of(OPERATOR_MEMORY, 2, columns, "f"))
    for device, size, name in ((4, "2.00 MiB", "x"), (5, "7.00 MiB", "y")):
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


def test_a_recording_made_while_a_frame_is_read_again_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("layouts.profiles.profile_choice.PATIENCE", 0.0)
    frames = {"memory": records([BEGIN_NS, BEGIN_NS + 1], [1, 2]), "operator_memory": ProfileFrame("reading")}
    known = Recordings(MemorySource({"a": {"profiles": {(".", 0): frames}}}))
    first = known.of(ask().choice, ask())
    assert first is not None
    assert known.of(ask().choice, ask()) is not first


def test_the_largest_offsets_leave_no_integer(tmp_path: Path) -> None:
    memory_files.recording(tmp_path / "a", steps=2)
    source, known = opened(a=tmp_path / "a")
    most = 2**61 - 1
    for first, last in ((-most, most), (most - 1, most), (-most, 1 - most)):
        assert page.drawn(source, known, ask(**{"from": first, "to": last})) is not None
        page.at_moment(source, known, ask(view="changed", **{"from": first, "to": last}))
    for at in (f"{most},{most}", f"{-most},{most}"):
        assert page.at_moment(source, known, ask(at=at))["facts"]["text"]


def test_what_a_trace_of_torch_lacks_is_told_in_terms_of_torch() -> None:
    source, known = of_frames(memory=MEMORY.empty(), operator_memory=OPERATOR_MEMORY.empty())
    for run in source.data.values():
        run["of_torch"] = True
    said = texts_in(page.overall(source, known, ask())[0]["absent"])
    assert "torch.profiler with profile_memory=True" in said
    assert not any(word in said for word in ("MindSpore", "CANN", ".csv", "NPU"))
