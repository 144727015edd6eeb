"""Everything a run recorded as files, against what was written into the run and against protobuf."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from parsers import FormatError, PayloadError, open_run
from parsers.export import KINDS, Export, WantedExport
from parsers.recording import EventWriter, Histogram, Image, Tensor, Text, Value
from parsers.runs import Run
from tests.parsers.payloads.reference import messages, runs
from tests.recorded import RECORDED

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000020000000208000000005779dc550000000e49444154789c63606068606000000484008100d5a4d5"
    "9e0000000049454e44ae426082"
)
Record = Callable[..., Run]


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Writes values to a run, which is opened."""

    def record(*steps: tuple[int, dict[str, Value]], layout: str = "mindspore", name: str = "run") -> Run:
        folder = tmp_path / "base" / name
        folder.mkdir(parents=True)
        file = "e.summary.1700000000.h_MS" if layout == "mindspore" else "events.out.tfevents.1700000000.h"
        with EventWriter(str(folder / file), layout) as writer:
            for step, values in steps:
                writer.add(step, values, wall_time=1.7e9 + step)
        return open_run(folder)

    return record


def exported(out: Path, runs: Sequence[Run], wanted: WantedExport | None = None) -> list[PayloadError]:
    """Export runs; the reasons of what was left out."""
    refused: list[PayloadError] = []
    with Export(out, wanted or WantedExport(), refused=refused.append) as export:
        for run in runs:
            export.add(run)
    assert export.lost == len(refused)
    return refused


def index(out: Path) -> list[dict[str, str]]:
    with (out / "index.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def files(out: Path) -> set[str]:
    return {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}


def test_nothing(tmp_path: Path) -> None:
    assert exported(tmp_path / "out", []) == []
    assert files(tmp_path / "out") == {"scalars.csv"}


def test_one_row_per_bucket(record: Record, tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=500)
    run = record((3, {"w": Histogram(values)}), (4, {"w": Histogram(np.append(values, [np.nan, np.inf]))}))
    exported(tmp_path / "out", [run])
    frame = pd.read_csv(tmp_path / "out" / "histograms.csv")
    count, edges = np.histogram(values, bins=51)
    for step, apart in ((3, 0), (4, 1)):
        rows = frame[frame["step"] == step]
        assert rows["bucket"].tolist() == list(range(51))
        np.testing.assert_array_equal(rows["count"], count)
        np.testing.assert_array_equal(rows["left"], edges[:-1])
        np.testing.assert_array_equal(rows["width"], np.diff(edges))
        assert set(rows["nan"]) == set(rows["pos_inf"]) == {apart}
        assert set(rows["total"]) == {500 + 2 * apart}
        assert set(rows["min"]) == {values.min()}
    assert frame["count"].dtype == np.int64


def test_a_histogram_of_nan_has_a_row(record: Record, tmp_path: Path) -> None:
    exported(tmp_path / "out", [record((1, {"w": Histogram([np.nan] * 3)}))])
    (row,) = pd.read_csv(tmp_path / "out" / "histograms.csv").to_dict("records")
    assert (row["nan"], row["total"]) == (3, 3)
    assert np.isnan([row["bucket"], row["left"], row["width"], row["count"], row["min"]]).all()


def test_tensorboard_histograms_and_texts(record: Record, tmp_path: Path) -> None:
    text = "<script>alert(1)</script>\n=1+1 层"
    run = record((1, {"h": Histogram([1.0, 2.0, 2.0]), "t": Text(text)}), layout="tensorboard")
    exported(tmp_path / "out", [run])
    assert pd.read_csv(tmp_path / "out" / "histograms.csv")["count"].sum() == 3
    assert (tmp_path / "out" / "texts" / "run" / "t_1.txt").read_bytes() == text.encode()


@pytest.mark.parametrize("layout", ["mindspore", "tensorboard"])
def test_images_are_the_bytes_recorded(record: Record, tmp_path: Path, layout: str) -> None:
    jpeg = bytes.fromhex("ffd8ffc0000b080002000301012200") + b"rest"
    run = record((1, {"a/b": Image(PNG, 2, 2)}), (2, {"a/b": Image(jpeg, 2, 3)}), layout=layout)
    exported(tmp_path / "out", [run])
    folder = tmp_path / "out" / "images" / "run"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"a_b_1.png": PNG, "a_b_2.jpg": jpeg}


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.float32(1.5), np.empty((0, 3), np.float32),
        np.array([True, False]), np.array([1, -2], np.int8), np.array([0.1, np.nan, -np.inf], np.float16),
    ],
)  # fmt: skip
def test_tensors(record: Record, tmp_path: Path, array: np.ndarray) -> None:
    exported(tmp_path / "out", [record((7, {"t": Tensor(array)}))])
    found = np.load(tmp_path / "out" / "tensors" / "run" / "t_7.npy", allow_pickle=False)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array, strict=True)


