"""Records what Keras reports while it fits a model.

    model.fit(..., callbacks=[Callback("runs/a")])
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keras.callbacks import Callback as Base

from ..recorder import Recorder


class Callback(Base):
    """Records metrics of batches as batch/<name>, those of epochs as train/<name> and val/<name>, and the learning rate.

    The step is the number of batches so far. Settings are those of the optimizer and of `fit`.
    """

    def __init__(self, directory: str, every: int = 1, **options: Any) -> None:
        """every: record one of so many batches; options are those of Recorder."""
        super().__init__()
        self.recorder = Recorder(directory, **options)
        self._every, self._step, self._epoch = every, 0, 0

    def on_train_begin(self, logs: Mapping[str, float] | None = None) -> None:
        """Record settings."""
        optimizer = self.model.optimizer
        found = dict(optimizer.get_config())
        found["optimizer"] = str(found.pop("name", type(optimizer).__name__))
        found["learning_rate"] = self._rate()
        loss = getattr(self.model, "loss", None)
        if loss is not None:
            found["loss_function"] = loss if isinstance(loss, str) else getattr(loss, "name", type(loss).__name__)
        fit = {name: value for name, value in (self.params or {}).items() if value is not None}
        self.recorder.settings({**found, "network": self.model.name, "parameters": self.model.count_params(), "fit": fit})

    def on_train_batch_end(self, batch: int, logs: Mapping[str, float] | None = None) -> None:
        """Record the metrics of a batch."""
        if logs and self._step % self._every == 0:
            self.recorder.log(self._step, {f"batch/{name}": value for name, value in logs.items()})
        self._step += 1

    def on_epoch_end(self, epoch: int, logs: Mapping[str, float] | None = None) -> None:
        """Record the metrics of an epoch."""
        found: dict[str, float] = {"epoch": float(epoch), "learning_rate": self._rate()}
        for name, value in (logs or {}).items():
            found[f"val/{name[4:]}" if name.startswith("val_") else f"train/{name}"] = value
        self.recorder.log(self._step, found)

    def on_train_end(self, logs: Mapping[str, float] | None = None) -> None:
        """Record the last metrics as results."""
        if logs:
            self.recorder.metrics(logs)
        self.recorder.flush()

    def _rate(self) -> float:
        return float(self.model.optimizer.learning_rate)
