"""The overview over recorded runs: its numbers against numpy, its tiles against what the runs recorded."""

from __future__ import annotations

import json
import os
import shutil
import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest
from dash import dcc, html

from app.store.store import Store
from layouts.kit.recording import RECORDINGS
from layouts.kit.state import BadInput
from layouts.kit.units import count, duration, number, size
from layouts.runs.overview import files
from layouts.runs.overview.head import head, run_of
from layouts.runs.overview.page import TILES, drawn, shown_run
from layouts.runs.overview.pictures import CELLS, CHARACTERS
from layouts.runs.rows import RunFile
from layouts.runs.run_numbers import facts
from parsers import PayloadError, Run, Series, Value, open_run
from parsers.recording import EventWriter, Image, Tensor, Text
from tests.parsers.payloads.test_images import png
from tests.recorded import RECORDED
from tests.sources import MemorySource, row
from tests.sources import series as made
from tests.waiting import until

PROFILE = RECORDED.parent / "mindspore_profiler" / "2.0.0" / "profiler"
SINGLE = sorted(path.name for path in RECORDED.iterdir() if path.is_dir() and path.name != "ranks")


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    found = Store([RECORDED], interval=0).start()
    assert found.wait(30)
    yield found
    found.stop()


class Damaged:
    """A source whose values of one kind cannot be read."""

    def __init__(self, source: Store, kind: str) -> None:
        self.source, self.kind, self.values = source, kind, self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source if hasattr(self.source, name) else self.source.values, name)

    def value(self, run: str, kind: str, tag: str, place: int) -> Value:
        if kind == self.kind:
            raise PayloadError("events, byte 17: the CRC does not hold")
        return self.source.values.value(run, kind, tag, place)


def parts(component: Any, kind: type) -> list[Any]:
    found = [component] if isinstance(component, kind) else []
    if isinstance(component, (list, tuple)):
        return [part for child in component for part in parts(child, kind)]
    children = getattr(component, "children", None)
    return found if children is None else found + parts(children, kind)


def words(component: Any) -> str:
    if isinstance(component, (list, tuple)):
        return " ".join(words(child) for child in component)
    if component is None or isinstance(component, str):
        return component or ""
    return words(getattr(component, "children", None))


def tile(source: Any, name: str, run: str) -> list[Any]:
    what = next(what for what in TILES if what.name == name)
    found: list[Any] = drawn(what, source, {"run": run}, "/api/")
    return found


def told(source: Any, run: str) -> dict[str, str]:
    row = next(row for row in source.runs.rows() if run in row.members)
    return {fact["name"]: fact["text"] for fact in facts(source, run, row)}


def scalars_of(run: Run) -> Sequence[Series]:
    return [run.series(tag) for tag in run.tags("scalar")]


@pytest.mark.parametrize("name", SINGLE)
def test_the_state_of_a_run_is_what_a_plain_count_says(store: Store, name: str) -> None:
    run, known = open_run(RECORDED / name), told(store, name)
    every = scalars_of(run)
    times = [series.wall_time for series in every]
    times += [run.payload_series(kind, tag).wall_time for kind in ("histogram", "image", "tensor") for tag in run.tags(kind)]
    together = np.concatenate(times)
    assert known["steps"] == count(len(set(max((series.step.tolist() for series in every), key=len))))
    assert known["points"] == count(sum(len(series.value) for series in every))
    assert known["duration"] == duration(float(together.max() - together.min()))
    assert known["size"] == size(sum(path.stat().st_size for path in (RECORDED / name).iterdir()))
    main = max(every, key=lambda series: len(series.step))
    each = [
        (float(main.wall_time[at] - main.wall_time[at - 1]), int(main.step[at] - main.step[at - 1]))
        for at in range(max(1, len(main.step) - 100), len(main.step))
        if main.step[at] > main.step[at - 1] and main.wall_time[at] >= main.wall_time[at - 1]
    ]
    usual = statistics.median(seconds / steps for seconds, steps in each if seconds)
    jump = 5 * statistics.median(steps for _, steps in each)
    kept = [(seconds, steps) for seconds, steps in each if seconds / steps <= 5 * usual and steps <= jump]
    assert known["speed"] == number(sum(steps for _, steps in kept) / sum(seconds for seconds, _ in kept), 3)


