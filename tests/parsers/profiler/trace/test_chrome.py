"""Chrome traces: exact times, every phase, nothing lost silently."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.model import KINDS
from parsers.profiler.progress import Cancelled, watched
from parsers.profiler.trace import chrome, events, sources
from parsers.profiler.trace.bytes import TraceBytes
from parsers.profiler.trace.columns import ASYNC, COMPLETE, INSTANT, UNFINISHED, UNSTARTED, Trace
from parsers.profiler.trace.events import PIECE
from tests.amounts import examples, long_after

DATA = Path(__file__).resolve().parents[3] / "data"
KINETO = DATA / "written/traces/host_1.1712000000000.pt.trace.json"
REAL = (
    "profiler/**/trace_view.json", "profiler_new/**/trace_view.json", "profiler_new/**/*timeline_display*.json",
    "mindinsight_legacy/**/*timeline_display*.json", "mindinsight_legacy/**/msprof_*.json",
)  # fmt: skip


def event(number: int, **more: Any) -> dict[str, Any]:
    return {
        "ph": "X", "name": f"op{number}", "pid": 1, "tid": 2, "ts": f"{1736412474000000 + 10 * number}.125", "dur": 5.5,
        "args": {"n": number}, **more,
    }  # fmt: skip


def array(texts: list[str]) -> str:
    return "[" + ", ".join(texts) + "]"


TEXTS = [json.dumps(event(number)) for number in range(50)]


def trace_of(folder: Path, content: str | bytes, name: str = "trace.json") -> Trace:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return sources.read(str(path))


def changed(number: int, old: str, new: str) -> str:
    texts = list(TEXTS)
    assert old in texts[number]
    texts[number] = texts[number].replace(old, new)
    return array(texts)


def found(trace: Trace) -> Counter[tuple[str, str, str, str, int, int]]:
    """Process, thread, name, category, begin and duration in ns of every slice."""
    columns = trace.slices
    rows = zip(
        columns.track.tolist(), columns.name.tolist(), columns.category.tolist(), columns.start.tolist(),
        columns.duration.tolist(), strict=True,
    )  # fmt: skip
    return Counter(
        (
            trace.tracks[track].process_id, trace.tracks[track].thread_id, trace.names[name], trace.categories[category],
            start + trace.origin_ns, duration,
        )
        for track, name, category, start, duration in rows
    )  # fmt: skip


def decoded(text: str) -> Counter[tuple[str, str, str, str, int, int]]:
    """The same of the complete events of a file, by Python's decoder and Decimal."""

    def ns(value: str) -> int:
        with localcontext(prec=60):
            return int((Decimal(value) * 1000).to_integral_value(ROUND_HALF_EVEN))

    loaded = json.loads(text, parse_float=str, parse_int=str)
    listed = loaded if isinstance(loaded, list) else loaded["traceEvents"]
    return Counter(
        (str(one.get("pid", "")), str(one.get("tid", "")), one["name"], one.get("cat", ""), ns(one["ts"]), ns(one["dur"]))
        for one in listed
        if one["ph"] == "X"
    )


def check(trace: Trace) -> None:
    """What every trace promises."""
    columns = trace.slices
    size = len(columns)
    assert all(len(getattr(columns, name)) == size for name in columns.__slots__)
    assert columns.start.min(initial=0) >= 0
    assert columns.duration.min(initial=0) >= 0
    assert columns.self.min(initial=0) >= 0
    assert (columns.self <= columns.duration).all()
    key = list(zip(columns.track.tolist(), columns.start.tolist(), (-columns.duration).tolist(), strict=True))
    assert key == sorted(key)
    lasts = [track.last for track in trace.tracks]
    assert [track.first for track in trace.tracks] == [0, *lasts][: len(lasts)]
    assert (lasts or [0])[-1] == size
    for number, track in enumerate(trace.tracks):
        assert (columns.track[track.first : track.last] == number).all()
    for ends in (trace.flows.source, trace.flows.target):
        assert ends.min(initial=0) >= 0
        assert ends.max(initial=-1) < size
    assert all(problem.kind in KINDS and problem.text and problem.path == trace.path for problem in trace.problems)


