"""What limits kernels, which are far from their median, and the roofline, as the operators page shows them."""

from __future__ import annotations

import base64
import csv
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from layouts.profiles.efficiency import Efficiency, EfficiencyRequest
from layouts.profiles.operators import page
from layouts.profiles.operators.asks import OperatorRequest as TableAsk
from layouts.profiles.operators.limits import MOST_ROWS, bound_card, slow_card
from layouts.profiles.operators.rooflines import MOST_TYPES, figure, roofline_card
from layouts.profiles.operators.tables import OperatorTables
from layouts.profiles.profile_choice import ProfileChoice
from parsers import open_run
from parsers.profiler.registry import FRAMES
from tests.layouts.profiles.steps.test_steps_page import texts_in
from tests.layouts.profiles.test_efficiency import ARITHMETIC, kernels, use
from tests.sources import MemorySource

READ = "pmu/aic_read_main_memory_datas(KB)"


def real(real_data: Path, folder: Path, which: str, asked: dict[str, str] | None = None) -> Efficiency:
    place = folder / "ASCEND_PROFILER_OUTPUT"
    place.mkdir(parents=True)
    (place / "kernel_details.csv").write_bytes((real_data / ARITHMETIC / f"kernel_details_{which}.csv").read_bytes())
    profile = open_run(folder).profile[".", 0]
    return use(asked, **{name: profile.frame(name) for name in FRAMES if profile.gives(name)})


def pair(ours: pd.DataFrame | None, theirs: pd.DataFrame | None, **asked: str) -> Efficiency:
    frames = [{} if one is None else {"kernels": one} for one in (ours, theirs)]
    source = MemorySource({name: {"profiles": {(".", 0): one}} for name, one in zip("ab", frames, strict=True)})
    ask = EfficiencyRequest.read_any({"run": ["a"], "with_run": ["b"]} | {name: [value] for name, value in asked.items()})
    assert ask is not None
    return Efficiency(source, ask)


def numbers(values: Mapping[str, str]) -> list[float]:
    found: list[float] = np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).tolist()
    return found


