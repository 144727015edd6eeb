"""The protobuf messages of event files, as classes created on first use.

Written down as text, compiled to descriptors here: no generated code, no compiler, and the messages of other installed
packages are not disturbed because the pool is our own. Field numbers are those of MindSpore's summary.proto and lineage.proto
and TensorFlow's event.proto, summary.proto and tensor.proto. Graphs stay bytes; their reader knows them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

MINDSPORE = """
message Event { 1 required double wall_time; 2 int64 step; 3 string version; 4 bytes graph_def; 5 Summary summary;
  6 Explain explain; oneof what 3 4 5 6 }
message Summary { 1 repeated Value value }
message Value { 1 required string tag; 3 float scalar_value; 4 Image image; 8 TensorProto tensor; 9 Histogram histogram;
  10 LossLandscape loss_landscape; oneof value 3 4 8 9 10 }
message Image { 1 required int32 height; 2 required int32 width; 3 required int32 colorspace; 4 required bytes encoded_image }
message Histogram { 1 repeated Bucket buckets; 2 int64 nan_count; 3 int64 pos_inf_count; 4 int64 neg_inf_count; 5 double max;
  6 double min; 7 double sum; 8 int64 count }
message Bucket { 1 required double left; 2 required double width; 3 required int64 count }
message TensorProto { 1 repeated int64 dims; 2 int32 data_type; 3 packed float float_data; 4 packed int32 int32_data;
  5 packed int64 int64_data; 6 packed double double_data; 7 packed uint64 uint64_data; 8 bytes raw_data }
message LossLandscape { 1 Point landscape; 2 LossPath loss_path; 3 LandscapeMetadata metadata; 4 Point convergence_point }
message Point { 1 TensorProto x; 2 TensorProto y; 3 TensorProto z }
message LossPath { 1 repeated int32 intervals; 2 Point points }
message LandscapeMetadata { 1 string decomposition; 2 string unit; 3 int32 step_per_epoch }
message Explain { 1 int32 sample_id; 2 string image_path; 3 repeated int32 ground_truth_label; 4 Inference inference;
  5 repeated Explanation explanation; 6 repeated ExplainBenchmark benchmark; 7 ExplainMetadata metadata; 8 string status;
  9 repeated Hoc hoc }
message Inference { 1 repeated float ground_truth_prob; 2 repeated int32 predicted_label; 3 repeated float predicted_prob;
  4 repeated float ground_truth_prob_sd; 5 repeated float ground_truth_prob_itl95_low;
  6 repeated float ground_truth_prob_itl95_hi; 7 repeated float predicted_prob_sd; 8 repeated float predicted_prob_itl95_low;
  9 repeated float predicted_prob_itl95_hi }
message Explanation { 1 string explain_method; 2 int32 label; 3 string heatmap_path }
message ExplainBenchmark { 1 string benchmark_method; 2 string explain_method; 3 float total_score;
  4 repeated float label_score }
message ExplainMetadata { 1 repeated string label; 2 repeated string explain_method; 3 repeated string benchmark_method }
message Hoc { 1 int32 label; 2 string mask; 3 repeated HocLayer layer }
message HocLayer { 1 float prob; 2 repeated int32 box }
message LineageEvent { 1 required double wall_time; 2 int64 step; 3 string version; 6 TrainLineage train_lineage;
  7 EvaluationLineage evaluation_lineage; 9 DatasetGraph dataset_graph; 10 UserDefinedInfo user_defined_info;
  oneof what 3 6 7 9 10 }
message TrainLineage { 1 HyperParameters hyper_parameters; 2 TrainDataset train_dataset; 3 Algorithm algorithm; 4 Model model }
message HyperParameters { 1 string optimizer; 2 float learning_rate; 3 string loss_function; 4 int32 epoch;
  5 string parallel_mode; 6 int32 device_num; 8 int32 batch_size }
message TrainDataset { 1 string train_dataset_path; 2 int32 train_dataset_size }
message Algorithm { 1 string network; 2 float loss }
message Model { 3 string path; 4 int64 size }
message EvaluationLineage { 2 string metric; 3 ValidDataset valid_dataset }
message ValidDataset { 1 string valid_dataset_path; 2 int32 valid_dataset_size }
message UserDefinedInfo { 1 repeated UserDefinedInfo user_info; 2 map UserDefinedInfo map_dict; 3 map int32 map_int32;
  4 map string map_str; 5 map double map_double }
message DatasetGraph { 1 repeated DatasetGraph children; 2 OperationParameter parameter; 3 repeated Operation operations;
  4 Operation sampler }
message Operation { 1 OperationParameter operationParam; 2 repeated int32 size; 3 repeated float weights }
message OperationParameter { 1 map string mapStr; 2 map StrList mapStrList; 3 map bool mapBool; 4 map int32 mapInt;
  5 map double mapDouble }
