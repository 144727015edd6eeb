"""The plain routes for values of dumped tensors, read back with numpy, against the arrays in the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.web.server import create_app
from layouts.dumps import dump_tensors
from parsers.dumps.access import RunDump
from tests.sources import MemorySource
from tests.writers.dumps import file_name, npy

ARRAYS: dict[str, Any] = {
    "plain": np.arange(60, dtype=np.float32).reshape(3, 4, 5),
    "later": np.arange(60, dtype=np.float32).reshape(3, 4, 5) ** 2,
    "flat": np.arange(60, dtype=np.float32),
    "half": np.array([[1.0, np.nan], [np.inf, -2.0]], np.float16),
    "scalar": np.array(3.5),
    "none": np.empty((0, 4), np.float32),
    "flags": np.array([True, False]),
    "complex": np.array([1 + 2j, 3], np.complex64),
    "long": np.array([2**62, -5], np.int64),
}
TYPES = {"complex64": "Complex64"}


def client_of(tmp_path: Path) -> Any:
    rank = tmp_path / "rank_0"
    folder = rank / "Net" / "0" / "0"
    folder.mkdir(parents=True)
    (rank / ".dump_metadata").mkdir()
    for place, (name, values) in enumerate(ARRAYS.items()):
        kind = str(values.dtype)
        file = f"Op.Default_{name}-op0.0.0.{1000 + place}.output.0.DefaultFormat.{TYPES.get(kind) or kind.capitalize()}.npy"
        (folder / file).write_bytes(npy(values))
    (folder / file_name("Op", "Default/broken-op0", 2000, "output", 0, "float32")).write_bytes(npy(ARRAYS["plain"])[:200])
    source = MemorySource({"a": {"dump": RunDump(str(tmp_path), (str(rank),))}, "b": {}})
    made = create_app(source).server.test_client()
    made.dump, made.mark, made.folder = source.dumps.open("a").dump, source.dumps.open("a").mark, folder
    return made


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return client_of(tmp_path_factory.mktemp("dump"))


@pytest.fixture(params=[False, True], ids=["whole", "by position"])
def read_how(monkeypatch, request) -> None:
    if request.param:
        monkeypatch.setattr(dump_tensors, "LARGE_BYTES", 0)


@pytest.fixture
def client(shared, read_how) -> Any:
    return shared


def row(client: Any, name: str) -> str:
    names = client.dump.tensors["name"].astype(str).tolist()
    return str(next(place for place, full in enumerate(names) if name in full))


def asked(client: Any, name: str, **query: str) -> dict[str, str]:
    return {"run": "a", "row": row(client, name), "mark": client.mark, **query}


def against(client: Any, name: str) -> dict[str, str]:
    return {"with_run": "a", "with_row": row(client, name), "with_mark": client.mark}


def rectangle(answer: Any) -> Any:
    assert answer.status_code == 200, answer.text
    about = json.loads(answer.headers["Mindscope-Block"])
    shape = [stop - start for start, stop in (about["rows"], about["cols"])]
    return np.frombuffer(answer.data, f"<{about['dtype']}").reshape(shape)


@pytest.mark.parametrize(
    ("name", "query", "wanted"),
    [
        ("plain", {}, ARRAYS["plain"][0]),
        ("plain", {"dims": ":,1,2:4"}, ARRAYS["plain"][:, 1, 2:4]),
        ("plain", {"dims": ":,3,0"}, ARRAYS["plain"][:, 3, :1]),
        ("plain", {"dims": "2,:,:", "rows": "1:3", "cols": "4:9"}, ARRAYS["plain"][2, 1:3, 4:]),
        ("half", {}, ARRAYS["half"].astype(np.float32)),
        ("scalar", {}, np.array([[3.5]])),
        ("flags", {}, np.array([[1], [0]])),
        ("complex", {}, ARRAYS["complex"][:, None]),
        ("long", {}, ARRAYS["long"][:, None]),
    ],
)
def test_a_rectangle_holds_the_values_of_the_file(client, name: str, query: dict[str, str], wanted: Any) -> None:
    found = rectangle(client.get("/api/dump-values", query_string=asked(client, name, **query)))
    np.testing.assert_array_equal(found, wanted)


def test_differences(client) -> None:
    query = asked(client, "later", **against(client, "plain"))
    np.testing.assert_array_equal(
        rectangle(client.get("/api/dump-values", query_string=query)), (ARRAYS["later"] - ARRAYS["plain"])[0]
    )
    query = asked(client, "later", **against(client, "flat"), how="relative")
    with np.errstate(divide="ignore", invalid="ignore"):
        wanted = (ARRAYS["later"] - ARRAYS["plain"]) / np.abs(ARRAYS["plain"])
    found = rectangle(client.get("/api/dump-values", query_string=query | {"dims": "1,:,:"}))
    np.testing.assert_allclose(found, wanted[1], rtol=1e-12)


def test_facts(client) -> None:
    about = client.get("/api/dump-about", query_string=asked(client, "plain")).json
    assert about["shape"] == [3, 4, 5]
    assert (about["kept"], about["boxes"], about["fixed"]) == ("float32", ["0", ":", ":"], [0, 0, 0])
    assert client.get("/api/dump-about", query_string=asked(client, "none")).json["shape"] == [0, 4]
    refused = client.get("/api/dump-about", query_string=asked(client, "plain", dims="9,:,:")).json["refused"]
    assert refused.startswith("dimension 0")
    problem = client.get("/api/dump-about", query_string=asked(client, "broken")).json["problem"]
    assert "cut" in problem or "truncated" in problem


def test_the_next_bad_value_is_found_and_starts_over(client) -> None:
    for after, index in (("", [0, 1]), ("0,1", [1, 0]), ("1,0", [0, 1])):
        assert client.get("/api/dump-bad", query_string=asked(client, "half", after=after)).json["index"] == index
    assert client.get("/api/dump-bad", query_string=asked(client, "plain")).json["index"] is None


@pytest.mark.parametrize(
    ("query", "status", "text"),
    [
        ({"run": "b"}, 404, "no dump of a run 'b'"),
        ({"run": "nobody"}, 404, "no dump"),
        ({"row": "-1"}, 400, "row"),
        ({"row": "9999"}, 422, "found row 9,999"),
        ({"rows": "9:1"}, 400, "rows"),
        ({"dims": "0"}, 422, "dimensions"),
        ({"tag": "w"}, 400, "expected the parameters"),
        ({"how": "loud"}, 400, "how"),
    ],
)
def test_what_is_not_there_is_refused_with_a_reason(client, query: dict[str, str], status: int, text: str) -> None:
    answer = client.get("/api/dump-values", query_string={**asked(client, "plain"), **query})
    assert answer.status_code == status, answer.text
    assert text in answer.json["error"]


def test_rows_of_a_dump_that_was_listed_anew_are_neither_answered_nor_an_error(client) -> None:
    for route in ("dump-values", "dump-bad"):
        answer = client.get(f"/api/{route}", query_string=asked(client, "plain") | {"mark": "old"})
        assert (answer.status_code, answer.data) == (204, b"")


def test_a_file_that_is_gone_or_of_another_shape_is_refused(tmp_path, read_how) -> None:
    client = client_of(tmp_path)
    query = asked(client, "plain", **against(client, "half"))
    assert client.get("/api/dump-values", query_string=query).status_code == 422
    Path(next(client.folder.glob("Op.Default_plain*"))).unlink()
    answer = client.get("/api/dump-values", query_string=asked(client, "plain"))
    assert answer.status_code == 422
    assert client.get("/api/dump-about", query_string=asked(client, "plain")).json["problem"]