def test_a_tensor_kept_in_fewer_digits_says_so(record: Record, tmp_path: Path) -> None:
    exported(tmp_path / "out", [record((7, {"t": Tensor(np.array([1, 2], np.int64))}))])
    assert index(tmp_path / "out")[0]["note"] == "Recorded as int64, stored as float32."


def test_landscapes(tmp_path: Path) -> None:
    (run,) = runs(RECORDED / "lenet_landscape")
    assert exported(tmp_path / "out", [run]) == []
    found = {tag: values for (kind, tag), values in messages(run).items() if kind == "landscape"}
    written = {(tag, step): message for tag, values in found.items() for step, message in values}
    rows = [row for row in index(tmp_path / "out") if row["kind"] == "landscape"]
    assert {(row["tag"], int(row["step"])) for row in rows} == set(written)
    for row in rows:
        saved = np.load(tmp_path / "out" / row["path"], allow_pickle=False)
        message = written[row["tag"], int(row["step"])]
        np.testing.assert_array_equal(saved["z"].ravel(), np.array(message.landscape.z.float_data, np.float32))
        assert str(saved["unit"]) == message.metadata.unit
        assert saved["intervals"].tolist() == list(message.loss_path.intervals)


def test_every_value_has_a_file_of_its_own(record: Record, tmp_path: Path) -> None:
    images = [PNG + bytes([number]) for number in range(6)]
    tags = ["a/b", "a_b", "A_b", "../../x", "con"]
    run = record(
        (1, {tag: Image(data, 2, 2) for tag, data in zip(tags, images, strict=False)}), (1, {"a/b": Image(images[5], 2, 2)})
    )
    exported(tmp_path / "out", [run])
    found = {(row["tag"], row["order"]): (tmp_path / "out" / row["path"]).read_bytes() for row in index(tmp_path / "out")}
    assert sorted(found.values()) == images
    assert {tag for tag, _ in found} == set(tags)
    assert files(tmp_path / "out") - {"scalars.csv", "index.csv"} == {row["path"] for row in index(tmp_path / "out")}
    assert files(tmp_path) == {f"out/{name}" for name in files(tmp_path / "out")} | {"base/run/e.summary.1700000000.h_MS"}


def test_runs_of_one_name_have_directories_of_their_own(record: Record, tmp_path: Path) -> None:
    values: dict[str, Value] = {"t": Tensor(np.float32(1))}
    for name in ("a/b", "a_b"):
        record((1, values), name=name)
    exported(tmp_path / "out", list(runs(tmp_path / "base")))
    assert sorted(row["path"] for row in index(tmp_path / "out")) == ["tensors/a_b/t_1.npy", "tensors/a_b~2/t_1.npy"]