# Real files ------------------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_every_real_trace_equals_an_independent_decode(real_data: Path) -> None:
    paths = [path for pattern in REAL for path in sorted(real_data.glob(pattern))]
    assert len(paths) > 20
    for path in paths:
        trace = sources.read(str(path))
        check(trace)
        text = path.read_text()
        assert found(trace) == decoded(text), path
        listed = json.loads(text)
        values = sum(sum(not key.endswith("_id") for key in one["args"]) for one in listed if one["ph"] == "C")
        assert len(trace.counters) == values
        assert len(trace.flows) == sum(one["ph"] == "f" for one in listed)


def test_arguments_of_every_slice_of_a_real_trace(real_data: Path) -> None:
    path = next(real_data.glob("profiler_new/torch_npu_text_level2/rank0*/ASCEND_PROFILER_OUTPUT/trace_view.json"))
    trace = sources.read(str(path))
    listed = [one for one in json.loads(path.read_text()) if one["ph"] == "X"]
    for row in np.argsort(trace.slices.event)[::101].tolist():
        place = int(np.flatnonzero(np.sort(trace.slices.event) == trace.slices.event[row])[0])
        assert sources.arguments(trace, row) == listed[place].get("args", {})
    kinds = Counter(track.kind for track in trace.tracks)
    assert kinds["device_stream"] == 4
    assert kinds["host_queue"] == 1
    assert {track.kind for track in trace.tracks if track.process == "CANN"} == {"cann"}


def test_times_of_the_kernels_equal_the_table_of_the_same_profile(real_data: Path) -> None:
    from parsers import open_run

    profile = next(iter(open_run(real_data / "profiler_new/torch_npu_text_level2").profile.values()))
    frames = profile.trace
    slices = frames.slices.merge(frames.tracks[["kind"]], left_on="track", right_index=True)
    device = slices[slices["kind"] == "device_stream"].groupby("name", observed=True)["duration_ns"].sum()
    kernels = profile.kernels
    compute = kernels[~kernels["core"].isin(["HCCL", "COMMUNICATION"])].groupby("name", observed=True)["duration_ns"].sum()
    assert len(compute) > 50
    differences = {name: int(device[name] - total) for name, total in compute.items() if device[name] != total}
    # The table has durations rounded from float64, which halves of a ns (25.2205 us) make larger or smaller by chance.
    assert set(differences.values()) <= {-1, 1}
    assert len(differences) <= 2


# Forms ------------------------------------------------------------------------------------------------------------------------


def test_all_phases_of_a_trace_of_pytorch() -> None:
    trace = sources.read(str(KINETO))
    check(trace)
    assert not trace.problems
    assert (trace.origin_ns, trace.clock) == (1712000000000000123 + 100_000, "epoch")
    columns = trace.slices
    row_of = {trace.names[name]: row for row, name in enumerate(columns.name.tolist())}
    kinds = {name: trace.tracks[columns.track[row]].kind for name, row in row_of.items()}
    seen = {
        name: (int(columns.start[row]), int(columns.duration[row]), int(columns.phase[row]), kinds[name])
        for name, row in row_of.items()
    }
    assert seen == {
        "aten::mm": (125, 50_500, COMPLETE, "python"),
        "cudaLaunchKernel": (10_000, 5250, COMPLETE, "python"),
        "gemm": (30_500, 20_750, COMPLETE, "device_stream"),
        "[memory]": (20_000, 0, INSTANT, "python"),
        "outer": (0, 5001, COMPLETE, "python"),
        "inner": (1000, 2000, COMPLETE, "python"),
        "get": (0, 9000, ASYNC, "python"),
        "sent": (1000, 0, INSTANT, "python"),
    }
    assert [(trace.names[columns.name[trace.flows.source[0]]], trace.names[columns.name[trace.flows.target[0]]])] == [
        ("cudaLaunchKernel", "gemm")
    ]
    assert sources.arguments(trace, row_of["aten::mm"]) == {"External id": 1, "Input Dims": [[2, 3], [3, 4]]}
    assert sources.arguments(trace, row_of["get"]) == {}
    values = trace.counters
    rows = zip(values.track.tolist(), values.series.tolist(), values.time.tolist(), values.value.tolist(), strict=True)
    assert sorted((trace.tracks[track].thread, trace.series[series], time, value) for track, series, time, value in rows) == [
        ("acc", "value (acc_id 1)", 1000, 3.0),
        ("acc", "value (acc_id 2)", 1000, 4.0),
        ("memory", "free", 0, 2.5),
        ("memory", "used", 0, 1.0),
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda text: text,
        lambda text: "\ufeff" + text,
        lambda text: json.dumps(json.loads(text), indent=3),
        lambda text: text.replace(", {", ",{"),
        lambda text: text[:-1] + ",]",
        lambda text: '{"traceEvents": ' + text + "}",
        lambda text: '{"traceEvents":' + text + ', "otherData": {"x": [{}, {"traceEvents": [1]}]}, "displayTimeUnit": "ns"}\n',
        lambda text: '{"meta": [{"a": {"b": [1, "}"], "c": "]}"}}], "x": 1.5, "y": "z", "traceEvents": ' + text + "}",
        lambda text: gzip.compress(text.encode()),
        lambda text: gzip.compress(text[:2000].encode()) + gzip.compress(text[2000:].encode()),
        lambda text: text[:-1] + ", {}]",
    ],
)  # fmt: skip
def test_each_form_gives_the_same(make: Callable[[str], str | bytes], tmp_path: Path) -> None:
    trace = trace_of(tmp_path, make(array(TEXTS)))
    check(trace)
    assert found(trace) == decoded(array(TEXTS))
    assert not trace.problems
    assert [sources.arguments(trace, row) for row in (0, 7, 49)] == [{"n": 0}, {"n": 7}, {"n": 49}]


