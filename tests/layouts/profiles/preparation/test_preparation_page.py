"""The cards of the data preparation page over real profiles, none, and odd ones."""

from __future__ import annotations

import base64
import json
import math
import os
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layouts import PAGES
from layouts.kit.state import BadInput
from layouts.profiles.preparation import feeding, machine, operations
from layouts.profiles.preparation.asks import PreparationRequest
from layouts.profiles.preparation.card_data import CardData
from layouts.profiles.preparation.figures import SHARES, QueueCurve, figure
from layouts.profiles.preparation.page import _DRAW, CARDS, FRAMES, drawn
from layouts.profiles.profile_choice import ProfileChoice
from parsers import open_run
from parsers.profile_frames import CPU, QUEUES
from tests.amounts import examples
from tests.pages import page_named
from tests.parsers.analysis.profiles.test_preparation import pipeline, queues
from tests.sources import MemorySource

PAGE = page_named("preparation")

DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "/nowhere"))
real = pytest.mark.skipif(not DATA.is_dir(), reason="MINDSCOPE_TEST_DATA names no directory of real runs")
ASK = PreparationRequest(ProfileChoice("run", ".", 0))
NOTHING: dict[str, pd.DataFrame | None] = dict.fromkeys(FRAMES)


def cards(of: CardData) -> dict[str, Any]:
    """Every card of the page by name, as what is sent to the browser."""
    return {name: sent(draw(of)) for name, draw in zip(CARDS, _DRAW, strict=True)}


def sent(card: Any) -> Any:
    """A card as the browser gets it."""
    return json.loads(json.dumps(card, default=lambda one: one.to_plotly_json()))


def order(rows: pd.DataFrame) -> list[int]:
    """The operations of a drawn pipeline from left to right, branches from top to bottom."""
    card = sent(operations.pipeline(CardData(ASK, NOTHING | {"pipeline": rows}, "/")))
    return [int(number) for number in re.findall(r'"data-op": "(\d+)"', json.dumps(card))]


