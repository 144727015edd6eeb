"""An event of a trace that is longer than the limit is skipped and reported; it does not cost memory, nor other events."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from parsers.profiler.trace import chrome, events
from parsers.profiler.trace.bytes import TraceBytes
from parsers.profiler.trace.events import LONGEST_EVENT, LONGEST_MENDED, LONGEST_VALUE, PIECE

BEYOND = 64 << 20
"""Bytes of memory beyond those of a trace without the long event."""
LONG = 80 << 20
"""Bytes of the long event."""
_BLOCK = 1 << 20


def _event(name: str, start: int, more: str = "") -> bytes:
    return f'{{"ph":"X","pid":1,"tid":1,"ts":{start},"dur":2,"name":"{name}"{more}}}'.encode()


def _texts(size: int) -> Iterator[bytes]:
    for _ in range(0, size, _BLOCK):
        yield b"x" * _BLOCK


def _objects(size: int) -> Iterator[bytes]:
    yield b'"},"b":[{}'
    block = b',{"a":"}]\\"","b":[1]}' * (_BLOCK // 20)
    for _ in range(0, size, len(block)):
        yield block
    yield b'],"c":{"d":"'


def _write(path: Path, parts: Callable[[int], Iterator[bytes]] | None, size: int = LONG) -> int:
    """Write a trace with a long event between others; return the offset of the long one."""
    with path.open("wb") as file:
        file.write(b"[" + _event("before", 1) + b",\n")
        at = file.tell()
        if parts is not None:
            file.write(_event("long", 3)[:-1] + b',"args":{"a":{"b":"')
            file.writelines(parts(size))
            file.write(b'"}}},\n')
        file.write(_event("after", 5) + b",\n" + _event("last", 7) + b"]")
    return at


def _counted_reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which the number of bytes of each later read of a trace is added."""
    counts: list[int] = []
    real = TraceBytes.read

    def counted(source: TraceBytes, offset: int, length: int) -> bytes:
        data = real(source, offset, length)
        counts.append(len(data))
        return data

    monkeypatch.setattr(TraceBytes, "read", counted)
    return counts


def _names(path: Path) -> list[str]:
    trace = chrome.read(str(path), None)
    return [trace.names[number] for number in trace.slices.name.tolist()]


@pytest.mark.parametrize("parts", [_texts, _objects])
def test_a_longer_event_is_skipped_and_reported_with_its_place(tmp_path: Path, parts: Callable[[int], Iterator[bytes]]) -> None:
    path = tmp_path / "trace_view.json"
    at = _write(path, parts, LONGEST_EVENT)
    trace = chrome.read(str(path), None)
    assert [trace.names[number] for number in trace.slices.name.tolist()] == ["before", "after", "last"]
    (problem,) = trace.problems
    length = path.stat().st_size - at - len(_event("after", 5) + b",\n" + _event("last", 7) + b"]") - 2
    assert (problem.path, problem.offset, problem.length) == (str(path), at, length)
    assert f"expected an event of at most 16 MB, found one of {length:,} bytes" in problem.text


@pytest.mark.parametrize("parts", [_texts, pytest.param(_objects, marks=pytest.mark.long)])
def test_an_event_of_any_length_is_one_problem_and_costs_no_others(
    tmp_path: Path, parts: Callable[[int], Iterator[bytes]]
) -> None:
    path = tmp_path / "trace_view.json"
    at = _write(path, parts, 300 << 20)
    trace = chrome.read(str(path), None)
    path.unlink()
    assert [trace.names[number] for number in trace.slices.name.tolist()] == ["before", "after", "last"]
    (problem,) = trace.problems
    assert problem.offset == at
    assert problem.text.startswith("1 event dropped: expected an event of at most 16 MB")


