"""Frames of explanations against protobuf's own reader, on real files and on files that the writer made."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers import open_run
from parsers.events.messages import message_class
from parsers.recording import ExplanationWriter, Layer, RecordingError, Uncertainty
from parsers.recording.wire import delimited, float32, number, record
from tests.amounts import examples

Fact = tuple[Any, ...]
DATA = Path(__file__).resolve().parents[2] / "data" / "mindspore_xai" / "1.5"
NAME = "events.out.events.summary.{stamp}.0.vm_explain"


def messages(path: Path) -> Iterator[Any]:
    """Every Explain message of a file, read by protobuf."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 8], "little")
        event = message_class("mindspore.Event")()
        event.ParseFromString(data[at + 12 : at + 12 + size])
        at += 16 + size
        if event.HasField("explain"):
            yield event.explain


def stated(paths: list[Path]) -> dict[str, dict[Any, Any]]:
    """What the messages state, newest statement last: the rules of the frames in plain Python."""
    found: dict[str, dict[Any, Any]] = {name: {} for name in ("image", "labels", "map", "layers", "score", "names")}
    for message in (one for path in paths for one in messages(path)):
        if message.HasField("image_path"):
            found["image"][message.sample_id] = message.image_path
        if message.HasField("inference") or message.ground_truth_label:
            known = found["labels"].get(message.sample_id)
            if message.HasField("inference") or known is None or not known[0]:
                found["labels"][message.sample_id] = (message.HasField("inference"), message)
        for one in message.explanation:
            if one.HasField("heatmap_path"):
                found["map"][message.sample_id, one.explain_method, one.label] = one.heatmap_path
        if message.hoc:
            found["layers"][message.sample_id] = list(message.hoc)
        for one in message.benchmark:
            found["score"][one.explain_method, one.benchmark_method] = [one.total_score, *one.label_score]
        if message.HasField("metadata"):
            found["names"][0] = message.metadata
    return found


