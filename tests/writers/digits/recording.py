"""Records a training as `SummaryCollector` would: curves, histograms, images, tensors, lineage; texts as TensorBoard does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parsers.recording import EventWriter, Histogram, Image, Tensor, Text, Value
from parsers.recording.png import encode_png
from parsers.recording.wire import delimited, float32, float64, number, record
from tests.writers.digits.data import Split
from tests.writers.digits.network import KERNEL, Array
from tests.writers.digits.training import Settings, Step, Training, judged

BEGIN = 1_795_600_000
"""When the first run began, in seconds since 1970: what is recorded is the same at every run of the program."""
STEP_SECONDS = 0.04
DATA = "scikit-learn/digits"
MOST_VALUES = 16
"""Histograms and pictures of a tag, or a few more."""
_RGB = 3


class Recorder:
    """Records one run into a directory that it makes."""

    def __init__(self, directory: Path, training: Training, validation: Split, *, begin: int, values: bool) -> None:
        """begin: seconds since 1970; values: also histograms, images, tensors and texts."""
        directory.mkdir(parents=True)
        self._directory, self._training, self._validation = directory, training, validation
        self._begin, self._values, self._count = begin, values, 0
        self._events = EventWriter(str(directory / f"events.out.events.summary.{begin}.0.vm_MS"), "mindspore", wall_time=begin)
        self._texts: dict[int, str] = {}
        self._every = max(1, training.settings.epochs // MOST_VALUES)

    def step(self, step: Step) -> None:
        """Record a step, at the end of an epoch also what is measured on the validation images."""
        self._count = step.number
        found: dict[str, Value] = {
            "loss/train": step.loss, "accuracy/train": step.accuracy, "optimizer/gradient_norm": step.gradient_norm,
            "optimizer/learning_rate": step.learning_rate,
        }  # fmt: skip
        if step.ends_epoch:
            loss, accuracy, probabilities = judged(self._training.network, self._validation)
            found |= {"loss/validation": loss, "accuracy/validation": accuracy}
            confusion = _confusion(probabilities, self._validation.labels)
            self._texts[step.number] = _sentence(step.epoch, loss, accuracy, confusion)
            if self._values and step.epoch % self._every in (0, 1 % self._every):
                found |= self._pictures(step, probabilities) | {"confusion": Tensor(confusion)}
        if self._values and ((step.ends_epoch and step.epoch % self._every == 0) or step.number == 1):
            found |= self._histograms(step)
        self._events.add(step.number, found, wall_time=self._time(step.number))

    def close(self) -> None:
        """Write lineage and texts, and close the files."""
        self._events.close()
        end = self._time(self._count)
        loss, accuracy, _ = judged(self._training.network, self._validation)
        train_loss, _, _ = judged(self._training.network, self._training.train)
        lineage = (_train_lineage(self._training, train_loss), _evaluation(self._validation, accuracy, loss),
                   _custom(self._training.settings))  # fmt: skip
        content = b"".join(record(float64(1, end) + part) for part in (delimited(3, b"MindSpore.Event:1"), *lineage))
        (self._directory / f"events.out.events.summary.{self._begin}.0.vm_lineage").write_bytes(content)
        if self._values:
            path = self._directory / f"events.out.tfevents.{self._begin}.vm"
            with EventWriter(str(path), "tensorboard", wall_time=self._begin) as writer:
                writer.add(0, {"notes/settings": Text(_described(self._training.settings))}, wall_time=self._begin)
                for step, text in self._texts.items():
                    writer.add(step, {"notes/epochs": Text(text)}, wall_time=self._time(step))

    def _time(self, step: int) -> float:
        return self._begin + step * STEP_SECONDS

    def _histograms(self, step: Step) -> dict[str, Value]:
        weights = {name: Histogram(value) for name, value in self._training.network.weights.items() if name.endswith("weight")}
        return {**weights, "gradients/output.weight": Histogram(step.gradients["output.weight"])}

    def _pictures(self, step: Step, probabilities: Array) -> dict[str, Value]:
        wrong = np.flatnonzero(probabilities.argmax(1) != self._validation.labels)
        filters = self._training.network.weights["conv.weight"].reshape(-1, KERNEL, KERNEL)
        found: dict[str, Value] = {"filters": _image(_grid(_signed(filters), 24, 4))}
        if len(wrong):
            found["mistakes"] = _image(_grid(_grey(self._validation.images[wrong[:16]]), 6, 8))
        if step.epoch == 1:
            found["input"] = _image(_grid(_grey(self._training.train.images[:32]), 6, 8))
        return found


def _confusion(probabilities: Array, labels: NDArray[np.int64]) -> NDArray[np.float32]:
    counts = np.zeros((10, 10), np.float32)
    np.add.at(counts, (labels, probabilities.argmax(1)), 1)
    return counts


def _sentence(epoch: int, loss: float, accuracy: float, confusion: NDArray[np.float32]) -> str:
    wrong = confusion * (1 - np.eye(10, dtype=np.float32))
    true, said = np.unravel_index(int(wrong.argmax()), wrong.shape)
    text = f"Epoch {epoch}: validation loss {loss:.3f}, accuracy {accuracy:.1%}."
    return text + (f" Most often a {true} is read as a {said} ({int(wrong[true, said])} times)." if wrong.any() else "")


def _described(settings: Settings) -> str:
    rows = (f"{name} = {getattr(settings, name)}" for name in Settings.__slots__ if name != "name")
    return "\n".join((settings.name, "", *rows))


# Pictures -------------------------------------------------------------------------------------------------------------------


def _grey(images: Array) -> NDArray[np.uint8]:
    """Return images of ink on paper as RGB."""
    grey = np.round(255 * (1 - np.clip(images, 0, 1))).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=-1)


def _signed(values: Array) -> NDArray[np.uint8]:
    """Return values as RGB: blue below 0, white, red above, the same scale for all; white for what is no number."""
    share = np.nan_to_num(values / (np.abs(values).max() or 1))
    low, high = np.array([33, 102, 172]), np.array([178, 24, 43])
    end = np.where(share[..., None] < 0, low, high)
    return np.round(255 + (end - 255) * np.abs(share)[..., None]).astype(np.uint8)


def _grid(pictures: NDArray[np.uint8], pixel: int, columns: int) -> NDArray[np.uint8]:
    """Return pictures of shape (n, height, width, 3) side by side, each pixel as a square."""
    large = pictures.repeat(pixel, axis=1).repeat(pixel, axis=2)
    framed = np.pad(large, ((0, 0), (2, 2), (2, 2), (0, 0)), constant_values=225)
    count, height, width, _ = framed.shape
    rows = -(-count // columns)
    filled = np.concatenate([framed, np.full((rows * columns - count, height, width, 3), 255, np.uint8)])
    return filled.reshape(rows, columns, height, width, 3).swapaxes(1, 2).reshape(rows * height, columns * width, 3)


def _image(picture: NDArray[np.uint8]) -> Image:
    return Image(encode_png(picture), *picture.shape[:2], _RGB)


# Lineage --------------------------------------------------------------------------------------------------------------------


def _text(field: int, value: str) -> bytes:
    return delimited(field, value.encode())


def _train_lineage(training: Training, loss: float) -> bytes:
    settings = training.settings
    parameters = (
        _text(1, settings.optimizer) + float32(2, settings.learning_rate) + _text(3, "CrossEntropy")
        + number(4, settings.epochs) + _text(5, "stand_alone") + number(6, 1) + number(8, settings.batch_size)
    )  # fmt: skip
    data = _text(1, f"{DATA}/train") + number(2, len(training.train.labels))
    size = 4 * sum(weight.size for weight in training.network.weights.values())
    algorithm = _text(1, "DigitsNet") + float32(2, loss)
    return delimited(6, delimited(1, parameters) + delimited(2, data) + delimited(3, algorithm) + delimited(4, number(4, size)))


def _evaluation(validation: Split, accuracy: float, loss: float) -> bytes:
    metric = json.dumps({"accuracy": accuracy, "loss": loss})
    data = _text(1, f"{DATA}/validation") + number(2, len(validation.labels))
    return delimited(7, _text(2, metric) + delimited(3, data))


def _custom(settings: Settings) -> bytes:
    whole = {"seed": settings.seed, "filters": settings.filters, "hidden": settings.hidden, "warm_up": settings.warm_up}
    real = {"weight_decay": settings.weight_decay, "wrong_labels": settings.wrong_labels}
    return delimited(10, delimited(1, _map(3, whole) + _map(5, real)))


def _map(field: int, values: Mapping[str, float]) -> bytes:
    def encoded(value: float) -> bytes:
        return number(2, int(value)) if field == 3 else float64(2, value)

    return b"".join(delimited(field, _text(1, name) + encoded(value)) for name, value in values.items())
