"""What a Recorder writes, read back by the message definitions of TensorFlow and MindSpore, and by open_run."""

from __future__ import annotations

import argparse
import gc
import inspect
import io
import os
import textwrap
import threading
import time
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from PIL import Image as Pillow

from parsers import open_run, recording
from parsers.recording import Landscape, Recorder, RecordingError, RecordingWarning, Surface, output, recorder
from tests.amounts import examples
from tests.parsers.recording.read_back import values

NUMBERS = st.floats(width=64) | st.integers(-(2**70), 2**70) | st.booleans()


@pytest.mark.parametrize("documented", [recording, Recorder])
def test_help_begins_with_an_example_that_records(documented: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    begins = "with Recorder("
    _, _, rest = inspect.cleandoc(documented.__doc__).partition(begins)
    example, _, _ = rest.partition("\n\n")
    given_names = {"Recorder": Recorder, "loader": [1, 2], "train": float, "accuracy": 0.5, "weights": np.ones(3)}
    exec(textwrap.dedent("    " + begins + example), given_names)
    found = open_run(tmp_path / "runs" / "a")
    assert "loss" in found.tags("scalar")


class DeviceTensor:
    """What a tensor of torch offers, on a device whose memory numpy cannot read."""

    def __init__(self, content: Any, device: str = "cuda") -> None:
        self.content, self.device, self.dtype = np.asarray(content), device, "torch.float32"

    def detach(self) -> DeviceTensor:
        return self

    def cpu(self) -> DeviceTensor:
        return DeviceTensor(self.content, "cpu")

    def numpy(self) -> Any:
        if self.device != "cpu":
            raise TypeError("can't convert cuda tensor to numpy")
        return self.content


def scalars(directory: Path, layout: str = "tensorboard") -> dict[str, list[tuple[int, float]]]:
    field = "simple_value" if layout == "tensorboard" else "scalar_value"
    found: dict[str, list[tuple[int, float]]] = {}
    for step, tag, value in values(directory, layout):
        if value.HasField(field):
            found.setdefault(tag, []).append((step, getattr(value, field)))
    return found


@pytest.mark.parametrize("layout", ["tensorboard", "mindspore"])
def test_numbers_of_any_type_are_recorded(tmp_path: Path, layout: str) -> None:
    with Recorder(str(tmp_path), layout=layout) as run:
        run.log(0, {"a": 0.5, "b": np.float32(0.25), "c": 3, "d": True, "e": np.array([7]), "f": DeviceTensor(1.5), "g": None})
        run.log(np.int64(12), {"a": float("nan"), "b": float("inf"), "c": 10**400, "d": -1e300})
    found = scalars(tmp_path, layout)
    assert {tag: points[0] for tag, points in found.items()} == {
        "a": (0, 0.5), "b": (0, 0.25), "c": (0, 3), "d": (0, 1), "e": (0, 7), "f": (0, 1.5),
    }  # fmt: skip
    assert np.isnan(found["a"][1][1])
    assert [found[tag][1] for tag in "bcd"] == [(12, np.inf), (12, np.inf), (12, -np.inf)]


@hypothesis_settings(max_examples=examples(100), deadline=None)
@given(rows=st.lists(st.tuples(st.integers(0, 2**62), st.dictionaries(st.text(max_size=20), NUMBERS, min_size=1, max_size=4))))
def test_every_number_comes_back_as_float32(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    directory = tmp_path_factory.mktemp("run")
    with Recorder(str(directory)) as run:
        for step, one in rows:
            run.log(step, one)
    found = [(step, tag, value.simple_value) for step, tag, value in values(directory)]
    with np.errstate(over="ignore"):
        wanted = [
            (step, tag.encode("utf-8", "backslashreplace").decode(), float(np.float64(float(value)).astype(np.float32)))
            for step, one in rows for tag, value in one.items()
        ]  # fmt: skip
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one[:2] == other[:2]
        assert one[2] == other[2] or (np.isnan(one[2]) and np.isnan(other[2]))


def test_values_larger_than_a_number_are_recognised(tmp_path: Path) -> None:
    picture = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
    weights = np.random.default_rng(0).normal(size=(40, 30))
    with Recorder(str(tmp_path)) as run:
        large = {"array": [[1.0, 2.0]], "weights": run.histogram(weights)}
        run.log(3, {"text": "hello", "image": Pillow.fromarray(picture), **large})
        run.log(4, {"image": run.image(picture), "array": run.tensor(np.arange(6).reshape(2, 3)), "text": run.text("你好")})
    found = {(step, tag): value for step, tag, value in values(tmp_path)}
    assert found[3, "text"].tensor.string_val[0] == b"hello"
    assert found[3, "text"].metadata.plugin_data.plugin_name == "text"
    assert found[4, "text"].tensor.string_val[0].decode() == "你好"
    for step in (3, 4):
        image = found[step, "image"].image
        assert (image.height, image.width, image.colorspace) == (5, 7, 3)
        assert np.array_equal(np.asarray(Pillow.open(io.BytesIO(image.encoded_image_string))), picture)
    assert list(np.frombuffer(found[4, "array"].tensor.tensor_content, "<i8")) == list(range(6))
    counts, edges = np.histogram(weights, 30)
    assert list(found[3, "weights"].histo.bucket) == list(counts)
    assert list(found[3, "weights"].histo.bucket_limit) == list(edges[1:])


def test_settings_and_results_are_the_lineage_of_the_run(tmp_path: Path) -> None:
    with Recorder(str(tmp_path), settings={"learning_rate": 0.1, "optimizer": "adam", "model": {"width": 3}}) as run:
        run.log(1, {"loss": 0.5})
        run.settings(argparse.Namespace(seed=7, momentum=0.9, whole=1 << 40, none=None))
        run.settings(SimpleNamespace(batch_size=32))
        run.metrics({"accuracy": np.float32(0.75)})
        run.metrics({"loss": 0.5})
    row = open_run(tmp_path).lineage.iloc[0]
    assert (row["learning_rate"], row["optimizer"], row["batch_size"]) == (0.1, "adam", 32)
    wanted = {"model/width": 3, "seed": 7, "momentum": 0.9, "whole": float(1 << 40), "none": "None"}
    assert {name: row[f"user_defined/{name}"] for name in wanted} == wanted
    assert (row["metric/accuracy"], row["metric/loss"]) == (0.75, 0.5)


def test_a_setting_that_its_field_would_round_is_kept_exactly(tmp_path: Path) -> None:
    with Recorder(str(tmp_path), settings={"learning_rate": 0.123456789012}) as run:
        run.log(1, {"loss": 0.5})
    assert open_run(tmp_path).lineage.iloc[0]["user_defined/learning_rate"] == 0.123456789012


def test_what_one_layout_lacks_lies_in_a_file_of_the_other(tmp_path: Path) -> None:
    path = Surface([0.0, 1.0], [0.0, 1.0], [3.0, 1.0])
    with Recorder(str(tmp_path), layout="mindspore") as run:
        run.log(1, {"loss": 0.5, "note": "hello"})
        run.landscape("landscape_[1, 2]", Landscape(Surface([0, 1], [0, 1, 2], np.ones((3, 2))), path, (1, 2)))
    run_ = open_run(tmp_path)
    assert len(run_.texts) == len(run_.landscapes) == len(run_.scalars) == 1
    (message,) = [value.loss_landscape for _, _, value in values(tmp_path, "mindspore") if value.HasField("loss_landscape")]
    assert list(message.landscape.z.float_data) == [1.0] * 6
    assert list(message.loss_path.intervals) == [1, 2]


def test_graphs_are_read_as_graphs(tmp_path: Path) -> None:
    with Recorder(str(tmp_path)) as run:
        run.log(1, {"loss": 0.5})
        run.graph("digraph { a -> b }")
        run.graph("digraph { b -> c }")
        run.graph(b"\x0a\x04\x0a\x02ab", kind="graphdef")
    assert sorted(path.name for path in tmp_path.glob("graph*")) == ["graph.dot", "graph_2.dot"]
    assert len(open_run(tmp_path).graphs) == 3


def test_explanations_belong_to_the_run(tmp_path: Path) -> None:
    with Recorder(str(tmp_path)) as run:
        run.log(1, {"loss": 0.5})
        writer = run.explain(["cat", "dog"], explainers=["GradCAM"])
        writer.sample(0, np.zeros((4, 4)), truth=[0], probabilities={0: 0.9, 1: 0.1})
    assert len(open_run(tmp_path).explanations.samples) == 1


def test_steps_measure_waiting_and_work(tmp_path: Path) -> None:
    with Recorder(str(tmp_path)) as run:
        for step, one in enumerate(run.steps("abc")):
            run.log(step, {"seen": float(ord(one))})
        for one in run.steps(range(100), start=3):
            if one == 1:
                break
    found = scalars(tmp_path)
    assert [step for step, _ in found["time/step"]] == [0, 1, 2, 3, 4]
    assert all(0 <= data <= whole for (_, data), (_, whole) in zip(found["time/data"], found["time/step"], strict=True))


def test_ranks_have_directories_of_their_own(tmp_path: Path) -> None:
    for rank in (0, 3):
        with Recorder(str(tmp_path), rank=rank) as run:
            run.log(1, {"loss": 0.5})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rank_0", "rank_3"]
    with pytest.raises(RecordingError, match="rank: expected 0 or more"):
        Recorder(str(tmp_path), rank=-1)


@pytest.mark.parametrize(
    "wrong", [1j, np.array([1j]), object(), b"bytes", {"a": 1}, np.array(["text"]), DeviceTensor(1, "lost")],
    ids=("complex", "complex array", "object", "bytes", "dict", "array of text", "lost tensor"),
)
def test_what_is_no_value_is_left_out_with_one_warning(tmp_path: Path, wrong: object) -> None:
    if isinstance(wrong, DeviceTensor):
        wrong.cpu = lambda: wrong  # type: ignore[method-assign]  # its device gives nothing
    with Recorder(str(tmp_path)) as run, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for step in range(3):
            run.log(step, {"loss": 0.5, "wrong": wrong})
    assert [one.category for one in told] == [RecordingWarning]
    assert "wrong: not recorded" in str(told[0].message)
    assert scalars(tmp_path) == {"loss": [(0, 0.5), (1, 0.5), (2, 0.5)]}


def test_a_step_that_is_no_whole_number_is_left_out(tmp_path: Path) -> None:
    with Recorder(str(tmp_path)) as run:
        with pytest.warns(RecordingWarning, match="step: not recorded"):
            run.log(1.5, {"loss": 0.5})  # type: ignore[arg-type]
        run.log(2, {"loss": 0.5})
    assert scalars(tmp_path) == {"loss": [(2, 0.5)]}


@pytest.mark.parametrize("shape", [(2, 2, 2), (0, 3), (1, 2, 3, 4, 5), (5,)])
def test_no_picture_is_none_with_a_warning(tmp_path: Path, shape: tuple[int, ...]) -> None:
    with Recorder(str(tmp_path)) as run, pytest.warns(RecordingWarning, match="image: not recorded: picture: expected"):
        run.log(1, {"image": run.image(np.zeros(shape)), "loss": 0.5})
    assert scalars(tmp_path) == {"loss": [(1, 0.5)]}


def test_hostile_tags_are_kept_as_text(tmp_path: Path) -> None:
    tags = ["a\nb", "x" * 10_000, "<b>", "\ud800", "../../etc", ""]
    with Recorder(str(tmp_path)) as run:
        run.log(1, dict.fromkeys(tags, 0.5))
    assert [tag for _, tag, _ in values(tmp_path)] == ["a\nb", "x" * 10_000, "<b>", "\\ud800", "../../etc", ""]


def test_an_unknown_layout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match='layout: expected "mindspore" or "tensorboard"'):
        Recorder(str(tmp_path), layout="csv")


def test_threads_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def slow(descriptor: int, data: bytes) -> int:
        """A disk that takes a few bytes at a time, between which other threads run."""
        time.sleep(0)
        return write(descriptor, bytes(data)[:40])

    monkeypatch.setattr(output, "MOST_WAITING", 100)
    monkeypatch.setattr(os, "write", slow)
    with Recorder(str(tmp_path)) as run:
        def work(thread: int) -> None:
            for step in range(50):
                run.log(step, {f"thread/{thread}": float(step)})

        threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    found = scalars(tmp_path)
    assert {tag: [step for step, _ in points] for tag, points in found.items()} == {
        f"thread/{at}": list(range(50)) for at in range(8)
    }  # fmt: skip


def test_threads_share_the_files_that_the_first_of_them_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts and settings are in files of their own, which many threads ask for at once."""

    class Slow(output.RecordedFiles):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            time.sleep(0.05)
            super().__init__(*arguments, **options)

    monkeypatch.setattr(recorder, "RecordedFiles", Slow)
    with Recorder(str(tmp_path), layout="mindspore") as run:
        def work(thread: int) -> None:
            run.settings({f"setting_{thread}": thread})
            run.log(thread, {"note": f"text {thread}"})

        threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    read = open_run(tmp_path)
    assert sorted(read.texts["step"]) == list(range(8))
    assert dict(read.settings) == {f"user_defined/setting_{at}": at for at in range(8)}
    assert sorted(path.name.rpartition("_")[2][:6] for path in tmp_path.iterdir()) == ["events", "lineag"]


def test_a_recorder_that_nobody_closes_writes_its_records(tmp_path: Path) -> None:
    run = Recorder(str(tmp_path))
    run.log(1, {"loss": 0.5})
    del run
    gc.collect()
    assert scalars(tmp_path) == {"loss": [(1, 0.5)]}


def test_after_closing_nothing_is_recorded(tmp_path: Path) -> None:
    run = Recorder(str(tmp_path))
    run.log(1, {"loss": 0.5})
    run.close()
    run.log(2, {"loss": 0.5})
    run.metrics({"accuracy": 1})
    run.close()
    assert scalars(tmp_path) == {"loss": [(1, 0.5)]}
    assert len(list(tmp_path.iterdir())) == 1