def columns(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    """The rows of a frame as plain values."""
    return list(zip(*(frame[name].tolist() for name in frame.columns), strict=True))


def check(directory: Path) -> None:
    run = open_run(str(directory)).explanations
    expected = stated(sorted(directory.glob("*_explain")))
    samples = run.samples
    images = dict(zip(samples["sample"].tolist(), samples["image"].tolist(), strict=True))
    assert {one: path for one, path in images.items() if path} == {k: v for k, v in expected["image"].items() if v}
    truth = {one: [*map(int, text.split())] for one, _, text, *_ in columns(samples)}
    rows: dict[Fact, list[Any]] = {}
    for sample, label, *values, true in columns(run.predictions):
        rows[sample, label] = [true, *values]
    wanted: dict[Fact, list[Any]] = {}
    for sample, (_, message) in expected["labels"].items():
        assert truth[sample] == sorted(message.ground_truth_label)
        inference = message.inference
        for of, prefix in ((message.ground_truth_label, "ground_truth"), (inference.predicted_label, "predicted")):
            lists = [getattr(inference, f"{prefix}_prob{end}") for end in ("", "_sd", "_itl95_low", "_itl95_hi")]
            for place, label in enumerate(of):
                row = wanted.setdefault((sample, label), [False, *[math.nan] * 4])
                row[0] |= prefix == "ground_truth"
                row[1:] = [part[place] if place < len(part) else old for part, old in zip(lists, row[1:], strict=True)]
    assert rows.keys() == wanted.keys()
    for key, row in rows.items():
        np.testing.assert_array_equal(np.array(row, np.float64), np.array(wanted[key], np.float64))
    maps = run.saliency
    assert {(*key,): path for *key, path in columns(maps)} == expected["map"]
    layers = [
        (sample, hoc.label, place, layer.prob, [*layer.box], hoc.mask)
        for sample, hocs in expected["layers"].items() for hoc in hocs for place, layer in enumerate(hoc.layer)
    ]  # fmt: skip
    found = [
        (*head, [int(n) for b in boxes.split(";") if b for n in b.split(",")], mask)
        for *head, boxes, mask in columns(run.counterfactuals)
    ]
    assert sorted(found, key=str) == sorted(layers, key=str)
    scores: dict[Fact, list[float]] = {}
    for explainer, metric, _, score in columns(run.scores):
        scores.setdefault((explainer, metric), []).append(score)
    assert scores == expected["score"]
    names = expected["names"].get(0)
    if names is not None:
        assert run.labels["name"][run.labels["named"]].tolist() == [
            name or f"label {place}" for place, name in enumerate(names.label)
        ]
        assert list(run.explainers)[: len(names.explain_method)] == list(names.explain_method)


@pytest.mark.parametrize("name", ["summary_real", "summary_weak"])
def test_real_files(name: str) -> None:
    check(DATA / name)


def test_counts_are_those_of_mindinsight() -> None:
    real, weak = (open_run(str(DATA / name)).explanations for name in ("summary_real", "summary_weak"))
    assert real.outcomes()["outcome"].value_counts().to_dict() == {"TP": 6, "FN": 0, "FP": 0, "TN": 0, "": 0}
    counts = weak.outcomes()["outcome"].value_counts()
    assert (counts["TP"], counts["FN"], counts["FP"], counts["TN"]) == (12, 2, 2, 0)
    first = real.counterfactuals[real.counterfactuals["sample"] == 0]
    assert first["boxes"].tolist() == ["55,0,56,56", "80,28,28,28"]
    assert real.predictions["sd"].notna().all()
    assert (real.problems, weak.problems) == ((), ())


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    with ExplanationWriter(
        str(tmp_path), labels=["猫", "dog", "none"], explainers=["GradCAM"], metrics=["Faithfulness"], seconds=1_700_000_000
    ) as writer:
        for sample in range(5):
            certain = {label: Uncertainty(0.01, 0.1, 0.9) for label in range(3)} if sample % 2 else None
            probabilities = {label: float(p) for label, p in enumerate(random.uniform(0, 1, 3))}
            writer.sample(
                sample, random.uniform(0, 1, (4, 6, 3)), truth=[sample % 3], probabilities=probabilities, uncertainty=certain
            )
            writer.heat_map(sample, "GradCAM", 1, random.normal(size=(4, 6)))
            writer.counterfactual(sample, 1, [Layer(0.5, [(0, 1, 2, 3), (4, 5, 6, 7)]), Layer(0.25, [])], radius=4)
        writer.score("GradCAM", "Faithfulness", 0.5, [0.25, 0.75, math.inf])
    return tmp_path


def test_what_was_recorded_is_read_as_protobuf_reads_it(recorded: Path) -> None:
    check(recorded)
    run = open_run(str(recorded)).explanations
    assert run.complete
    assert set(run.outcomes(0.2)["outcome"]) <= {"TP", "FN", "FP", "TN"}
    assert len(run.outcomes()) == 15
    assert run.problems == ()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"truth": [9], "probabilities": {9: 0.5}}, "expected 0 to 2, found 9"),
        ({"truth": [1], "probabilities": {}}, "found none for label 1"),
        ({"picture": np.zeros((2, 2, 2)), "probabilities": {}}, "found .2, 2, 2."),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, wrong: dict[str, Any], says: str) -> None:
    with (
        ExplanationWriter(str(tmp_path), labels=["a", "b", "c"]) as writer,
        pytest.raises(RecordingError, match=says),
    ):
        writer.sample(0, **{"picture": np.zeros((2, 2)), **wrong})


def write(path: Path, *bodies: bytes) -> None:
    start = record(b"\x09" + bytes(8) + delimited(3, b"MindSpore.Event:1"))
    path.write_bytes(start + b"".join(record(b"\x09" + bytes(8) + number(2, 1) + delimited(6, body)) for body in bodies))


