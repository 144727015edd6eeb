"""The worst files of event records, graphs, checkpoints, dumps and settings, as `worst_files` has those of tables and JSON."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from collections.abc import Callable

import numpy as np

from tests.parsers.events.event_reference import framed
from tests.writers.worst_files import SIZE, Format, Make, counted, filled

LONGEST_LENGTH = 0x7FFFFFFF
"""A declared length far beyond the end of the file."""
_STATISTICS = b"Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n"
_STATISTIC = b"Add,Add-op%d,0,0,%d,output,0,4,float32,(1),1.5\n"


def varint(number: int) -> bytes:
    """Return an integer as protobuf writes it."""
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*made, number))


def delimited(number: int, content: bytes) -> bytes:
    """Return a field of protobuf that holds bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def nested(number: int, inside: bytes = b"") -> bytes:
    """Return messages within each other, each the same field, to about SIZE: lengths take four bytes at most."""
    parts = []
    length = len(inside)
    while length < SIZE:
        head = varint(number << 3 | 2) + varint(length)
        parts.append(head)
        length += len(head)
    return b"".join(reversed(parts)) + inside


def many(make: Callable[[int], bytes], before: bytes = b"") -> bytes:
    """Return pieces by their number, to SIZE."""
    parts, length, number = [before], len(before), 0
    while length < SIZE:
        parts.append(make(number))
        length += len(parts[-1])
        number += 1
    return b"".join(parts)


def _event(step: int, summary: bytes) -> bytes:
    return b"\x09" + struct.pack("<d", 1.7e9 + step) + b"\x10" + varint(step) + delimited(5, summary)


def _scalar(tag: bytes, step: int) -> bytes:
    return framed(_event(step, delimited(1, delimited(1, tag) + b"\x15" + struct.pack("<f", step % 7))))


def _named(tag: bytes) -> bytes:
    return delimited(1, delimited(1, tag) + b"\x15\0\0\0\0")


def _hundreds(step: int) -> bytes:
    return framed(_event(step, b"".join(_named(b"t%d.%d" % (step, number)) for number in range(300))))


def names_by_hundreds(records: int) -> bytes:
    """Return a file of this many records. Each has 300 values, and no two values share a tag."""
    return _VERSION + b"".join(map(_hundreds, range(records)))


_VERSION = framed(b"\x09" + struct.pack("<d", 1.7e9) + delimited(3, b"brain.Event:2"))
_EVENTS: dict[str, Make] = {
    "name": lambda: _VERSION + _scalar(b"x" * SIZE, 1),
    "names": lambda: many(lambda at: _scalar(b"t%d" % at, 1), _VERSION),
    "values": lambda: _VERSION + framed(_event(1, filled(delimited(1, b"\x0a\x01a\x15\0\0\0\0")))),
    "names_of_one": lambda: _VERSION + framed(_event(1, many(lambda at: _named(b"t%d" % at)))),
    "names_by_hundreds": lambda: many(_hundreds, _VERSION),
    "long_names": lambda: many(lambda at: _scalar(b"%d" % at * 200, 1), _VERSION),
    "names_with_steps": lambda: many(lambda at: _scalar(b"t%d" % at, at), _VERSION),
    "odd_values": lambda: _VERSION + framed(_event(1, filled(delimited(1, b"\x15\0\0\0\0\x0a\x01a")))),
    "records_of_values": lambda: many(lambda at: framed(_event(at, delimited(1, b"\x0a\x01a\x15\0\0\0\0") * 4000)), _VERSION),
    "empty_values": lambda: _VERSION + framed(_event(1, filled(b"\x0a\x00"))),
    "nesting": lambda: _VERSION + framed(nested(5)),
    "length": lambda: filled(struct.pack("<Q", LONGEST_LENGTH), _VERSION),
    "empty_records": lambda: filled(framed(b""), _VERSION),
    "zeros": lambda: filled(b"\0", _VERSION),
}


def _explained(at: int, more: bytes = b"") -> bytes:
    head = b"\x09" + struct.pack("<d", 1.7e9 + at)
    return framed(head + delimited(6, b"\x08" + varint(at) + delimited(2, b"a/%d.png" % at) + b"\x18\x01" + more))


