"""An explained run of any size, in the files of mindspore-xai; the same call writes the same bytes.

A sample has a picture, a true label, all labels with probability, standard deviation and interval, and two layers of
counterfactuals; each explainer has a heat map of each label. The records come in the order of the producer: sample by sample,
then explainer by explainer. The pictures and maps themselves are not written: no frame opens them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from parsers.recording.wire import delimited, number, record

STAMP = 1_795_219_003
EXPLAINERS = ("Gradient", "GradCAM", "Occlusion", "RISE", "Deconvolution", "GuidedBackprop")
_WALL_TIME = b"\x09" + bytes(8)
_STEP = number(2, 1)
_LAYERS = 2
_TRUE, _PREDICTED = (1, 4, 5, 6), (3, 7, 8, 9)


def explained_run(folder: Path, *, samples: int, labels: int, explainers: int) -> Path:
    """Write the event file of a run into a folder and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"events.out.events.summary.{STAMP}.0.vm_explain"
    rng = np.random.default_rng(0)
    truth = rng.integers(0, labels, samples).tolist()
    raised = np.exp(rng.normal(0.0, 2.0, (samples, labels)) + 3.0 * np.eye(labels)[truth])
    probability = raised / raised.sum(axis=1, keepdims=True)
    sd = probability * (1.0 - probability) * rng.uniform(0.01, 0.5, (samples, labels))
    values = np.stack([probability, sd, np.maximum(probability - 2 * sd, 0), np.minimum(probability + 2 * sd, 1)], axis=1)
    raw = values.astype("<f4")
    boxes = rng.integers(0, 56, (samples, _LAYERS, 2)).tolist()
    named = [delimited(1, f"label {one}".encode()) for one in range(labels)]
    named += [delimited(2, one.encode()) for one in EXPLAINERS[:explainers]]
    with path.open("wb") as file:
        file.write(record(_WALL_TIME + delimited(3, b"MindSpore.Event:1")))
        file.write(_explain(delimited(7, b"".join(named) + delimited(3, b"Faithfulness"))))
        every = list(range(labels))
        of_predicted = [number(2, label) for label in every]
        keys = {field: bytes([field << 3 | 5]) for field in (*_TRUE, *_PREDICTED)}
        for sample in range(samples):
            head = number(1, sample)
            folder_of = sample // 1000 * 1000
            file.write(_explain(head + delimited(2, f"_explain_{STAMP}/origin_images/{folder_of}/{sample}.jpg".encode())))
            label = truth[sample]
            parts = [keys[field] + raw[sample, place, label].tobytes() for place, field in enumerate(_TRUE)]
            parts += of_predicted
            for place, field in enumerate(_PREDICTED):
                parts += [keys[field] + raw[sample, place, one].tobytes() for one in every]
            file.write(_explain(head + number(3, label) + delimited(4, b"".join(parts))))
            file.write(_explain(head + delimited(9, _layers(label, raw[sample, 0, label].tobytes(), boxes[sample]))))
        for explainer in EXPLAINERS[:explainers]:
            start = delimited(1, explainer.encode())
            for sample in range(samples):
                at = f"_explain_{STAMP}/heatmap/{explainer}/{sample // 1000 * 1000}/{sample}_"
                maps = (start + number(2, one) + delimited(3, f"{at}{one}.jpg".encode()) for one in every)
                file.write(_explain(number(1, sample) + b"".join(delimited(5, one) for one in maps)))
            score = b"\x1d" + np.float32(0.5).tobytes()
            file.write(_explain(delimited(6, delimited(1, b"Faithfulness") + delimited(2, explainer.encode()) + score)))
    return path


def _explain(message: bytes) -> bytes:
    return record(_WALL_TIME + _STEP + delimited(6, message))


def _layers(label: int, probability: bytes, corners: list[list[int]]) -> bytes:
    """Return the message of hierarchical occlusion: windows of 56 px, then half as large."""
    parts = [number(1, label), delimited(2, b"gaussian:4")]
    for depth, corner in enumerate(corners):
        side = 56 >> depth
        box = b"".join(number(2, one) for one in (*corner, side, side))
        parts.append(delimited(3, b"\x0d" + probability + box))
    return b"".join(parts)
