"""The worst dumps of msprobe and of kernels, and the worst graphs that are text (`worst_files` has tables and JSON)."""

from __future__ import annotations

from tests.writers.worst_binaries import npy
from tests.writers.worst_files import SIZE, Format, Make, counted, filled, json_values

_MSPROBE = b'{"task": "statistics", "level": "L0", "framework": "mindspore", "dump_data_dir": null, "data": {'
_LEAF = b'{"type": "mindspore.Tensor", "dtype": "Float32", "shape": [4, 8], "Max": 2.5, "Min": -1.5, "Mean": 0.5, "Norm": 9.5}'
_CALL = b'"Cell.conv%d.Conv2d.forward.0": {"input_args": [' + _LEAF + b'], "input_kwargs": {}, "output": [' + _LEAF + b"]}"
_IN_A_CALL = _MSPROBE + b'"Cell.a.Conv2d.forward.0": {"input_args": ['
_DUMP: dict[str, Make] = json_values(_IN_A_CALL, b"]}}}") | {
    "calls": lambda: counted(b'"Cell.a.%d":{}', _MSPROBE, b"}}", b","),
    "odd_calls": lambda: counted(b'"%d":1', _MSPROBE, b"}}", b","),
    "leaves": lambda: filled(b'{"type":"mindspore.Tensor"},', _IN_A_CALL, b"1]}}}"),
    "arguments": lambda: filled(b'["a"],', _IN_A_CALL, b"1]}}}"),
    "shape": lambda: filled(b"1,", _IN_A_CALL + b'{"type": "mindspore.Tensor", "shape": [', b"1]}]}}}"),
    "sizes": lambda: filled(
        b"99,", _IN_A_CALL + b'{"type": "mindspore.Tensor", "dtype": "Float32", "Max": 1.5, "shape": [', b"1]}]}}}"
    ),
    "nested_arguments": lambda: filled(b"[" * 30 + b"]" * 30 + b",", _IN_A_CALL, b"1]}}}"),
    "cut": lambda: counted(_CALL, _MSPROBE, b', "Cell', b", "),
    "endless": lambda: filled(b"\n", _MSPROBE),
    "digits": lambda: filled(b"9", _IN_A_CALL + b'{"type": "mindspore.Tensor", "Max": ', b"}]}}}"),
}
_NAMES = b"Cast-op%d.0.0.1795217583317277.output.0.DefaultFormat.Int32.npy,%d.npy\n"
_STACK = b'"Cell.a.%d": ["File a.py, line %d, in f"]'
_HALF = SIZE // 2
_STACKS: dict[str, Make] = {
    # Each entry is within the limit of one.
    "arrays_of_two": lambda: b'{"a": [' + b"[]," * (_HALF // 3) + b'1], "b": [' + b"[]," * (_HALF // 3) + b"1]}",
    "objects_of_two": lambda: b'{"a": [' + b'{"a":1},' * (_HALF // 8) + b'1], "b": [' + b'{"a":1},' * (_HALF // 8) + b"1]}",
    "arrays_beside_nan": lambda: filled(b"[],", b'{"a": NaN, "b": [', b"1]}"),
}
_NPY = "Cast-op0.0.0.1795217583317277.output.0.DefaultFormat.Int32.npy"
_MAPPING: dict[str, Make] = {
    "cells": lambda: filled(b"a,"),
    "tiny_lines": lambda: filled(b"a\n"),
    "quotes": lambda: filled(b'"'),
    "open_quote": lambda: b'"' + counted(_NAMES),
    "numbers": lambda: counted(b"%d,%d\n"),
    "points": lambda: filled(b"."),
    "one_name": lambda: filled(b"x", b"", b",1.npy\n"),
    "zeros": lambda: filled(b"\0"),
}
_IR_HEAD = b"""# IR entry: @main
# Total subgraphs: 1

# Total params: 1
# Params:
%para1_x: <null>

subgraph attr:
subgraph instance: main : 0x1

subgraph @main() {
"""
_NODE = b"""  %%%d(CNode_%d) = Add(%%para1_x, %%para1_x)
      : (<null>, <null>) -> (<null>)
      # Fullname with scope: (Default/Add-op%d)
"""
_CALLED = b"  %0(CNode_1) = Add("


def _ir(body: bytes) -> bytes:
    return _IR_HEAD + body + b"  Return(%1)\n      : (<null>)\n}\n"


def _half(piece: bytes) -> bytes:
    return counted(piece)[: SIZE // 2].rpartition(b" ")[0] + b" "


def _chain() -> bytes:
    """Return functions of which each returns the result of the next one."""
    return b"".join(b"subgraph @g%d() {\n  Return(@g%d)\n}\n" % (at, at + 1) for at in range(SIZE // 44))


_IR: dict[str, Make] = {
    "inputs": lambda: _ir(filled(b"%para1_x, ", _CALLED, b"%para1_x)\n")),
    "brackets": lambda: _ir(filled(b"(", _CALLED, b")\n")),
    "square_brackets": lambda: _ir(filled(b"[", _CALLED, b")\n")),
    "quotes": lambda: _ir(filled(b"'", _CALLED, b")\n")),
    "double_quotes": lambda: _ir(filled(b'"', _CALLED, b")\n")),
    "attributes": lambda: _ir(filled(b"a: 1, ", _CALLED + b"%para1_x) {instance name: a} primitive_attrs: {", b"}\n")),
    "lines": lambda: _ir(filled(b"\n")),
    "short_lines": lambda: _ir(filled(b"  %0 = A()\n")),
    "comments": lambda: _ir(filled(b"      # In file a.py:1\n", b"  %0(CNode_1) = Add(%para1_x)\n")),
    "scopes": lambda: _ir(filled(b"a/", b"  %0(CNode_1) = Add(%para1_x)\n      # Fullname with scope: (", b")\n")),
    "deep_scopes": lambda: _ir(counted(
        b"  %%%d(CNode_%d) = A()\n      # Fullname with scope: (" + b"a/" * 200 + b"A-op%d)\n"
    )),
    "subgraphs": lambda: counted(b"subgraph @g%d() {\n  Return(%%1)\n}\n", _IR_HEAD[:-17]),
    "parameters": lambda: counted(b"%%para%d_x: <null>\n", b"# IR entry: @main\n# Params:\n"),
    "types": lambda: _ir(filled(b"<null>, ", b"  %0(CNode_1) = Add(%para1_x)\n      : (", b"<null>) -> (<null>)\n")),
    "types_in_types": lambda: _ir(filled(b"<", b"  %0(CNode_1) = Add(%para1_x)\n      : (", b") -> (<null>)\n")),
    "one_line": lambda: _IR_HEAD + filled(b"x"),
    "results_in_a_chain": lambda: _IR_HEAD[:-17] + _chain(),
    "functions_of_a_call": lambda: _IR_HEAD[:-17] + b"subgraph @f(" + _half(b"%%para%d_x, ") + b"%para_x) {\n}\n"
        + _ir(b"  %0(a) = %1[" + b"@f," * (SIZE // 12) + b"@f](" + b"%1, " * (SIZE // 16) + b"%1)\n"),
    "constants": lambda: _ir(counted(b"I%d, ", _CALLED, b"1)\n")),
    "constants_that_are_no_text": lambda: _ir(counted(b"  %%%d(a) = Add(I%d\xff)\n")),
    "constants_of_a_line_that_are_no_text": lambda: _ir(counted(b"I%d\xff, ", _CALLED, b"1)\n")),
    "parameters_that_are_no_text": lambda: counted(b"%%para%d_\xff, ", b"# IR entry: @main\nsubgraph @f(", b"%para_x) {\n}\n"),
    "spaces_where_attributes_belong": lambda: _ir(filled(b" ", _CALLED + b"%para1_x)", b"x\n")),
    "shapes_in_shapes": lambda: _ir(filled(
        b"TupleShape(", b"  %0(CNode_1) = Add(%para1_x)\n      : (<null>) -> (<a, ", b">)\n",
    )),
    "order": lambda: _ir(b"") + filled(b"#   1: @main:CNode_1{[0]: ValueNode<Primitive> A}\n", b"# Order:\n"),
}  # fmt: skip
_DOT_HEAD = b"digraph mindspore {\ncompound=true\nsubgraph cluster_0x1{\nid=cluster_0x1\n"
_DOT_NODE = b"node0x%d_0[shape=plaintext,label=<<table><tr><td>CNode(CNode_%d)</td></tr></table>>,]\n"


def _dot(body: bytes) -> bytes:
    return _DOT_HEAD + body + b"}\n}\n"


_DOT: dict[str, Make] = {
    "html": lambda: _dot(filled(b"<", b"node0x1_0[label=", b"]\n")),
    "cells": lambda: _dot(filled(b"<td>a</td>", b"node0x1_0[label=<<table><tr>", b"</tr></table>>]\n")),
    "attributes": lambda: _dot(filled(b"a=1,", b"node0x1_0[", b"]\n")),
    "open_attributes": lambda: _dot(filled(b"node0x1_0[\n")),
    "quotes": lambda: _dot(filled(b'"')),
    "open_quote": lambda: _dot(filled(b"a\\", b'node0x1_0[label="')),
    "arrows": lambda: _dot(filled(b"a->a\n")),
    "one_node": lambda: _dot(filled(b"a[b]\n")),
    "equal_names": lambda: _dot(filled(b"b,", b"a[", b"]\n")),
    "chain": lambda: _dot(filled(b"a->", b"", b"a\n")),
    "clusters": lambda: _DOT_HEAD + filled(b"subgraph a{"),
    "closed": lambda: _DOT_HEAD + filled(b"}"),
    "names": lambda: _dot(counted(b"n%d\n")),
    "one_name": lambda: _dot(filled(b"n")),
    "comments": lambda: _dot(filled(b"/*")),
    "line_comments": lambda: _dot(filled(b"//\n")),
    "signs": lambda: _dot(filled(b"[]=;,")),
}
TEXTS: dict[str, Format] = {
    "msprobe": Format("step0/rank0/dump.json", lambda: counted(_CALL, _MSPROBE, b"}}", b", "), _DUMP),
    "msprobe_stack": Format(
        "step0/rank0/stack.json", lambda: counted(_STACK, b"{", b"}", b", "),
        json_values(b'{"Cell.a.0": ', b"}") | _STACKS, {"step0/rank0/dump.json": _MSPROBE + _CALL % 0 + b"}}"},
    ),
    "kernel_mapping": Format(
        "rank_0/Net/0/0/mapping.csv", lambda: counted(_NAMES), _MAPPING, {f"rank_0/Net/0/0/{_NPY}": npy()},
    ),
    "ir": Format("graph_0001.ir", lambda: _ir(counted(_NODE)), _IR),
    "dot": Format("graph_0001.dot", lambda: _dot(counted(_DOT_NODE)), _DOT),
}  # fmt: skip