_OF_EXPLAINER = framed(b"\x09" + struct.pack("<d", 1.7e9) + delimited(3, b"MindSpore.Event:1"))
_HEAT_MAP = delimited(5, delimited(1, b"Gradient") + b"\x10\x01" + delimited(3, b"a/b.png"))
_SCORE = delimited(6, delimited(1, b"a") + delimited(2, b"b") + b"\x25\0\0\x80\x3f")
_EXPLAIN: dict[str, Make] = {
    "scores": lambda: _OF_EXPLAINER + _explained(1, filled(_SCORE)),
    "empty_heat_maps": lambda: _OF_EXPLAINER + _explained(1, filled(delimited(5, b""))),
    "labels": lambda: _OF_EXPLAINER + _explained(1, filled(b"\x18\x01")),
    "layers": lambda: _OF_EXPLAINER + _explained(1, delimited(9, b"\x08\x01" + filled(delimited(3, b"\x10\x01")))),
    "names": lambda: many(lambda at: _explained(at, delimited(5, delimited(1, b"%d" % at))), _OF_EXPLAINER),
    "name": lambda: _OF_EXPLAINER + _explained(1, delimited(5, delimited(1, b"x" * SIZE))),
}


def _node(at: int) -> bytes:
    ends = delimited(1, b"x%d" % at) + delimited(2, b"x%d" % (at + 1))
    return delimited(1, ends + delimited(3, b"n%d" % at) + delimited(4, b"Add"))


def _onnx(graph: bytes) -> bytes:
    return b"\x08\x08" + delimited(2, b"pytorch") + delimited(7, graph)


_ONNX: dict[str, Make] = {
    "name": lambda: _onnx(delimited(1, delimited(3, b"x" * SIZE) + delimited(4, b"Add"))),
    "equal_attributes": lambda: _onnx(delimited(1, filled(delimited(5, delimited(1, b"a"))) + delimited(4, b"Add"))),
    "numbers": lambda: _onnx(delimited(1, delimited(5, delimited(1, b"a") + filled(b"\x40\x01")) + delimited(4, b"Add"))),
    "inputs": lambda: _onnx(delimited(1, filled(delimited(1, b"a")) + delimited(4, b"Add"))),
    "attributes": lambda: _onnx(delimited(1, filled(delimited(5, b"")) + delimited(4, b"Add"))),
    "empty_nodes": lambda: _onnx(filled(delimited(1, b""))),
    "nesting": lambda: _onnx(nested(1)),
    "length": lambda: _onnx(filled(b"\x0a" + varint(LONGEST_LENGTH))),
    "dimensions": lambda: _onnx(delimited(5, filled(b"\x08\x01") + delimited(8, b"w"))),
}


_TYPE = delimited(6, b"\x08\x0b" + delimited(4, delimited(1, b"\x08\x0b") + delimited(2, delimited(1, b"\x10\x02"))))


def _call(at: int, more: bytes = b"") -> bytes:
    named = delimited(1, delimited(1, b"%d" % at)) + delimited(2, b"%d" % (at + 1)) + delimited(3, b"Add")
    return delimited(1, named + delimited(4, b"Default/a") + more)