def test_what_is_wanted(record: Record, tmp_path: Path) -> None:
    values: dict[str, Value] = {"loss": 0.5, "t": Tensor(np.float32(1)), "u": Tensor(np.float32(2)), "h": Histogram([1.0])}
    run = record(*((step, values) for step in range(1, 6)))
    wanted = WantedExport(("scalars", "tensors"), lambda tags: [tag for tag in tags if tag != "u"], (2, 3))
    exported(tmp_path / "out", [run], wanted)
    assert files(tmp_path / "out") == {"scalars.csv", "index.csv", "tensors/run/t_2.npy", "tensors/run/t_3.npy"}
    assert pd.read_csv(tmp_path / "out" / "scalars.csv")["step"].tolist() == [2, 3]
    assert pd.read_csv(tmp_path / "out" / "index.csv")["wall_time"].tolist() == [1.7e9 + 2, 1.7e9 + 3]


def test_what_cannot_be_decoded_is_told_and_the_rest_written(record: Record, tmp_path: Path) -> None:
    run = record((1, {"i": Image(PNG, 2, 2)}), (2, {"i": Image(b"<svg/>", 2, 2), "loss": 1.0}), (3, {"i": Image(PNG, 2, 2)}))
    (error,) = exported(tmp_path / "out", [run])
    assert error.path == run.files[0]
    assert error.order == int(run.payload_series("image", "i").order[1])
    assert f"record at byte {error.order:,}" in str(error)
    assert files(tmp_path / "out") == {"scalars.csv", "index.csv", "images/run/i_1.png", "images/run/i_3.png"}


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_an_export_that_ends_early_leaves_only_whole_files(
    record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    run = record(*((step, {"t": Tensor(np.float32(step)), "loss": 1.0, "h": Histogram([1.0])}) for step in range(3)))
    decode = run.value

    def interrupted(kind: str, tag: str, place: int) -> object:
        if kind == "tensor" and place == 2:
            raise error
        return decode(kind, tag, place)

    monkeypatch.setattr(run, "value", interrupted)
    with pytest.raises(error):
        exported(tmp_path / "out", [run])
    assert files(tmp_path / "out") == {"tensors/run/t_0.npy", "tensors/run/t_1.npy"}


@pytest.mark.parametrize("kind", ["images", "images/run"])
def test_a_link_that_leaves_the_directory_is_refused(record: Record, tmp_path: Path, kind: str) -> None:
    (tmp_path / "theirs").mkdir()
    link = tmp_path / "out" / kind
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "theirs")
    with pytest.raises(FormatError, match="a link that leaves it"):
        exported(tmp_path / "out", [record((1, {"i": Image(PNG, 2, 2)}))])
    assert os.listdir(tmp_path / "theirs") == []


def test_a_file_takes_scalars_only(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="expected a directory for"):
        Export(tmp_path / "x.csv", WantedExport(), refused=print)
    assert os.listdir(tmp_path) == []


def test_progress_grows_to_the_end(record: Record, tmp_path: Path) -> None:
    run = record(*((step, {"t": Tensor(np.float32(step)), "loss": 1.0}) for step in range(3)))
    shares: list[float] = []
    with Export(tmp_path / "out", WantedExport(), refused=print) as export:
        export.add(run, shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.long
def test_all_of_the_real_runs(real_data: Path, tmp_path: Path) -> None:
    with Export(tmp_path / "out", WantedExport(), refused=lambda error: pytest.fail(str(error))) as export:
        count = 0
        for run in runs(real_data / "summary"):
            export.add(run)
            count += sum(len(found) for found in messages(run).values())
    assert sum(export.counts[kind] for kind in KINDS if kind not in ("scalars", "lineage")) == count
    assert export.counts["lineage"] == 22
    rows = index(tmp_path / "out")
    tables = {"scalars.csv", "histograms.csv", "lineage.csv", "index.csv"}
    assert {row["path"] for row in rows} == files(tmp_path / "out") - tables
    assert len(rows) == sum(export.counts[kind] for kind in ("images", "tensors", "landscapes", "texts"))