message StrList { 1 repeated string strValue }
"""

TENSORFLOW = """
message Event { 1 double wall_time; 2 int64 step; 3 string file_version; 4 bytes graph_def; 5 Summary summary;
  6 bytes log_message; 7 SessionLog session_log; 8 TaggedRunMetadata tagged_run_metadata; 9 bytes meta_graph_def;
  10 bytes source_metadata; oneof what 3 4 5 6 7 8 9 }
message SessionLog { 1 int32 status; 2 string checkpoint_path; 3 string msg }
message TaggedRunMetadata { 1 string tag; 2 bytes run_metadata }
message Summary { 1 repeated Value value }
message Value { 1 string tag; 2 float simple_value; 3 bytes obsolete_old_style_histogram; 4 Image image; 5 HistogramProto histo;
  6 Audio audio; 7 string node_name; 8 TensorProto tensor; 9 SummaryMetadata metadata; oneof value 2 3 4 5 6 8 }
message Image { 1 int32 height; 2 int32 width; 3 int32 colorspace; 4 bytes encoded_image_string }
message HistogramProto { 1 double min; 2 double max; 3 double num; 4 double sum; 5 double sum_squares;
  6 packed double bucket_limit; 7 packed double bucket }
message Audio { 1 float sample_rate; 2 int64 num_channels; 3 int64 length_frames; 4 bytes encoded_audio_string;
  5 string content_type }
message SummaryMetadata { 1 PluginData plugin_data; 2 string display_name; 3 string summary_description; 4 int32 data_class }
message PluginData { 1 string plugin_name; 2 bytes content }
message TensorProto { 1 int32 dtype; 2 TensorShapeProto tensor_shape; 3 int32 version_number; 4 bytes tensor_content;
  5 packed float float_val; 6 packed double double_val; 7 packed int32 int_val; 8 repeated bytes string_val;
  9 packed float scomplex_val; 10 packed int64 int64_val; 11 packed bool bool_val; 12 packed double dcomplex_val;
  13 packed int32 half_val; 16 packed uint32 uint32_val; 17 packed uint64 uint64_val }
message TensorShapeProto { 2 repeated Dim dim; 3 bool unknown_rank }
message Dim { 1 int64 size; 2 string name }
"""

_MESSAGE = re.compile(r"message (\w+) \{(.*?)\}", re.DOTALL)
_FIELD = re.compile(r"(\d+) (?:(required|repeated|packed|map) )?(\w+) (\w+)")
_ONEOF = re.compile(r"oneof (\w+)((?: \d+)+)")
_Field = descriptor_pb2.FieldDescriptorProto


@cache
def message_class(name: str) -> Any:
    """Return the class of a message by full name, such as "mindspore.Event" or "tensorflow.HistogramProto"."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(name))


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    for package, text in (("mindspore", MINDSPORE), ("tensorflow", TENSORFLOW)):
        file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto2")
        for name, body in _MESSAGE.findall(text):
            _add_message(file.message_type.add(name=name), package, body)
        pool.Add(file)
    return pool


def _add_message(message: descriptor_pb2.DescriptorProto, package: str, body: str) -> None:
    oneof = _ONEOF.search(body)
    members = set(oneof[2].split()) if oneof else set()
    if oneof:
        message.oneof_decl.add(name=oneof[1])
    for number, label, kind, name in _FIELD.findall(_ONEOF.sub("", body)):
        field = message.field.add(name=name, number=int(number), label=_Field.LABEL_OPTIONAL)
        if label == "map":
            entry = _add_map_entry(message, package, name, kind)
            field.label, field.type, field.type_name = _Field.LABEL_REPEATED, _Field.TYPE_MESSAGE, entry
            continue
        _set_type(field, package, kind)
        if label == "required":
            field.label = _Field.LABEL_REQUIRED
        elif label:
            field.label, field.options.packed = _Field.LABEL_REPEATED, label == "packed"
        if number in members:
            field.oneof_index = 0


def _add_map_entry(message: descriptor_pb2.DescriptorProto, package: str, name: str, kind: str) -> str:
    title = "".join(part[:1].upper() + part[1:] for part in name.split("_")) + "Entry"
    entry = message.nested_type.add(name=title)
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, label=_Field.LABEL_OPTIONAL, type=_Field.TYPE_STRING)
    _set_type(entry.field.add(name="value", number=2, label=_Field.LABEL_OPTIONAL), package, kind)
    return f".{package}.{message.name}.{title}"


def _set_type(field: descriptor_pb2.FieldDescriptorProto, package: str, kind: str) -> None:
    scalar = f"TYPE_{kind.upper()}"
    if scalar in _Field.Type.keys():  # noqa: SIM118  an enum wrapper, not a dict
        field.type = _Field.Type.Value(scalar)
    else:
        field.type, field.type_name = _Field.TYPE_MESSAGE, f".{package}.{kind}"