def words(value: Any) -> str:
    """All texts in a card."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return " ".join(map(words, value))
    return words(value["props"].get("children", "")) if isinstance(value, dict) and "props" in value else ""


def values(spec: dict[str, str]) -> list[float]:
    return np.frombuffer(base64.b64decode(spec["bdata"]), spec["dtype"]).astype(float).tolist()


def real_profile(name: str, key: tuple[str, int]) -> CardData:
    profile = open_run(DATA / name).profile[key]
    frames = {frame: profile.frame(frame) for frame in FRAMES}
    return CardData(ASK, {name: frame if len(frame) else None for name, frame in frames.items()}, "/ms/")


@real
def test_all_cards_of_a_real_profile() -> None:
    of = real_profile("profiler_new/mindspore_2.10_minddata/raw_b", (".", 0))
    shown = cards(of)
    assert all(shown[name] for name in CARDS)
    path = DATA / "profiler_new/mindspore_2.10_minddata/raw_b/dataset_iterator_profiling_0.txt"
    rows = [[int(cell) for cell in line.split()] for line in path.read_text().splitlines()]
    got = [row for row in rows if row[:2] == [0, 0]][1:]  # the first step fills the queues; times are those of the ends
    waited = sum(row[3] for row in got[1:])
    share = waited / (got[-1][4] - got[0][4] - waited)
    assert f"250 steps waited for {share * 100:.1f} % of the rest of their time" in words(shown["flow"])
    assert "slow: GeneratorOp" in words(shown["flow"])
    assert "245 (98.0 %)" in words(shown["sizes"])
    assert words(shown["queue"]).startswith("GeneratorOp")
    assert shown["table"]["props"]["children"]
    assert "MapOp" in words(shown["pipeline"])


@real
def test_a_sunk_profile_has_a_queue_on_the_device() -> None:
    of = real_profile("mindinsight_legacy/run_2/normal_run", ("profiler", 1))
    shown = cards(of)
    assert "Device queue" in words(shown["flow"])
    assert "get_next" in words(shown["flow"])
    assert "host_memory" not in json.dumps(shown)
    assert shown["memory"] is None


def test_stages_lead_to_the_card_or_page_about_them() -> None:
    rows = queues(("host", 3.0, 16.0, 1e6), ("device", 2.0, 16.0, 1e6))
    for stepped in (False, True):
        drawn = sent(feeding.flow(CardData(ASK, NOTHING | {"queues": rows}, "/", stepped)))
        boxes = [box for box in drawn[1]["props"]["children"] if "ms-preparation-stage" in box["props"]["className"]]
        assert [box["props"].get("data-to") for box in boxes] == ["pipeline", "sizes", "times", "sizes", "times", None]
        assert boxes[-1]["type"] == ("A" if stepped else "Div")
        assert boxes[-1]["props"].get("data-page") in ({page.path for page in PAGES} if stepped else {None})
        assert boxes[-1]["props"].get("data-query") == ("run=run&of=run&session=.&rank=0" if stepped else None)


def test_no_operation_is_called_slow_where_steps_do_not_wait() -> None:
    slow = pipeline((0, "Batch", -1, 0.3), (1, "Map", 0, 0.3), (2, "TFReader", 1, 0.95))
    waiting, fed = (queues(*[("host", size, 16.0, 1e6)] * 10) for size in (0.0, 3.0))
    assert [one.op_id for one in CardData(ASK, NOTHING | {"pipeline": slow, "queues": waiting}, "/").slow] == [1]
    assert CardData(ASK, NOTHING | {"pipeline": slow, "queues": fed}, "/").slow == []


def test_cells_of_tables_carry_what_they_are_sorted_by() -> None:
    rows = pipeline((0, "Batch", -1, 0.25), (11, "Map", 0, math.nan))
    body = sent(operations.table(CardData(ASK, NOTHING | {"pipeline": rows}, "/")))
    cells = re.findall(r'"data-value": "([^"]*)"', json.dumps(body))
    assert cells[0] == "0"
    assert {"11", "Map", "0.25", "nan"} <= set(cells)


@pytest.mark.long
def test_the_files_of_a_long_feeding_stay_small_and_quick() -> None:
    """100,000 steps and samples, 300 operations: what is sent is what a screen shows."""
    count, number = 100_000, 300
    step = np.arange(count)
    size = (np.sin(step / 50) * 8 + 8).round() * (step % 7 > 0)
    plain = {"op_id": -1, "capacity": 16.0, "total_ns": 1e6 + step % 97, "push_ns": 5e5, "get_ns": 5e5, "time_ns": step * 10**6,
             "file": "x", "step": step, "size": size}  # fmt: skip
    many = pd.concat([pd.DataFrame({**plain, "queue": name}) for name in ("host", "device")] + [
        pd.DataFrame({**plain, "queue": "operator", "op_id": 0})
    ]).astype({column.name: column.dtype for column in QUEUES.columns})  # fmt: skip
    rows = pipeline(*((n, "Map", n - 1, 0.5) for n in range(number)))
    use = {"user": 0.5, "system": 0.1, "io": 0.0, "idle": 0.4, "cores": 8, "runnable": 3.0, "context_switches": 9.0}
    scopes = [("machine", -1), ("process", -1), *(("operator", n) for n in range(5))]
    cpu = pd.concat([
        pd.DataFrame({**use, "scope": scope, "op_id": op_id, "sample": step, "step": step, "time_ns": step, "file": "x"})
        for scope, op_id in scopes
    ]).astype({column.name: column.dtype for column in CPU.columns})  # fmt: skip
    began = time.thread_time()
    shown = cards(CardData(ASK, NOTHING | {"queues": many, "pipeline": rows, "cpu": cpu}, "/"))
    spent = time.thread_time() - began
    assert len(json.dumps(shown)) < 3_000_000
    assert spent < 10.0
    traces = shown["sizes"][1]["props"]["children"]["props"]["figure"]["data"]
    assert all(len(values(trace["x"])) <= 20_000 for trace in traces)


def test_without_frames_no_card_is_shown() -> None:
    assert set(cards(CardData(ASK, NOTHING, "/")).values()) == {None}


def test_the_chosen_operation_is_the_one_asked_for_or_the_slowest() -> None:
    rows = pipeline((0, "Batch", -1, 0.3), (1, "Map", 0, 0.3), (2, "TFReader", 1, 0.95))
    frames = NOTHING | {"pipeline": rows}
    assert CardData(ASK, frames, "/").chosen == 1
    assert CardData(PreparationRequest(ASK.choice, op=2), frames, "/").chosen == 2
    assert CardData(PreparationRequest(ASK.choice, op=9), frames, "/").chosen == 1
    assert CardData(ASK, NOTHING, "/").chosen is None


def test_branches_stand_beside_each_other_and_no_operation_is_lost() -> None:
    rows = pipeline((0, "Zip", -1, 0.3), (1, "Map", 0, 0.3), (2, "TFReader", 1, 0.9), (3, "MnistDataset", 0, math.nan))
    assert order(rows) == [2, 1, 3, 0]
    # A parent that is not there, itself, or a circle.
    odd = pipeline((0, "A", 7, 0.3), (1, "B", 1, 0.3), (2, "C", 3, 0.3), (3, "D", 2, 0.3))
    assert sorted(order(odd)) == [0, 1, 2, 3]
    # Branches within branches: a comb of 100 teeth.
    comb = [(2 * n, "Zip", 2 * n - 2, 0.3) for n in range(100)] + [(2 * n + 1, "Map", 2 * n, 0.3) for n in range(100)]
    assert sorted(order(pipeline(*comb))) == list(range(200))


def test_a_long_pipeline_is_cut_and_says_so() -> None:
    rows = pipeline(*((n, "<b>Map</b>", n - 1, 0.5) for n in range(operations.MOST_OPERATIONS + 20)))
    shown = cards(CardData(ASK, NOTHING | {"pipeline": rows}, "/"))
    assert "20 more are in the CSV file." in words(shown["pipeline"])
    assert "20 more are in the CSV file." in words(shown["table"])
    assert "<b>Map</b>" in words(shown["pipeline"])  # a text, not markup


@real
def test_the_cpu_over_some_steps() -> None:
    of = real_profile("profiler_new/mindspore_2.10_minddata/raw_b", (".", 0))
    every = of.frames["cpu"]
    assert every is not None
    last = int(every["step"].max())
    after = CardData(PreparationRequest(ASK.choice, first=last + 1), of.frames, "/")
    assert "No sample falls" in words(sent(machine.cpu(after)))
    assert machine.cpu(CardData(PreparationRequest(ASK.choice, first=0, last=last), of.frames, "/")) is not None


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=50))
@settings(max_examples=examples(50))
def test_figures_keep_every_finite_point_of_short_curves(numbers: list[float]) -> None:
    y = np.array(numbers)
    made = figure([QueueCurve(np.arange(len(y), dtype=np.float64), y, "#000000")])
    finite = y[np.isfinite(y)].tolist()
    assert values(made["data"][0]["y"]) == finite


def test_the_means_of_times_are_listed_even_where_they_are_nothing() -> None:
    rows = queues(("host", 1.0, 16.0, 2e6), ("host", 1.0, 16.0, 4e6)).assign(push_ns=[1e6, 2e6], get_ns=0.0)
    text = words(cards(CardData(ASK, NOTHING | {"queues": rows}, "/"))["times"][-1])
    assert text.split("Host queue")[1].split("主机队列")[1].split() == ["3.00", "ms", "1.50", "ms", "0", "s"]


def test_empty_queues_are_marked() -> None:
    rows = queues(("host", 0.0, 16.0, 1e6), ("host", 3.0, 16.0, 1e6), ("host", 0.0, 16.0, 1e6))
    shown = cards(CardData(ASK, NOTHING | {"queues": rows}, "/"))
    traces = shown["sizes"][1]["props"]["children"]["props"]["figure"]["data"]
    assert values(traces[1]["x"]) == [1.0, 3.0]


def test_shares_at_the_pointer_are_neither_rounded_to_nothing_nor_to_all() -> None:
    curve = QueueCurve(np.arange(4.0), np.array([0.9996, 0.0001234, 0.5, 1.0]), "#000000")
    (trace,) = figure([curve], form=SHARES)["data"]
    assert trace["customdata"] == ["99.96 %", "0.0123 %", "50.0 %", "100 %"]
    assert "%{customdata}" in trace["hovertemplate"]


@pytest.mark.parametrize("asked", [{"op": ["x"]}, {"from": ["-1"]}, {"to": ["1e99"]}, 7])
def test_what_is_no_ask_is_refused(asked: Any) -> None:
    with pytest.raises(BadInput):
        PreparationRequest.read_any({"run": ["a"], **asked} if isinstance(asked, dict) else asked)


def test_without_a_profile_nothing_is_drawn() -> None:
    assert len(drawn(MemorySource(), {}, "/")) == len(CARDS)
    assert PAGE.needs == ("profile.queues", "profile.pipeline", "profile.cpu", "profile.host_memory")
