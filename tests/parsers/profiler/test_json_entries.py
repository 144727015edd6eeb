"""Large JSON files, read entry by entry, beside the standard library's reader; and what is damaged in them."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import json_text
from parsers.cluster_frames import GROUPS
from parsers.profiler import json_entries
from parsers.profiler.columns import FORMAT, FileRows, Growing, JoinedRanks, NumberedTexts, narrow, packed, unpacked
from parsers.profiler.json_entries import EntryType, entries
from parsers.profiler.lines import Complaints

ANY = EntryType(dict[str, Any], lambda value: value if isinstance(value, dict) else None, b'"mark"', len)


def read(path: Path) -> tuple[dict[str, Any], list[str]]:
    complaints = Complaints(str(path))
    found: dict[str, Any] = {}
    for a, b, inner in entries(str(path), ANY, complaints):
        found.setdefault(a, {}).setdefault(b, {}).update(inner)
    return found, [problem.text for problem in complaints.problems]


PARTS = ("\\", '"', "{", "}", "[", "]", ",", ":", "\\\\", "a", "\u4e2d", "\n", "/", "\U0001f600")


def text_of(draw: random.Random) -> str:
    return "".join(draw.choice(PARTS) for _ in range(draw.randrange(9)))


@pytest.mark.parametrize("block", [1, 2, 7, 64, 1000])
def test_any_cut_gives_what_the_standard_library_reads(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_entries, "WHOLE", 0)
    monkeypatch.setattr(json_entries, "BLOCK", block)
    path = tmp_path / "file.json"
    for seed in range(30):
        draw = random.Random(seed)
        content = {
            f"a{place}{text_of(draw)}": {
                f"b{text_of(draw)}": {
                    f"c{number}{text_of(draw)}": {text_of(draw): [text_of(draw), {"x": draw.random()}]}
                    for number in range(draw.randrange(4))
                }
                for _ in range(1 + draw.randrange(2))
            }
            for place in range(1 + draw.randrange(3))
        }
        path.write_text(json.dumps(content, ensure_ascii=draw.random() < 0.5, indent=draw.choice([None, 1])))
        found, problems = read(path)
        wanted = {a: {b: one for b, one in inner.items() if one} for a, inner in content.items()}
        assert (found, problems) == ({a: inner for a, inner in wanted.items() if inner}, [] if found else problems), seed


def test_names_that_occur_again_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.json"
    path.write_text('{"s": {"p": {"a": {"mark": 1}, "a": {"mark": 2}, "b": {"mark": 3}}}}')
    for whole in (json_entries.WHOLE, 0):
        monkeypatch.setattr(json_entries, "WHOLE", whole)
        found, problems = read(path)
        assert found == {"s": {"p": {"a": {"mark": 2}, "b": {"mark": 3}}}}
        assert problems == ["Expected names once in an object, found 1 that occur again; the last of each is shown."]


def test_another_encoding_is_told(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes('{"s": {"p": {"\u00e9": {"mark": 1}}}}'.encode("latin-1"))
    found, problems = read(path)
    assert found == {"s": {"p": {"\ufffd": {"mark": 1}}}}
    assert problems == ["s.p: expected UTF-8, found byte e9; it is shown as \ufffd."]


@pytest.mark.parametrize("inner", ['"k": 1, ' * 100_000, '"k": {"x": 1}, ' * 60_000, '"k": "' + '\\\\' * 300_000 + '", '])
def test_a_large_damaged_entry_costs_itself_alone(inner: str, tmp_path: Path) -> None:
    """With the time growing by the square of its size this would take minutes."""
    path = tmp_path / "file.json"
    path.write_text(f'{{"s": {{"p": {{"good": {{"mark": 1}}, "bad": {{{inner} "k" 1}}, "more": {{"mark": 1}}}}}}}}')
    found, problems = read(path)
    assert found == {"s": {"p": {"good": {"mark": 1}, "more": {"mark": 1}}}}
    assert len(problems) == 1


@pytest.mark.parametrize("filling", ['"', "\\", "{", "}", '{"a":', "[", '"a": {"b": "c"}, '])
def test_what_never_ends_is_given_up(filling: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_entries, "LONGEST_ENTRY", 1 << 18)
    monkeypatch.setattr(json_entries, "BLOCK", 1 << 16)
    monkeypatch.setattr(json_entries, "WHOLE", 1 << 16)
    path = tmp_path / "file.json"
    path.write_text('{"s": {"p": {"x": {' + filling * (1_500_000 // len(filling)))
    most = "s.p: expected entries of at most 262,144 bytes; the rest was skipped."
    closed = "Expected JSON, found more braces that close than that open; what comes before is shown."
    assert read(path)[1][-1] == (closed if filling == "}" else most)


def test_a_file_that_is_large_is_read_in_pieces(tmp_path: Path, lengths_read: list[int]) -> None:
    path = tmp_path / "file.json"
    path.write_text('{"s": {"p": {"a": {"mark": 1}' + " " * json_entries.WHOLE + ', "b": {"mark": 2}}}}')
    assert read(path) == ({"s": {"p": {"a": {"mark": 1}, "b": {"mark": 2}}}}, [])
    assert max(lengths_read) == json_entries.BLOCK


@pytest.mark.parametrize("whole", [True, False])
def test_an_entry_of_too_many_values_costs_itself_alone(whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not whole:
        monkeypatch.setattr(json_entries, "WHOLE", 1)
    many = '"many": {"a": [' + "[]," * json_text.MOST_CONTAINERS + "1]}"
    (tmp_path / "a.json").write_text('{"s": {"p2p": {"before": {"mark": 1}, ' + many + ', "after": {"mark": 2}}}}')
    found, texts = read(tmp_path / "a.json")
    assert found == {"s": {"p2p": {"before": {"mark": 1}, "after": {"mark": 2}}}}
    (text,) = texts
    assert "arrays and objects where at most 250,000 are read" in text


def test_a_file_that_is_cut_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_entries, "WHOLE", 0)
    monkeypatch.setattr(json_entries, "BLOCK", 1000)
    path = tmp_path / "file.json"
    path.write_text(json.dumps({"s": {"p": {f"e{number}": {"mark": number} for number in range(1000)}}}))
    complaints = Complaints(str(path))
    found = 0
    for _, _, inner in entries(str(path), ANY, complaints):
        found += len(inner)
        if found > 100:
            with path.open("r+") as file:
                file.truncate(3000)
    assert 100 < found < 300
    assert [problem.kind for problem in complaints.problems] == ["truncated"]


def test_texts_beyond_the_recent_ones_are_one_again_when_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NumberedTexts, "RECENT", 4)
    rows = FileRows(GROUPS, ("group", "size"), "file")
    named = [f"g{number % 7}" for number in range(50)]
    for number, name in enumerate(named):
        rows.add(group=name, size=number * 1000)
    found = unpacked(packed([rows], ()))
    assert len(found.frames["groups"].texts["group"]) > 7
    joined = JoinedRanks(GROUPS)
    joined.add(found, "session")
    frame = joined.frame()
    assert frame["group"].tolist() == named
    assert frame["group"].cat.categories.tolist() == [f"g{number}" for number in range(7)]
    assert frame["size"].tolist() == [number * 1000 for number in range(50)]
    assert FORMAT.version >= 3


@given(st.lists(st.lists(st.one_of(st.integers(-2, 200), st.integers(-(1 << 63), (1 << 63) - 1)), max_size=6), max_size=8))
def test_joined_ranks_keep_whole_numbers_of_any_size(ranks: list[list[int]]) -> None:
    joined = JoinedRanks(GROUPS)
    wanted = []
    for number, sizes in enumerate(ranks):
        rows = FileRows(GROUPS, ("group", "size") if number % 3 else ("group",), "file")  # some files have no sizes
        for size in sizes:
            rows.add(group=f"g{number}", size=size)
        joined.add(unpacked(packed([rows], ())), "session")
        wanted += sizes if number % 3 else [-1] * len(sizes)
    frame = joined.frame()
    assert frame["size"].tolist() == wanted
    assert frame["size"].dtype == np.int64
    assert GROUPS.check(frame)["group"].tolist() == [f"g{number}" for number, sizes in enumerate(ranks) for _ in sizes]


@pytest.mark.parametrize("most", [(1 << bits) + more for bits in (7, 15, 31) for more in (-1, 0, 1)] + [(1 << 63) - 1])
def test_narrow_numbers_are_the_same_at_the_limits_of_each_type(most: int) -> None:
    values = np.array([most, -most - 1 if most < 1 << 31 else 0, 0], np.int64)
    for some in (values, values[:1], values[1:], -values[:1]):
        found = narrow(some)
        assert found.tolist() == some.tolist()
        fitting = [kind for kind in (np.int8, np.int16, np.int32, np.int64) if np.array_equal(some.astype(kind), some)]
        assert found.dtype == fitting[0]


def test_names_are_told_apart_where_a_rank_has_129() -> None:
    names = [f"g{number}" for number in range(129)]
    rows = FileRows(GROUPS, ("group", "size"), "file")
    for number, name in enumerate(names):
        rows.add(group=name, size=number)
    joined = JoinedRanks(GROUPS)
    joined.add(unpacked(packed([rows], ())), "session")
    frame = joined.frame()
    assert frame["group"].tolist() == names
    assert frame["size"].tolist() == [*range(129)]


def test_a_growing_column_takes_wider_numbers_as_they_come() -> None:
    column = Growing()
    parts = [np.array([1, -5]), np.array([], np.int64), np.array([300]), np.array([1 << 40]), np.array([7])]
    for part in parts:
        column.add(part)
    assert column.whole().tolist() == [1, -5, 300, 1 << 40, 7]
    assert column.whole().dtype == np.int64
    narrow = Growing()
    narrow.add(np.array([1, 2]))
    assert narrow.whole().dtype == np.int8


MEASURED = """
import resource, sys
from parsers.profiler.ranks import columns_of
from parsers.profiler.sessions import ProfileFile
begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
columns_of((ProfileFile(sys.argv[1], "communication.json", "communication", 0, 0, 0),), ("groups", "collectives", "packets"))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begun)
"""


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the unit of ru_maxrss differs elsewhere")
def test_a_large_file_takes_a_quarter_of_its_size_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "communication.json"
    nothing = {"Transit Size(MB)": 0, "Transit Time(ms)": 0, "Size Distribution": {}}
    bands = dict.fromkeys(("RDMA", "PCIE", "SIO", "SDMA"), nothing)
    bands["HCCS"] = {"Transit Size(MB)": 4.5, "Transit Time(ms)": 0.5, "Size Distribution": {"4.5": [1, 0.5]}}
    times = {"Start Timestamp(us)": 1.5e15, "Elapse Time(ms)": 2.5, "Transit Time(ms)": 0.5, "Wait Time(ms)": 1.0}
    entry = json.dumps({"Communication Time Info": times, "Communication Bandwidth Info": bands} | {"unknown": "x" * 500})
    with path.open("w") as file:
        file.write('{"step1": {"collective": {')
        file.write(", ".join(f'"hcom_allReduce__1_{number}@77": {entry}' for number in range(100_000)))
        file.write("}}}")
    assert path.stat().st_size > 100 << 20
    done = subprocess.run([sys.executable, "-c", MEASURED, str(path)], capture_output=True, text=True, check=True)
    assert int(done.stdout) * 1024 < path.stat().st_size / 3