def test_a_probability_that_is_nan_is_told(tmp_path: Path) -> None:
    said = b"".join([float32(1, math.nan), number(2, 0), number(2, 1), float32(3, math.nan), float32(3, 0.75)])
    unsaid = number(2, 1) + float32(3, 0.625) + float32(7, math.nan)
    names = delimited(7, delimited(1, b"a") + delimited(1, b""))
    bodies = [names, number(1, 0) + number(3, 0) + delimited(4, said), number(1, 1) + number(3, 0) + delimited(4, unsaid)]
    write(tmp_path / NAME.format(stamp=1_700_000_000), *bodies)
    run = open_run(str(tmp_path)).explanations
    assert [one.text for one in run.problems] == ["Expected probabilities from 0 to 1, found others; these are not shown."]
    assert columns(run.predictions[["sample", "label", "truth"]]) == [(0, 0, True), (0, 1, False), (1, 0, True), (1, 1, False)]
    np.testing.assert_array_equal(run.predictions["probability"], [math.nan, 0.75, math.nan, 0.625])
    assert run.labels["name"].tolist() == ["a", "label 1"]


def test_labels_that_are_named_anew_are_told(tmp_path: Path) -> None:
    sample = number(1, 0) + number(3, 1) + delimited(4, float32(1, 0.5))
    old, new = (delimited(7, delimited(1, first) + delimited(1, b"b") + delimited(2, b"G")) for first in (b"a", b"c"))
    write(tmp_path / NAME.format(stamp=1_700_000_000), old, old, sample, old)
    run = open_run(str(tmp_path)).explanations
    assert (run.problems, run.labels["name"].tolist()) == ((), ["a", "b"])
    write(tmp_path / NAME.format(stamp=1_700_000_001), sample, new)
    run = open_run(str(tmp_path)).explanations
    (problem,) = run.problems
    assert "the newest are shown" in problem.text
    assert problem.path.endswith(NAME.format(stamp=1_700_000_001))
    assert run.labels["name"].tolist() == ["c", "b"]


part = st.one_of(
    st.builds(lambda path: delimited(2, path.encode()), st.text(st.characters(exclude_categories=["Cs"]), max_size=9)),
    st.builds(
        lambda truth, predicted: b"".join(number(3, one) for one in truth)
        + delimited(
            4,
            b"".join(float32(1, 0.5) for _ in truth)
            + b"".join(number(2, one) for one in predicted)
            + b"".join(float32(3, place / 8) for place, _ in enumerate(predicted)),
        ),
        st.lists(st.integers(0, 5), max_size=3, unique=True),
        st.lists(st.integers(0, 5), max_size=4, unique=True),
    ),
    st.builds(
        lambda name, label: delimited(5, delimited(1, name.encode()) + number(2, label) + delimited(3, b"x/y.jpg")),
        st.sampled_from(["GradCAM", "RISE", "说"]),
        st.integers(0, 3),
    ),
    st.builds(
        lambda boxes: delimited(
            9,
            number(1, 2)
            + delimited(2, b"gaussian:3")
            + delimited(3, float32(1, 0.5) + b"".join(number(2, side) for side in boxes)),
        ),
        st.lists(st.integers(0, 200), max_size=2).map(lambda some: some * 4),
    ),
    st.builds(
        lambda score: delimited(6, delimited(1, b"m") + delimited(2, b"e") + float32(3, score) + float32(4, score / 2)),
        st.floats(0, 1, width=32),
    ),
)
event = st.tuples(st.integers(0, 4), part)


@settings(max_examples=examples(60))
@given(st.lists(st.lists(event, max_size=12), min_size=1, max_size=3))
def test_the_newest_statement_counts_part_by_part(tmp_path_factory: pytest.TempPathFactory, files: list[Any]) -> None:
    directory = tmp_path_factory.mktemp("run")
    for place, events in enumerate(files):
        names = delimited(7, b"".join(delimited(1, b"l%d" % one) for one in range(6)))
        bodies = [names, *(number(1, sample) + body for sample, body in events)]
        write(directory / NAME.format(stamp=1_700_000_000 + place), *bodies)
    check(directory)
