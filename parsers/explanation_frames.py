"""The frames of what an explainer recorded: samples, predictions, heat maps, counterfactuals and scores.

Labels are numbers; `EXPLANATION_LABELS` has their names. NaN stands for what was not recorded.
"""

from __future__ import annotations

from collections.abc import Mapping

from parsers.schema import Column, Schema

_SAMPLE = Column("sample", "int64", "", "id of the sample")
_LABEL = Column("label", "int64", "", "number of the label")
_EXPLAINER = Column("explainer", "category", "", "explainer")
_PROBABILITY = Column("probability", "float64", "", "probability of the label, 0 to 1; NaN if it was not recorded or is none")

EXPLANATION_SAMPLES = Schema(
    "explanation_samples",
    "The samples, by id.",
    (
        _SAMPLE,
        Column("image", "str", "", "path of the picture as recorded, relative to the directory of the run; empty for none"),
        Column("truth", "category", "", "numbers of the true labels, separated by spaces; empty for none"),
        Column("inferred", "bool", "", "whether predictions were recorded"),
        Column("file", "int32", "", "number of the file that named the picture, else the first one that named the sample"),
    ),
)

EXPLANATION_PREDICTIONS = Schema(
    "explanation_predictions",
    "Predicted and true labels of samples, by sample and label. The producer records true labels and those above 0.5.",
    (
        _SAMPLE,
        _LABEL,
        _PROBABILITY,
        Column("sd", "float64", "", "standard deviation of the probability"),
        Column("low", "float64", "", "lower end of the 95 % interval of the probability"),
        Column("high", "float64", "", "upper end of the 95 % interval of the probability"),
        Column("truth", "bool", "", "whether the label is true"),
    ),
)

EXPLANATION_OUTCOMES = Schema(
    "explanation_outcomes",
    "Recorded labels of samples that have a true label, at a threshold: TP, FN, FP or TN. Labels that were not recorded are "
    "TN as well; below 0.5 that is not certain unless all labels were recorded.",
    (
        _SAMPLE,
        _LABEL,
        Column("outcome", "category", "", "TP, FN, FP or TN; empty if the probability is unknown"),
        _PROBABILITY,
    ),
)

EXPLANATION_SALIENCY = Schema(
    "explanation_saliency",
    "Heat maps by sample, explainer and label.",
    (
        _SAMPLE,
        _EXPLAINER,
        _LABEL,
        Column("path", "str", "", "path of the heat map as recorded, relative to the directory of the run"),
    ),
)

EXPLANATION_SIZES = Schema(
    "explanation_sizes",
    "Sizes of heat maps, from their files: one row for each that was asked for.",
    (
        Column("row", "int64", "", "row of the heat map in the frame of heat maps"),
        Column("width", "int64", "px", "width; 0 for a file that is missing or no picture"),
        Column("height", "int64", "px", "height; 0 for a file that is missing or no picture"),
        Column("problem", "str", "", "why the file is not shown, or what is wrong in it; empty for nothing"),
    ),
)

EXPLANATION_COUNTERFACTUALS = Schema(
    "explanation_counterfactuals",
    "Layers of hierarchical occlusion, by sample, label and layer.",
    (
        _SAMPLE,
        _LABEL,
        Column("layer", "int64", "", "number of the layer, from 0"),
        _PROBABILITY,
        Column("boxes", "str", "", "boxes that stay visible: x,y,width,height in px, separated by semicolons; empty for none"),
        Column("mask", "category", "", "what covers the rest: gaussian:R for a blur of radius R"),
    ),
)

EXPLANATION_SCORES = Schema(
    "explanation_scores",
    "Scores of explainers by metric.",
    (
        _EXPLAINER,
        Column("metric", "category", "", "metric"),
        Column("label", "int64", "", "number of the label; -1 for all of them together"),
        Column("score", "float64", "", "score; NaN if it has none"),
    ),
)

EXPLANATION_LABELS = Schema(
    "explanation_labels",
    "The labels.",
    (
        _LABEL,
        Column("name", "str", "", "name of the label; 'label 7' for a number without a name"),
        Column("named", "bool", "", "whether the file names it"),
        Column("predicted", "int64", "", "samples that it was recorded for"),
        Column("true", "int64", "", "samples that it is true of"),
    ),
)

EXPLANATION_FRAMES: Mapping[str, Schema] = {
    schema.name.removeprefix("explanation_"): schema
    for schema in (
        EXPLANATION_SAMPLES, EXPLANATION_PREDICTIONS, EXPLANATION_OUTCOMES, EXPLANATION_SALIENCY, EXPLANATION_COUNTERFACTUALS,
        EXPLANATION_SCORES, EXPLANATION_LABELS,
    )
}  # fmt: skip
"""Frame -> its schema, by the name it has in RunExplanations."""
