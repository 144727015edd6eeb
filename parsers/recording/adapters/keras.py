"""Records what Keras reports while it fits a model.

    model.fit(..., callbacks=[Callback("runs/a")])
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping
from typing import Any

from keras.callbacks import Callback as Base

from ..recorder import Recorder
from ..values import Text


class Callback(Base):
    """Records metrics of batches as batch/<name>, those of epochs as train/<name> and val/<name>, and the learning rate.

    The step is the number of batches so far. Settings are those of the optimizer and of `fit`. Keras does not tell callbacks of
    checkpoints: those of a ModelCheckpoint are recorded as texts if it is given as `checkpoint`, too.
    """

    def __init__(self, directory: str, every: int = 1, checkpoint: Any = None, **options: Any) -> None:
        """every: record one of so many batches; checkpoint: a ModelCheckpoint of the same `fit`; options are Recorder's."""
        super().__init__()
        self.recorder = Recorder(directory, **options)
        self._every, self._step, self._checkpoint = every, 0, checkpoint
        self._saved = self._files()

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
        self._checkpoints()

    def on_train_end(self, logs: Mapping[str, float] | None = None) -> None:
        """Record the last metrics as results."""
        if logs:
            self.recorder.metrics(logs)
        self._checkpoints()
        self.recorder.flush()

    def _checkpoints(self) -> None:
        """Record the files that the ModelCheckpoint has written since the last call."""
        before, self._saved = self._saved, self.recorder.attempt("checkpoint", self._files) or {}
        for path in sorted(path for path, changed in self._saved.items() if before.get(path) != changed):
            self.recorder.log(self._step, {"checkpoint": Text(path)})

    def _files(self) -> dict[str, int]:
        """Return when the files of the ModelCheckpoint were written, by path."""
        if self._checkpoint is None:
            return {}
        parts = re.split(r"\{[^{}]*\}", str(self._checkpoint.filepath))
        return {path: os.stat(path).st_mtime_ns for path in glob.glob("*".join(map(glob.escape, parts)))}

    def _rate(self) -> float:
        return float(self.model.optimizer.learning_rate)
