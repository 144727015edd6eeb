"""Values as a run hands them out: found, checked, kept, and refused with the reason."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest

from parsers import PayloadCache, PayloadError, Run, open_run
from parsers.discovery import source_of
from parsers.recording import EventWriter, Histogram, Image, Tensor, Text
from parsers.recording.wire import delimited, number, record
from parsers.snapshot import dump, load
from tests.parsers.payloads.reference import same
from tests.parsers.payloads.test_images import png

NAME = "events.out.events.summary.1700000000.0.host_MS"
LARGE = np.arange(40_000, dtype=np.float32).reshape(200, 200)


def write(folder: Path, steps: int = 4, name: str = NAME, first: int = 0) -> Path:
    """A run of one large tensor, one small one, a histogram and an image at every step."""
    path = folder / name
    with EventWriter(str(path), "mindspore") as writer:
        for step in range(first, first + steps):
            small = {"small": Tensor(np.full((2, 3), step)), "weights": Histogram(LARGE + step)}
            writer.add(step, {"large": Tensor(LARGE + step), **small, "image": Image(png(30, 20), 20, 30)})
            writer.add(step, {"alone": Tensor(np.full((2, 3), step, "i2"))})
    return path


def flip(path: Path, offset: int) -> None:
    content = bytearray(path.read_bytes())
    content[offset] ^= 0x10
    path.write_bytes(content)


def test_items_of_several_files_are_in_the_order_of_their_times(tmp_path: Path) -> None:
    write(tmp_path, name="events.out.events.summary.1700000900.0.host_MS", first=2)
    write(tmp_path)
    run = open_run(tmp_path)
    items = run.payload_series("tensor", "alone")
    assert items.step.tolist() == [0, 1, 2, 3, 2, 3, 4, 5]
    assert [os.path.basename(run.files[number]) == NAME for number in items.file] == [True] * 4 + [False] * 4
    assert run.find("tensor", "alone", 2) == 4
    assert [run.tensor("alone", place).data[0, 0] for place in range(8)] == items.step.tolist()
    assert run.tensor("alone", -1).data[0, 0] == 5
    with pytest.raises(PayloadError, match="expected step 99, found steps 0 to 5"):
        run.find("tensor", "alone", 99)


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    run = open_run(tmp_path)
    assert len(run.payload_series("image", "none")) == 0
    for kind, tag, place in (("tensor", "alone", 4), ("tensor", "alone", -5), ("image", "none", 0), ("none", "alone", 0)):
        with pytest.raises(PayloadError, match=r"expected (place 0 to 3|a tag that was recorded), found place"):
            run.value(kind, tag, place)
    with pytest.raises(PayloadError, match="found no values"):
        run.find("image", "none", 1)


def test_the_crc_of_a_large_record_is_checked_at_first_read(tmp_path: Path) -> None:
    path = write(tmp_path)
    run = open_run(tmp_path)
    assert run.unverified == 16
    items = run.payload_series("tensor", "large")
    flip(path, int(items.offset[1]) + 100_000)
    os.utime(path, ns=(0, 0))
    run = open_run(tmp_path)
    assert not run.problems
    with pytest.raises(PayloadError, match="expected data with CRC") as raised:
        run.tensor("large", 1)
    assert (raised.value.path, raised.value.order) == (str(path), items.order[1])
    assert f"record at byte {items.order[1]:,}" in str(raised.value)
    assert run.unverified == 16
    with pytest.raises(PayloadError, match="the record is damaged"):
        run.image("image", 1)  # it stands in the same record
    assert same(run.tensor("large", 2).data, LARGE + 2)
    assert run.unverified == 12
    assert same(run.tensor("small", 2).data, np.full((2, 3), 2))


def test_a_small_record_damaged_since_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path)
    run = open_run(tmp_path)
    flip(path, int(run.payload_series("tensor", "alone").offset[0]) + 12)
    with pytest.raises(PayloadError, match="the record is damaged"):
        run.tensor("alone", 0)


def test_a_file_cut_or_replaced_since_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path)
    run = open_run(tmp_path)
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", whole[:-1] + b"?" + whole[-1:]):
        path.write_bytes(content)
        with pytest.raises(PayloadError, match="it was cut or replaced"):
            run.tensor("large", 3)
    path.unlink()
    with pytest.raises(PayloadError, match="No such file"):
        run.tensor("large", 3)
    write(tmp_path, steps=6)
    with pytest.raises(PayloadError, match="it was cut or replaced"):
        run.tensor("large", 3)
    run.refresh()
    assert same(run.tensor("large", 3).data, LARGE + 3)


def test_a_file_that_grows_goes_on_being_read(tmp_path: Path) -> None:
    path = write(tmp_path)
    run = open_run(tmp_path)
    with path.open("ab") as file:
        file.write(b"x" * 5)
    assert same(run.tensor("large", 3).data, LARGE + 3)


def test_a_replaced_file_gives_no_value_of_the_old_one(tmp_path: Path) -> None:
    path = write(tmp_path)
    run = open_run(tmp_path)
    assert run.tensor("alone", 0).data[0, 0] == 0
    inode = path.stat().st_ino
    other = tmp_path / "other"
    other.mkdir()
    path.write_bytes(write(other, first=7, steps=2).read_bytes())
    assert path.stat().st_ino == inode
    run.refresh(source_of(tmp_path))
    assert run.tensor("alone", 0).data[0, 0] == 7
    assert run.payload_series("tensor", "alone").step.tolist() == [7, 8]


def test_the_cache_is_bounded_and_shared(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, steps=12)
    cache = PayloadCache(limit=1 << 20)
    for name in ("a", "b"):
        run = Run(source_of(tmp_path / name), cache)
        run.refresh()
        for place in range(12):
            assert run.tensor("large", place) is run.tensor("large", place)
            assert cache.size <= cache.limit
    assert len(cache) == 6
    tiny = Run(source_of(tmp_path / "a"), PayloadCache(limit=1000))
    tiny.refresh()
    assert same(tiny.tensor("large", 0).data, LARGE)


def test_many_threads_decode_at_once(tmp_path: Path) -> None:
    write(tmp_path, steps=10)
    run = Run(source_of(tmp_path), PayloadCache(limit=500_000))
    run.refresh()
    wrong: list[object] = []

    def work(seed: int) -> None:
        try:
            for place in np.random.default_rng(seed).integers(0, 10, 60).tolist():
                if not same(run.tensor("large", place).data, LARGE + place) or run.image("image", place).width != 30:
                    wrong.append(place)
                run.histogram("weights", place)
        except PayloadError as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    run.refresh()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert run.unverified == 0


def test_texts_of_tensorboard(tmp_path: Path) -> None:
    with EventWriter(str(tmp_path / "events.out.tfevents.1700000000.host"), "tensorboard") as writer:
        for step, text in enumerate(["<b>plain</b>", "行\n2", ""]):
            writer.add(step, {"notes": Text(text)})
        raw = number(1, 7) + delimited(2, delimited(2, number(1, 3))) + delimited(8, b"\xff\xfe")
        writer._file.write(record(number(2, 9) + delimited(5, delimited(1, delimited(1, b"notes") + delimited(8, raw)))))
    run = open_run(tmp_path)
    assert [run.text("notes", place).text for place in range(3)] == ["<b>plain</b>", "行\n2", ""]
    broken = run.text("notes", 3)
    assert broken.text == "\\xff\\xfe"
    assert broken.problem == "Its shape (3,) does not fit 1 strings; they are shown as a list."


def test_a_refused_value_leaves_the_others(tmp_path: Path) -> None:
    path = write(tmp_path, steps=1)
    wrong = delimited(8, number(1, 5) + number(2, 11) + delimited(3, bytes(8)))
    with path.open("ab") as file:
        file.write(record(b"\x09" + bytes(8) + number(2, 8) + delimited(5, delimited(1, delimited(1, b"alone") + wrong))))
    run = open_run(tmp_path)
    with pytest.raises(PayloadError, match=r"tensor alone: expected 5 values for the shape \(5,\), found 2"):
        run.tensor("alone", 1)
    assert run.tensor("alone", 0).data[0, 0] == 0


def test_a_run_followed_for_long_keeps_one_index(tmp_path: Path) -> None:
    path = write(tmp_path, steps=30)
    whole = path.read_bytes()
    ends = [int(order) for order in open_run(tmp_path).payload_series("tensor", "alone").order]
    path.write_bytes(whole[: ends[0]])
    run = open_run(tmp_path)
    for end in [*ends[1:], len(whole)]:
        with path.open("r+b") as file:
            file.seek(0, os.SEEK_END)
            file.write(whole[file.tell() : end])
        run.refresh()
        assert same(run.tensor("large", -1).data, LARGE + run.payload_series("tensor", "large").step[-1])
    assert run.payload_series("tensor", "alone").step.tolist() == list(range(30))
    (state,) = run.states.values()
    assert len(state.payloads["tensor", "large"]) == 1
    assert run.unverified == 4  # the first step was there before, and has not been looked at


def test_an_index_from_an_earlier_process_serves_values(tmp_path: Path) -> None:
    write(tmp_path)
    parts = dump(list(open_run(tmp_path).states.values()))
    assert parts is not None
    run = Run(source_of(tmp_path))
    run.restore(load(b"".join(bytes(part) for part in parts)))
    assert run.unverified == 16
    assert same(run.tensor("large", 2).data, LARGE + 2)
    assert run.unverified == 12
    assert not run.refresh()
