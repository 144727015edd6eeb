"""The data: 1,797 handwritten digits of 8 x 8 pixels (UCI, by E. Alpaydin and C. Kaynak; scikit-learn's copy, BSD licence)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from tests.writers.digits.network import Array

VALIDATION = 360


@dataclass(frozen=True, slots=True)
class Split:
    """Images of shape (n, 8, 8) from 0 to 1, and their labels."""

    images: Array
    labels: NDArray[np.int64]

    def take(self, places: NDArray[np.int64]) -> Split:
        """Return some of them."""
        return Split(self.images[places], self.labels[places])


def digits() -> tuple[Split, Split]:
    """Return what is trained on and what is validated with: the same split for all runs."""
    found = load_digits()
    whole = Split((found.images / 16).astype(np.float32), found.target.astype(np.int64))
    order = np.random.default_rng(0).permutation(len(whole.labels))
    return whole.take(order[VALIDATION:]), whole.take(order[:VALIDATION])
