"""Agreement of heat maps against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import spearmanr

from parsers import open_run
from parsers.analysis.explanations.agreement import disagreement, disagreements, mean_disagreement
from parsers.profiler.progress import Cancelled
from parsers.recording import ExplanationWriter

SHAPE = (7, 9)
GREY = arrays(np.uint8, SHAPE, elements=st.integers(0, 255) | st.integers(0, 2))


def test_no_map_and_one_map() -> None:
    assert disagreement([]).shape == (0, 0)
    assert disagreement([np.arange(9, dtype=np.uint8).reshape(3, 3)])[0, 0] == pytest.approx(0.0)
    assert np.isnan(mean_disagreement(disagreement([])))


@given(GREY, GREY)
def test_it_is_one_minus_spearman_as_scipy_has_it(one: np.ndarray, other: np.ndarray) -> None:
    found = disagreement([one, other])
    if one.min() == one.max() or other.min() == other.max():
        assert np.isnan(found[0, 1])
        return
    assert found[0, 1] == pytest.approx(1 - spearmanr(one.ravel(), other.ravel()).statistic, abs=1e-12)
    assert found[1, 0] == found[0, 1]


def test_the_reverse_disagrees_by_two_and_another_scale_by_nothing() -> None:
    ramp = np.arange(100, dtype=np.uint8).reshape(10, 10)
    assert disagreement([ramp, 99 - ramp])[0, 1] == pytest.approx(2.0)
    assert disagreement([ramp, ramp // 2 * 2])[0, 1] < 1e-3
    assert disagreement([ramp, ramp + 100])[0, 1] == pytest.approx(0.0)


def test_a_smaller_map_is_enlarged() -> None:
    small = np.array([[1, 2], [3, 4]], np.uint8)
    assert disagreement([small, np.kron(small, np.ones((5, 4), np.uint8))])[0, 1] == pytest.approx(0.0)


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "run"
    rng = np.random.default_rng(3)
    maps = {}
    with ExplanationWriter(str(folder), labels=["a", "b"], explainers=["A", "B", "C"], seconds=1) as writer:
        for sample in range(4):
            writer.sample(sample, np.zeros((4, 4), np.uint8), probabilities={0: 0.5})
            for label in (0, 1):
                for name in "ABC"[: 3 - label] if sample else "A":
                    values = rng.integers(0, 256, (6, 6))
                    values.flat[:2] = 0, 255
                    maps[sample, label, name] = values
                    writer.heat_map(sample, name, label, values)
    return folder, maps


def test_samples_have_the_mean_of_all_pairs_of_their_worst_label(run) -> None:
    folder, maps = run
    found = open_run(str(folder)).explanations.snapshot()
    told: list[tuple[int, int]] = []
    result = disagreements(found, lambda done, total: told.append((done, total)))
    assert told[-1] == (6, 6)
    assert result.unreadable == 0

    def mean(sample: int, label: int) -> float:
        names = [name for name in "ABC" if (sample, label, name) in maps]
        pairs = [(one, other) for at, one in enumerate(names) for other in names[at + 1 :]]
        rho = [spearmanr(*(maps[sample, label, name].ravel() for name in pair)).statistic for pair in pairs]
        return float(np.mean(1 - np.array(rho)))

    assert (result.row.tolist(), result.label.tolist()) == ([1, 1, 2, 2, 3, 3], [0, 1, 0, 1, 0, 1])
    assert result.value == pytest.approx([mean(sample, label) for sample in (1, 2, 3) for label in (0, 1)])
    worst = result.by_sample(4)
    assert np.isnan(worst[0])
    assert worst[1:] == pytest.approx([max(mean(sample, 0), mean(sample, 1)) for sample in (1, 2, 3)])
    assert result.by_sample(4, [1])[1:] == pytest.approx([mean(sample, 1) for sample in (1, 2, 3)])


def test_maps_that_cannot_be_read_are_left_out_and_counted(run) -> None:
    folder, maps = run
    (missing,) = folder.glob("_explain_1/heatmap/B/0/1_0.png")
    missing.unlink()
    result = disagreements(open_run(str(folder)).explanations.snapshot(), lambda *_: None)
    assert result.unreadable == 1
    rho = spearmanr(maps[1, 0, "A"].ravel(), maps[1, 0, "C"].ravel()).statistic
    assert result.value[0] == pytest.approx(1 - rho)


def test_it_can_be_cancelled(run) -> None:
    def cancel(done: int, total: int) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        disagreements(open_run(str(run[0])).explanations.snapshot(), cancel)
