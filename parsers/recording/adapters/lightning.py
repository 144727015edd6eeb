"""Records what Lightning logs.

    Trainer(logger=Logger("runs/a"))
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from lightning.pytorch.loggers.logger import Logger as Base
from lightning.pytorch.loggers.logger import rank_zero_experiment
from lightning.pytorch.utilities import rank_zero_only

from ..recorder import Recorder
from ..values import Text


class Logger(Base):
    """Records metrics and hyper-parameters, and checkpoints as texts. The experiment is a Recorder."""

    def __init__(self, directory: str, **options: Any) -> None:
        """directory is that of the run; options are those of Recorder."""
        super().__init__()
        self._directory, self._options = os.fspath(directory), options
        self._recorder: Recorder | None = None
        self._step = 0
        self._saved: set[str] = set()

    @property
    def name(self) -> str:
        """The name of the run."""
        return os.path.basename(os.path.normpath(self._directory))

    @property
    def version(self) -> str:
        """Runs have no versions; their directory tells them apart."""
        return ""

    @property
    def save_dir(self) -> str:
        """The directory of the run."""
        return self._directory

    @property
    @rank_zero_experiment
    def experiment(self) -> Recorder:
        """The Recorder, to record pictures, texts and more."""
        if self._recorder is None:
            self._recorder = Recorder(self._directory, **self._options)
        return self._recorder

    @rank_zero_only
    def log_hyperparams(self, params: Any, *arguments: Any, **more: Any) -> None:
        """Record settings."""
        self.experiment.settings(params)

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Record numbers."""
        self._step = self._step if step is None else step
        self.experiment.log(self._step, metrics)

    @rank_zero_only
    def after_save_checkpoint(self, checkpoint_callback: Any) -> None:
        """Record where a checkpoint lies."""
        path = str(getattr(checkpoint_callback, "last_model_path", "") or getattr(checkpoint_callback, "best_model_path", ""))
        if path and path not in self._saved:
            self._saved.add(path)
            self.experiment.log(self._step, {"checkpoint": Text(path)})

    @rank_zero_only
    def save(self) -> None:
        """Write what was recorded now."""
        if self._recorder is not None:
            self._recorder.flush()

    @rank_zero_only
    def finalize(self, status: str) -> None:
        """Write what was recorded; the Trainer may go on with a test."""
        if self._recorder is not None:
            self._recorder.flush()