def test_pieces_are_cut_anywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tricky = [
        event(number, args={"list": [{"a": 1}, {"b": "},{"}], "text": '"},{"\\', "deep": [[{"c": [{}, {}]}]]})
        for number in range(40)
    ]
    text = json.dumps(tricky)
    for size in (64, 200, 257, 1000, 4096):
        monkeypatch.setattr(events, "PIECE", size)
        trace = trace_of(tmp_path, text)
        check(trace)
        assert found(trace) == decoded(text)
        assert not trace.problems
        assert [sources.arguments(trace, row) for row in (0, 39)] == [one["args"] for one in (tricky[0], tricky[39])]


# Bad input --------------------------------------------------------------------------------------------------------------------


def all_but(*numbers: int) -> Counter[tuple[str, str, str, str, int, int]]:
    return decoded(array([text for number, text in enumerate(TEXTS) if number not in numbers]))


@pytest.mark.parametrize(
    ("content", "lost", "says"),
    [
        (changed(7, '"n": 7', '"n": NaN'), (), "1 event read although not valid JSON"),
        (changed(7, '"n": 7', '"n": -Infinity, "x": "\n"'), (), "1 event read although not valid JSON"),
        (changed(7, '"n": 7', '"x": "\\ud800"'), (), "1 event read although not valid JSON"),
        (changed(7, '"name": "op7"', '"name: "op7"'), (7,), "1 event dropped"),
        (changed(7, '"op7"', "op7"), (7,), "1 event dropped"),
        (changed(7, "{", "("), (7,), "1 event dropped"),
        (array([*TEXTS[:7], "17", "null", "[1, 2]", '"x"', *TEXTS[7:]]), (), "4 events dropped"),
        (array(TEXTS)[:-1], (), "Expected ] or } at the end"),
        (array(TEXTS)[:-9], (49,), "an event that the file ends within"),
        (array([*TEXTS, '{"ph": "X", "name": "late"}']), (), "1 event dropped: expected a time"),
        (array([*TEXTS, '{"ph": "O", "ts": 1}']), (), "1 event dropped: of phase 'O'"),
        (array([*TEXTS, '{"name": "x"}']), (), "1 event dropped: without a phase"),
        (array([*TEXTS, '{"ph": "C", "ts": 1736412474000000, "args": {"a": "x"}}']), (), "1 event of a counter without"),
        (array([*TEXTS, '{"ph": "s", "ts": 1736412474000001, "id": 3}']), (), "1 event of a flow dropped: nothing"),
    ],
)
def test_what_is_dropped_is_counted_and_nothing_else_is_lost(
    content: str, lost: tuple[int, ...], says: str, tmp_path: Path
) -> None:
    trace = trace_of(tmp_path, content)
    check(trace)
    assert found(trace) == all_but(*lost)
    assert any(says in problem.text for problem in trace.problems), trace.problems