def test_pauses_of_a_run_are_told_apart() -> None:
    wall = 1.7e9 + np.cumsum([0.0, *[10.0] * 20, 86_400.0, *[10.0] * 20, 45.0, 10.0])
    run = made(wall.size)._replace(wall_time=wall)
    source = MemorySource({"a": {"scalar": {"loss": run}}})
    fact = next(fact for fact in facts(source, "a", source.runs.rows()[0]) if fact["name"] == "duration")
    assert (fact["text"], fact["values"]) == ("1 d 00 h", {"paused": "1 d 00 h"})


@pytest.mark.parametrize("name", SINGLE)
def test_the_number_of_steps_is_that_of_the_list_of_runs(store: Store, name: str) -> None:
    [row] = [row for row in store.runs.rows() if row.key == name]
    assert told(store, name)["steps"] == count(row.steps)


def test_steps_say_how_far_they_go_where_not_all_were_recorded() -> None:
    def steps(*step: int) -> tuple[str, str]:
        series = made(len(step))._replace(step=np.array(step))
        source = MemorySource({"a": {"scalar": {"loss": series}}})
        fact = facts(source, "a", source.runs.rows()[0])[0]
        assert fact["name"] == "steps"
        return fact["text"], fact.get("values", {}).get("highest", "")

    assert steps(1, 2, 3) == ("3", "")
    assert steps(0, 1, 2) == ("3", "")
    assert steps(10, 20, 30) == ("3", "30")
    assert steps(1, 2, 3, 2, 3) == ("3", "")
    assert steps(100, 200, 100) == ("2", "200")
    assert steps(1, -(2**63), 2**63 - 1) == ("3", count(2**63 - 1))


