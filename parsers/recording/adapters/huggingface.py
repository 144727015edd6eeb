"""Records what a Trainer of Hugging Face Transformers reports.

    Trainer(..., callbacks=[Callback("runs/a")])
"""

from __future__ import annotations

import os
from typing import Any

from transformers import TrainerCallback

from ..recorder import Recorder
from ..values import Text


class Callback(TrainerCallback):
    """Records metrics by step, arguments and configuration as settings, results of evaluations, and checkpoints as texts.

    Training metrics are train/<name>, those of evaluations eval/<name>. Only the main process of a job records.
    """

    def __init__(self, directory: str | None = None, **options: Any) -> None:
        """directory is by default logging_dir or output_dir of the arguments; options are those of Recorder."""
        self._directory, self._options = directory, options
        self.recorder: Recorder | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Begin the run and record its settings."""
        if not state.is_world_process_zero or self.recorder is not None:
            return
        where = self._directory or getattr(args, "logging_dir", None) or args.output_dir
        self.recorder = Recorder(os.fspath(where), **self._options)
        settings = {name: value for name, value in args.to_dict().items() if value is not None}
        model = more.get("model")
        configuration = getattr(model, "config", None)
        if configuration is not None and hasattr(configuration, "to_dict"):
            settings["model"] = configuration.to_dict()
        self.recorder.settings({**settings, "learning_rate": args.learning_rate})

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **more: Any) -> None:
        """Record metrics."""
        if self.recorder is not None and logs:
            found = {_tag(name): value for name, value in logs.items() if isinstance(value, (int, float))}
            self.recorder.log(state.global_step, found)

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **more: Any) -> None:
        """Record the results of an evaluation."""
        if self.recorder is not None and metrics:
            self.recorder.metrics({_tag(name): value for name, value in metrics.items() if isinstance(value, (int, float))})

    def on_save(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Record where a checkpoint lies."""
        if self.recorder is not None:
            path = os.path.join(args.output_dir, f"checkpoint-{state.global_step}")
            self.recorder.log(state.global_step, {"checkpoint": Text(path)})

    def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Write what was recorded; an evaluation after the training is recorded, too."""
        if self.recorder is not None:
            self.recorder.flush()


def _tag(name: str) -> str:
    """Return eval/loss for eval_loss, and train/loss for loss and train_loss."""
    for kind in ("eval", "test", "train"):
        if name.startswith(f"{kind}_"):
            return f"{kind}/{name[len(kind) + 1:]}"
    return f"train/{name}"