def test_the_place_of_a_dropped_event_is_its_byte(tmp_path: Path) -> None:
    content = changed(7, '"op7"', "op7")
    trace = trace_of(tmp_path, content)
    place = 1 + sum(len(text) + len(", ") for text in TEXTS[:7])
    assert content[place:].startswith('{"ph": "X", "name": op7')
    assert [problem.offset for problem in trace.problems] == [place]


def test_null_and_texts_and_numbers_name_the_same_process(tmp_path: Path) -> None:
    texts = [changed(0, '"pid": 1', one)[1:-1].split(", {")[0] for one in ('"pid": 1', '"pid": "1"', '"pid": null')]
    meta = '{"ph": "M", "name": "process_name", "pid": "1", "args": {"name": "first"}}'
    trace = trace_of(tmp_path, array([*texts, meta]))
    named = [(track.process, track.process_id, track.last - track.first) for track in trace.tracks]
    assert named == [("first", "1", 2), ("", "", 1)]
    assert not trace.problems


def test_names_and_threads_that_are_no_texts_are_kept(tmp_path: Path) -> None:
    odd: list[Any] = [{"a": [1]}, [None], 1.5, True, None, 2**70]
    trace = trace_of(tmp_path, json.dumps([event(0, name=one, tid=one) for one in odd]))
    check(trace)
    assert len(trace.slices) == len(odd)
    assert [sources.arguments(trace, row) for row in range(len(odd))] == [{"n": 0}] * len(odd)


def test_text_in_the_encoding_of_chinese_systems_is_read_and_said(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, changed(7, "op7", "操作").encode("gbk"))
    assert "操作" in trace.names
    assert "GB18030" in trace.problems[0].text
    assert len(trace.slices) == 50


def test_arguments_in_another_encoding_leave_the_name_as_it_is(tmp_path: Path) -> None:
    text = changed(7, '"op7"', '"算子"').replace('"n": 7', '"n": "@"').encode()
    trace = trace_of(tmp_path, text.replace(b"@", "操作".encode("gbk")))
    row = [trace.names[name] for name in trace.slices.name.tolist()].index("算子")
    assert sources.arguments(trace, row) == {"n": "操作"}


def test_two_traces_one_after_the_other_are_both_read(tmp_path: Path) -> None:
    for text in (array(TEXTS) + array(TEXTS), '{"traceEvents":' + array(TEXTS) + '}\n{"traceEvents":' + array(TEXTS) + "}"):
        trace = trace_of(tmp_path, text)
        assert len(trace.slices) == 100
        assert "found 2" in trace.problems[0].text


@pytest.mark.parametrize(
    "content", ["", "[", "{", "hello", "17", "{}", '{"traceEvents": 3}', "\x00" * 99, "[" * 50000, '{"a":' * 9999]
)
def test_what_is_no_trace_says_so(content: str, tmp_path: Path) -> None:
    trace = trace_of(tmp_path, content)
    check(trace)
    assert not len(trace.slices)
    assert trace.problems


def test_begins_and_ends_without_each_other_are_kept(tmp_path: Path) -> None:
    def at(ts: int, ph: str, **more: Any) -> dict[str, Any]:
        return {"ph": ph, "pid": 1, "tid": 1, "ts": ts, **more}

    listed = [
        at(1, "E", name="lost"), at(2, "B", name="hangs"), at(3, "B", name="done"), at(4, "E", name="done"),
        at(5, "b", id=1, cat="c", name="open"), at(6, "e", id=2, cat="c", name="closed"), at(9, "X", name="last", dur=1),
    ]  # fmt: skip
    trace = trace_of(tmp_path, json.dumps(listed))
    check(trace)
    columns = trace.slices
    seen = {
        trace.names[name]: (int(start), int(duration), int(phase))
        for name, start, duration, phase in zip(columns.name, columns.start, columns.duration, columns.phase, strict=True)
    }
    assert seen == {
        "lost": (0, 0, UNSTARTED), "hangs": (1000, 8000, UNFINISHED), "done": (2000, 1000, COMPLETE),
        "open": (4000, 5000, UNFINISHED), "closed": (5000, 0, UNSTARTED), "last": (8000, 1000, COMPLETE),
    }  # fmt: skip
    assert sum("1 event: " in problem.text for problem in trace.problems) == 4


