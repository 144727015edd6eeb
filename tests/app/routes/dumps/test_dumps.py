"""The plain routes of dumps: frames read back with pandas, tensors with numpy, and what is refused."""

from __future__ import annotations

import io
import os
import re
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app import create_app
from app.routes.dumps import dumps
from app.store.store import Store
from layouts.dumps import dump_tensors
from layouts.dumps.dump_results import LISTED, WORKED
from layouts.dumps.open_dump import DumpWork
from layouts.dumps.watchpoints import SavedWatchpoint, WatchList
from parsers.dump_frames import DUMP_FRAMES
from tests.writers.dumps import BEGIN_US, Injection, file_name, npy, write_dump


@contextmanager
def serving(tmp_path: Path) -> Any:
    write_dump(tmp_path / "runs/a", iterations=3, injection=Injection(1, 2, "nan"))
    (tmp_path / "runs/b").mkdir()
    (tmp_path / "runs/b/x.summary.1.host").write_bytes(b"")
    (tmp_path / "notes").mkdir(mode=0o700)
    store = Store([tmp_path / "runs"], interval=0, notes_directory=str(tmp_path / "notes")).start()
    assert store.wait(30)
    made = create_app(store).server.test_client()
    made.store, made.base = store, tmp_path / "runs/a"
    yield made
    store.stop()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with serving(tmp_path_factory.mktemp("dumps")) as made:
        yield made


@pytest.fixture
def changed(tmp_path: Path) -> Any:
    """A client for a test that changes files, saves something or leaves work."""
    with serving(tmp_path) as made:
        yield made


def get(client: Any, address: str, **query: object) -> Any:
    """Ask, read the whole answer and end the download."""
    answer = client.get(address, query_string=query or None)
    assert answer.status_code == 200, answer.text
    assert answer.content_length in (None, len(answer.data))
    answer.close()
    return answer


def table(client: Any, name: str, **query: object) -> pd.DataFrame:
    answer = get(client, "/api/dump.csv", **({"run": "a", "frame": name} | query))
    assert answer.headers["Cache-Control"] == "no-store"
    return pd.read_csv(io.BytesIO(answer.data), keep_default_na=False)


@pytest.mark.parametrize("name", [*LISTED, *WORKED])
def test_every_frame_has_the_columns_of_its_schema(client, name: str) -> None:
    query = {"rank": "0", "step": "1"} if name == "spread" else {"watch": "recommended"} if name == "hits" else {}
    found = table(client, name, **query)
    assert tuple(found.columns) == DUMP_FRAMES[name].names
    if name not in ("overflows", "departures"):
        assert len(found)


def test_frames_hold_what_the_files_do(client) -> None:
    files = sorted(client.base.rglob("*.npy"))
    tensors = table(client, "tensors")
    assert sorted(tensors["file"]) == [str(path.relative_to(client.base / "rank_0")) for path in files]
    statistics = table(client, "statistics")
    bad = {str(path.relative_to(client.base / "rank_0")) for path in files if not np.isfinite(np.load(path)).all()}
    assert set(tensors["file"][statistics["non_finite"] == 1]) == bad
    causes = table(client, "causes")
    assert causes["iteration"].iat[0] == 1
    spread = table(client, "spread", rank=0, step=1)
    assert (spread["nan"] + spread["inf"] > 0).all()
    wanted = (tensors["iteration"] == 1) & tensors["file"].isin(bad) & (tensors["io"] == "output")
    assert set(spread["name"]) == set(tensors["name"][wanted])


def test_hits_are_those_of_the_saved_watchpoints(changed) -> None:
    refused = changed.get("/api/dump.csv?run=a&frame=hits")
    assert (refused.status_code, "recommended" in refused.json["error"]) == (404, True)
    tanh = SavedWatchpoint("tensor_overflow", pattern="(?i)tanh")
    off = SavedWatchpoint("tensor_all_zero", enabled=False)
    changed.store.notes.save_watchpoints("a", WatchList((tanh, off)), WatchList().version)
    found = table(changed, "hits")
    assert set(found["condition"]) == {"tensor_overflow"}
    assert found["name"].str.contains("anh").all()
    bad = [path for path in changed.base.rglob("*anh*.output.*.npy") if not np.isfinite(np.load(path)).all()]
    assert found["hit"].sum() == len(bad) > 0


