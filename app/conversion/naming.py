"""Names in code for names in models: valid, short, unique, and never words of Python or of the script."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Container

RESERVED = frozenset((*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "self", "ms", "nn", "ops", "np", "construct",
                      "Parameter", "tensor", "load", "limited", "record", "lstm_steps", "gru_steps", "rnn_steps"))  # fmt: skip
CELL_ATTRIBUTES = frozenset((
    "cls_name", "name", "training", "phase", "parameters", "cells", "insert_child_to_cell", "param_prefix", "bprop_debug",
    "grad", "requires_grad", "to_float", "flags", "args", "kwargs", "arguments", "auto_prefix", "pipeline_stage", "recompute",
    "shard", "compile", "extend_repr", "place", "set_train", "set_grad", "init_parameters_data", "update_parameters_name",
    "infer", "loss", "parallel_parameter_name_list", "instance_count", "enable_backward_hook", "jit_config_dict",
    "forward_pre_hook", "bprop", "trainable_params", "untrainable_params", "get_parameters", "get_scope", "offload",
    "compile_cache", "exec_checkpoint_graph",
))  # fmt: skip
"""Attributes of nn.Cell, which members of a class must not hide."""
LONGEST = 40
_WORD = re.compile(r"[A-Za-z0-9]+")
_CASES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def variable(text: str, default: str = "x") -> str:
    """Return a name in lower case with underscores made of the letters and digits of a text."""
    words = [word for part in _WORD.findall(text) for word in (_CASES.split(part) if not part.isupper() else [part])]
    name = "_".join(word.lower() for word in words)[:LONGEST].strip("_")
    if not name or name[0].isdigit():
        name = f"{default}_{name}".rstrip("_")
    return name


def class_name(text: str, default: str = "Network") -> str:
    """Return a name in capital words."""
    name = "".join(word[0].upper() + word[1:] for word in _WORD.findall(text))[:LONGEST]
    return f"{default}{name}" if not name or name[0].isdigit() else name


def unique(name: str, taken: Container[str], *, first: int = 2) -> str:
    """Return a name that is not taken and not reserved, with the lowest number that makes it so."""
    if name not in taken and name not in RESERVED:
        return name
    number = first
    joint = "_" if name[-1:].isdigit() or "_" in name else ""
    while f"{name}{joint}{number}" in taken or f"{name}{joint}{number}" in RESERVED:
        number += 1
    return f"{name}{joint}{number}"


def comment(text: str) -> str:
    """Return a text that is safe in a comment or docstring: printable, without quotes that end it, of one line."""
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)
    return safe.replace("\\", "/").replace('"""', "'''")[:400]