def test_durations_that_are_negative_or_missing_are_corrected_and_said(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, changed(7, "5.5", "-3").replace('"dur": 5.5, "args": {"n": 8}', '"args": {"n": 8}'))
    texts = [problem.text for problem in trace.problems]
    assert any("negative duration" in text and "-3" in text for text in texts)
    assert any("without a duration" in text for text in texts)
    assert len(trace.slices) == 50


def test_one_flow_may_have_several_ends_and_steps_and_ids_beyond_64_bits(tmp_path: Path) -> None:
    listed = [
        {"ph": "X", "name": name, "pid": 1, "tid": number, "ts": 10 * number, "dur": 5} for number, name in enumerate("abcd")
    ]
    listed += [
        {"ph": "s", "id": "99999999999999999999", "cat": "k", "pid": 1, "tid": 0, "ts": 0},
        {"ph": "f", "id": "99999999999999999999", "cat": "k", "pid": 1, "tid": 1, "ts": 10, "bp": "e"},
        {"ph": "f", "id": "99999999999999999999", "cat": "k", "pid": 1, "tid": 2, "ts": 21, "bp": "e"},
        {"ph": "s", "id": 7, "cat": "k", "pid": 1, "tid": 1, "ts": 12},
        {"ph": "t", "id": "7", "cat": "k", "pid": 1, "tid": 2, "ts": 22, "bp": "e"},
        {"ph": "f", "id": 7, "cat": "k", "pid": 1, "tid": 3, "ts": 28},
    ]
    trace = trace_of(tmp_path, json.dumps(listed))
    names = [trace.names[number] for number in trace.slices.name.tolist()]
    arrows = [(names[one], names[two]) for one, two in zip(trace.flows.source, trace.flows.target, strict=True)]
    assert arrows == [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")]


@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"a":', "}"), ("[[],", "]")])
def test_an_event_of_too_many_levels_costs_itself_alone(opens: str, closes: str, tmp_path: Path) -> None:
    value = opens * 100_000 + "1" + closes * 100_000
    trace = trace_of(tmp_path, changed(20, '"args": {', f'"args": {{"deep": {value}, '))
    assert found(trace) == all_but(20)
    assert len(trace.problems) == 1


def test_the_end_of_a_long_value_is_that_of_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(1)
    parts = ("[", "]", "{", "}", "a", ",", '"a"', '"[{"', '"\\""', '"\\\\"')
    with TraceBytes(str(KINETO)) as source:
        reader = events.TraceEventReader(source, lambda *_: None, lambda *_: None)
        for _ in range(300):
            data = ("[" + "".join(draw.choice(parts) for _ in range(draw.randrange(40))) + draw.choice(("", '"'))).encode()
            short = reader._end_of(data, 0)
            with monkeypatch.context() as patch:
                patch.setattr(events, "_SHORT", 1)
                patch.setattr(events, "_SCANNED", draw.randrange(1, 9))
                assert reader._end_of(data, 0) == short


@pytest.mark.long
def test_an_argument_of_ten_megabytes_and_a_slice_of_a_year(tmp_path: Path) -> None:
    inner = [{"ph": "X", "name": "no event", "ts": 1}] * 100_000
    large = event(1, args={"list": inner, "text": "y" * (6 << 20)})
    listed = [event(0), large, event(2, dur=3.2e13), *map(event, range(3, 50))]
    trace = trace_of(tmp_path, json.dumps(listed))
    assert len(trace.slices) == 50
    assert not trace.problems
    row = [trace.names[name] for name in trace.slices.name.tolist()].index("op1")
    assert sources.arguments(trace, row)["list"] == inner
    assert trace.end == 20_000 + 32 * 10**15


@pytest.mark.parametrize("count", long_after(1, [10_000, 100_000]))
def test_very_many_tracks(tmp_path: Path, count: int) -> None:
    listed = [event(number, tid=number) for number in range(count)]
    trace = trace_of(tmp_path, json.dumps(listed))
    assert len(trace.tracks) == count
    assert len(trace.slices) == count


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, array(TEXTS))
    (tmp_path / "trace.json").write_text(array(TEXTS[3:]))
    with pytest.raises(LookupError):
        sources.arguments(trace, 0)
    (tmp_path / "trace.json").unlink()
    with pytest.raises(OSError, match="No such file"):
        sources.arguments(trace, 0)
    assert [problem.kind for problem in sources.read(trace.path).problems] == ["unreadable"]


