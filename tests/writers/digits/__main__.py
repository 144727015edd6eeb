"""Writes the recorded runs of the demo anew: `python -m tests.writers.digits [DIRECTORY]`, by default `app/demo/runs`.

What MindSpore recorded and the journal of the search are not made here and stay (app/demo/README.md).
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np

from app.demo import story
from tests.writers.digits.data import Split, digits
from tests.writers.digits.dumping import Dump
from tests.writers.digits.explaining import explain
from tests.writers.digits.landscape import flat, write_landscape
from tests.writers.digits.network import Array, Network
from tests.writers.digits.recording import BEGIN, Recorder
from tests.writers.digits.training import Settings, Training

DUMPED = (1, 30, *range(58, 68))
"""Steps of the two trainings with SGD that are dumped; that with the rate of 2 has its first NaN among the last."""
LANDSCAPES = (story.SWEEP, "digits_lr0.003_seed2")
"""Runs around which the loss is computed."""
_SGD = Settings("", optimizer="SGD", batch_size=64, epochs=4, seed=1, warm_up=150, stable=False, falls=False)
_OVERFIT = Settings(
    story.OVERFITS, learning_rate=0.02, batch_size=32, epochs=80, filters=16, hidden=64, images=150, wrong_labels=0.3,
    falls=False,
)  # fmt: skip


def sweep() -> list[Settings]:
    """The settings of the sweep: learning rate and seed are in the name, weight decay is 0 in every other run."""
    found = []
    for place, name in enumerate(story.sweep()):
        rate, seed = name.removeprefix("digits_lr").split("_seed")
        decay = 0.01 if (place // 2 + place) % 2 else 0.0
        found.append(Settings(name, learning_rate=float(rate), seed=int(seed), weight_decay=decay))
    return found


def record(folder: Path, settings: Settings, data: tuple[Split, Split], *, begin: int, values: bool, dumped: bool) -> Network:
    """Train and record one run."""
    directory = folder / settings.name
    shutil.rmtree(directory, ignore_errors=True)
    training = Training(settings, data[0])
    recorder = Recorder(directory, training, data[1], begin=begin, values=values)
    dump = Dump(directory, training.network)
    steps = training.steps()
    wanted = set(DUMPED) if dumped else set()
    after_epochs: list[Array] = []
    number = 1
    while True:
        if number in wanted:
            dump.begin(number)
        step = next(steps, None)
        if step is None:
            break
        if number in wanted:
            dump.end(step.gradients)
        recorder.step(step)
        if step.ends_epoch:
            after_epochs.append(flat(training.network))
        number += 1
    recorder.close()
    if settings.name in LANDSCAPES:
        write_landscape(directory, training.network, after_epochs, data[0].take(np.arange(400)), begin=begin + 30)
    return training.network


def main(folder: Path) -> None:
    """Train everything and record it."""
    data = digits()
    begin, networks = BEGIN, {}
    for settings in sweep():
        values = settings.seed == 2
        networks[settings.name] = record(folder, settings, data, begin=begin, values=values, dumped=False)
        begin += 60
    for name, rate in ((story.STEADY, 0.1), (story.DIVERGES, 2.0)):
        settings = Settings(**{**{key: getattr(_SGD, key) for key in Settings.__slots__}, "name": name, "learning_rate": rate})
        record(folder, settings, data, begin=begin, values=True, dumped=True)
        begin += 60
    record(folder, _OVERFIT, data, begin=begin, values=True, dumped=False)
    explain(folder / story.EXPLAINED, networks, data[1], begin=begin + 60)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[3] / "app" / "demo" / "runs")