def test_long_events_without_an_end_are_searched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one costs a search of the whole file, the others one of some KB each."""
    for name, value in {"LONGEST_EVENT": 1 << 18, "PIECE": 1 << 14, "_SCANNED": 1 << 14, "_LONGEST_SKIPPED": 1 << 16}.items():
        monkeypatch.setattr(events, name, value)
    path = tmp_path / "trace_view.json"
    open_event = _event("open", 1, ',"args":{"a":"' + "x" * (1 << 18))
    path.write_bytes(b"[" + b",\n".join([_event("before", 1), *[open_event[:-3]] * 40, _event("after", 5)]))
    read = _counted_reads(monkeypatch)
    chrome.read(str(path), None)
    assert sum(read) < 8 * path.stat().st_size


def test_one_within_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    _write(path, _texts, LONGEST_EVENT - 2 * _BLOCK)
    assert _names(path) == ["before", "long", "after", "last"]


def test_a_compressed_trace_is_read_alike(tmp_path: Path) -> None:
    path, packed = tmp_path / "plain.json", tmp_path / "trace_view.json.gz"
    _write(path, _texts, LONGEST_EVENT)
    packed.write_bytes(gzip.compress(path.read_bytes(), 1))
    assert _names(packed) == ["before", "after", "last"]


def test_an_event_without_its_last_brace_costs_no_others(tmp_path: Path) -> None:
    """All after it is within it then, up to the end of the array: that is no long event."""
    path = tmp_path / "trace_view.json"
    args = ',"args":{"a":"' + "x" * 4000 + '"}'
    many = [_event(f"e{number % 9}", 10 * number, args) for number in range(LONGEST_EVENT // 3900)]
    path.write_bytes(b"[" + b",\n".join([_event("open", 1)[:-1], *many]) + b"]")
    assert len(_names(path)) == len(many)


def test_a_long_event_that_is_no_json_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    args = f',"args":{{"a":[NaN{",12345678901" * (LONGEST_MENDED // 12)}]}}'
    path.write_bytes(b"[" + b",".join((_event("a", 1), _event("b", 3, args), _event("c", 5))) + b"]")
    assert _names(path) == ["a", "c"]


def test_a_long_text_beside_the_events_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    events = _event("a", 1)
    for text in ("y" * (4 * PIECE), '\\"' * PIECE, "y" * (PIECE - 2) + "\\\\"):
        path.write_bytes(f'{{"note":"{text}","other":["{text}"],"traceEvents":['.encode() + events + b"]}")
        assert _names(path) == ["a"], text[-9:]


def test_only_short_values_beside_the_events_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    for more, kept in ((-2, True), (-1, False)):
        value = b'"' + b"y" * (LONGEST_VALUE + more) + b'"'
        path.write_bytes(b'{"note":' + value + b',"traceEvents":[' + _event("a", 1) + b"]}")
        with TraceBytes(str(path)) as source:
            reader = events.TraceEventReader(source, lambda *_: None, lambda *_: None, wanted=frozenset({"note"}))
            assert sum(len(piece.events) for piece in reader.pieces()) == 1
            assert reader.values == ({"note": value} if kept else {})


def test_a_name_without_an_end_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trace_view.json"
    path.write_bytes(b'{"' + b"x" * (32 * PIECE))
    read = _counted_reads(monkeypatch)
    assert _names(path) == []
    assert max(read) <= 4 * PIECE


def test_the_end_of_a_piece_is_sought_at_few_places() -> None:
    sought = []

    class Counted(bytes):
        """Bytes that note where a brace is sought."""

        def rfind(self, *where: Any) -> int:
            sought.append(where)
            return super().rfind(*where)

    assert list(events._cuts(Counted(b"{" * 100_000))) == []
    assert len(sought) == 4096


@pytest.mark.parametrize(("head", "tail"), [(b'{"note":"x', b'","traceEvents":['), (b'{"note":{"a":"x', b'"},"traceEvents":[')])
def test_a_hole_in_a_value_beside_the_events_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: bytes, tail: bytes
) -> None:
    path = tmp_path / "trace_view.json"
    with path.open("wb") as file:
        file.write(head)
        file.seek(64 << 20, 1)
        file.write(tail + _event("a", 1) + b"]}")
    if path.stat().st_blocks * 512 > 1 << 20:
        pytest.skip("this file system keeps no holes")
    read = _counted_reads(monkeypatch)
    assert _names(path) == ["a"]
    assert sum(read) < 8 << 20


@pytest.mark.parametrize("parts", [_texts, _objects])
def test_memory_is_bounded(tmp_path: Path, parts: Callable[[int], Iterator[bytes]]) -> None:
    peaks = []
    for name, one in (("intact", None), ("worst", parts)):
        _write(tmp_path / name, one)
        done = subprocess.run(
            [sys.executable, "-m", "tests.parsers.test_worst_files", "trace", str(tmp_path / name), str(tmp_path)],
            capture_output=True, text=True, timeout=100, check=True,
        )  # fmt: skip
        peaks.append(json.loads(done.stdout.splitlines()[-1])[1])
    assert peaks[1] - peaks[0] <= BEYOND, peaks