def test_progress_and_cancel(tmp_path: Path) -> None:
    text = json.dumps([event(number, args={"text": "x" * 500}) for number in range(8000)])
    assert len(text) > 4 * PIECE
    path = tmp_path / "trace.json"
    path.write_text(text)
    seen: list[tuple[int, int]] = []
    sources.read(str(path), progress=lambda done, size: seen.append((done, size)))
    assert len(seen) >= 4
    assert [size for _, size in seen] == [len(text)] * len(seen)
    assert seen[-1][0] == len(text)
    read: list[int] = []

    def stop(size: int) -> None:
        read.append(size)
        if sum(read) > PIECE:
            raise Cancelled

    with pytest.raises(Cancelled), watched(stop):
        sources.read(str(path))
    assert sum(read) < 3 * PIECE


SMALL = array(TEXTS[:6])


@pytest.mark.parametrize("compressed", [False, True])
def test_a_cut_at_any_byte_loses_one_event_at_most(compressed: bool, tmp_path: Path) -> None:
    data = SMALL.encode()
    whole = gzip.compress(data) if compressed else data
    for length in range(len(whole)):
        trace = trace_of(tmp_path, whole[:length])
        assert trace.problems
        if not compressed:
            assert len(trace.slices) == sum(length >= 1 + sum(len(one) + 2 for one in TEXTS[:n]) - 2 for n in range(1, 7))
        check(trace)


@settings(max_examples=examples(150), deadline=None)
@given(st.integers(0, len(SMALL) - 1), st.binary(min_size=0, max_size=3))
def test_damage_at_one_place_loses_two_events_at_most(at: int, new: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        trace = trace_of(Path(folder), SMALL.encode()[:at] + new + SMALL.encode()[at + 1 :])
    check(trace)
    kept = found(trace) & decoded(SMALL)
    if at not in (0, len(SMALL) - 1) and not set(new) & set(b'[]{}"\\'):
        assert sum(kept.values()) >= 4
        assert sum(kept.values()) == 6 or trace.problems or len(trace.slices) == 6


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["X", "B", "E", "i", "b", "e", "n", "s", "f", "t", "C", "M", "Z"]), st.integers(0, 2),
            st.integers(0, 2), st.integers(0, 30), st.integers(-1, 12), st.sampled_from(["a", "b", None, 5]),
        ),
        max_size=40,
    )
)  # fmt: skip
def test_no_event_disappears(listed: list[tuple[str, int, int, int, int, str | int | None]]) -> None:
    import tempfile

    made = [
        {"ph": ph, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "name": name, "id": tid, "cat": "k", "args": {"v": dur}}
        for ph, pid, tid, ts, dur, name in listed
    ]
    with tempfile.TemporaryDirectory() as folder:
        trace = trace_of(Path(folder), json.dumps(made))
    check(trace)
    counts = Counter(one["ph"] for one in made)
    pairs = Counter(trace.slices.phase.tolist())
    assert len(trace.counters) == counts["C"]
    both = counts["X"] + counts["i"] + counts["n"]
    # A begin and its end are one slice; each that has no other is one alone.
    singles = pairs[UNFINISHED] + pairs[UNSTARTED]
    opened = counts["B"] + counts["E"] + counts["b"] + counts["e"]
    assert 2 * (len(trace.slices) - both - singles) + singles == opened
    dropped = sum(int(one.text.split(" ")[0].replace(",", "")) for one in trace.problems if "phase" in one.text)
    assert dropped == counts["Z"]


def test_an_empty_array_is_a_trace_without_anything(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, "[]")
    check(trace)
    assert (trace.tracks, trace.problems, trace.end, trace.origin_ns) == ((), (), 0, 0)
    assert chrome.read(trace.path).names == []