@pytest.mark.parametrize("by_position", [False, True])
def test_a_tensor_is_sent_as_it_is_in_the_file(changed, monkeypatch: pytest.MonkeyPatch, by_position: bool) -> None:
    if by_position:
        monkeypatch.setattr(dump_tensors, "LARGE_BYTES", 0)
    folder = changed.base / "rank_0/Net/0/1"
    rng = np.random.default_rng(0)
    arrays = {"f": rng.normal(size=(3, 4)), "i": np.arange(5), "b": np.array([True, False])}
    arrays |= {"none": np.empty((0, 2), np.float32), "scalar": np.array(2.5, np.float32)}
    arrays["half"] = rng.normal(size=300_000).astype(np.float16)
    for number, (name, values) in enumerate(arrays.items()):
        file = file_name("Op", f"Default/{name}-op0", BEGIN_US + number, "output", 0, str(values.dtype))
        (folder / file).write_bytes(npy(values))
    turned = file_name("Op", "Default/turned-op0", BEGIN_US + 50, "output", 0, "float64")
    np.save(folder / turned, np.asfortranarray(arrays["f"]))
    arrays["turned"] = arrays["f"]
    tensors = table(changed, "tensors")
    for name, values in arrays.items():
        row = int(np.flatnonzero(tensors["name"].str.endswith(f"_{name}-op0"))[0])
        answer = get(changed, "/api/dump.npy", run="a", row=row)
        assert answer.content_length == len(answer.data)
        found = np.load(io.BytesIO(answer.data))
        np.testing.assert_array_equal(found, values)
        assert found.dtype == values.dtype
        again = get(changed, "/api/dump.npy", run="a", step=1, node=tensors["name"][row], io="output.0")
        assert again.data == answer.data
        disposition = answer.headers["Content-Disposition"]
        assert disposition.startswith("attachment; ")
        assert f"{name}-op0-rank0-step1-output.0.npy" in disposition


def test_names_of_files_are_safe(changed) -> None:
    folder = changed.base / "rank_0/Net/0/1"
    name = f"Op.Default_{'x' * 60}..--a b'\";фi-op0.0.0.{BEGIN_US}.output.0.DefaultFormat.Float32.npy"
    (folder / name).write_bytes(npy(np.ones(2, np.float32)))
    row = int(np.flatnonzero(table(changed, "tensors")["name"].str.contains("xxx"))[0])
    answer = get(changed, "/api/dump.npy", run="a", row=row)
    disposition = answer.headers["Content-Disposition"]
    assert disposition.isascii()
    assert disposition.count('"') == 2
    assert re.fullmatch(r"attachment; filename=\"[\w.-]+\"; filename\*=UTF-8''[\w.%-]+", disposition)
    assert len(disposition) < 600


@pytest.mark.parametrize(("query", "status"), [
    ("", 400), ("run=a", 400), ("run=a&frame=none", 400), ("run=a&frame=tensors&frame=causes", 400),
    ("run=a&frame=tensors&x=1", 400),
    ("run=none&frame=tensors", 404), ("run=b&frame=tensors", 404), ("run=a&frame=spread&rank=x", 400),
    ("run=a&frame=spread&step=-1", 400), ("run=a&frame=tensors&mark=old", 409), ("run=a&frame=hits&watch=all", 400),
])  # fmt: skip
def test_frames_that_are_refused(client, query: str, status: int) -> None:
    answer = client.get(f"/api/dump.csv?{query}")
    assert (answer.status_code, bool(answer.json["error"])) == (status, True)


@pytest.mark.parametrize(("query", "status"), [
    ("run=a", 400), ("run=a&row=x", 400), ("run=a&row=1e3", 400), ("run=a&row=999999", 404), ("run=a&row=1&row=2", 400),
    ("run=a&node=none", 404), ("run=a&node=x&io=output.x", 400), ("run=a&node=x&rank=-1", 400), ("run=a&row=0&mark=old", 409),
    ("run=none&row=0", 404), ("run=b&row=0", 404), ("run=a&row=0&path=/etc/passwd", 400),
])  # fmt: skip
def test_tensors_that_are_refused(client, query: str, status: int) -> None:
    answer = client.get(f"/api/dump.npy?{query}")
    assert (answer.status_code, bool(answer.json["error"])) == (status, True)


def test_a_spread_of_nothing_is_empty(client) -> None:
    assert not len(table(client, "spread", rank=7, step=99))


def test_a_damaged_tensor_is_refused_with_the_reason(changed) -> None:
    path = min((changed.base / "rank_0/Net/0/1").glob("Tanh.*.output.*"))
    os.chmod(path, 0o600)
    path.write_bytes(path.read_bytes()[:-4])
    row = int(np.flatnonzero(table(changed, "tensors")["file"].str.endswith(path.name))[0])
    answer = changed.get(f"/api/dump.npy?run=a&row={row}")
    assert answer.status_code == 422
    assert "truncated" in answer.json["error"]


def test_work_that_takes_too_long_is_to_be_asked_for_again(changed, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(table(changed, "tensors"))
    monkeypatch.setattr(dumps, "PATIENCE", 0.0)
    monkeypatch.setattr(dumps, "work_for", lambda *_args, **_named: SLOW)
    answer = changed.get("/api/dump.csv?run=a&frame=causes")
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    changed.store.dumps.cancel("a", SLOW)


def test_work_that_fails_says_why(changed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumps, "work_for", lambda *_args, **_named: BROKEN)
    answer = changed.get("/api/dump.csv?run=a&frame=causes")
    assert answer.status_code == 500
    assert "RuntimeError: no" in answer.json["error"]


def _slow(dump: object, report: Any) -> None:
    while True:
        report(0, 1)


def _broken(dump: object, report: Any) -> None:
    raise RuntimeError("no")


SLOW, BROKEN = DumpWork("slow", None, _slow), DumpWork("broken", None, _broken)
