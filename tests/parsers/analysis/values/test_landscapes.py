"""The plane, path and curvature of loss landscapes against numpy's own decomposition, and quadratic losses."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from parsers.analysis.values import landscapes as surfaces
from parsers.analysis.values.landscapes import WeightPart

SHAPES = ((4, 3, 2), (4,), (5, 7), (5,), (1, 1))


def path_of(k: int, seed: int = 0) -> list[list[np.ndarray]]:
    """k checkpoints of a drifting network."""
    random = np.random.default_rng(seed)
    steps = [[np.cumsum(random.normal(size=(k, *shape)), axis=0) + 3.0 for shape in SHAPES]]
    return [[tensor[at] for tensor in steps[0]] for at in range(k)]


def parts_of(checkpoints: Sequence[Sequence[np.ndarray]], most: int):
    def parts() -> Iterator[WeightPart]:
        for number, shape in enumerate(tensor.shape for tensor in checkpoints[0]):
            flat = np.stack([one[number].ravel() for one in checkpoints])
            filters = shape[0] if len(shape) > 1 else 1
            for at in range(0, flat.shape[1], most):
                block = flat[:, at : at + most]
                yield WeightPart(number, at, flat.shape[1], filters, block - block[-1], block[-1])

    return parts


def columns_of(checkpoints: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
    flat = np.stack([np.concatenate([tensor.ravel() for tensor in one]) for one in checkpoints])
    return (flat - flat[-1]).T


def scaled(direction: np.ndarray, last: Sequence[np.ndarray], by_filter: bool) -> np.ndarray:
    """A direction scaled as the definition says, tensor by tensor or filter by filter."""
    found, at = [], 0
    for tensor in last:
        piece = direction[at : at + tensor.size].reshape(tensor.shape)
        rows = [(piece, tensor)] if tensor.ndim < 2 or not by_filter else list(zip(piece, tensor, strict=True))
        found += [(one * np.linalg.norm(wanted) / np.linalg.norm(one)).ravel() for one, wanted in rows]
        at += tensor.size
    return np.concatenate(found)


@pytest.mark.parametrize(("k", "most", "scale"), [(2, 3, "tensor"), (5, 3, "tensor"), (9, 1000, "tensor"), (9, 4, "filter")])
def test_directions_are_those_of_the_singular_value_decomposition(k: int, most: int, scale: str) -> None:
    checkpoints = path_of(k)
    columns = columns_of(checkpoints)
    left, singular, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    plane = surfaces.path_plane(parts_of(checkpoints, most))
    assert plane.explained == pytest.approx((singular[:2] ** 2).sum() / (singular**2).sum(), rel=1e-12)
    into = [np.empty(len(columns)) for _ in range(2)]
    surfaces.write_directions(parts_of(checkpoints, most), plane, into, scale)
    for number in range(2 if k > 2 else 1):  # two checkpoints have one direction
        wanted = scaled(left[:, number] * singular[number], checkpoints[-1], scale == "filter")
        sign = np.sign(wanted @ into[number])
        assert np.abs(sign * into[number] - wanted).max() <= 1e-9 * np.abs(wanted).max()


@pytest.mark.parametrize(("most", "scale"), [(4, "tensor"), (1000, "tensor"), (4, "filter"), (1000, "filter")])
def test_the_path_is_where_least_squares_puts_it_and_ends_above_and_right_of_its_mean(most: int, scale: str) -> None:
    checkpoints = path_of(7, seed=3)
    columns = columns_of(checkpoints)
    parts = parts_of(checkpoints, most)
    into = [np.empty(len(columns)) for _ in range(2)]
    path = surfaces.write_directions(parts, surfaces.path_plane(parts), into, scale)
    path = surfaces.turned(path, into)
    wanted, _, _, _ = np.linalg.lstsq(np.stack(into, axis=1), columns, rcond=None)
    assert np.allclose([path.x, path.y], wanted, rtol=1e-9, atol=1e-12)
    assert (path.x[-1], path.y[-1]) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert path.x.mean() <= path.x[-1]
    assert path.y.mean() <= path.y[-1]
    left = np.linalg.norm(columns - np.stack(into, axis=1) @ wanted, axis=0)
    lengths = np.linalg.norm(columns, axis=0)
    assert path.shown == pytest.approx(1 - (left**2).sum() / (lengths**2).sum(), rel=1e-9)
    assert np.allclose(path.residual[:-1], (left / lengths.clip(1e-300))[:-1], rtol=1e-6)


def test_random_directions_are_those_of_a_seed_and_as_long_as_the_weights() -> None:
    checkpoints = path_of(1)
    first, again, other = (
        [np.empty(sum(tensor.size for tensor in checkpoints[0])) for _ in range(2)] for _ in range(3)
    )
    for seed, into in ((1, first), (1, again), (2, other)):
        surfaces.write_random_directions(parts_of(checkpoints, 5), seed, into)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    at = 0
    for tensor in checkpoints[0]:
        lengths = [np.linalg.norm(one[at : at + tensor.size]) for one in first]
        assert lengths == pytest.approx([np.linalg.norm(tensor)] * 2)
        at += tensor.size


@pytest.mark.parametrize(("checkpoints", "expected"), [
    ([path_of(1)[0]] * 3, "found equal ones"),
    ([path_of(1)[0]], "found equal ones"),
    ([[np.full(shape, np.nan) for shape in SHAPES], path_of(1)[0]], "found NaN or infinity"),
])  # fmt: skip
def test_paths_without_a_plane(checkpoints: list[list[np.ndarray]], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        surfaces.path_plane(parts_of(checkpoints, 10))


def test_a_grid_spans_the_path_and_a_fifth_of_it_on_each_side() -> None:
    assert surfaces.axis_around(np.array([-2.0, 0.0, -1.0]), 3).tolist() == pytest.approx([-2.4, -1.0, 0.4])
    assert surfaces.axis_around(np.zeros(3), 3).tolist() == [-1.0, 0.0, 1.0]


@pytest.mark.parametrize("hessian", [((4.0, 0.0), (0.0, 1.0)), ((2.0, 1.5), (1.5, 3.0)), ((-1.0, 0.0), (0.0, -2.0))])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 50.0])
def test_a_quadratic_loss_has_its_own_curvature(hessian: tuple[tuple[float, float], ...], unit: float) -> None:
    matrix = np.array(hessian)
    x, y = np.linspace(-3, 2, 11) * unit, np.linspace(-1, 4, 9) * unit
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    z = 0.5 + grid @ np.array([0.3, -0.2]) + 0.5 * np.einsum("...i,ij,...j->...", grid, matrix, grid)
    end = (0.1 * unit, 0.2 * unit)
    at = np.array(end)
    last = 0.5 + at @ np.array([0.3, -0.2]) + 0.5 * at @ matrix @ at
    found = surfaces.sharpness(x, y, z, (*end, float(last)))
    assert found == pytest.approx(np.linalg.eigvalsh(matrix)[-1], rel=1e-6)


@pytest.mark.parametrize(("scale", "is_known"), [(1e-8, False), (1.0, True)])
def test_a_curvature_within_the_rounding_of_the_losses_is_not_told(scale: float, is_known: bool) -> None:
    x = np.linspace(-1, 1, 9)
    z = (2.3 + scale * (x[None, :] ** 2 + 2 * x[:, None] ** 2)).astype(np.float32).astype(np.float64)
    found = surfaces.sharpness(x, x, z, (0.0, 0.0, 2.3), float(np.finfo(np.float32).eps))
    assert found == pytest.approx(4.0, rel=1e-3) if is_known else math.isnan(found)


def test_a_surface_that_is_not_known_has_no_curvature() -> None:
    x = np.linspace(-1, 1, 5)
    assert math.isnan(surfaces.sharpness(x, x, np.full((5, 5), np.nan), (0.0, 0.0, 1.0)))
    assert math.isnan(surfaces.sharpness(np.zeros(5), x, np.zeros((5, 5)), (0.0, 0.0, 1.0)))
