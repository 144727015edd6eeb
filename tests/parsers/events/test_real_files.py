"""Every event file of real runs, against protobuf."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from parsers.registry import reader_for
from tests.parsers.events.event_reference import event, points, read_payloads, read_points, records

FIELDS = {
    "events": {"image": "image", "tensor": "tensor", "histogram": "histogram", "loss_landscape": "landscape"},
    "tensorboard": {"image": "image", "histo": "histogram", "audio": "audio", "obsolete_old_style_histogram": "other"},
}


def event_files(folder: Path) -> list[str]:
    found = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]
    return sorted(path for path in found if ".summary." in path or "tfevents" in path)


@pytest.fixture(scope="module", params=["summary", "tensorboard"])
def files(request: pytest.FixtureRequest, real_data: Path) -> list[str]:
    return event_files(real_data / request.param)


def test_scalars_equal_protobuf(files: list[str]) -> None:
    for path in files:
        reader = reader_for(path)
        assert reader is not None
        batch = reader.read(path)
        assert (batch.problems, batch.pending) == ((), 0) or not batch.problems, path
        if reader.name in FIELDS:
            content = Path(path).read_bytes()
            assert sorted(read_points(batch)) == sorted(points(reader.name, content)), path
            assert batch.records == sum(1 for _ in records(content))


def test_payloads_lie_where_the_index_says(files: list[str]) -> None:
    for path in files:
        reader = reader_for(path)
        assert reader is not None
        if reader.name not in FIELDS:
            continue
        content = Path(path).read_bytes()
        found = read_payloads(reader.read(path))
        index = {(order, tag, kind): content[at : at + size] for kind, tag, _, _, order, at, size in found}
        graphs = 0
        for offset, data in records(content):
            message = event(reader.name, data)
            if message.HasField("graph_def"):
                graphs += index[offset, "graph_def", "graph"] == message.graph_def
            for value in message.summary.value:
                for field, kind in FIELDS[reader.name].items():
                    if value.HasField(field) and field != "obsolete_old_style_histogram":
                        expected = type(getattr(value, field)).FromString(index.pop((offset, value.tag, kind)))
                        assert expected == getattr(value, field) or b"nan" in repr(expected).encode()
        left = {kind for _, _, kind in index}
        assert left <= {"graph", "text", "hparams", "other", "tensor"}


def test_all_points_of_the_summary_runs_are_there(real_data: Path) -> None:
    count, series = 0, 0
    for place, _, names in os.walk(real_data / "summary"):
        tags = set()
        for name in names:
            path = os.path.join(place, name)
            if ".summary." in name and (reader := reader_for(path)):
                for block in reader.read(path).scalars:
                    count += block.value.size
                    tags |= set(block.tags)
        series += len(tags)
    assert (count, series) == (19248, 469)


def test_lineage_files_are_indexed(real_data: Path) -> None:
    path = next(p for p in event_files(real_data / "summary" / "lenet_defaults") if p.endswith("_lineage"))
    reader = reader_for(path)
    assert reader is not None
    assert reader.name == "lineage"
    kinds = {(block.kind, block.tag) for block in reader.read(path).payloads}
    assert ("lineage", "train_lineage") in kinds or ("lineage", "evaluation_lineage") in kinds


def test_verify_finds_nothing_wrong(files: list[str]) -> None:
    for path in files:
        reader = reader_for(path)
        assert reader is not None
        assert not reader.verify(path)


def test_content_comes_before_the_name(files: list[str], tmp_path: Path) -> None:
    for number, path in enumerate(files):
        link = tmp_path / f"unknown{number}"
        link.symlink_to(path)
        expected, got = reader_for(path), reader_for(str(link))
        assert got is expected, path