_ATTRIBUTE = delimited(1, b"a") + delimited(2, b"\x08\x03\x18\x01")
_MINDSPORE: dict[str, Make] = {
    "attributes": lambda: _call(1, filled(delimited(5, _ATTRIBUTE))),
    "empty_attributes": lambda: _call(1, filled(delimited(5, b""))),
    "inputs": lambda: _call(1, filled(delimited(1, delimited(1, b"1")))),
    "types": lambda: many(lambda at: _call(at, delimited(6, b"\x08" + varint(at)))),
    "dimensions": lambda: _call(1, delimited(6, b"\x08\x0b" + delimited(4, delimited(2, filled(delimited(1, b"\x10\x02")))))),
    "values_in_values": lambda: _call(1, delimited(5, delimited(1, b"a") + delimited(2, nested(12)))),
    "values_of_one": lambda: _call(1, delimited(5, delimited(1, b"a") + delimited(2, filled(delimited(12, b"\x08\x03"))))),
    "sources": lambda: _call(1, filled(delimited(9, b"In file a.py:1"))),
    "lines_of_a_source": lambda: _call(1, delimited(9, filled(b"a\n"))),
    "name": lambda: _call(1, delimited(8, b"a/" * (SIZE // 2))),
    "scopes": lambda: many(lambda at: _call(at, delimited(4, b"%d/" % at * 40))),
    "parameters": lambda: _call(1) + many(lambda at: delimited(3, delimited(1, b"%d" % at) + delimited(2, b""))),
    "constants": lambda: _call(1) + many(lambda at: delimited(5, delimited(1, b"%d" % at) + delimited(2, b"\x08\x03"))),
    "equal_names": lambda: filled(_call(1)),
    "empty_nodes": lambda: _call(1) + filled(delimited(1, b"")),
    "damaged_nodes": lambda: filled(_call(1) + b"\x0a\x04\x0a\x7f\x0a\x7f"),
    "begun_nodes": lambda: _call(1) + filled(b"\x0a\x7f"),
    "nesting": lambda: _call(1) + nested(1),
    "outputs": lambda: _call(1) + filled(delimited(4, delimited(1, b"2"))),
}


def _tensorflow(at: int, more: bytes = b"") -> bytes:
    return delimited(1, delimited(1, b"n%d" % at) + delimited(2, b"Add") + delimited(3, b"n%d" % (at - 1)) + more)


def _shapes(written: bytes) -> bytes:
    return _tensorflow(1, delimited(5, delimited(1, b"_output_shapes") + delimited(2, delimited(1, written))))


_TENSORFLOW: dict[str, Make] = {
    "attributes": lambda: _tensorflow(1, filled(delimited(5, delimited(1, b"a") + delimited(2, delimited(2, b"v"))))),
    "names_of_attributes": lambda: _tensorflow(1, many(lambda at: delimited(5, delimited(1, b"%d" % at)))),
    "empty_attributes": lambda: _tensorflow(1, filled(delimited(5, b""))),
    "inputs": lambda: _tensorflow(1, filled(delimited(3, b"n0"))),
    "outputs": lambda: _tensorflow(1, filled(delimited(3, b"n0:1"))),
    "shapes": lambda: _shapes(filled(delimited(7, delimited(2, b"\x08\x03")))),
    "dimensions": lambda: _shapes(delimited(7, filled(delimited(2, b"\x08\x03")))),
    "list": lambda: _shapes(filled(delimited(2, b""))),
    "equal_names": lambda: filled(_tensorflow(1)),
    "scopes": lambda: many(lambda at: delimited(1, delimited(1, b"%d/" % at * 40) + delimited(2, b"Add"))),
    "empty_nodes": lambda: _tensorflow(1) + filled(delimited(1, b"")),
    "nesting": lambda: _tensorflow(1) + nested(1),
    "functions": lambda: _tensorflow(1) + delimited(2, filled(delimited(1, delimited(3, _tensorflow(1))))),
}


_FLOAT = b"\x08\x01" + delimited(2, b"Float32") + delimited(3, b"\0\0\0\0")


def _weight(at: int, tensor: bytes = _FLOAT) -> bytes:
    return delimited(1, delimited(1, b"t%d" % at) + delimited(2, tensor))


_CHECKPOINT: dict[str, Make] = {
    "pieces_of_one": lambda: filled(_weight(1)),
    "empty_values": lambda: _weight(1) + filled(delimited(1, b"")),
    "dimensions": lambda: _weight(1, filled(b"\x08\x01") + delimited(2, b"Float32")),
    "types": lambda: many(lambda at: _weight(at, delimited(2, b"x%d" % at))),
    "name": lambda: delimited(1, delimited(1, b"x" * SIZE) + delimited(2, _FLOAT)),
    "lengths": lambda: _weight(1) + filled(b"\x0a" + varint(LONGEST_LENGTH)),
}


def _safetensors(header: bytes) -> bytes:
    return struct.pack("<Q", len(header)) + header


_TENSOR = b'"t%d": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}'
_SAFETENSORS: dict[str, Make] = {
    "name": lambda: _safetensors(filled(b"x", b'{"', b'": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}}')),
    "shape": lambda: _safetensors(filled(b"1,", b'{"t": {"dtype": "F32", "data_offsets": [0, 0], "shape": [', b"0]}}")),
    "nesting": lambda: _safetensors(filled(b"[", b'{"t": ')),
    "empty": lambda: _safetensors(counted(b'"%d":0', b"{", b"}", b",")),
    "length": lambda: filled(b"\0", struct.pack("<Q", 1 << 62) + b"{"),
}


def _torch(description: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("archive/data.pkl", description)
    return stream.getvalue()


def _members() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for number in range(SIZE // 100):
            archive.writestr(zipfile.ZipInfo(str(number)), b"")
    return stream.getvalue()


_TORCH: dict[str, Make] = {
    "lists": lambda: _torch(filled(b"]", b"\x80\x02", b".")),
    "dicts": lambda: _torch(filled(b"}", b"\x80\x02", b".")),
    "marks": lambda: _torch(filled(b"(", b"\x80\x02", b".")),
    "nesting": lambda: _torch(filled(b"]", b"\x80\x02", b"a" * (SIZE // 2) + b".")),
    "name": lambda: _torch(b"\x80\x02X" + struct.pack("<I", SIZE) + b"x" * SIZE + b"."),
    "length": lambda: _torch(filled(b"X\xff\xff\xff\x7f", b"\x80\x02")),
    "memo": lambda: _torch(filled(b"q\x01", b"\x80\x02N", b".")),
    "memoize": lambda: _torch(filled(b"\x94", b"\x80\x02N", b".")),
    "tuples": lambda: _torch(filled(b"\x85", b"\x80\x02)", b".")),
    "calls": lambda: _torch(filled(b"))R", b"\x80\x02", b".")),
    "members": _members,
}


def npy(size: int = 4) -> bytes:
    """Return an array of bytes as a file."""
    stream = io.BytesIO()
    np.save(stream, np.zeros(size, np.uint8))
    return stream.getvalue()


_NPY: dict[str, Make] = {
    "shape": lambda: b"\x93NUMPY\x02\x00" + struct.pack("<I", SIZE) + filled(b"1,", b"{'descr': '<f4', 'shape': ("),
    "nesting": lambda: b"\x93NUMPY\x02\x00" + struct.pack("<I", SIZE) + filled(b"("),
    "short_shape": lambda: filled(b"1,", b"\x93NUMPY\x01\x00\xff\xff{'descr': '<f4', 'shape': ("),
}
_YAML: dict[str, Make] = {
    "name": lambda: filled(b"x", b"", b": 1\n"),
    "array": lambda: filled(b"1,", b"a: [", b"1]\n"),
    "nesting": lambda: filled(b"[", b"a: "),
    "mappings": lambda: filled(b"{a: ", b"a: "),
    "aliases": lambda: filled(b"*a,", b"a: &a [1]\nb: [", b"1]\n"),
    "keys": lambda: counted(b"a%d: 1\n"),
    "spaces": lambda: filled(b" ", b"a:", b"1\n"),
    "anchors": lambda: filled(b"&a "),
    "comments": lambda: filled(b"#\n"),
}
_CSV: dict[str, Make] = {
    "cut": lambda: counted(_STATISTIC, _STATISTICS, b"Add,Add"),
    "tiny_lines": lambda: filled(b"12\n", _STATISTICS),
    "cells": lambda: filled(b"1,", _STATISTICS),
    "quotes": lambda: filled(b'"', _STATISTICS),
    "shape": lambda: filled(b"1,", _STATISTICS + b"Add,Add,0,0,1,output,0,4,float32,(", b"\n"),
    "header": lambda: filled(b"a,", _STATISTICS[:-1], b"\n1,1\n"),
}
_LONGEST_YAML = 1 << 20
_SHORT_YAML: dict[str, Make] = {name: lambda make=make: make()[:_LONGEST_YAML] for name, make in _YAML.items()}  # type: ignore[misc]
BINARIES: dict[str, Format] = {
    "events": Format("events.out.tfevents.1.host", lambda: many(lambda at: _scalar(b"loss", at), _VERSION), _EVENTS),
    "explain": Format(
        "events.out.events.summary.1.host_explain", lambda: many(lambda at: _explained(at, _HEAT_MAP), _OF_EXPLAINER), _EXPLAIN,
    ),
    "onnx": Format("model.onnx", lambda: _onnx(many(_node)), _ONNX),
    "mindspore": Format("ms_output_a.pb", lambda: many(lambda at: _call(at, _TYPE)), _MINDSPORE),
    "tensorflow": Format("graph.pb", lambda: many(_tensorflow), _TENSORFLOW),
    "ckpt": Format("a.ckpt", lambda: many(_weight), _CHECKPOINT),
    "safetensors": Format("a.safetensors", lambda: _safetensors(counted(_TENSOR, b"{", b"}", b",")), _SAFETENSORS),
    "torch": Format("a.pt", lambda: _torch(pickle.dumps({f"t{at}": [at] for at in range(SIZE // 20)}, 2)), _TORCH),
    "npy": Format("a.npy", lambda: npy(SIZE), _NPY),
    "yaml": Format("config.yaml", lambda: counted(b"a%d: {b: 1}\n")[:_LONGEST_YAML], _SHORT_YAML),
    "statistics": Format("statistic.csv", lambda: counted(_STATISTIC, _STATISTICS), _CSV),
}
