"""Trains fifty steps with Keras, recorded by the adapter's Callback.   DIRECTORY"""

from __future__ import annotations

import os
import sys
import tempfile

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
from mindscope_record.adapters.keras import Callback


def main(directory: str) -> None:
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, "relu"), keras.layers.Dense(1)], name="net")
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    data = rng.normal(size=(200, 4)).astype(np.float32)
    with tempfile.TemporaryDirectory() as root:
        saved = keras.callbacks.ModelCheckpoint(f"{root}/epoch_{{epoch}}.keras")
        model.fit(data, data[:, :1], batch_size=8, epochs=2, validation_data=(data[:16], data[:16, :1]), verbose=0,
                  shuffle=False, callbacks=[saved, Callback(directory, every=5, checkpoint=saved)])  # fmt: skip


main(sys.argv[1])
