"""Graphs are decoded once: from snapshots on disk after that, which are ignored when they are damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.store.graphs import snapshots as graphs
from app.store.graphs.snapshots import GraphSnapshots
from app.store.store import Store
from benchmarks.graphs_data import transformer
from parsers.graphs import anf_ir, formats, snapshot
from parsers.graphs.graph import Graph


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes each graph had that was decoded; graphs of any size are kept."""
    found: list[int] = []

    def counting(data: bytes, origin: Any) -> Graph:
        found.append(len(data))
        return anf_ir.read_graph(data, origin)

    [form] = [one for one in formats.FORMATS if one.name == anf_ir.FORMAT]
    changed = formats.GraphFormat(form.name, form.sniff, form.pattern, counting, form.longest)
    monkeypatch.setattr(formats, "FORMATS", tuple(changed if one is form else one for one in formats.FORMATS))
    monkeypatch.setattr(snapshot, "LEAST_BYTES", 1_000)
    return found


def opened(runs: Path, index: Path) -> Graph:
    """Open the graph in a server of its own."""
    store = Store([runs], interval=0, index_directory=str(index)).start()
    assert store.wait(30)
    [run] = store.runs.rows()
    [place] = store.graphs.locations(run.key)
    found = store.graphs.graph(run.key, place.name)
    assert found is not None
    store.stop()
    return found


def test_a_graph_is_decoded_once_for_all_starts(tmp_path: Path, times: list[int]) -> None:
    run, index = tmp_path / "runs" / "run", tmp_path / "index"
    run.mkdir(parents=True)
    (run / "ms_output_optimize_0.pb").write_bytes(transformer(2))
    first = opened(tmp_path / "runs", index)
    again = opened(tmp_path / "runs", index)
    assert len(times) == 1
    assert again.nodes.equals(first.nodes)
    assert again.edges.equals(first.edges)
    assert (again.name, again.path) == (first.name, first.path)
    [kept] = (tmp_path / "index-graphs").glob("*/*/*.val")
    kept.write_bytes(kept.read_bytes()[:-8] + b"damaged!")
    assert opened(tmp_path / "runs", index).nodes.equals(first.nodes)
    assert len(times) == 2
    assert opened(tmp_path / "runs", index).nodes.equals(first.nodes)
    assert len(times) == 2
    (run / "ms_output_optimize_0.pb").write_bytes(transformer(3))
    assert len(opened(tmp_path / "runs", index).nodes) > len(first.nodes)
    assert len(times) == 3


def test_what_is_too_large_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "LARGEST_BYTES", 10)
    kept = GraphSnapshots(str(tmp_path / "graphs"))
    kept.write("a", [b"0123456789", b"0"])
    kept.write("b", [b"01234", b"56789"])
    kept.stop()
    kept = GraphSnapshots(str(tmp_path / "graphs"))
    assert kept.read("a") is None
    assert kept.read("b") == b"0123456789"
    kept.stop()
