"""Lineage read the slow, plain way: every record by protobuf, MindInsight's rules over whole files."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict

from parsers.events.messages import message_class
from tests.parsers.events.event_reference import framed, records

NAMES = {
    "train_dataset_size": "train_dataset_count", "valid_dataset_path": "test_dataset_path",
    "valid_dataset_size": "test_dataset_count",
}  # fmt: skip


def lineage_files(folder: str) -> list[str]:
    names = [name for name in os.listdir(folder) if name.endswith("_lineage")]
    return [os.path.join(folder, name) for name in sorted(names)]


def settings_of(paths: Iterable[str]) -> dict[str, Any]:
    """Settings as MindInsight has them, floats of float32 fields at full width; files come in order."""
    found: dict[str, Any] = {}
    for path in paths:
        last = {}
        for _, data in records(Path(path).read_bytes()):
            event = message_class("mindspore.LineageEvent").FromString(data)
            last[event.WhichOneof("what")] = event
        if {"train_lineage", "dataset_graph"} & last.keys():
            found = {}
        if "user_defined_info" in last:
            for info in last["user_defined_info"].user_defined_info.user_info:
                for values in (info.map_int32, info.map_str, info.map_double):
                    found |= {f"user_defined/{name}": value for name, value in values.items()}
        if "train_lineage" in last:
            lineage = last["train_lineage"].train_lineage
            for part in (lineage.hyper_parameters, lineage.train_dataset, lineage.algorithm):
                found |= {NAMES.get(field.name, field.name): value for field, value in part.ListFields()}
            if lineage.hyper_parameters.HasField("learning_rate"):
                found["learning_rate"] = MessageToDict(lineage.hyper_parameters)["learningRate"]
            found["model_size"] = lineage.model.size
            path_of_model = json.loads(lineage.model.path)["ckpt"]
            found |= {"model_path": path_of_model} if path_of_model else {}
        if "evaluation_lineage" in last:
            lineage = last["evaluation_lineage"].evaluation_lineage
            found |= {NAMES[field.name]: value for field, value in lineage.valid_dataset.ListFields()}
            if lineage.metric:
                found |= {f"metric/{name}": value for name, value in json.loads(lineage.metric).items()}
    return found


def same(left: Any, right: Any) -> bool:
    """Equal, of one type, and NaN equal to NaN."""
    both_nan = isinstance(left, float) and isinstance(right, float) and math.isnan(left) and math.isnan(right)
    return both_nan or (left == right and type(left) is type(right))


def lineage_event(**what: Any) -> bytes:
    """A framed LineageEvent, of fields as protobuf takes them."""
    return framed(message_class("mindspore.LineageEvent")(wall_time=1.7e9, **what).SerializeToString())


def custom(**values: Any) -> bytes:
    """A framed event of custom data, one UserDefinedInfo for each value as MindSpore writes it."""
    kinds = {int: "map_int32", str: "map_str", float: "map_double"}
    infos = [{kinds[type(value)]: {name: value}} for name, value in values.items()]
    return lineage_event(user_defined_info={"user_info": infos})


def write_run(folder: Path, *files: bytes) -> Path:
    """A run with lineage files of these contents, one second after the other."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(files):
        (folder / f"events.out.events.summary.{1700000000 + number}.0.host_lineage").write_bytes(content)
    return folder
