"""What pages say of runs whose data damage has taken: the problems, never how to record or compute the data."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.store.store import Store
from layouts.graphs.dataset.catalogue import catalogue as pipelines
from layouts.graphs.graph.catalogue import catalogue as graphs
from layouts.kit.cards.catalogue import catalogue as tags
from layouts.lineage.callbacks import filled
from layouts.lineage.model_columns import table
from layouts.lineage.optimisation.page import explained
from layouts.lineage.pipelines import find
from layouts.lineage.table import LineageTables
from layouts.profiles.catalogue import catalogue as profiles
from layouts.runs.overview.tiles import TILES, contents
from layouts.values.landscape.catalogue import catalogue as landscapes
from parsers import Problem
from parsers.recording import EventWriter, Tensor
from tests.recorded import RECORDED
from tests.sources import MemorySource
from tests.waiting import until

HOUR = 3600.0


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Three runs: the landscapes and the graph of one are cut off, one has its data, one never recorded any."""
    shutil.copytree(RECORDED / "lenet_landscape", tmp_path / "whole")
    shutil.copytree(RECORDED / "several_files", tmp_path / "never")
    shutil.copytree(RECORDED / "lenet_landscape", tmp_path / "cut")
    for path in (tmp_path / "cut").iterdir():
        os.truncate(path, min(path.stat().st_size, 100))
        os.utime(path, (time.time() - HOUR,) * 2)
    (tmp_path / "cut" / "ckpt_dir").mkdir()
    (tmp_path / "cut" / "ckpt_dir" / "train_metadata.json").write_text("{}")
    return tmp_path


@pytest.fixture
def store(base: Path) -> Iterator[Store]:
    made = Store([base], interval=0).start()
    assert made.wait(20)
    yield made
    made.stop()


def of_kind(kind: str) -> Any:
    return lambda store, state: tags(store, kind, state)


@pytest.mark.parametrize(
    "catalogue",
    [
        of_kind("histogram"),
        of_kind("scalar"),
        landscapes,
        graphs,
        lambda store, state: pipelines(store, state, find(store, state), ()),
    ],
    ids=["histograms", "scalars", "landscape", "graph", "dataset"],
)
def test_a_page_lists_the_damage_only_where_data_lack(store: Store, catalogue: Any) -> None:
    cut = catalogue(store, {"run": ["cut"]})
    assert [name for name, _ in cut["damage"]] == sorted(os.listdir(RECORDED / "lenet_landscape"))[: len(cut["damage"])]
    assert all("The file ends within a record" in text for _, text in cut["damage"])
    assert not cut.get("plans"), "what was lost need not be computed"
    assert catalogue(store, {"run": ["never"]})["damage"] == []
    assert catalogue(store, {"run": ["cut", "whole"]})["damage"] == []


def test_a_graph_says_that_it_was_cut(store: Store) -> None:
    whole = (RECORDED / "lenet_landscape" / "events.out.events.summary.1795218276.0.vm_MS").read_bytes()
    second = 16 + int.from_bytes(whole[:8], "little")
    needed = 16 + int.from_bytes(whole[second : second + 8], "little")
    found = graphs(store, {"run": ["cut"]})
    assert found is not None
    ((_, text),) = [row for row in found["damage"] if "1795218276" in row[0] and row[0].endswith("_MS")]
    assert f"at byte {second:,} needs {needed:,} bytes, only {100 - second:,} are present" in text
    assert "graph" in text


def test_settings_that_damage_has_taken(tmp_path: Path, base: Path) -> None:
    shutil.rmtree(base / "whole")
    shutil.rmtree(base / "never")
    store = Store([base], interval=0).start()
    try:
        assert store.wait(20)
        sheet, _ = filled(LineageTables(store, table), None)
        assert sheet["keys"] == []
        assert any("lineage" in name for name, _ in sheet["damage"])
        results, _ = explained(store, LineageTables(store, table), {"run": ["*"]}, None)
        assert results["target"] == ""
        assert results["damage"] == sheet["damage"]
    finally:
        store.stop()


def test_profiles_that_cannot_be_reached() -> None:
    hidden = Problem("/data/runs/one/profiler", 0, 0, "unreadable", "The directory cannot be listed.")
    record = Problem("/data/runs/one/x.summary.1.h", 0, 9, "bad_data", "A record is damaged.")
    source = MemorySource({"one": {"scalar": {}}, "two": {"scalar": {}}}, problems=[("one", hidden), ("two", record)])
    found = profiles(source, {"run": ["one", "two"]})
    assert found is not None
    assert found["damage"] == [["profiler", "The directory cannot be listed."]], "an event file holds no profile"


def test_tiles_of_the_overview(store: Store) -> None:
    rows = {row.key: row for row in store.runs.rows()}
    for tile in TILES:
        if not tile.always:
            continue
        cut, never = (str(contents(tile, store, key, rows[key], "/api/")) for key in ("cut", "never"))
        if not store.runs.tags("cut", tile.kind):
            assert "ms-code" not in cut, tile.name
            assert "Files of this run are damaged" in cut, tile.name
        if not store.runs.tags("never", tile.kind):
            assert "ms-code" in never, tile.name


def test_a_value_that_turns_out_damaged_is_still_listed(tmp_path: Path) -> None:
    """Its page shows the reason in its place; the list of runs counts it."""
    (tmp_path / "run").mkdir()
    path = tmp_path / "run" / "events.out.events.summary.1700000000.0.host_MS"
    with EventWriter(str(path), "mindspore") as writer:
        writer.add(1, {"w": Tensor(np.ones(30_000, np.float32))})
    data = bytearray(path.read_bytes())
    data[-1000] ^= 1
    path.write_bytes(data)
    store = Store([tmp_path], interval=0).start()
    try:
        until(lambda: store.runs.status().problems)
        found = tags(store, "tensor", {})
        assert found is not None
        assert (found["tags"], found["damage"]) == (["w"], [])
        assert store.runs.rows()[0].problems == 1
    finally:
        store.stop()
