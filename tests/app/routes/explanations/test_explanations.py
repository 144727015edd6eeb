"""Routes of explanations: pictures, heat maps, tables; and files that are no pictures, or not of the run."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from flask.testing import FlaskClient
from PIL import Image
from werkzeug.test import TestResponse

from app import create_app
from app.store.store import Store
from parsers.recording import ExplanationWriter
from parsers.recording.wire import delimited, float64, number, record
from tests.amounts import long_after
from tests.parsers.payloads.test_pictures import bomb

RNG = np.random.default_rng(5)
PICTURE = RNG.integers(0, 256, (10, 12, 3), np.uint8)
VALUES = RNG.integers(0, 256, (10, 12))
VALUES.flat[:2] = 0, 255
STRANGE = "Grad CAM/../é"


def written(place: Path) -> Path:
    folder = place / "runs" / "run"
    with ExplanationWriter(str(folder), labels=["cat", "dog"], explainers=["GradCAM", STRANGE], seconds=9) as writer:
        for sample in range(3):
            writer.sample(sample, PICTURE, truth=[0], probabilities={0: 0.9 - 0.2 * sample, 1: 0.55})
            for explainer in ("GradCAM", STRANGE):
                writer.heat_map(sample, explainer, 0, VALUES)
    return folder


@contextmanager
def serving(run: Path) -> Iterator[FlaskClient]:
    store = Store([run.parent], interval=0).start()
    assert store.wait(30)
    yield create_app(store).server.test_client()
    store.stop()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("explanations"))


@pytest.fixture(scope="module")
def client(run: Path) -> Iterator[FlaskClient]:
    with serving(run) as made:
        yield made


@pytest.fixture
def own_run(tmp_path: Path) -> Path:
    """A run for a test that changes its files."""
    return written(tmp_path)


@pytest.fixture
def own_client(own_run: Path) -> Iterator[FlaskClient]:
    with serving(own_run) as made:
        yield made


def append(folder: Path, sample: int, path: str) -> None:
    """Add a record that names a picture by this path."""
    explain = number(1, sample) + delimited(2, path.encode())
    with open(next(folder.glob("events*_explain")), "ab") as file:
        file.write(record(float64(1, 1.7e9) + number(2, 1) + delimited(6, explain)))


def values_of(answer: TestResponse) -> np.ndarray:
    with Image.open(io.BytesIO(answer.data)) as picture:
        return np.asarray(picture)


def test_a_picture_is_sent_as_it_is(client: FlaskClient, run: Path) -> None:
    answer = client.get("/api/explanation/image?run=run&sample=1")
    assert answer.status_code == 200
    assert answer.data == (run / "_explain_9/origin_images/0/1.png").read_bytes()
    assert answer.content_type == "image/png"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    again = client.get("/api/explanation/image?run=run&sample=1", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    saved = client.get("/api/explanation/image?run=run&sample=1&download=1").headers["Content-Disposition"]
    assert "run_1.png" in saved


@pytest.mark.parametrize("explainer", ["GradCAM", STRANGE])
def test_a_heat_map_has_exactly_its_values(client: FlaskClient, explainer: str) -> None:
    query = {"run": "run", "sample": "2", "explainer": explainer, "label": "0"}
    answer = client.get("/api/explanation/heatmap", query_string=query)
    assert answer.status_code == 200
    assert (values_of(answer) == VALUES).all()
    assert answer.headers["Mindscope-Constant"] == "0"
    again = client.get("/api/explanation/heatmap", query_string=query, headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


@pytest.mark.parametrize(("query", "status"), [
    ("image", 400), ("image?run=run", 400), ("image?run=run&sample=x", 400), ("image?run=run&sample=9", 404),
    ("image?run=no&sample=0", 404), ("image?run=run&sample=0&path=/etc/passwd", 400), ("image?run=run&sample=0&sample=1", 400),
    ("heatmap?run=run&sample=0&label=0", 404), ("heatmap?run=run&sample=0&explainer=GradCAM", 400),
    ("heatmap?run=run&sample=0&explainer=GradCAM&label=1", 404), ("heatmap?run=run&sample=0&explainer=None&label=0", 404),
    ("samples.csv?run=run&t=7", 400), ("samples.csv?run=run&outcome=xx", 400), ("samples.csv?run=run&sort=disagreement", 400),
    ("frame.csv?run=run", 400), ("frame.csv?run=run&name=pictures", 400), ("frame.csv?run=no&name=samples", 404),
])  # fmt: skip
def test_what_is_not_there_is_refused_with_a_reason(client: FlaskClient, query: str, status: int) -> None:
    answer = client.get(f"/api/explanation/{query}")
    assert answer.status_code == status
    assert answer.json["error"]


@pytest.mark.parametrize(("content", "status", "reason"), [
    (None, 404, "No such file"),
    (b"", 415, "0 bytes"),
    (b"<svg xmlns='http://x'><script>alert(1)</script></svg>", 415, "PNG, JPEG"),
    (b"<html><script>alert(1)</script></html>", 415, "PNG, JPEG"),
    (bomb(60_000, 60_000), 422, "pixels"),
    (bomb(6_000, 6_000), 422, "25,000,000 pixels"),
])  # fmt: skip
@pytest.mark.parametrize("what", long_after(1, ["image", "heatmap"]))
def test_files_that_are_no_picture(
    own_client: FlaskClient, own_run: Path, what: str, content: bytes | None, status: int, reason: str
) -> None:
    file = own_run / ("_explain_9/origin_images/0/0.png" if what == "image" else "_explain_9/heatmap/GradCAM/0/0_0.png")
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    more = "" if what == "image" else "&explainer=GradCAM&label=0"
    answer = own_client.get(f"/api/explanation/{what}?run=run&sample=0{more}")
    assert answer.status_code == status
    assert reason in answer.json["error"]
    assert own_client.get(f"/api/explanation/{what}?run=run&sample=1{more}").status_code == 200


def test_a_cut_jpeg_is_sent_and_named(own_client: FlaskClient, own_run: Path) -> None:
    out = io.BytesIO()
    Image.fromarray(RNG.integers(0, 256, (64, 64), np.uint8)).save(out, "JPEG")
    for name in ("origin_images/0/0.png", "heatmap/GradCAM/0/0_0.png"):
        (own_run / "_explain_9" / name).write_bytes(out.getvalue()[:-1000])
    for query in ("image?run=run&sample=0", "heatmap?run=run&sample=0&explainer=GradCAM&label=0"):
        answer = own_client.get(f"/api/explanation/{query}")
        assert answer.status_code == 200
        assert "cut" in unquote(answer.headers["Mindscope-Problem"])


def test_a_constant_map_is_said_to_be_one(own_client: FlaskClient, own_run: Path) -> None:
    Image.fromarray(np.full((5, 5), 8, np.uint8)).save(own_run / "_explain_9/heatmap/GradCAM/0/1_0.png")
    answer = own_client.get("/api/explanation/heatmap?run=run&sample=1&explainer=GradCAM&label=0")
    assert answer.headers["Mindscope-Constant"] == "1"


LEAVING = (
    "/etc/passwd", "../../secret.png", "_explain_9/../../../secret.png", "..\\..\\secret.png", "out.png", "up/secret.png",
    "pipe.png", "_explain_9", "\0", "a" * 5000,
)  # fmt: skip


@pytest.fixture(scope="module")
def leaving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """A client of a run whose samples 7 and later name pictures by the paths in LEAVING."""
    run = written(tmp_path_factory.mktemp("leaving"))
    Image.fromarray(PICTURE).save(run.parent.parent / "secret.png")
    Image.fromarray(PICTURE).save(run.parent / "secret.png")
    (run / "out.png").symlink_to(run.parent.parent / "secret.png")
    (run / "up").symlink_to(run.parent.parent)
    os.mkfifo(run / "pipe.png")
    for place, path in enumerate(LEAVING):
        append(run, 7 + place, path)
    with serving(run) as made:
        yield made


@pytest.mark.parametrize("path", LEAVING)
def test_paths_in_records_that_leave_the_run_are_refused(leaving: FlaskClient, path: str) -> None:
    answer = leaving.get(f"/api/explanation/image?run=run&sample={7 + LEAVING.index(path)}")
    assert answer.status_code in (404, 422), answer.data[:100]
    assert leaving.get("/api/explanation/image?run=run&sample=1").status_code == 200


def table(answer: TestResponse) -> list[dict[str, str]]:
    with answer:
        assert answer.status_code == 200
        return list(csv.DictReader(io.StringIO(answer.text)))


def test_tables(client: FlaskClient) -> None:
    rows = table(client.get("/api/explanation/samples.csv?run=run&outcome=fn&t=0.6&sort=confidence_up"))
    assert [(one["sample"], one["name"], one["outcome"]) for one in rows] == [("2", "cat", "FN"), ("2", "dog", "TN")]
    everything = table(client.get("/api/explanation/samples.csv?run=run&label=0&label=1"))
    assert len(everything) == 6
    outcomes = table(client.get("/api/explanation/frame.csv?run=run&name=outcomes&t=0.95"))
    assert {one["outcome"] for one in outcomes} == {"FN", "TN"}
    for name in ("samples", "predictions", "saliency", "scores", "labels", "counterfactuals"):
        table(client.get(f"/api/explanation/frame.csv?run=run&name={name}"))
