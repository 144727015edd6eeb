"""Loss landscapes written by hand: what is odd about them is said, and what is whole is read."""

from __future__ import annotations

import numpy as np
import pytest

from parsers.errors import FormatError
from parsers.payloads.landscapes import landscape
from parsers.recording.wire import delimited, number

X, Y = np.linspace(-1, 1, 8), np.linspace(-2, 2, 6)
Z = X[None, :] ** 2 + Y[:, None] ** 2


def tensor(array: np.ndarray) -> bytes:
    dims = b"".join(number(1, size) for size in array.shape)
    return dims + number(2, 11) + delimited(3, array.astype("<f4").tobytes())


def point(*axes: np.ndarray) -> bytes:
    return b"".join(delimited(place, tensor(axis)) for place, axis in enumerate(axes, start=1))


def read(x: np.ndarray, y: np.ndarray, z: np.ndarray):
    return landscape(memoryview(delimited(1, point(x, y, z))))


def test_a_whole_one_has_no_problem() -> None:
    value = read(X, Y, Z)
    assert value.problem == ""
    np.testing.assert_array_equal(value.z, Z.astype(np.float32))


@pytest.mark.parametrize("axis", ["x", "y"])
def test_axes_that_cannot_be_drawn_whole_say_so(axis: str) -> None:
    def problem(change) -> str:
        axes = {"x": X.copy(), "y": Y.copy()}
        axes[axis] = change(axes[axis])
        return read(axes["x"], axes["y"], Z).problem

    def with_first(value: float):
        return lambda values: np.append(value, values[1:])

    assert problem(with_first(np.nan)) == f"Of its {axis}, 1 values are not finite or duplicates; they are not drawn."
    assert problem(with_first(np.inf)).startswith(f"Of its {axis}, 1 values")
    assert problem(lambda values: np.append(values[1], values[1:])).startswith(f"Of its {axis}, 1 values")
    assert problem(lambda values: values * 0) == f"Its {axis} has no two different values: there is no plane to draw."
    assert problem(lambda values: values[::-1]) == ""


def test_a_grid_of_another_shape_is_refused() -> None:
    with pytest.raises(FormatError, match=r"expected z of shape \(len\(y\), len\(x\)\), found x \(8,\), y \(6,\), z \(8, 6\)"):
        read(X, Y, Z.T)


def test_no_finite_loss_is_said() -> None:
    assert "It has no finite loss." in read(X, Y, Z * np.nan).problem
