"""What every frame of a profile promises, tried on a sample of each kind of file that gives it."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers import open_run
from parsers.model import KINDS
from parsers.profile_frames import FILE
from parsers.profiler.access import Profile
from parsers.profiler.frame_parts import FrameReader, ProfileInput
from parsers.profiler.registry import FILE_KINDS, FRAME_READERS, FRAMES, INFO
from tests.amounts import some_or_every
from tests.contract.samples import PROFILE_SAMPLES
from tests.parsers.profiler.written import FILES
from tests.writers.kineto_traces import training
from tests.writers.memory_snapshots import steps_in_snapshot

WITHOUT_SAMPLE = ("op_summary", "get_next_ascend", "database", "msprof", "analysis")
"""Kinds of files whose tests write one on the spot."""
DAMAGED = 40
"""Places at which a file is damaged in `make test-long`; in `make test` a quarter of them."""
"""Positions of a sample that are damaged or cut, at most."""
SEVERAL = {
    "chrome_trace": lambda: ("trace.json", training().text().encode()),
    "memory_snapshot": lambda: ("memory_snapshot.pickle", b"".join(steps_in_snapshot())),
}
"""Files that give several frames at once."""
every_frame = pytest.mark.parametrize("reader", FRAME_READERS, ids=lambda r: f"{r.schema.name}-{r.file.name}")


def sample_of(reader: FrameReader) -> tuple[str, bytes]:
    """Name and bytes of the smallest sample in tests/data, or of the one in `written`; of several frames one with all."""
    if reader.together is not None:
        return SEVERAL[reader.file.name]()
    if reader.file.name in PROFILE_SAMPLES:
        path = PROFILE_SAMPLES[reader.file.name][0]
        return path.name, path.read_bytes()
    for name, text in FILES.items():
        if reader.file.pattern.fullmatch(name):
            return name, text.encode()
    if reader.file.name not in WITHOUT_SAMPLE:
        pytest.fail(f"put a sample of {reader.file.name} under tests/data/<producer>/<version>/")
    pytest.skip("the tests of this format write a file on the spot")


def profile_with(folder: Path, name: str, data: bytes) -> Profile:
    """The profile of a run in whose profiler directory only this file and one that makes it a session lie."""
    (folder / "profiler").mkdir(parents=True, exist_ok=True)
    (folder / "profiler" / "profiler_info_0.json").write_text("{}")
    (folder / "profiler" / name).write_bytes(data)
    return next(iter(open_run(folder).profile.values()))


def test_schemas_say_what_columns_are_and_in_which_unit() -> None:
    for name, schema in FRAMES.items():
        assert name == schema.name == schema.name.lower()
        assert schema.doc
        assert FILE in schema.columns
        for column in schema.columns:
            assert column.doc, (name, column.name)
            for suffix, unit in (("_ns", "ns"), ("_bytes", "B"), ("_per_s", "1/s")):
                assert not column.name.endswith(suffix) or column.unit == unit, (name, column.name)


def test_a_file_name_is_of_one_kind() -> None:
    names = [path.name for paths in PROFILE_SAMPLES.values() for path in paths] + list(FILES)
    for name in names:
        assert len([kind for kind in FILE_KINDS.values() if kind.pattern.fullmatch(name)]) <= 1, name
    assert INFO.name in FILE_KINDS


@every_frame
def test_its_sample_gives_rows_that_match_the_schema(reader: FrameReader, tmp_path: Path) -> None:
    name, data = sample_of(reader)
    profile = profile_with(tmp_path, name, data)
    assert profile.gives(reader.schema.name)
    assert profile.wanted(reader.schema.name)
    frame = profile.frame(reader.schema.name)
    assert len(reader.schema.check(frame))
    assert getattr(profile, reader.schema.name) is frame


@some_or_every
@every_frame
def test_neither_a_flipped_byte_nor_a_cut_raises(reader: FrameReader, tmp_path: Path, every: bool) -> None:
    name, data = sample_of(reader)
    path = tmp_path / name
    for at in range(0, len(data), max(1, len(data) // (DAMAGED if every else DAMAGED // 8))):
        for damaged in (data[:at], data[:at] + bytes((data[at] ^ 0xFF,)) + data[at + 1 :]):
            path.write_bytes(damaged)
            part = reader.read(ProfileInput(str(path), name, {}))
            reader.schema.check(part.frame)
            assert all(problem.kind in KINDS and problem.path == str(path) for problem in part.problems)


@every_frame
def test_an_empty_or_missing_file_gives_no_rows_and_says_so(reader: FrameReader, tmp_path: Path) -> None:
    path = tmp_path / sample_of(reader)[0]
    for _ in range(2):
        part = reader.read(ProfileInput(str(path), path.name, {}))
        assert not len(reader.schema.check(part.frame))
        assert part.problems
        path.write_bytes(b"")
