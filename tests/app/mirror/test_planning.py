"""Which files are wanted, what clashes, and how often is listed."""

from __future__ import annotations

import pytest

from app.mirror.addresses import AddressError, is_address, parse_address, split_host
from app.mirror.names import clashes, same_but_for_case, wanted
from app.mirror.planning import CopyLimits, busy_directories, plan, seconds_between, seconds_to_wait
from app.mirror.remote import RemoteFile
from app.mirror.state import FAILED, LARGE
from app.mirror.wishes import Wishes


def named(*names: str) -> list[RemoteFile]:
    return [RemoteFile(name, 1, 1.0) for name in names]


def test_nothing() -> None:
    made = plan([], {}, {}, Wishes(), CopyLimits(), 0.0)
    assert (made.entries, made.bring, made.remove) == ({}, [], [])


def test_files_that_readers_open_are_wanted() -> None:
    yes = [
        "a/events.out.tfevents.1.h", "a/x.summary.1.h_MS", "a/graph.pb", "a/config.json", "a/settings.yaml", "a/metrics.csv",
        "a/profiler/anything.bin", "b_ascend_pt/x/y.bin", "c/ASCEND_PROFILER_OUTPUT/z",
        "t/trace_view.json", "m/memory_snapshot.pickle", "e/_explain_1/heatmap/1.png", "search.log",
        "d/step0/rank/dump.json", "d/step0/rank/values/Tensor.npy", "f/meta.yaml", "f/metrics/loss",
    ]  # fmt: skip
    no = ["a/model.ckpt", "a/weights.safetensors", "data/train.bin", "x/loss", "checkpoint.pt", "values.pickle"]
    assert {file.name for file in wanted(named(*yes, *no))} & {*yes, *no} == set(yes)
    assert not {file.name for file in wanted(named(*yes, *no))} & set(no)


def test_a_file_where_others_need_a_directory_is_named() -> None:
    assert clashes(["a", "a/b", "a/b/c", "d"]) == {"a": "name", "a/b": "name"}
    assert same_but_for_case(["A/x", "a/x", "b"]) == {"a/x": "case"}
    files = named("R/x.tfevents.1", "r/x.tfevents.1")
    made = plan(files, {}, {}, Wishes(), CopyLimits(), 0.0, ignores_case=True)
    assert [file.name for file in made.bring] == ["R/x.tfevents.1"]
    assert made.entries["r/x.tfevents.1"].state == FAILED
    assert len(plan(files, {}, {}, Wishes(), CopyLimits(), 0.0).bring) == 2


def test_a_copy_of_a_file_that_became_too_large_stays() -> None:
    made = plan([RemoteFile("a.tfevents.1", 50, 2.0)], {}, {"a.tfevents.1": (5, 1.0)}, Wishes(), CopyLimits(largest=10), 0.0)
    assert (made.entries["a.tfevents.1"].state, made.bring, made.remove) == (LARGE, [], [])


def test_a_full_listing_takes_a_twentieth_of_the_time_at_most() -> None:
    assert seconds_between(10, 0.1, 0.05) == 10
    assert seconds_between(10, 5.0, 0.1) == 100
    assert seconds_between(10, 0.5, 1.0) == 40
    assert [seconds_to_wait(number) for number in (1, 2, 3, 9, 10, 50)] == [1, 2, 4, 256, 300, 300]


def test_directories_with_changes_within_ten_minutes_are_busy() -> None:
    assert busy_directories({"a/x": 1000.0, "b/x": 1100.0, "c/x": 100.0, "y": 900.0}, 1200.0) == ["b", "a", ""]


def test_addresses() -> None:
    found = parse_address("s3://bucket/a/b/")
    assert (found.scheme, found.host, found.path, found.text) == ("s3", "bucket", "a/b", "s3://bucket/a/b")
    assert found.mark == parse_address("s3://bucket/a/b").mark != parse_address("s3://bucket/a").mark
    assert split_host("me@host:22") == ("me", "host", 22)
    assert split_host("[::1]:22") == ("", "::1", 22)
    assert not is_address("runs/a")
    for text in ("s3://", "ssh://u:secret@h/x", "https://h/x?sig=secret", "runs"):
        with pytest.raises(AddressError) as error:
            parse_address(text)
        assert "secret" not in str(error.value)
