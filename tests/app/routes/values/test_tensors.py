"""The plain routes for tensors, read back with numpy and csv, against numpy on the arrays that were recorded."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from app.routes.values import tensor_blocks
from parsers import HistogramValue, PayloadError, PayloadSeries, TensorValue, Value, analysis

RNG = np.random.default_rng(7)
ARRAYS: dict[str, list[np.ndarray[Any, Any]]] = {
    "w": [RNG.normal(size=(3, 4, 5)).astype(np.float32) for _ in range(3)],
    "big": [np.arange(400_000, dtype=np.float64).reshape(800, 500)],
    "int64": [np.array([2**62, -(2**63), 2**53 + 1]), np.array([2**62 - 1, -(2**63), -1])],
    "uint64": [np.array([[2**64 - 1, 0]], np.uint64)],
    "bool": [np.array([True, False])],
    "half": [np.array([0.1, -65504.0], np.float16)],
    "complex": [np.array([[1 + 2j, complex("nan")]], np.complex64)],
    "scalar": [np.array(0.1, np.float32)],
    "empty": [np.zeros((3, 0), np.float32)],
    "bad": [np.array([[1.0, np.nan, 2.0], [np.inf, 0.0, -np.inf]])],
    "by column": [np.asfortranarray(RNG.normal(size=(4, 6)))],
}


@pytest.fixture
def source(source, monkeypatch):
    """The common source with a tensor per tag in run a at steps 0, 10, 20 ..., and a damaged one."""

    def payload_series(run: str, kind: str, tag: str) -> PayloadSeries | None:
        if run != "a" or kind != "tensor" or tag not in (*ARRAYS, "damaged"):
            return None
        count = len(ARRAYS.get(tag, [0]))
        whole = np.arange(count, dtype=np.int64)
        return PayloadSeries(whole * 10, whole + 1.7e9, np.zeros(count, np.int32), whole, whole, whole)

    def value(run: str, kind: str, tag: str, place: int) -> Value:
        if tag == "damaged":
            raise PayloadError("wanted 6 values, got 5", "file", 123)
        array = ARRAYS[tag][place]
        return TensorValue(array, array.dtype.name)

    monkeypatch.setattr(source.values, "series", payload_series)
    monkeypatch.setattr(source.values, "value", value)
    return source


def rectangle(answer) -> tuple[np.ndarray[Any, Any], dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    about = json.loads(answer.headers["Mindscope-Block"])
    shape = [about[name][1] - about[name][0] for name in ("rows", "cols")]
    return np.frombuffer(answer.data, "<" + about["dtype"] if about["dtype"] != "u1" else "u1").reshape(shape), about


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ({"tag": "w"}, ARRAYS["w"][2][0]),
        ({"tag": "w", "step": "10", "dims": "1,:,:"}, ARRAYS["w"][1][1]),
        ({"tag": "w", "place": "0", "dims": "[:, -1, 1:4]"}, ARRAYS["w"][0][:, -1, 1:4]),
        ({"tag": "w", "place": "0", "dims": ":,0,0"}, ARRAYS["w"][0][:, 0, 0][:, None]),
        ({"tag": "w", "place": "0", "dims": "1,2,3"}, ARRAYS["w"][0][1:2, 2, 3:4]),
        ({"tag": "w", "place": "0", "dims": "1,:,:", "rows": "1:3", "cols": "2:99"}, ARRAYS["w"][0][1, 1:3, 2:]),
        ({"tag": "big", "dims": "10:,100:", "rows": "5:7", "cols": "1:4"}, ARRAYS["big"][0][15:17, 101:104]),
        ({"tag": "int64", "step": "0"}, ARRAYS["int64"][0][:, None]),
        ({"tag": "uint64"}, ARRAYS["uint64"][0]),
        ({"tag": "bool"}, np.array([[1], [0]])),
        ({"tag": "half"}, ARRAYS["half"][0][:, None]),
        ({"tag": "complex"}, ARRAYS["complex"][0]),
        ({"tag": "scalar"}, np.array([[np.float32(0.1)]])),
        ({"tag": "empty"}, np.zeros((3, 0))),
        ({"tag": "by column"}, ARRAYS["by column"][0]),
        ({"tag": "w", "step": "20", "minus_step": "0", "dims": "2,:,:"},
         ARRAYS["w"][2][2].astype(float) - ARRAYS["w"][0][2].astype(float)),
        ({"tag": "w", "step": "20", "minus_step": "0", "dims": "2,:,:", "how": "relative"},
         (ARRAYS["w"][2][2].astype(float) - ARRAYS["w"][0][2]) / np.abs(ARRAYS["w"][0][2].astype(float))),
        ({"tag": "int64", "step": "10", "minus_step": "0"}, np.array([[-1], [0], [-(2.0**53) - 2]])),
    ],
)  # fmt: skip
def test_a_rectangle_has_the_values_recorded(client, source, query, wanted) -> None:
    values, _ = rectangle(client.get("/api/tensor", query_string={"run": "a", **query}))
    np.testing.assert_array_equal(values, wanted)


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ({"tag": "w", "dims": "0,:,9"}, 422, "dimension 2: expected -5 to 4, found 9"),
        ({"tag": "w", "dims": "0,:"}, 422, "expected 3 dimensions, found 2"),
        ({"tag": "w", "dims": ":,:,:"}, 422, "at most 2 dimensions with a colon, found 3"),
        ({"tag": "w", "dims": "0,x,:"}, 422, "dimension 1: expected an index or a range such as 2:5, found 'x'"),
        ({"tag": "w", "step": "11"}, 422, "expected step 11, found only"),
        ({"tag": "w", "place": "3"}, 422, "found only"),
        ({"tag": "w", "step": "x"}, 400, "step: expected a whole number"),
        ({"tag": "w", "step": str(2**63)}, 400, "step: expected a whole number"),
        ({"tag": "w", "how": "squared", "minus_step": "0"}, 400, "how: expected one of absolute, relative"),
        ({"tag": "w", "rows": "5"}, 400, "rows: expected a range such as 0:128"),
        ({"tag": "big", "rows": "0:800", "cols": "0:500"}, 400, "at most 100,000 values, found 400,000"),
        ({"tag": "big", "dims": "0,:", "minus_run": "dir/b"}, 404, "run 'dir/b' has no tensor 'big'"),
        ({"tag": "damaged"}, 422, "file: record at byte 123: wanted 6 values, got 5"),
        ({"tag": "none"}, 404, "run 'a' has no tensor 'none'"),
        ({"tag": "w", "path": "/etc/passwd"}, 400, "expected the parameters run"),
    ],
)
def test_refusals(client, source, query, status, said) -> None:
    answer = client.get("/api/tensor", query_string={"run": "a", **query})
    assert answer.status_code == status
    assert said in answer.json["error"]


def test_an_unknown_run_is_refused(client, source) -> None:
    for route in ("tensor", "tensor-bad", "tensor.npy", "tensor.csv"):
        assert client.get(f"/api/{route}?run=../../etc&tag=w").status_code == 404


def test_tensors_of_two_shapes_have_no_difference(client, source, monkeypatch) -> None:
    monkeypatch.setitem(ARRAYS, "w", [np.zeros((2, 2)), np.zeros((2, 3)), np.zeros(2)])
    answer = client.get("/api/tensor?run=a&tag=w&step=0&minus_step=10")
    assert (answer.status_code, answer.json["error"]) == (422, "expected two tensors of one shape, found (2, 2) and (2, 3)")


def test_going_to_the_next_value_that_is_not_finite_goes_round(client, source) -> None:
    at: Sequence[int] | None = None
    seen = []
    for _ in range(4):
        query = {"run": "a", "tag": "bad", **({"after": ",".join(map(str, at))} if at else {})}
        at = client.get("/api/tensor-bad", query_string=query).json["index"]
        seen.append(at)
    assert seen == [[0, 1], [1, 0], [1, 2], [0, 1]]
    assert client.get("/api/tensor-bad?run=a&tag=w").json["index"] is None
    assert client.get("/api/tensor-bad?run=a&tag=int64").json["index"] is None
    assert client.get("/api/tensor-bad?run=a&tag=bad&after=5,5").status_code == 400


@pytest.mark.parametrize("tag", ARRAYS)
def test_npy_is_the_array(client, source, tag) -> None:
    answer = client.get("/api/tensor.npy", query_string={"run": "a", "tag": tag, "step": "0", "part": "all"})
    array = np.load(io.BytesIO(answer.data), allow_pickle=False)
    assert array.dtype == ARRAYS[tag][0].dtype
    np.testing.assert_array_equal(array, ARRAYS[tag][0])


def test_npy_of_what_is_shown(client, source) -> None:
    answer = client.get("/api/tensor.npy?run=a&tag=w&step=0&dims=:,1,2:4&minus_step=10")
    first, second = (array[:, 1, 2:4].astype(float) for array in ARRAYS["w"][:2])
    np.testing.assert_array_equal(np.load(io.BytesIO(answer.data)), first - second)
    assert 'filename="w_0_minus_10.npy"' in answer.headers["Content-Disposition"]


def lines(answer) -> list[list[str]]:
    assert answer.status_code == 200
    return list(csv.reader(io.StringIO(answer.text, newline="")))


def test_csv_of_what_is_shown_has_real_indices(client, source) -> None:
    head, *rows = lines(client.get("/api/tensor.csv?run=a&tag=w&step=0&dims=1:3,0,2:5"))
    assert head == ["index", "2", "3", "4"]
    assert [row[0] for row in rows] == ["1", "2"]
    got = np.array([[np.float32(cell) for cell in row[1:]] for row in rows])
    np.testing.assert_array_equal(got, ARRAYS["w"][0][1:3, 0, 2:5])


def test_csv_of_all_names_every_index(client, source) -> None:
    head, *rows = lines(client.get("/api/tensor.csv?run=a&tag=w&step=0&part=all"))
    assert head == ["dim0", "dim1", "dim2", "value"]
    got = np.zeros((3, 4, 5), np.float32)
    for *index, value in rows:
        got[tuple(map(int, index))] = np.float32(value)
    np.testing.assert_array_equal(got, ARRAYS["w"][0])


def test_csv_of_a_large_table(client, source) -> None:
    _, *rows = lines(client.get("/api/tensor.csv?run=a&tag=big&part=all"))
    assert [row[0] for row in rows] == [str(number) for number in range(800)]
    np.testing.assert_array_equal(np.array([row[1:] for row in rows], float), ARRAYS["big"][0])


@pytest.mark.parametrize(
    ("tag", "wanted"),
    [
        ("int64", [["0", str(2**62)], ["1", str(-(2**63))], ["2", str(2**53 + 1)]]),
        ("bad", [["0", "1.0", "NaN", "2.0"], ["1", "Infinity", "0.0", "-Infinity"]]),
        ("complex", [["0", "(1+2j)", "(nan+0j)"]]),
        ("scalar", [["0", "0.1"]]),
        ("half", [["0", "0.1"], ["1", "-6.55e+04"]]),
        ("empty", []),
    ],
)
def test_csv_of_every_dtype(client, source, tag, wanted) -> None:
    assert lines(client.get("/api/tensor.csv", query_string={"run": "a", "tag": tag, "step": "0", "part": "all"}))[1:] == wanted


def test_an_answer_is_small(client, source) -> None:
    answer = client.get("/api/tensor?run=a&tag=big&rows=0:128&cols=0:64")
    assert len(answer.data) == 128 * 64 * 8
    assert tensor_blocks.MOST_VALUES >= 128 * 64


def test_histograms_over_steps_are_a_figure(client, source, monkeypatch) -> None:
    def distribution(run: str, tag: str, place: int, *, known: bool = False) -> HistogramValue | None:
        return analysis.distribution(ARRAYS[tag][place])

    monkeypatch.setattr(source.values, "distribution", distribution)
    figure = client.get("/api/tensor-histograms?run=a&tag=w&view=heat&columns=600").json
    meta = figure["layout"]["meta"]
    assert (meta["view"], meta["steps"], meta["waiting"]) == ("heat", 3, 0)
    assert figure["data"][0]["type"] == "heatmap"
    answer = client.get("/api/tensor-histograms?run=a&tag=w&view=cake")
    assert (answer.status_code, "view: expected one of" in answer.json["error"]) == (400, True)
    assert client.get("/api/tensor-histograms?run=a").status_code == 400
