"""The training of the demo's search: `mindscope tune --config tests/writers/digits/search.yaml`, from the root."""

from __future__ import annotations

import os
from pathlib import Path

from parsers.recording import EventWriter
from parsers.tuning import HyperConfig
from tests.writers.digits.data import digits
from tests.writers.digits.training import Settings, Training, judged


def main() -> None:
    """Train with the settings of this trial and record the validation of every epoch."""
    given = HyperConfig()
    p = given.params
    settings = Settings(
        "trial", optimizer=p.optimizer, learning_rate=p.learning_rate, hidden=p.hidden, batch_size=p.batch_size,
        weight_decay=p.weight_decay, epochs=12,
    )  # fmt: skip
    train, validation = digits()
    training = Training(settings, train)
    directory = Path(given.summary_dir)
    directory.mkdir(parents=True, exist_ok=True)
    name = f"events.out.events.summary.1795600000.{os.getpid()}.vm_MS"
    with EventWriter(str(directory / name), "mindspore") as writer:
        for step in training.steps():
            if step.ends_epoch:
                loss, accuracy, _ = judged(training.network, validation)
                writer.add(step.epoch, {"loss/validation": loss, "accuracy/validation": accuracy})
                writer.flush()


if __name__ == "__main__":
    main()
