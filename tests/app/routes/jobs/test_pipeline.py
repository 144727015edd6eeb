"""The routes of the pipeline over jobs in a store whose times are known: bands as bytes, moments, tables, what is refused."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from app import create_app
from app.store.store import Store
from tests.writers.pipelines import BATCH_US, BEGIN_US, FORWARD_US, PAUSE_US, REDUCE_US, step_us, write

STAGES, WIDTH, MICRO, AHEAD_US = 3, 2, 4, 250
STEP_US = step_us(STAGES, MICRO)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    base = tmp_path_factory.mktemp("pipeline") / "runs"
    write(base / "marked", stages=STAGES, width=WIDTH, micro=MICRO, marks="device")
    write(base / "ahead", stages=STAGES, width=WIDTH, micro=MICRO, ahead_us=AHEAD_US)
    write(base / "many", stages=2, width=140, steps=1, micro=1)
    store = Store([base], interval=0).start()
    assert store.wait(60)
    yield create_app(store).server.test_client()
    store.stop()


def ask(run: str, **more: Any) -> dict[str, Any]:
    return {"run": run, "session": "host0_0_20261120233012998_ascend_pt", "rank": "0", **more}


def get(client: FlaskClient, name: str, query: dict[str, Any], status: int = 200) -> Any:
    answer = client.get(f"/api/pipeline/{name}", query_string=query)
    assert answer.status_code == status, answer.text
    answer.get_data()
    answer.close()  # the server streams at most eight files at a time
    return answer


def view(client: FlaskClient, query: dict[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    content = get(client, "view", query).data
    assert content[:4] == b"MSPL"
    size = int.from_bytes(content[4:8], "little")
    header = json.loads(content[8 : 8 + size])
    shape = len(header["bands"]), len(header["rows"]), header["columns"]
    shares = np.frombuffer(content, np.uint8, offset=8 + size).reshape(shape)
    return header, dict(zip(header["bands"], shares, strict=True))


def test_bands_are_where_the_files_have_them(client: FlaskClient) -> None:
    header, bands = view(client, ask("marked", step="1", columns="1000"))
    assert (header["begin"], header["end"], header["length"]) == (0, STEP_US * 1000, STEP_US * 1000)
    assert [(row["stage"], row["rank"]) for row in header["rows"]] == [(rank // WIDTH, rank) for rank in range(STAGES * WIDTH)]
    assert set(bands) == {"forward", "backward", "send", "receive", "collective", "hidden"}
    middle = (np.arange(1000) + 0.5) * STEP_US / 1000
    for row in range(STAGES * WIDTH):
        stage = row // WIDTH
        first, last = stage * BATCH_US, (stage + MICRO) * BATCH_US
        end = (STAGES + MICRO - 1) * BATCH_US
        computes = (middle > first) & (middle < last)
        forward = computes & ((middle - first) % BATCH_US < FORWARD_US)
        wanted = {
            "receive": middle < first, "forward": forward, "backward": computes & ~forward,
            "send": (middle > last) & (middle < end), "collective": middle > end,
        }  # fmt: skip
        for name, on in wanted.items():
            away = np.abs(bands[name][row] / 255.0 - on) > 0.01
            # only columns in which a band begins or ends differ from their middle
            assert away.sum() <= 2 * MICRO + 2, (name, row)


def test_a_stage_is_folded_to_the_mean_of_its_ranks(client: FlaskClient) -> None:
    _, each = view(client, ask("marked", step="1", columns="100"))
    header, folded = view(client, ask("marked", step="1", columns="100", stage=["0", "2"]))
    assert [(row["stage"], row["rank"], row["ranks"]) for row in header["rows"]] == [
        (0, 0, 1), (0, 1, 1), (1, -1, 2), (2, 4, 1), (2, 5, 1)
    ]  # fmt: skip
    mean = each["forward"][2:4].mean(axis=0)
    assert np.abs(folded["forward"][2] - mean).max() <= 1
    assert (folded["forward"][[0, 1, 3, 4]] == each["forward"][[0, 1, 4, 5]]).all()
    header, _ = view(client, ask("marked", step="1", columns="100", stage="none"))
    assert [row["rank"] for row in header["rows"]] == [-1] * STAGES


def test_a_window_is_cut_into_columns_and_kept_within_the_step(client: FlaskClient) -> None:
    begin, end = FORWARD_US * 1000 - 500, FORWARD_US * 1000 + 500
    header, bands = view(client, ask("marked", step="2", columns="100", **{"from": begin, "to": end}))
    assert (header["begin"], header["end"]) == (begin, end)
    assert bands["forward"][0].tolist() == [255] * 50 + [0] * 50
    assert bands["backward"][0].tolist() == [0] * 50 + [255] * 50
    header, _ = view(client, ask("marked", step="2", columns="100", **{"from": 10, "to": 2**52}))
    assert (header["begin"], header["end"]) == (10, STEP_US * 1000)
    header, _ = view(client, ask("marked", step="99", columns="100", **{"from": 10, "to": 20}))  # of no step: all of them
    assert (header["begin"], header["end"]) == (0, (2 * STEP_US + PAUSE_US) * 1000)


def test_clocks_are_aligned_on_request(client: FlaskClient) -> None:
    header, _ = view(client, ask("ahead", step="1", columns="100"))
    assert header["length"] == (STEP_US + (STAGES * WIDTH - 1) * AHEAD_US) * 1000
    header, bands = view(client, ask("ahead", step="1", columns="100", align="1"))
    # ranks of one stage share collectives, so each stage is aligned within itself
    assert header["length"] == (STEP_US + (STAGES - 1) * WIDTH * AHEAD_US) * 1000
    assert (bands["computing"][0] == bands["computing"][1]).all()


def test_a_moment_has_its_band_and_what_runs(client: FlaskClient) -> None:
    found = get(client, "moment", ask("marked", step="2", of="2", at="5000000")).json
    assert found == {
        "band": "receive", "begin": 0, "end": BATCH_US * 1000,
        "operations": [{"name": "hcom_receive__1_0_1", "begin": pytest.approx(0, abs=256), "time": BATCH_US * 1e3}],
    }  # fmt: skip
    found = get(client, "moment", ask("marked", step="2", of="0", at=(2 * BATCH_US + 5_000) * 1000)).json
    assert (found["band"], found["number"], found["begin"]) == ("forward", 3, 2 * BATCH_US * 1000)
    assert get(client, "moment", ask("marked", step="1", of="77", at="5")).json == {}
    assert get(client, "moment", ask("marked", step="1", of="0", at="9" * 14)).json == {}


def rows(client: FlaskClient, name: str, query: dict[str, Any]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(get(client, f"{name}.csv", query).text)))


def test_tables(client: FlaskClient) -> None:
    found = rows(client, "summary", ask("marked", step="1"))
    assert [int(row["rank"]) for row in found] == [*range(STAGES * WIDTH)]
    for row in found:
        stage = int(row["rank"]) // WIDTH
        assert int(row["stage"]) == stage
        assert float(row["bubble_ns"]) == pytest.approx((STAGES - 1) * BATCH_US * 1e3, abs=1_000)
        assert float(row["total_ns"]) == STEP_US * 1e3
        assert row["bubble_source"] == "exposed p2p"
        assert float(row["forward_ns"]) == MICRO * FORWARD_US * 1e3
        assert float(row["receive_ns"]) == pytest.approx(stage * BATCH_US * 1e3, abs=1_000)
        assert float(row["hidden_ns"]) == pytest.approx(1e6 if stage == STAGES - 1 else 0.0, abs=1_000)
    window = {"from": BATCH_US * 1000 + 1, "to": (BATCH_US + FORWARD_US) * 1000}
    found = rows(client, "bands", ask("marked", step="1", **window))
    first = [(row["band"], int(row["begin_ns"]), int(row["duration_ns"])) for row in found if row["rank"] == "0"]
    assert first == [("forward", BATCH_US * 1000, FORWARD_US * 1000)]
    assert {row["band"] for row in found if row["rank"] == "4"} == {"receive"}


@pytest.mark.long
def test_many_ranks_are_folded_and_at_most_256_rows_are_drawn(client: FlaskClient) -> None:
    header, _ = view(client, ask("many", columns="50"))
    assert [(row["stage"], row["rank"], row["ranks"]) for row in header["rows"]] == [(0, -1, 140), (1, -1, 140)]
    header, bands = view(client, ask("many", columns="50", stage=["0", "1"]))
    assert (len(header["rows"]), header["total"]) == (256, 280)
    assert bands["computing"].shape == (256, 50)
    assert len(rows(client, "summary", ask("many"))) == 280


@pytest.mark.parametrize(("query", "status"), [
    ({}, 400), (ask("marked", what="1"), 400), (ask("marked", stage="x"), 400), (ask("marked", stage="-2"), 400),
    (ask("marked", step="x"), 400), (ask("marked", columns="0"), 400), (ask("marked", columns="99999"), 400),
    (ask("marked", m="-1"), 400), (ask("marked", align="x"), 400), (ask("marked", **{"from": "nan"}), 400),
    (ask("nowhere"), 404), (ask("marked") | {"rank": "77"}, 404),
])  # fmt: skip
def test_what_is_refused(client: FlaskClient, query: dict[str, Any], status: int) -> None:
    assert get(client, "view", query, status).json["error"]


def test_the_writer_and_the_page_mean_the_same() -> None:
    assert BEGIN_US > 10**15
    assert STEP_US == (MICRO + STAGES - 1) * BATCH_US + REDUCE_US - 1_000
