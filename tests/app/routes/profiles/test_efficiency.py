"""Plain routes of the use of the hardware: tables agree with the file, and what cannot be answered is refused."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

import pytest
from flask.testing import FlaskClient

from app import create_app
from app.store.store import Store

HEAD = "Step ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes,{}\n"
OPERATIONS, TRAFFIC = "aic_cube_fops", "aic_read_main_memory_datas(KB)"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Any:
    tmp_path = tmp_path_factory.mktemp("efficiency")
    for name, counter, values in (("one", OPERATIONS, [4e6, 8e6, 1e6]), ("two", TRAFFIC, [2, 4, 8])):
        place = tmp_path / name / "profiler" / "ASCEND_PROFILER_OUTPUT"
        place.mkdir(parents=True)
        rows = (f"1,k{row % 2},MatMul,AI_CORE,{row},{row + 1},\"{row % 2},4\",{value}\n" for row, value in enumerate(values))
        (place / "kernel_details.csv").write_text(HEAD.format(counter) + "".join(rows))
        (place.parent / "profiler_info_0.json").write_text("{}")
    store = Store([tmp_path], interval=0).start()
    assert store.wait(60)
    yield create_app(store).server.test_client()
    store.stop()


def table(client: FlaskClient, name: str, query: str) -> list[dict[str, str]]:
    answer = client.get(f"/api/efficiency/{name}.csv?run=one&session=profiler{query}")
    assert answer.status_code == 200, answer.text
    assert f"one-efficiency-{name}.csv" in answer.headers["Content-Disposition"]
    return list(csv.DictReader(io.StringIO(answer.text)))


def test_tables(client: FlaskClient) -> None:
    (types,) = table(client, "types", "&peak=10")
    assert [float(types[name]) for name in ("operations", "per_s", "share")] == pytest.approx([13e6, 13e6 / 6e-6, 13 / 60])
    shapes = table(client, "shapes", "")
    assert {row["input_shapes"]: row["count"] for row in shapes} == {"0,4": "2", "1,4": "1"}
    assert table(client, "slow", "") == []
    figures = {row["figure"]: row for row in table(client, "figures", "&peak=10&devices=3")}
    assert float(figures["share_of_peak"]["value"]) == pytest.approx(13 / 60)
    assert (float(figures["devices"]["value"]), figures["devices"]["source"]) == (3.0, "typed")
    assert not figures["mfu"]["value"] or math.isnan(float(figures["mfu"]["value"]))
    both = table(client, "roofline", "&with_run=two&with_session=profiler")
    assert {row["name"]: float(row["per_byte"]) for row in both} == {"k0": 2.5e6 / 5e3, "k1": 2e3}


@pytest.mark.parametrize(("query", "status", "wanted"), [
    ("types.csv", 400, "expected the parameter run"),
    ("types.csv?run=one&session=profiler&peak=-1", 400, "peak: expected a number above 0"),
    ("types.csv?run=one&session=profiler&x=1", 400, "found 'x'"), ("types.csv?run=one&session=none", 404, "no profile"),
    ("types.csv?run=one&session=profiler&rank=q", 400, "rank"),
    ("roofline.csv?run=one&session=profiler", 404, "kernels of two sessions"),
])  # fmt: skip
def test_refusals(client: FlaskClient, query: str, status: int, wanted: str) -> None:
    answer = client.get(f"/api/efficiency/{query}")
    assert (answer.status_code, wanted in answer.text) == (status, True), answer.text