def test_a_run_without_scalars_has_steps_and_speed_too(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with EventWriter(str(tmp_path / "run" / "e.summary.1700000000.h_MS"), "mindspore") as writer:
        for step in range(5, 55, 5):
            writer.add(step, {"t": Tensor(np.float32(step))}, wall_time=1.7e9 + step * 2)
    store = Store([tmp_path], interval=0).start()
    assert store.wait(30)
    known = told(store, "run")
    store.stop()
    assert (known["steps"], known["duration"], known["speed"]) == ("10", "1 m 30 s", "0.500")
    assert "points" not in known


def test_a_rank_is_told_of_as_itself(tmp_path: Path) -> None:
    job = Path(shutil.copytree(RECORDED / "ranks", tmp_path / "ranks"))
    for path in job.rglob("*"):
        os.utime(path, (1.7e9, 1.7e9))
    for path in (job / "rank_2").iterdir():
        os.utime(path)
    store = Store([tmp_path], interval=0).start()
    assert store.wait(30)
    [whole] = store.runs.rows()
    told_of = {run: head(store, run, whole) for run in ("ranks/rank_2", "ranks/rank_3")}
    store.stop()
    assert whole.state == "live"
    assert {run: said["state"] for run, said in told_of.items()} == {"ranks/rank_2": "live", "ranks/rank_3": "idle"}
    for run, said in told_of.items():
        folder = tmp_path / run
        assert said["path"] == str(folder)
        told_size = next(fact["text"] for fact in said["facts"] if fact["name"] == "size")
        assert told_size == size(sum(path.stat().st_size for path in folder.iterdir()))


def test_a_state_names_the_run_shown() -> None:
    source = MemorySource(rows=[row("a"), row("job", ("job/rank_0", "job/rank_1")), row("b")])

    def shown(state: Any) -> str | None:
        found = run_of(source, state)
        return found[0] if found else None

    assert shown(None) == "a"
    assert shown({"run": ["job", "b"]}) == "job/rank_0"
    assert shown({"run": ["job", "b"], "of": ["job/rank_1"]}) == "job/rank_1"
    assert shown({"run": ["b"], "of": ["a"]}) == "a"
    assert shown({"run": ["b"], "of": ["gone"]}) == "b"
    assert shown({"of": ["gone"]}) == "a"
    assert shown({"run": [""]}) is None
    assert shown_run(MemorySource(), {}) == ({"of": ""}, {"run": ""})
    with pytest.raises(BadInput):
        drawn(TILES[0], source, {"run": 3}, "/api/")


def test_the_curves_are_those_of_the_main_scalar_and_one_more(store: Store) -> None:
    [link] = tile(store, "scalars", "long_history")
    assert (link.href, getattr(link, "data-page"), getattr(link, "data-run")) == (
        "scalars?run=long_history", "scalars", "long_history")  # fmt: skip
    graphs = parts(link, dcc.Graph)
    assert len(graphs) == 2
    run = open_run(RECORDED / "long_history")
    assert [graph.figure["data"][0]["meta"]["tag"] for graph in graphs] == ["eval/accuracy", run.tags("scalar")[0]]
    last = run.series("eval/accuracy").value[-1]
    assert number(float(last)) in words(link)


def test_the_distribution_is_the_newest_and_keeps_its_count(store: Store) -> None:
    run = open_run(RECORDED / "lenet_adam_lr0.01_b64")
    [link] = tile(store, "histograms", "lenet_adam_lr0.01_b64")
    tag = run.tags("histogram")[0]
    items = run.payload_series("histogram", tag)
    assert items is not None
    value = run.value("histogram", tag, len(items) - 1)
    assert f"step {int(items.step[-1]):,}" in words(link)
    assert f"{int(value.count.sum()):,} values" in words(link)  # type: ignore[union-attr]
    assert getattr(link, "data-page") == "histograms"


def test_the_image_comes_from_the_image_route(store: Store) -> None:
    [link] = tile(store, "images", "lenet_adam_lr0.01_b64")
    [image] = parts(link, html.Img)
    address = urlsplit(image.src)
    items = open_run(RECORDED / "lenet_adam_lr0.01_b64").payload_series("image", "input_image")
    asked = parse_qs(address.query)
    assert address.path == "/api/image"
    assert (asked["run"], asked["tag"], asked["place"]) == (["lenet_adam_lr0.01_b64"], ["input_image"], [str(len(items) - 1)])


def test_the_tensor_is_a_corner_of_the_newest_with_statistics_of_all(store: Store) -> None:
    run = open_run(RECORDED / "lenet_adam_lr0.01_b64")
    data = run.tensor("logits", len(run.payload_series("tensor", "logits")) - 1).data
    [link] = tile(store, "tensors", "lenet_adam_lr0.01_b64")
    cells = [cell.title for cell in parts(link, html.Td) if getattr(cell, "title", None)]
    assert np.array_equal(np.array(cells, np.float64).astype(np.float32).reshape(CELLS, CELLS), data[:CELLS, :CELLS])
    for known in (data.min(), data.max(), data.mean(dtype=np.float64), data.std(dtype=np.float64)):
        assert number(float(known)) in words(link)
    [nan] = tile(store, "tensors", "nan_inf")
    assert {"NaN", "+Inf", "-Inf"} <= {words(cell) for cell in parts(nan, html.Td)}


def test_the_landscape_and_the_graphs(store: Store) -> None:
    [link] = tile(store, "landscape", "lenet_landscape")
    [graph] = parts(link, dcc.Graph)
    z = open_run(RECORDED / "lenet_landscape").landscape("landscape_[12]", 0).z
    assert graph.figure["data"][0]["type"] == "contour"
    assert f"loss {number(float(z.min()))} to {number(float(z.max()))}" in words(link)
    [link] = tile(store, "graph", "lenet_landscape")
    assert link.href == "graph?run=lenet_landscape"
    (found,) = open_run(RECORDED / "lenet_landscape").graphs.values()
    operators = int((found.nodes["kind"] == "operator").sum())
    assert f"{operators} operators" in words(link)
    drawings = [unquote(image.src.partition(",")[2]) for image in parts(link, html.Img)]
    assert len(drawings) == 2
    for drawing in drawings:
        assert ElementTree.fromstring(drawing).tag.endswith("svg")


def test_the_data_pipeline_is_named_in_the_order_of_the_data(store: Store) -> None:
    [link] = tile(store, "dataset", "lenet_landscape")
    assert link.href == "dataset?run=lenet_landscape"
    within = "Resize, Rescale, Rescale, HwcToChw"
    assert [" ".join(words(one).split()) for one in parts(link, html.Li)] == [
        "MnistDataset", "Map TypeCast", f"Map {within}", "Shuffle", "Batch",
    ]  # fmt: skip


@pytest.mark.parametrize("what", TILES, ids=lambda what: what.name)
def test_an_empty_tile_says_what_to_add(what: Any) -> None:
    source = MemorySource(rows=[row("empty", tags={}, steps=0, points=0, main_tag="", main_value=None)])
    found = tile(source, what.name, "empty")
    assert parts(found, html.A) == []
    codes = [words(one) for one in parts(found, html.Code)]
    assert codes == (list(RECORDINGS[what.kind].values()) if what.always else [])
    json.dumps(shown_run(source, {}))


def test_a_run_that_cannot_be_read_is_not_told_how_to_record() -> None:
    found = tile(MemorySource(rows=[row("lost", state="unreadable", tags={})]), "scalars", "lost")
    assert "could be read" in words(found)
    assert parts(found, html.Code) == []


@pytest.fixture
def made_run(tmp_path: Path) -> Iterator[Callable[..., Store]]:
    """A store over one run of what is given, by tag, at step 3."""
    stores = []

    def make(layout: str = "mindspore", **values: Any) -> Store:
        folder = tmp_path / "run"
        folder.mkdir()
        name = "e.summary.1700000000.h_MS" if layout == "mindspore" else "events.out.tfevents.1700000000.h"
        with EventWriter(str(folder / name), layout) as writer:
            writer.add(3, values, wall_time=1.7e9)
        stores.append(Store([tmp_path], interval=0).start())
        assert stores[-1].wait(30)
        return stores[-1]

    yield make
    for store in stores:
        store.stop()


def test_checkpoints_that_wait_for_a_landscape(made_run: Callable[..., Store], tmp_path: Path) -> None:
    store = made_run(loss=1.0)
    plan = tmp_path / "run" / "ckpt_dir" / "train_metadata.json"
    plan.parent.mkdir()
    plan.write_text(json.dumps({"epoch_group": {"1": [1, 2]}, "model_params_file_map": {str(n): "x" for n in range(7)}}))
    found = tile(store, "landscape", "run")
    assert "7 checkpoints were collected" in words(found)
    assert json.dumps(str(tmp_path / "run")) in words(parts(found, html.Code))
    [link] = parts(found, html.A)
    assert link.href == "landscape?run=run"
    assert parts(link, html.Code) == []  # what is to be copied is no link
    plan.write_text('{"epoch_group": [')
    assert f"{plan}: expected the JSON that SummaryCollector writes" in words(tile(store, "landscape", "run"))


def test_a_text_is_there_only_where_one_was_written(made_run: Callable[..., Store], store: Store) -> None:
    assert tile(store, "text", "nan_inf") == []
    [link] = tile(made_run("tensorboard", samples=Text("<b>bold</b>" + "x" * 5000)), "text", "run")
    [pre] = parts(link, html.Pre)
    assert pre.children == "<b>bold</b>" + "x" * (CHARACTERS - 11)
    assert "5,011 characters" in words(link)
    assert link.href == "text?run=run"


def test_a_damaged_png_is_told_before_its_picture(made_run: Callable[..., Store]) -> None:
    whole = png(30, 20)
    at = whole.index(b"IDAT") + 8
    store = made_run(input=Image(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :], 20, 30))
    [link] = tile(store, "images", "run")
    messages = [part for part in parts(link, html.P) if "undecodable" not in part.className]
    assert "its chunk b'IDAT' at byte 33 fails its CRC" in words(messages)
    assert words(link).index("fails its CRC") < words(link).index("The browser cannot show this image")


