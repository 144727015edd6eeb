"""Large graphs are read in the background, with progress, and may be cancelled."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.store.graphs import source
from app.store.store import Store
from benchmarks.graphs_data import transformer
from parsers import PayloadError
from parsers.graphs import anf_ir, formats
from parsers.graphs.graph import Graph
from parsers.profiler.progress import report_read
from tests.waiting import until

NAME = "ms_output_optimize_0.pb"


class Held:
    """Decoding that waits after a third of the bytes until it is let go; times says how often it began."""

    def __init__(self) -> None:
        self.go, self.begun, self.times = threading.Event(), threading.Event(), 0

    def read(self, data: bytes, origin: Any) -> Graph:
        self.times += 1
        report_read(len(data) // 3)
        self.begun.set()
        while not self.go.wait(0.01):
            report_read(0)
        return anf_ir.read_graph(data, origin)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    found = Held()
    [form] = [one for one in formats.FORMATS if one.name == anf_ir.FORMAT]
    changed = formats.GraphFormat(form.name, form.sniff, form.pattern, found.read, form.longest)
    monkeypatch.setattr(formats, "FORMATS", tuple(changed if one is form else one for one in formats.FORMATS))
    monkeypatch.setattr(source, "LARGE_BYTES", 1_000)
    yield found
    found.go.set()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / NAME).write_bytes(transformer(2))
    (tmp_path / "run" / "small.dot").write_text("digraph mindspore { a -> b; }")
    found = Store([tmp_path], interval=0).start()
    assert found.wait(30)
    yield found
    found.stop()


def key(store: Store) -> str:
    [row] = store.runs.rows()
    return row.key


def test_progress_is_in_bytes_and_a_request_waits_for_what_is_being_read(store: Store, held: Held) -> None:
    run = key(store)
    size = len(transformer(2))
    assert store.graphs.reading(run, NAME).state == "working"
    assert held.begun.wait(30)
    found = store.graphs.reading(run, NAME)
    assert (found.state, found.done, found.total) == ("working", size // 3, size)
    answers: list[Graph | None] = []
    asking = threading.Thread(target=lambda: answers.append(store.graphs.graph(run, NAME)))
    asking.start()
    held.go.set()
    asking.join(30)
    assert answers[0] is not None
    assert store.graphs.reading(run, NAME).state == "ready"
    assert store.graphs.graph(run, NAME) is answers[0]
    assert held.times == 1


def test_reading_is_cancelled_and_begins_again_only_when_asked(store: Store, held: Held) -> None:
    run = key(store)
    store.graphs.reading(run, NAME)
    assert held.begun.wait(30)
    store.graphs.reading(run, NAME, cancel=True)
    until(lambda: store.graphs.reading(run, NAME).state == "cancelled", seconds=30)
    with pytest.raises(PayloadError, match="cancelled"):
        store.graphs.graph(run, NAME)
    held.go.set()
    store.graphs.reading(run, NAME, again=True)
    until(lambda: store.graphs.reading(run, NAME).state == "ready", seconds=30)
    assert store.graphs.graph(run, NAME) is not None
    assert held.times == 2


def test_small_and_unknown_graphs_are_not_waited_for(store: Store, held: Held) -> None:
    run = key(store)
    assert store.graphs.reading(run, "small.dot").state == "ready"
    assert store.graphs.reading(run, "none.pb").state == "ready"
    assert store.graphs.reading("no run", NAME).state == "ready"
    assert held.times == 0


def test_a_graph_that_cannot_be_read_is_told_as_before(store: Store, held: Held, tmp_path: Path) -> None:
    run = key(store)
    held.go.set()
    (tmp_path / "run" / NAME).unlink()
    until(lambda: store.graphs.reading(run, NAME).state == "ready", seconds=30)
    with pytest.raises(PayloadError, match="cannot be read"):
        store.graphs.graph(run, NAME)


@pytest.mark.parametrize("name", ["pb", "ir"])
def test_readers_report_all_of_a_large_graph_but_its_last_part(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from parsers.graphs import ir_text
    from parsers.graphs.graph import Origin
    from parsers.profiler import progress

    monkeypatch.setattr(progress, "REPORTED", 1_000)
    told: list[int] = []
    data, read = (transformer(4), anf_ir.read_graph) if name == "pb" else (ir(4_000), ir_text.read_graph)
    with progress.watched(told.append):
        read(data, Origin("made"))
    assert len(told) > 20
    assert 0.8 * len(data) < sum(told) <= len(data)


def ir(many: int) -> bytes:
    """A graph in MindSpore's text form, of so many operators in a row."""
    lines = ["# IR entry: @main", "", "subgraph @main() {"]
    for number in range(1, many):
        given = f"%{number - 1}" if number > 1 else "%para1_x"
        lines.append(f"  %{number}(out{number}) = ReLU({given}) {{instance name: relu}} primitive_attrs: {{}}")
    return "\n".join([*lines, "  Return(%1)", "}"]).encode()
