"""Real and written dumps against their golden frames, which are read in review."""

from __future__ import annotations

import pytest

from tests.parsers.dumps.golden import golden, samples, text

SAMPLES = samples()


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_gives_its_golden_frames(name: str) -> None:
    assert text(SAMPLES[name]) == golden(name).read_text(encoding="utf-8")


def test_there_are_samples_of_each_kind() -> None:
    kinds = {name.split("/")[0] for name in SAMPLES}
    assert kinds == {"mindspore-2.10", "msprobe-26.2", "written"}
    assert len(SAMPLES) == 14
