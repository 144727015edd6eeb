"""The figure of one step over time, against the times of its file."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layouts.profiles.step_plots import StepStyle
from layouts.profiles.step_streams import MOST_BOXES, streams
from parsers import open_run
from parsers.analysis import breakdowns
from tests.writers.step_traces import frame, legacy, reduces

LOOK = StepStyle(
    {part: part for part in ("interval", "forward_backward", "forward", "tail", "whole", "stream")} | {"more": "and {n} more"}
)


def decoded(spec: dict[str, str]) -> np.ndarray[Any, Any]:
    return np.frombuffer(base64.b64decode(spec["bdata"]), spec["dtype"]).astype(np.float64)


def test_streams_of_a_step_where_the_file_has_them(real_data: Path) -> None:
    profile = open_run(real_data / "mindinsight_legacy/cluster_propose").profile[".", 0]
    (found,) = breakdowns(profile.steps)
    figure = streams(found, 1, profile.reduces, LOOK)
    meta = figure["layout"]["meta"]
    lanes = sorted({int(stream) for stream in profile.reduces["stream"]})
    assert figure["layout"]["yaxis"]["ticktext"] == ["whole", *(f"stream {stream}" for stream in lanes)]
    assert (meta["unit"], meta["marks"]) == ("ms", int((profile.reduces["step"] == 2).sum()))
    lane = next(trace for trace in figure["data"] if trace["meta"].get("stream") == 48)
    # Receive-op663 of step 2: from 1162429973174 to 1162434784260, the step begins at 1162429898009
    assert decoded(lane["base"])[0] == pytest.approx((1162429973174 - 1162429898009) / 1e5)
    assert decoded(lane["x"])[0] == pytest.approx((1162434784260 - 1162429973174) / 1e5)
    parts = next(trace for trace in figure["data"] if trace["meta"]["role"] == "parts")
    np.testing.assert_allclose(decoded(parts["x"]), np.array([82528, 17928332, 90409]) / 1e5)


def test_streams_are_bounded_merged_and_their_names_are_text() -> None:
    (found,) = breakdowns(frame([legacy(1, 0.0, 1e9, 0.0, start_ns=100)]))
    many = reduces([(1, at % 3, "<b>x</b>&-op1", 100 + at * 10_000, 5) for at in range(100_000)])
    figure = streams(found, 0, many, LOOK)
    assert 0 < figure["layout"]["meta"]["boxes"] <= MOST_BOXES
    shown = " ".join(text for trace in figure["data"][1:] for text in trace["hovertext"])
    assert "&lt;b&gt;x" in shown
    assert "<b>x" not in shown
    few = reduces([(1, 4, "AllReduce-op1", 200, 50), (1, 4, "AllReduce-op2", 600_000_000, 100_000_000), (2, 4, "x", 0, 1)])
    lane = streams(found, 0, few, LOOK)["data"][1]
    assert decoded(lane["base"]).tolist() == pytest.approx([1e-7, 0.5999999])
    none = streams(found, 0, reduces([]), LOOK)
    assert none["layout"]["meta"]["streams"] == 0