@pytest.mark.parametrize(("name", "kind"), [(t.name, t.kind) for t in TILES[1:5]])
def test_a_damaged_value_is_a_message_on_its_tile(store: Store, name: str, kind: str) -> None:
    run = "lenet_landscape" if kind == "landscape" else "lenet_adam_lr0.01_b64"
    source = Damaged(store, kind)
    found = tile(source, name, run)
    assert "byte 17" in words(found)
    assert store.runs.tags(run, kind)[-1 if kind == "landscape" else 0] in words(found)
    for other in TILES:
        if other.name != name:
            assert "byte 17" not in words(tile(source, other.name, run))


@pytest.mark.parametrize("run", [*SINGLE, "ranks/rank_2", "ranks/rank_3"])
def test_every_tile_of_every_recorded_run_is_json(store: Store, run: str) -> None:
    for what in TILES:
        found = tile(store, what.name, run)
        json.dumps([part.to_plotly_json() for part in found], default=lambda part: part.to_plotly_json(), allow_nan=False)


def test_the_tile_of_explanations(real_data: Path) -> None:
    found = Store([real_data / "explain"], interval=0).start()
    assert found.wait(30)
    until(lambda: "reading" not in {found.explanations.open(one).state for one in ("summary_weak", "summary_real")})
    [link] = tile(found, "saliency", "summary_weak")
    said = words([link])
    for expected in ("14 samples", "TP 12", "FN 2", "FP 2", "GradCAM"):
        assert expected in said
    sources = [part.src for part in parts([link], html.Img)]
    assert [urlsplit(one).path for one in sources] == ["/api/explanation/image", "/api/explanation/heatmap"]
    assert {parse_qs(urlsplit(one).query)["sample"][0] for one in sources} == {"3"}
    assert "TP 6" in words(tile(found, "saliency", "summary_real"))
    found.stop()


