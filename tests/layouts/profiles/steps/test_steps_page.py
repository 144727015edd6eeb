"""The step page and the profile overview: what their callbacks answer to asks, good and bad."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from layouts.kit.i18n import both
from layouts.kit.state import BadInput
from layouts.profiles.composition import bar, sentence_texts, words
from layouts.profiles.profile_overview import page as overview
from layouts.profiles.profile_overview.drawing import clock_of
from layouts.profiles.steps import page as steptrace
from layouts.profiles.steps.asks import StepRequest
from parsers import FormatError, Series, open_run
from parsers.analysis import average, breakdowns
from parsers.profiler import ascend_output, legacy_ascend
from parsers.profiler.frame_parts import ProfileInput
from tests.amounts import some_or_every
from tests.sources import MemorySource, series
from tests.writers.step_traces import NEW, frame, legacy, reduces, step_trace_raw, step_trace_time

ASK = {"run": ["a"], "session": ["profiler"], "rank": ["0"]}


def profiled(frames: Mapping[str, pd.DataFrame], scalars: Mapping[str, Series] | None = None) -> MemorySource:
    """A run `a` with a profile of these frames, and scalars."""
    notes = {"fp_start": "Default/<b>Cast</b>-op6", "bp_end": ""}
    return MemorySource({"a": {"profiles": {("profiler", 0): frames}, "profile_notes": notes, "scalar": scalars or {}}})


def texts_in(component: Any) -> str:
    """All texts in components, in their order."""
    if component is None or isinstance(component, bool):
        return ""
    if isinstance(component, str | int | float):
        return str(component)
    if isinstance(component, list | tuple):
        return "\n".join(texts_in(part) for part in component)
    return texts_in(getattr(component, "children", None))


def steps_of(count: int) -> pd.DataFrame:
    return frame([legacy(at + 1, 2e6 if at else 0.0, 6e6, 2e6, start_ns=at * 10**7) for at in range(count)])


def test_the_sentence_has_the_numbers_of_the_file(real_data: Path) -> None:
    (found,) = breakdowns(open_run(real_data / "mindinsight_legacy/profiler").profile[".", 0].steps)
    usual = average(found)
    assert usual is not None
    # 9035360, 2300802 and 1709449 of 13045611 counts of 10 ns
    english, chinese = sentence_texts(usual)
    assert english == "A step takes 130 ms: 69.3 % waiting for data, 17.6 % gradients and update, 13.1 % forward and backward."
    assert chinese == "每步耗时 130 ms：等待数据 69.3 %，梯度聚合与参数更新 17.6 %，前向与反向 13.1 %。"
    widths = [float(part.style["width"].rstrip("%")) for part in bar(usual).children[0].children]
    np.testing.assert_allclose(widths, [69.2598, 13.1036, 17.6366], atol=1e-4)


def test_new_parts_in_a_sentence() -> None:
    (found,) = breakdowns(frame([{"step": 3, **dict(zip(NEW, (1e6, 5e6, 2e6, 3e6, 1e6), strict=True))}]))
    usual = average(found)
    assert usual is not None
    english, _ = sentence_texts(usual, 3)
    assert english == (
        "Step 3 takes 10.0 ms: 30.0 % computing alone, 30.0 % communication not overlapped, "
        "20.0 % computing overlapped with communication, 10.0 % preparing on the host, 10.0 % free."
    )
    empty = average(breakdowns(frame([legacy(1, 0.0, 0.0, 0.0)]))[0])
    assert empty is not None
    assert sentence_texts(empty) == both("composition.sentence_empty")


def test_the_average_then_a_step_then_its_neighbours() -> None:
    source = profiled({"steps": steps_of(6), "reduces": reduces([(3, 11, "AllReduce-op1", 20_000_100, 500)])})
    head, detail, facts, bars, trends, streams = steptrace.shown(source, ASK)
    sentence = "A step takes 10.0 ms: 60.0 % forward and backward, 20.0 % waiting for data, 20.0 % gradients and update."
    assert sentence in texts_in(head)
    assert "The mean of 5 steps; the first of the trace is left out" in texts_in(head)
    assert "Average step" in texts_in(detail)
    assert "Default/<b>Cast</b>-op6" in texts_in(detail)
    assert "Backward ends at" not in texts_in(detail)
    assert (facts["step"], facts["previous"], facts["next"], facts["total"]) == (None, 6, 1, 6)
    assert bars["layout"]["shapes"] == []
    assert len(trends["data"]) == 4
    assert streams["layout"]["meta"]["marks"] == 0
    _, detail, facts, bars, _, streams = steptrace.shown(source, ASK | {"step": ["3"]})
    assert "Step 3" in texts_in(detail)
    assert (facts["step"], facts["previous"], facts["next"], facts["streams_of"]) == (3, 2, 4, 3)
    assert bars["layout"]["shapes"]
    assert streams["layout"]["meta"]["marks"] == 1
    last = steptrace.shown(source, ASK | {"step": ["6"]})[2]
    assert (last["previous"], last["next"]) == (5, None)
    gone = steptrace.shown(source, ASK | {"step": ["99"]})[2]
    assert gone["step"] is None


def test_language_theme_and_unit_of_figures() -> None:
    source = profiled({"steps": steps_of(6)})
    look = {"lang": ["zh"], "theme": ["dark"], "unit": ["share"], "columns": ["600"]}
    *_, bars, _, streams = steptrace.shown(source, ASK | look)
    assert bars["layout"]["meta"]["unit"] == "%"
    assert bars["layout"]["hoverlabel"]["bgcolor"] == "#22262b"
    hover = next(trace for trace in bars["data"] if trace["meta"]["role"] == "hover")
    assert "前向与反向" in hover["hovertext"][1]
    assert streams is None
    assert set(words("en")) == set(words("zh"))


def test_several_traces_of_one_profile() -> None:
    new = dict(zip(NEW, (0.0, 5e6, 2e6, 3e6, 1e6), strict=True))
    rows = [legacy(1, 1e6, 2e6, 1e6), *({"step": at, "device": 3, **new} for at in range(4))]
    source = profiled({"steps": frame(rows)})
    facts = steptrace.shown(source, ASK)[2]
    assert facts["traces"] == [["new:3", "new", 3], ["legacy", "legacy", -1]]
    assert facts["trace"] == "new:3"
    assert steptrace.shown(source, ASK | {"trace": ["legacy"]})[2]["trace"] == "legacy"
    assert steptrace.shown(source, ASK | {"trace": ["no such"]})[2]["trace"] == "new:3"


@pytest.mark.parametrize("rows", [[], [legacy(-1, 1e6, 2e6, 3e6, kind="average")], [legacy(1, float("nan"), -1.0, 3.0)],
                                  [legacy(1, 0.0, 0.0, 0.0)], [legacy(-1, 1.0, 2.0, 3.0)]])  # fmt: skip
def test_little_or_nothing_is_shown_as_it_is(rows: list[dict[str, object]]) -> None:
    source = profiled({"steps": frame(rows), "reduces": reduces([])})
    answer = steptrace.shown(source, ASK)
    assert texts_in(answer[0])
    json.dumps(answer[2:])
    assert texts_in(overview.shown(source, ASK)[0])


def test_ten_thousand_steps_are_a_small_answer() -> None:
    rows = [legacy(at + 1, 1e6 + at % 7, 6e6 + at % 11, 2e6, start_ns=at) for at in range(10_000)]
    rows[5_000] = legacy(5_001, 1e6, 9e7, 2e6)
    answer = steptrace.shown(profiled({"steps": frame(rows)}), ASK | {"columns": ["1200"]})
    assert len(json.dumps(answer[2:])) < 700_000
    assert [one["step"] for one in answer[2]["outliers"]] == [5_001]
    assert answer[2]["outliers"][0]["text"][0] == "Step 5,001: 93.0 ms, Forward and backward +84.0 ms"


@pytest.mark.parametrize("bad", [
    {"unit": ["ms"]}, {"lang": ["fr"]}, {"columns": ["1e9"]}, {"step": ["-1"]}, {"step": ["x"]}, {"from": ["nan"], "to": ["1"]},
    {"theme": ["blue"]}, {"trace": ["x" * 41]}, {"rank": ["-2"]}, {"unit": "time"},
])  # fmt: skip
def test_what_is_no_ask_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        StepRequest.read_any(ASK | bad)
    with pytest.raises(BadInput):
        steptrace.shown(profiled({}), ASK | bad)


def test_no_profile_no_answer() -> None:
    source = profiled({})
    assert set(map(type, steptrace.shown(source, None))) == set(map(type, overview.shown(source, {})))
    assert "no steps" in texts_in(steptrace.shown(source, ASK)[0])


def test_the_overview_sets_the_profile_beside_the_clock_of_the_run() -> None:
    scalars = {"loss": series(40), "few": series(3)}
    told = clock_of(profiled({}, scalars), "a")
    assert told is not None
    assert told.tag == "loss"
    # the records are 1 s apart, the profiled steps take 10 ms
    head, lines, figure = overview.shown(profiled({"steps": steps_of(6)}, scalars), ASK)
    assert "A step takes 10.0 ms" in texts_in(head)
    said_of_both = "The profiled steps 2 to 6 took 10.0 ms each, by the clock of the run 1.00 s: 9,900 % more than was"
    assert said_of_both in texts_in(lines)
    assert figure["layout"]["meta"]["profiled"] == 6


def test_the_overview_says_why_there_is_no_such_chart() -> None:
    without = overview.shown(profiled({"steps": steps_of(6)}), ASK)
    assert "no scalars" in texts_in(without[1])
    assert without[2] is None
    scalars = {"loss": series(40)}
    far = frame([legacy(at + 1000, 2e6, 6e6, 2e6) for at in range(6)])
    apart = texts_in(overview.shown(profiled({"steps": far}, scalars), ASK)[1])
    assert "The profile has steps 1,000 to 1,005, the scalars of the run 0 to 39: none is in both." in apart
    unnumbered = frame([legacy(-1, 2e6, 6e6, 2e6)])
    assert "does not number" in texts_in(overview.shown(profiled({"steps": unnumbered}, scalars), ASK)[1])


@some_or_every
@pytest.mark.parametrize("name", ["step_trace_raw_0_detail_time.csv", "step_trace_time.csv"])
def test_no_damage_to_a_file_stops_the_pages(tmp_path: Path, name: str, every: bool) -> None:
    """Cut at and flipped in every fifth byte (every 37th in `make test`): the pages show what is left."""
    by = 5 if every else 37
    old = step_trace_raw([(0, 300, 50), (100, 310, 51), (101, 290, 52)])
    whole = (old if "raw" in name else step_trace_time([(step, 1.5, 50.25, 10, 20, 30) for step in range(3)])).encode()
    file = tmp_path / name
    damaged = [whole[:at] for at in range(0, len(whole), by)]
    damaged += [whole[:at] + bytes([whole[at] ^ 0x15]) + whole[at + 1 :] for at in range(0, len(whole), by)]
    readers = (legacy_ascend.steps, legacy_ascend.reduces) if "raw" in name else (ascend_output.steps,)
    shown = 0
    for content in damaged:
        file.write_bytes(content)
        read = []
        for reader in readers:
            try:
                read.append(reader(ProfileInput(str(file), name, {})).frame)
            except FormatError:
                read.append(None)
        source = profiled({key: part for key, part in zip(("steps", "reduces"), read, strict=False) if part is not None})
        answer = steptrace.shown(source, ASK | {"step": ["2"]})
        json.dumps(answer[2:])
        overview.shown(source, ASK)
        shown += answer[3] is not None
    assert shown > len(damaged) / 4


def test_copies_fetching_and_a_cut_step_are_said() -> None:
    parts = {"preparing_ns": 0.0, "computing_ns": 30e6, "overlapped_ns": 0.0, "exposed_ns": 0.0, "free_ns": 70e6}
    rows = [{"step": step, **parts, "copies_ns": 1.9e6, "fetching_ns": 69.3e6} for step in (4, 5)]
    source = profiled({"steps": frame([*rows, {"step": 6, "kind": "cut", **parts}])})
    for head in (steptrace.shown(source, ASK)[0], overview.shown(source, ASK)[0]):
        said = texts_in(head)
        assert "Of the free time, 1.90 ms are copies of memory." in said
        assert "Fetching data takes 69.3 ms of the step on the host." in said
        assert "Step 6 is not counted: the recording ended within it." in said
    assert "1.90 ms are copies" in texts_in(steptrace.shown(source, ASK | {"step": ["5"]})[1])


def test_copies_too_short_to_see_and_unknown_fetching_are_not_said() -> None:
    parts = {"preparing_ns": 0.0, "computing_ns": 30e6, "overlapped_ns": 0.0, "exposed_ns": 0.0, "free_ns": 70e6}
    source = profiled({"steps": frame([{"step": 4, **parts, "copies_ns": 20e3}])})
    said = texts_in(steptrace.shown(source, ASK)[0])
    assert "copies" not in said
    assert "Fetching" not in said


def test_steps_of_the_host_alone_have_no_parts() -> None:
    source = profiled({"steps": frame([{"step": step, "total_ns": 5e6, "fetching_ns": 1e6} for step in (7, 8)])})
    for head in (steptrace.shown(source, ASK)[0], overview.shown(source, ASK)[0]):
        assert "nothing was recorded on a device" in texts_in(head)
    for head in (steptrace.shown(profiled({"steps": frame([])}), ASK)[0],):
        assert "The step trace has no steps." in texts_in(head)
