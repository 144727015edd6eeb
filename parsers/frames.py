"""The schemas of the frames of runs: what training recorded, lineage, and what analyses found."""

from __future__ import annotations

from parsers.schema import Column, Schema

_RECORDED = (
    Column("tag", "category", "", "name the value was recorded under"),
    Column("step", "int64", "step", "training step as written"),
    Column("wall_time", "float64", "s", "seconds since 1970-01-01 UTC as written"),
)
"""What every recorded value has."""
_PLACE = (
    Column("file", "int32", "", "index into run.files of the file the value is in"),
    Column("order", "int64", "B", "byte offset of the value's record in that file"),
)
"""Where its record is."""
_SETTING = Column("setting", "str", "", "column of the lineage table")

SCALARS = Schema(
    "scalars",
    "Every scalar value a run recorded, in the order it was written: by tag, then file, then place in the file.",
    (
        *_RECORDED,
        Column("value", "float64", "", "the value; float32 in the file is widened without change"),
        *_PLACE,
    ),
)

SCALARS_VIEW = Schema(
    "scalars_view",
    "Scalars with the restarts of each tag numbered.",
    (*SCALARS.columns, Column("session", "int32", "", "restarts of the tag before this value; grows where step goes back")),
)


def _index(name: str, what: str) -> Schema:
    """The schema of an index of large values, which are decoded when they are asked for."""
    return Schema(
        name,
        f"Where every {what} of a run is, in the order it was written; none of them has been decoded.",
        (
            *_RECORDED,
            *_PLACE,
            Column("offset", "int64", "B", "byte offset of the value's own message"),
            Column("length", "int64", "B", "bytes of the value's own message"),
        ),
    )


HISTOGRAMS = _index("histograms", "histogram")
IMAGES = _index("images", "image")
TENSORS = _index("tensors", "tensor")
LANDSCAPES = _index("landscapes", "loss landscape")
TEXTS = _index("texts", "text")

NODES = Schema(
    "nodes",
    "The nodes of one graph, in the order of the file; the row number is a node's id.",
    (
        Column("name", "str", "", "name as in the file; parameters and constants included"),
        Column("full_name", "str", "", "name with its scopes, parts separated by /; the name where the file has no other"),
        Column("scope", "category", "", "scopes the node is in, separated by /; empty at the top"),
        Column("type", "category", "", "operator type; Parameter and Const for what is no operator, unless the file says more"),
        Column("kind", "category", "", "operator, parameter or constant"),
        Column("output_type", "category", "", "type of the output, such as Tensor[Float32] or Tuple[...]; empty for unknown"),
        Column("shape", "category", "", "shape of the output, such as 32x3x224x224; [] for a scalar, empty for unknown"),
        Column("instance", "str", "", "instance name as in the file; empty for none"),
        Column("order", "int64", "B", "byte offset of the node's own message, or of its line, in the file"),
        Column("subgraph", "category", "", "function the node is in, where the file has several; else empty"),
    ),
)

EDGES = Schema(
    "edges",
    "The edges of one graph, in the order of the consumers and of their inputs.",
    (
        Column("source", "int32", "", "row in nodes of what makes the value"),
        Column("target", "int32", "", "row in nodes of what takes it"),
        Column("output", "int32", "", "which output of the source; 0 where it has one"),
        Column("input", "int32", "", "which input of the target, counted from 0; -1 for the result of the function it calls"),
        Column("kind", "category", "", "data, control, or call: between a function and the node that calls it"),
        Column("type", "category", "", "type of the value, as in nodes.output_type"),
        Column("shape", "category", "", "shape of the value, as in nodes.shape"),
    ),
)

DATASET_NODES = Schema(
    "dataset_nodes",
    "The operations of a data set pipeline, the last one first, each after what takes its data; the row number is its id.",
    (
        Column("parent", "int32", "", "row of the operation that takes its data; -1 for the last one"),
        Column("level", "int32", "", "how many operations come after it"),
        Column("type", "str", "", "operation, as MindSpore 2 calls it: Batch, MnistDataset"),
        Column("recorded", "str", "", "operation as in the file: BatchDataset in older ones"),
        Column("kind", "str", "", "create, map, shuffle, batch, repeat or operator"),
        Column("parameters", "str", "", "JSON object of its parameters"),
        Column("operations", "str", "", "JSON list of the operations of a map: name, parameters, size, weights"),
        Column("sampler", "str", "", "JSON object of its sampler: name, parameters; empty for none"),
    ),
)

_LINEAGE = (
    Column("run", "str", "", "name of the run; two runs may have one"),
    Column("path", "str", "", "directory of the run"),
    Column("optimizer", "str", "", "optimizer"),
    Column("learning_rate", "float64", "", "learning rate; the shortest decimal of a float32"),
    Column("loss_function", "str", "", "loss function"),
    Column("epoch", "Int64", "", "epochs trained"),
    Column("batch_size", "Int64", "", "samples of one step"),
    Column("parallel_mode", "str", "", "parallel mode, such as stand_alone"),
    Column("device_num", "Int64", "", "devices"),
    Column("network", "str", "", "network"),
    Column("loss", "float64", "", "last loss of the training; a float32 is widened without change"),
    Column("model_path", "str", "", "path of the checkpoint on the machine of the training"),
    Column("model_size", "Int64", "B", "size of the checkpoint"),
    Column("train_dataset_path", "str", "", "training data on the machine of the training"),
    Column("train_dataset_count", "Int64", "", "samples trained with"),
    Column("test_dataset_path", "str", "", "test data on the machine of the training"),
    Column("test_dataset_count", "Int64", "", "samples tested with"),
    Column("dataset_mark", "str", "", "the same eight digits for runs with equal data set pipelines"),
)
_METRICS = Column("metric/", "", "", "a metric of the evaluation, or the last value of a scalar that hparams call one")
_OTHERS = Column("user_defined/", "", "", "anything else the run recorded: custom lineage data, hparams, configuration files")

