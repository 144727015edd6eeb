"""Real samples against their golden values."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.registry import reader_for
from tests.parsers.events.event_reference import read_payloads, read_points
from tests.parsers.events.golden import DATA, SAMPLES, golden, text

FILES = [path for samples in SAMPLES.values() for path in samples if golden(path).exists()]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(DATA)))
def test_scalars(path: Path) -> None:
    reader = reader_for(str(path))
    assert reader is not None
    batch = reader.read(str(path))
    assert text(sorted(read_points(batch), key=lambda point: point[0])) == golden(path).read_text(encoding="utf-8")
    assert not batch.problems
    assert not reader.verify(str(path))


def test_there_are_samples_of_each_producer() -> None:
    assert {path.parent.name for path in FILES} == {"2.10", "torch-2.13", "tensorboard-2.21"}


def test_large_values_of_the_samples() -> None:
    found = {}
    for path in (path for samples in SAMPLES.values() for path in samples):
        reader = reader_for(str(path))
        if reader is not None and not path.name.endswith(".golden"):
            found[path.name] = {(kind, tag) for kind, tag, *_ in read_payloads(reader.read(str(path)))}
    assert ("lineage", "user_defined_info") in found["events.out.events.summary.1795217862.0.vm_lineage"]
    assert ("graph", "graph_def") in found["events.out.events.summary.1795218538.0.vm_MS"]
    assert ("hparams", "_hparams_/experiment") in found["events.out.tfevents.1795221705.vm.18095.3"]
