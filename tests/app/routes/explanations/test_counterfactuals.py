"""Pictures and tables of counterfactuals over plain routes, compared with Pillow and the frames."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageEnhance, ImageFilter

from app import create_app
from app.store.store import Store
from parsers import open_run


@pytest.fixture
def base(real_data: Path, tmp_path: Path) -> Path:
    shutil.copytree(real_data / "explain", tmp_path / "runs")
    return tmp_path / "runs"


@pytest.fixture
def client(base: Path) -> Iterator[Any]:
    store = Store([base], interval=0).start()
    assert store.wait(30)
    yield create_app(store).server.test_client()
    store.stop()


def test_the_outcome_picture_is_that_of_pillow(client: Any, base: Path) -> None:
    answer = client.get("/api/explanation/outcome?run=summary_real&sample=0&label=0&layer=1")
    assert (answer.status_code, answer.mimetype) == (200, "image/png")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    path = open_run(str(base / "summary_real")).explanations.samples["image"].iloc[0]
    whole = Image.open(base / "summary_real" / path).convert("RGB")
    drawn = ImageEnhance.Brightness(whole.filter(ImageFilter.GaussianBlur(4))).enhance(0.7)
    drawn = ImageEnhance.Color(drawn).enhance(0.0)
    drawn.paste(whole.crop((80, 28, 108, 56)), (80, 28))
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(answer.data))), np.asarray(drawn))
    again = client.get(
        "/api/explanation/outcome?run=summary_real&sample=0&label=0&layer=1", headers={"If-None-Match": answer.headers["ETag"]}
    )
    assert again.status_code == 304


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("sample=0&label=0&layer=2", 404), ("sample=0&label=3&layer=0", 404), ("sample=99&label=0&layer=0", 404),
        ("sample=0&label=0&layer=x", 400), ("sample=0&label=0", 400), ("sample=0&label=0&layer=0&more=1", 400),
    ],
)  # fmt: skip
def test_what_does_not_exist_is_refused(client: Any, query: str, status: int) -> None:
    assert client.get(f"/api/explanation/outcome?run=summary_real&{query}").status_code == status


def test_a_picture_that_is_missing_or_none_is_named(client: Any, base: Path) -> None:
    images = open_run(str(base / "summary_real")).explanations.samples["image"]
    (base / "summary_real" / images.iloc[0]).unlink()
    (base / "summary_real" / images.iloc[1]).write_bytes(b"<svg/>")
    assert client.get("/api/explanation/outcome?run=summary_real&sample=0&label=0&layer=0").status_code == 404
    answer = client.get("/api/explanation/outcome?run=summary_real&sample=1&label=1&layer=0")
    assert answer.status_code in (415, 422)
    assert images.iloc[1] in answer.text


def test_the_table_has_the_layers_of_the_samples_that_the_filters_keep(client: Any, base: Path) -> None:
    answer = client.get("/api/explanation/counterfactuals.csv?run=summary_weak&outcome=fn&sort=confidence")
    found = pd.read_csv(io.BytesIO(answer.data), keep_default_na=False)
    run = open_run(str(base / "summary_weak")).explanations
    missed = run.outcomes().query("outcome == 'FN'")["sample"]
    assert set(found["sample"]) == set(missed) == {3, 7}
    assert found["sample"].tolist() == [3, 3, 7, 7]
    assert found["name"].tolist() == ["checker"] * 4
    known = run.counterfactuals.set_index(["sample", "label", "layer"])["probability"]
    for row in found.itertuples():
        assert row.probability == pytest.approx(known[row.sample, row.label, row.layer])
    predicted = run.predictions.set_index(["sample", "label"])["probability"]
    assert found["recorded"].tolist() == pytest.approx([predicted[row.sample, row.label] for row in found.itertuples()])