LINEAGE = Schema(
    "lineage",
    "What one run says of itself, in one row; what is not recorded is missing. Further columns have the type of their value: "
    "Int64, float64, boolean or str.",
    _LINEAGE,
    (_METRICS, _OTHERS),
)

LINEAGE_TABLE = Schema(
    "lineage_table",
    "What runs say of themselves, a row each. Further columns are Int64, boolean or str where all values are, float64 where "
    "all are numbers (also NaN and inf written as text), else object with the values as they are.",
    (
        *_LINEAGE,
        Column("steps", "Int64", "step", "distinct steps of the run's longest series of scalars; 0 for none"),
        Column("duration", "float64", "s", "time between its first and last scalar"),
    ),
    (
        _METRICS,
        _OTHERS,
        Column("last/", "float64", "", "value of a scalar written last"),
        Column("best/", "float64", "", "least finite value of what is a loss by its name, greatest of what is a score"),
    ),
)

IMPORTANCE = Schema(
    "importance",
    "How far settings of runs go with one of their results, the highest lower limit first, those without a number last.",
    (
        _SETTING,
        Column("kind", "category", "", "numeric or categorical"),
        Column("runs", "int64", "", "runs in which both setting and result are finite or, of a text, recorded"),
        Column("levels", "int64", "", "different values of the setting in these runs"),
        Column("pearson", "float64", "", "strength of a linear relation, 0 to 1: |Pearson r|; of 3+ categories `association`"),
        Column("pearson_low", "float64", "", "lower end of its 95 % confidence interval; NaN under 4 runs"),
        Column("pearson_high", "float64", "", "upper end of it"),
        Column("spearman", "float64", "", "strength of a monotonic relation, 0 to 1: |Spearman rho|; NaN for categories"),
        Column("spearman_low", "float64", "", "lower end of its 95 % confidence interval"),
        Column("spearman_high", "float64", "", "upper end of it"),
        Column("sign", "int8", "", "1 where the result grows with the setting, -1 where it falls, 0 for neither or categories"),
        Column("reason", "category", "", "why there is no number: few, constant, unique, identifier, confounded; else empty"),
        Column("confounded", "str", "", "the setting that stands for this one, as both always change together; else empty"),
        Column("entangled", "str", "", "another setting that mostly changes together with this one; empty for none"),
        Column("entangled_strength", "float64", "", "how far it does, from 0.9 to 1; NaN for none"),
    ),
)

SHARES = Schema(
    "shares",
    "How far a result depends on settings when all are taken together, the most important first, those without a rank last.",
    (
        _SETTING,
        Column("importance", "float64", "", "share of the result's variance that goes with the setting; NaN before any refit"),
        Column("low", "float64", "", "lower end of its 95 % interval; NaN before the second refit"),
        Column("high", "float64", "", "upper end of it"),
        Column("untried", "float64", "", "largest part of the range drawn from that lies between runs; 0 where none is known"),
        Column("reason", "category", "", "why it has no rank: none (its interval reaches 0), untried; else empty"),
        Column("tied", "bool", "", "whether it has a rank, and its share is not surely larger than that of the next setting"),
    ),
)

INSIGHTS = Schema(
    "insights",
    "What in the scalars of a run deserves a look, the severest first.",
    (
        Column("tag", "str", "", "the scalar"),
        Column("kind", "category", "", "non_finite, divergence, frozen, stall, spike, shift, slower, plateau or gap"),
        Column("severity", "int8", "", "2 for what is wrong, 1 for what deserves a look"),
        Column("step", "int64", "step", "where it begins"),
        Column("last_step", "int64", "step", "where it ends"),
        Column("place", "int64", "", "index in the series of where it begins"),
        Column("last_place", "int64", "", "index in the series of where it ends"),
        Column("points", "int64", "", "values concerned"),
        Column("score", "float64", "", "measured over limit; 1 is just enough"),
        Column("measured", "float64", "", "what the rule measures, in `unit`"),
        Column("limit", "float64", "", "from which on it is told, in `unit`; of a spike that of its curve"),
        Column("unit", "category", "", "unit of measured and limit"),
        Column("value", "float64", "", "value there; of a gap its steps, of slower seconds per step, of stall seconds"),
        Column("usual", "float64", "", "what it is compared with, in the unit of `value`"),
        Column("rule", "category", "", "what is compared with the limit"),
    ),
)

SINGLE_CHANGES = Schema(
    "single_changes",
    "Pairs of runs that are alike in all settings but one; of many the neighbours by that setting.",
    (
        Column("setting", "str", "", "the setting that differs"),
        Column("first", "int64", "", "row of the run with the lower value, or the category met first"),
        Column("second", "int64", "", "row of the other run"),
    ),
)
