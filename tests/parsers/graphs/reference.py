"""Graphs of MindSpore, TensorFlow and ONNX by the protobuf library: what our readers are compared with.

The messages are written as in the projects' .proto files, only with every enum as a number.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

MINDSPORE = """
message ModelProto { 1 int64 ir_version; 2 string domain; 3 int64 model_version; 4 GraphProto graph; }
message GraphProto { 1 repeated NodeProto node; 2 string name; 3 repeated ParameterProto parameters;
  4 repeated OutputProto outputs;
  5 repeated NamedValueProto const_vals; }
message NodeProto { 1 repeated InputProto input; 2 string name; 3 string op_type; 4 string scope;
  5 repeated AttributeProto attribute; 6 TypeProto output_type; 7 uint64 output_i; 8 string full_name; 9 string source_address;
  10 string instance_name; }
message InputProto { 1 string name; 2 int32 type; }
message AttributeProto { 1 string name; 2 ValueProto value; }
message NamedValueProto { 1 string key; 2 ValueProto value; 3 string full_name; }
message ParameterProto { 1 string name; 2 TypeProto type; 3 ValueProto default_val; }
message OutputProto { 1 string name; 2 TypeProto type; }
message TypeProto { 1 int32 data_type; 2 Tensor tensor_type; 3 Sequence sequence_type; }
message Tensor { 1 int32 elem_type; 2 TensorShapeProto shape; }
message Sequence { 1 repeated TypeProto elem_types; }
message TensorShapeProto { 1 repeated Dimension dim; }
message Dimension { 1 int64 size; 2 string name; }
message ValueProto { 1 int32 dtype; 2 bool bool_val; 3 int64 int_val; 4 uint64 uint_val; 5 float float_val; 6 double double_val;
  7 string str_val; 8 bytes tensor_val; 9 GraphProto graph; 10 repeated bool bool_vals; 11 repeated int64 int_vals;
  12 repeated uint64 uint_vals; 13 repeated float float_vals; 14 repeated double double_vals; 15 repeated string str_vals;
  16 repeated bytes tensor_vals; 17 repeated GraphProto graphs; 18 repeated ValueProto values;
  19 repeated NamedValueProto dict_val; 20 TypeProto type_val; }
message TensorProto { 1 repeated int64 dims; 2 int32 data_type; 3 packed float float_data; 4 packed int32 int32_data;
  5 packed int64 int64_data; 6 packed double double_data; 7 packed uint64 uint64_data; 8 bytes raw_data; }
"""
TENSORFLOW = """
message GraphDef { 1 repeated NodeDef node; 3 int32 version; 4 VersionDef versions; }
message VersionDef { 1 int32 producer; 2 int32 min_consumer; }
message NodeDef { 1 string name; 2 string op; 3 repeated string input; 4 string device; 5 map AttrValue attr; }
message AttrValue { 1 ListValue list; 2 bytes s; 3 int64 i; 4 float f; 5 bool b; 6 int32 type; 7 TensorShapeProto shape;
  8 TensorProto tensor; 9 string placeholder; }
message ListValue { 2 repeated bytes s; 3 packed int64 i; 4 packed float f; 5 packed bool b; 6 packed int32 type;
  7 repeated TensorShapeProto shape; }
message TensorShapeProto { 2 repeated Dim dim; 3 bool unknown_rank; }
message Dim { 1 int64 size; 2 string name; }
message TensorProto { 1 int32 dtype; 2 TensorShapeProto tensor_shape; 4 bytes tensor_content; 5 packed float float_val; }
"""
ONNX = """
message ModelProto { 1 int64 ir_version; 2 string producer_name; 3 string producer_version; 4 string domain;
  5 int64 model_version; 6 string doc_string; 7 GraphProto graph; 8 repeated OperatorSetIdProto opset_import; }
message OperatorSetIdProto { 1 string domain; 2 int64 version; }
message GraphProto { 1 repeated NodeProto node; 2 string name; 5 repeated TensorProto initializer; 10 string doc_string;
  11 repeated ValueInfoProto input; 12 repeated ValueInfoProto output; 13 repeated ValueInfoProto value_info; }
message NodeProto { 1 repeated string input; 2 repeated string output; 3 string name; 4 string op_type;
  5 repeated AttributeProto attribute; 6 string doc_string; 7 string domain; }
message AttributeProto { 1 string name; 2 float f; 3 int64 i; 4 bytes s; 5 TensorProto t; 6 GraphProto g;
  7 repeated float floats;  8 repeated int64 ints; 9 repeated bytes strings; 13 string doc_string; 20 int32 type; }
message TensorProto { 1 repeated int64 dims; 2 int32 data_type; 4 packed float float_data; 7 packed int64 int64_data;
  8 string name;  9 bytes raw_data; 13 repeated StringStringEntryProto external_data; 14 int32 data_location; }
message StringStringEntryProto { 1 string key; 2 string value; }
message ValueInfoProto { 1 string name; 2 TypeProto type; 3 string doc_string; }
message TypeProto { 1 Tensor tensor_type; 4 Sequence sequence_type; 6 string denotation; }
message Tensor { 1 int32 elem_type; 2 TensorShapeProto shape; }
message Sequence { 1 TypeProto elem_type; }
message TensorShapeProto { 1 repeated Dimension dim; }
message Dimension { 1 int64 dim_value; 2 string dim_param; 3 string denotation; }
"""
_Field = descriptor_pb2.FieldDescriptorProto


@cache
def message(name: str) -> Any:
    """A message class by name, such as "mindspore.GraphProto"."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(name))


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    for package, text in (("mindspore", MINDSPORE), ("tensorflow", TENSORFLOW), ("onnx", ONNX)):
        file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto2")
        for title, body in re.findall(r"message (\w+) \{(.*?)\}", text, re.DOTALL):
            made = file.message_type.add(name=title)
            for number, label, kind, name in re.findall(r"(\d+) (?:(repeated|packed|map) )?(\w+) (\w+);", body):
                field = made.field.add(name=name, number=int(number), label=_Field.LABEL_REPEATED if label else 1)
                if label == "map":
                    entry = made.nested_type.add(name=name.title() + "Entry")
                    entry.options.map_entry = True
                    entry.field.add(name="key", number=1, label=1, type=_Field.TYPE_STRING)
                    entry.field.add(name="value", number=2, label=1, type=_Field.TYPE_MESSAGE, type_name=f".{package}.{kind}")
                    field.type, field.type_name = _Field.TYPE_MESSAGE, f".{package}.{title}.{name.title()}Entry"
                elif hasattr(_Field, f"TYPE_{kind.upper()}"):
                    field.type = getattr(_Field, f"TYPE_{kind.upper()}")
                    field.options.packed = label == "packed"
                else:
                    field.type, field.type_name = _Field.TYPE_MESSAGE, f".{package}.{kind}"
        pool.Add(file)
    return pool


def graph_of(data: bytes) -> Any:
    """The GraphProto of MindSpore in a ModelProto, or the bytes themselves as one."""
    if data[:1] == b"\n":
        return message("mindspore.GraphProto").FromString(data)
    return message("mindspore.ModelProto").FromString(data).graph