def test_explanations_that_are_large_are_not_read_for_a_tile(real_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("layouts.runs.overview.explained.MOST_BYTES", 100)
    found = Store([real_data / "explain"], interval=0).start()
    assert found.wait(30)
    assert "Recorded. Click to open it." in words(tile(found, "saliency", "summary_weak"))
    found.stop()


def test_a_run_without_explanations_has_no_tile(store: Store) -> None:
    assert tile(store, "saliency", "nan_inf") == []


def test_the_files_of_a_run_are_listed_and_those_with_problems_come_first(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "one"
    run.mkdir(parents=True)
    for second, step in enumerate((1, 2)):
        with EventWriter(str(run / f"events.out.events.summary.170000000{second}.0.host_MS"), "mindspore") as out:
            out.add(step, {"loss": 1.0})
    whole, cut = sorted(run.iterdir())
    cut.write_bytes(cut.read_bytes()[:-3])
    os.utime(cut, (1_700_000_000, 1_700_000_000))
    shutil.copytree(PROFILE, run / "profiler")
    store = Store([tmp_path / "runs"], interval=0).start()
    try:
        assert store.wait(30)
        listed = store.runs.files("one")
        shown = [[words(cell) for cell in line.children] for line in parts(files.content(store, "one"), html.Tr)]
        assert files.content(store, "unknown") == []
    finally:
        store.stop()
    inside = sum(path.stat().st_size for path in (run / "profiler").rglob("*") if path.is_file())
    assert [(one.path, one.kind, one.size, one.problems) for one in listed] == [
        (whole.name, "events", whole.stat().st_size, 0), (cut.name, "events", cut.stat().st_size, 1),
        ("profiler", "profile", inside, 0),
    ]  # fmt: skip
    assert [line[0] for line in shown[1:]] == [cut.name, whole.name, "profiler"]
    assert shown[1][3:] == ["2023-11-14 22:13:20", "1"]


def test_of_many_files_the_first_are_listed_and_all_counted() -> None:
    made = [RunFile(f"events.{number}", "events", 10, None) for number in range(files.MOST + 1)]
    drawn_card = files.content(MemorySource({"run": {"files": made}}), "run")
    assert len(parts(drawn_card, html.Tr)) == files.MOST + 1
    assert "201" in words(drawn_card)
