"""Tells directories that hold a dump, from names alone: no file is opened.

* `.dump_metadata` in it: the directory of a rank of MindSpore's kernel dump;
* a directory `rank_<n>` or of 14 digits (a time) with `{net}/{graph}/{iteration}/` or `step_<n>/` and files of a dump below:
  dumps of Ascend devices, which may lack the metadata;
* the same with files directly in `{device}/`: msprobe's kernel dump of PyTorch, `step<n>/{time}/{device}/`;
* `step<n>/{rank<r>|rank|proc<pid>}/dump.json` or `debug.json`: msprobe.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence

from parsers.dumps.names import BINARY, MAPPING, NPY, OPDEBUG, STATISTIC

METADATA = ".dump_metadata"
STEP = re.compile(r"step(\d{1,9})")
RANK_PART = re.compile(r"rank(\d{1,9})?|proc(\d{1,9})")
KERNEL_RANK = re.compile(r"rank_(\d{1,9})")
TIMESTAMP = re.compile(r"\d{14}")
ADUMP_STEP = re.compile(r"step_(\d{1,9})")
JSON = ("dump.json", "debug.json")
_TRIED = 8
"""Directories of one level that are looked into before a directory is taken to hold no dump."""


def named_like_kernel_dump(name: str) -> bool:
    """Return whether a directory of this name may hold a dump without metadata."""
    return KERNEL_RANK.fullmatch(name) is not None or TIMESTAMP.fullmatch(name) is not None


def is_kernel_dump(path: str) -> bool:
    """Return whether a directory named like one holds files of a dump: a few directories of each level are looked into."""
    name = os.path.basename(path)
    if TIMESTAMP.fullmatch(name):
        devices = [below for below in _below(path) if os.path.basename(below).isdecimal()]
        return _holds_steps(path) or any(_holds_graphs(below) or _listed(below, _of_dump)[1] for below in devices)
    return _holds_graphs(path) or any(
        _holds_steps(below) for below in _below(path) if TIMESTAMP.fullmatch(os.path.basename(below))
    )


def _holds_graphs(path: str) -> bool:
    graphs = (graph for net in _below(path) for graph in _below(net) if os.path.basename(graph).isdecimal())
    leaves = (leaf for graph in graphs for leaf in _below(graph))
    return any(
        _listed(leaf, _of_dump)[1] for leaf in leaves if os.path.basename(leaf).isdecimal() or leaf.endswith("constants")
    )


def _holds_steps(path: str) -> bool:
    return any(_listed(leaf, _of_dump)[1] for leaf in _below(path) if ADUMP_STEP.fullmatch(os.path.basename(leaf)))


def _below(path: str) -> list[str]:
    """Return the first directories in a directory."""
    return [os.path.join(path, name) for name in _listed(path, _nothing)[0][:_TRIED] if not name.startswith(".")]


def _nothing(name: str) -> bool:  # noqa: ARG001  the form of `_of_dump`
    return False


def _of_dump(name: str) -> bool:
    if name in (STATISTIC, MAPPING):
        return True
    return bool((name.endswith(".npy") and NPY.fullmatch(name)) or OPDEBUG.fullmatch(name) or BINARY.fullmatch(name))


def is_msprobe(path: str, steps: Sequence[str]) -> bool:
    """Return whether one of the directories `step<n>` holds a dump of msprobe."""
    for step in steps[:_TRIED]:
        above = os.path.join(path, step)
        parts, _ = _listed(above, _nothing)
        for part in (name for name in parts[:_TRIED] if RANK_PART.fullmatch(name)):
            if any(os.path.isfile(os.path.join(above, part, name)) for name in JSON):
                return True
    return False


def last_change(path: str) -> float:
    """Return when a file or directory was last added to a dump, in seconds: the newest mtime of its upper directories."""
    found = [0.0]
    for above in (path, *_below(path)):
        try:
            found.append(os.stat(above).st_mtime)
        except OSError:
            continue
    return max(found)


def _listed(path: str, wanted: Callable[[str], bool]) -> tuple[list[str], bool]:
    """Return the names of the directories in a directory, and whether one of its first files is wanted."""
    directories: list[str] = []
    found, left = False, 64
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    directories.append(entry.name)
                elif not found and left:
                    left -= 1
                    found = wanted(entry.name)
                if (found or not left) and len(directories) >= _TRIED:
                    break
    except OSError:
        return [], False
    return sorted(directories), found