def test_what_limits_real_kernels(real_data: Path, tmp_path: Path) -> None:
    with (real_data / ARITHMETIC / "kernel_details_a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    text = texts_in(bound_card(real(real_data, tmp_path, "a"), "types"))
    whole = sum(float(row["Duration(us)"]) for row in rows)
    v3 = [row for row in rows if row["Type"] == "MatMulV3"]
    time = sum(float(row["Duration(us)"]) for row in v3)
    mte2 = sum(float(row["aic_mte2_ratio"]) * float(row["Duration(us)"]) for row in v3) / time
    assert f"{100 * time / whole:.1f} %" in text
    assert f"{100 * mte2:.1f} %" in text
    assert "are bound by memory" in text
    assert "\nMemory\n" in text
    assert "aic_mte2_ratio" in text
    by_shape = texts_in(bound_card(use({}, kernels=kernels(**{"pmu/aic_mac_ratio": [0.9], "input_shapes": ["4,5"]})), "shapes"))
    assert "4,5" in by_shape
    assert "no kernel can be called bound by memory" in by_shape


def test_no_claim_without_counters(real_data: Path, tmp_path: Path) -> None:
    text = texts_in(bound_card(real(real_data, tmp_path, "b"), "types"))
    assert "Without columns such as aic_mte2_ratio (PipeUtilization), no kernel can be called bound by memory" in text
    assert "are bound by memory" not in text
    assert "by neither" not in text.replace("or by neither", "")
    only_memory = use({}, kernels=kernels(**{"pmu/aic_mte2_ratio": [0.5]}))
    assert "no kernel can be called bound by computing" in texts_in(bound_card(only_memory, "types"))
    for nothing in (use({}), use({}, kernels=kernels(duration_ns=[5])), use({}, kernels=kernels(duration_ns=[]))):
        assert "no columns such as aic_mac_ratio and aic_mte2_ratio" in texts_in(bound_card(nothing, "types"))
    operations = texts_in(bound_card(use({}, kernels=kernels(**{"pmu/aic_cube_fops": [3e6]})), "types"))
    assert "no columns such as aic_mac_ratio" in operations
    assert "3.00 TFLOPS" in operations


def test_slow_kernels_lead_to_the_timeline() -> None:
    frame = kernels(duration_ns=[100] * 20 + [900], start_ns=range(21), name=[f"k{row}" for row in range(21)])
    source = MemorySource({"a": {"profiles": {(".", 0): {"kernels": frame, "trace": object()}}}})
    ask = EfficiencyRequest.read_any({"run": ["a"]})
    assert ask is not None
    card = slow_card(Efficiency(source, ask))
    assert "1 of 21 kernels took 800 ns more" in texts_in(card)
    made = json.dumps(card, default=lambda one: one.to_plotly_json())
    assert "first=k20&near=20" in made
    assert "no links to the timeline" not in texts_in(card)
    assert "no links to the timeline" in texts_in(slow_card(use({}, kernels=frame)))
    assert slow_card(use({})) == []
    assert "None of 20 kernels is far" in texts_in(slow_card(use({}, kernels=frame.iloc[:20])))
    assert "No kernel has 5 alike" in texts_in(slow_card(use({}, kernels=frame.iloc[:4])))
    many = kernels(duration_ns=[100] * 100 + [900] * 20)
    assert f"{20 - MOST_ROWS} more are in the CSV file" in texts_in(slow_card(use({}, kernels=many)))


@pytest.mark.parametrize("swapped", [False, True])
def test_roofline_of_two_sessions(swapped: bool) -> None:
    operations = kernels(name=["m", "n", "z", "x"], **{"pmu/aic_cube_fops": [8e6, 2e6, 0.0, 1.0]})
    traffic = kernels(name=["m", "n", "z", "y"], **{READ: [4.0, 8.0, 1.0, 1.0]})
    ours, theirs = (traffic, operations) if swapped else (operations, traffic)
    found = pair(ours, theirs, peak="10", bandwidth="1000")
    text = texts_in(roofline_card(found))
    assert "3 kernels of both sessions; without a partner: 1 with operations, 1 with main memory" in text
    assert "1 kernel without operations or without bytes" in text
    made = figure(found)
    assert made is not None
    points = next(one for one in made["data"] if one["meta"]["role"] == "kernels")
    assert (numbers(points["x"]), numbers(points["y"])) == ([2000.0, 250.0], [8e12, 2e12])
    slope, roof = (next(one for one in made["data"] if one["meta"]["role"] == name) for name in ("slope", "roof"))
    assert [y / x for x, y in zip(slope["x"], slope["y"], strict=True)] == pytest.approx([1e12, 1e12])
    assert (slope["x"][1], slope["y"][1], roof["x"][0], roof["y"]) == (10.0, 1e13, 10.0, [1e13, 1e13])
    english, chinese = made["layout"]["meta"]["alternative"]
    assert "m: 2,000 /B, 8.00 TFLOPS; n: 250 /B, 2.00 TFLOPS. Roof at 10.0 TFLOPS." in english
    assert "水平线为 10.0 TFLOPS" in chinese
    plain = pair(ours, theirs)
    assert len((figure(plain) or {})["data"]) == 1
    assert "Without a peak there is no roof" in texts_in(roofline_card(plain))
    assert "No file has the bandwidth" in texts_in(roofline_card(plain))


def test_types_beyond_the_first_ones_share_a_colour() -> None:
    names = [f"t{number}" for number in range(MOST_TYPES + 3)]
    frames = [kernels(name=names, type=names, **{counter: [1e6] * len(names)}) for counter in ("pmu/aic_cube_fops", READ)]
    made = figure(pair(*frames))
    assert made is not None
    shown = [(one["name"], one["meta"]["role"], len(numbers(one["x"]))) for one in made["data"]]
    assert shown[:-1] == [(name, "kernels", 1) for name in names[:MOST_TYPES]]
    assert shown[-1][1:] == ("others", 3)


def test_a_roofline_says_what_it_lacks() -> None:
    operations, traffic = kernels(**{"pmu/aic_cube_fops": [8e6]}), kernels(**{READ: [4.0]})
    for found, wanted in (
        (use({}, kernels=operations), "Choose a second session with Compare"),
        (pair(operations, None), "The second session has no kernels"),
        (pair(operations, operations), "Neither session has columns of main memory (aic_read_main_memory_datas(KB)), so"),
        (pair(traffic, traffic), "Neither session has columns of operations (aic_cube_fops), so"),
        (pair(operations, traffic.assign(name=pd.Categorical(["other"]))), "No kernel of both sessions has equal name"),
    ):
        assert wanted in texts_in(roofline_card(found))
        assert figure(found) is None


def test_the_view_of_counters_opens_types_to_shapes() -> None:
    frame = kernels(input_shapes=["4", "5", "5"], duration_ns=[10, 20, 30], **{"pmu/aic_mac_ratio": [0.1, 0.2, 0.4]})
    source = MemorySource({"a": {"profiles": {(".", 0): {"kernels": frame, "operator_types": frame}}}})
    tables, ask = OperatorTables(source), TableAsk(ProfileChoice("a", ".", 0), None, view="counters", opened=("MatMul",))
    table = tables.table(ask)
    assert table is not None
    names = [column.name for column in table.columns]
    assert names == ["type", "count", "total_ns", "share", "by", "compute", "pmu/aic_mac_ratio"]
    rows = page.rows(tables, ask, {"startRow": 0, "endRow": 9})["rowData"]
    assert [(row.get("name"), row["count"], row["total_ns"]) for row in rows] == [(None, 3, 60), ("5", 2, 50), ("4", 1, 10)]
    assert [row["pmu/aic_mac_ratio"] for row in rows] == pytest.approx([17 / 60, 16 / 50, 0.1])
    without = MemorySource({"a": {"profiles": {(".", 0): {"kernels": kernels(duration_ns=[1]), "operator_types": frame}}}})
    told = page.sheet(OperatorTables(without), ask)
    assert (told["rows"], told["columns"]) == (0, [])
    assert "types" in told["views"], "there is a way back"


def test_what_the_page_gets(real_data: Path, tmp_path: Path) -> None:
    found = real(real_data, tmp_path, "b", {"peak": "280"})
    *cards, drawn, facts = page.use(found, {"use": ["shapes"]})
    assert len(cards) == 3
    assert (drawn, facts) == (None, {"counters": True, "kernels": True})
    assert page.use(use({}), {})[-1] == {"counters": False, "kernels": False}
