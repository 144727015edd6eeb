"""Lists dumps of msprobe (Ascend's debugging tool for PyTorch and MindSpore): `step<n>/{rank<r>|rank|proc<pid>}/`.

`dump.json` (or `debug.json` of `save()`) has an entry per call of an API or module with its tensors: type, shape, maximum,
minimum, mean, L2 norm, and the name of its file in `dump_tensor_data` if values were dumped. It is JSON with NaN and Infinity,
rewritten every 1,000 entries: of a file that is cut, the entries before the cut are read. construct.json names the module that
each entry is in, stack.json the lines of the program.

A tensor is non-finite if a maximum or minimum is, or a mean or norm is NaN: MindSpore's maximum skips NaN on the CPU. A mean
or norm of Inf beside finite extremes is an overflow of the statistic itself. Links within a dump are not followed.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from parsers.dumps.listing import Stated, Template, TensorListing
from parsers.dumps.names import dtype_named, entry_name
from parsers.dumps.places import JSON, RANK_PART, STEP
from parsers.dumps.statistics import TensorStatistics
from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.json_text import MOST_CONTAINERS, encodable, parse_json
from parsers.names import printable

LONGEST = 1 << 30
LONGEST_ENTRY = 4 << 20
"""Bytes of an entry of stack.json: lines of the program, and in jobs the names of all operators that they called."""
_ENTRIES = msgspec.json.Decoder(dict[str, msgspec.Raw])
DATA = "dump_tensor_data"
SOURCE = "dump.json"
_DEEPEST = 40
_MOST_DIMENSIONS = 64
"""More than numpy's. The product of millions of sizes takes minutes."""
_SHORTEST = 8
"""Characters per array or object, at least, of a file with many: msprobe writes three in 45 for a call without arguments."""
_SHORTEST_STACK = 16
"""The same of a file that describes calls: it has at most three for a name and a line of the program."""
_GROUPS = {
    "input_args": "input", "input_kwargs": "input", "input": "input", "output": "output", "parameters": "parameter",
}  # fmt: skip
_NUMBERED = ("max", "min", "mean", "l2")
_STATED = ("Max", "Min", "Mean", "Norm")


def list_msprobe(listing: TensorListing, root: str) -> None:
    """List the dump in a directory with `step<n>`. Damage becomes problems of the listing."""
    processes: dict[str, set[str]] = {}
    for step, step_path in _numbered(listing, root):
        for part, path in _parts(listing, step_path):
            if part.startswith("proc") or part == "rank":
                processes.setdefault(step_path, set()).add(part)
            match = RANK_PART.fullmatch(part)
            rank = int(match[1]) if match is not None and match[1] else 0
            _list_part(listing, root, step, path, part, rank)
    twice = [path for path, parts in processes.items() if len(parts) > 1]
    if twice:
        parts = ", ".join(sorted({part for path in twice for part in processes[path]}))
        text = f"Expected one dump, found those of several processes without ranks ({parts}); all of them are shown as rank 0."
        listing.problem(root, text)


def _numbered(listing: TensorListing, root: str) -> list[tuple[int, str]]:
    found = []
    for name in _names(listing, root):
        match = STEP.fullmatch(name)
        if match is not None:
            found.append((int(match[1]), os.path.join(root, name)))
    return sorted(found)


def _parts(listing: TensorListing, path: str) -> list[tuple[str, str]]:
    return [(name, os.path.join(path, name)) for name in sorted(_names(listing, path)) if RANK_PART.fullmatch(name)]


def _names(listing: TensorListing, path: str) -> list[str]:
    try:
        listing.listed[path] = os.stat(path).st_mtime_ns
        with os.scandir(path) as entries:
            return [entry.name for entry in entries if not entry.is_symlink()]
    except NotADirectoryError:
        return []
    except OSError as error:
        listing.unreadable(path, error)
        return []


def _list_part(listing: TensorListing, root: str, step: int, path: str, part: str, rank: int) -> None:
    """Add the entries of one step of one rank."""
    names = set(_names(listing, path))
    sizes = _sizes(listing, os.path.join(path, DATA)) if DATA in names else {}
    for name in (name for name in JSON if name in names):
        file = os.path.join(path, name)
        context = listing.open_context(rank, part, "", -1, step, root, path)
        listing.listed[file] = _changed(file)
        content = read_dump(listing, file)
        if content is None:
            continue
        listed = set()
        for template, leaf in leaves(content):
            data_name = leaf.get("data_name")
            file_name = data_name if isinstance(data_name, str) and data_name in sizes else ""
            size, mtime_ns = sizes[file_name] if file_name else (-1, 0)
            path_below = os.path.join(DATA, file_name) if file_name else ""
            row = listing.add(context, template, -1, size, path_below, mtime_ns)
            listed.add(file_name)
            stated = stated_of(leaf)
            if stated is not None:
                listing.stated[row] = stated
        _report_missing(listing, file, content, sizes, listed)


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _sizes(listing: TensorListing, path: str) -> dict[str, tuple[int, int]]:
    """Return size and mtime in ns of the tensor files in a directory."""
    found = {}
    try:
        listing.listed[path] = os.stat(path).st_mtime_ns
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.name.endswith((".npy", ".pt")) and not entry.is_symlink():
                    status = entry.stat()
                    found[entry.name] = (status.st_size, status.st_mtime_ns)
    except OSError as error:
        listing.unreadable(path, error)
    return found


def _report_missing(
    listing: TensorListing, file: str, content: Mapping[str, Any], sizes: Mapping[str, tuple[int, int]], listed: set[str]
) -> None:
    """Say if tensor files have no entry: the job was killed before it wrote them."""
    left = len(sizes.keys() - listed)
    if left:
        text = f"{left:,} files in {DATA} have no entry: the job ended before it wrote them. They are not shown."
        listing.problem(file, text)
    if not isinstance(content.get("data"), dict):
        listing.problem(file, "Expected entries in `data`, found none; the step is shown without tensors.")


def read_dump(listing: TensorListing, path: str) -> dict[str, Any] | None:
    """Return the content of a dump.json or debug.json, of one that is cut its entries before the cut; None for another file."""
    text = _read(listing, path)
    if text is None:
        return None
    if many := _many_containers(text.count("[") + text.count("{"), len(text), _SHORTEST):
        listing.problem(path, f"{many.capitalize()}; the file is not read.")
        return None
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        content, end = _salvaged(text)
        lost = "It is cut, or still being written" if end >= len(text.rstrip()) - 1 else "It is damaged"
        found = f"found {error}" if isinstance(error, ValueError) else "found too many levels"
        listing.problem(
            path, f"Expected JSON, {found}. {lost}; the entries before that are shown ({len(content['data']):,}).", offset=end
        )
    if not isinstance(content, dict) or not {"task", "level", "data"} <= content.keys():
        listing.problem(
            path, "Expected an object with task, level and data, as msprobe writes it, found other JSON; it is not read."
        )
        return None
    return content


def _many_containers(number: int, length: int, shortest: int) -> str:
    """Return what is wrong if a file of this length has more arrays and objects than are read at once, else ""."""
    if number <= max(MOST_CONTAINERS, length // shortest):
        return ""
    return f"expected at most one array or object per {shortest} characters, found {number:,} in {length:,} characters"


def _read(listing: TensorListing, path: str) -> str | None:
    try:
        with RegularFile(path) as file:
            if file.size > LONGEST:
                listing.problem(path, f"Expected at most {LONGEST:,} bytes of JSON, found {file.size:,}; the file is not read.")
                return None
            return file.read(0, file.size).decode("utf-8-sig", "backslashreplace")
    except OSError as error:
        listing.unreadable(path, error)
        return None


def _salvaged(text: str) -> tuple[dict[str, Any], int]:
    """Return the entries of a dump.json up to damage, and where it is."""
    decoder = json.JSONDecoder()
    data: dict[str, Any] = {}
    at = text.find('"data"')
    head = text[:at] if at >= 0 else text
    found: dict[str, Any] = {"task": "", "level": "debug" if '"debug"' in head else "", "data": data}
    at = text.find("{", at) + 1 if at >= 0 else 0
    while at:
        try:
            begin = _after(text, at, " \t\r\n,")
            name, end = decoder.raw_decode(text, begin)
            end = _after(text, end, " \t\r\n:")
            value, end = decoder.raw_decode(text, end)
        except (ValueError, RecursionError, IndexError):
            break
        if not isinstance(name, str):
            break
        data[name] = value
        at = end
    return found, at


def _after(text: str, at: int, skipped: str) -> int:
    while at < len(text) and text[at] in skipped:
        at += 1
    return at


# Entries --------------------------------------------------------------------------------------------------------------------


def leaves(content: Mapping[str, Any]) -> Iterator[tuple[Template, Mapping[str, Any]]]:
    """Yield template and leaf of every tensor, in the order of the file."""
    data = content.get("data")
    if not isinstance(data, dict):
        return
    for raw, entry in data.items():
        name = encodable(raw)
        parts = entry_name(name)
        if parts.direction == "debug":
            for key, leaf in _tensors(entry, (), 0):
                yield _template(name, parts.type, "saved", key, leaf), leaf
            continue
        if not isinstance(entry, dict):
            continue
        if parts.direction == "parameters_grad":
            for key, leaf in _tensors(entry, (), 0):
                yield _template(name, parts.type, "gradient", key, leaf), leaf
            continue
        for group, io in _GROUPS.items():
            start = ("kwargs",) if group == "input_kwargs" else ()
            for key, leaf in _tensors(entry.get(group), start, 0):
                yield _template(name, parts.type, io, key, leaf), leaf


def _template(name: str, kind: str, io: str, key: tuple[str, ...], leaf: Mapping[str, Any]) -> Template:
    slot = int(key[0]) if key and key[0].isdecimal() and len(key[0]) < 10 else 0
    plain = len(key) == 1 and key[0].isdecimal()
    shape = _shape(leaf)
    text = ""
    if shape is not None:
        text = "x".join(map(str, shape)) or "[]"
    return Template(
        kind, name, io, slot, "" if plain else ".".join(key), dtype_named(encodable(str(leaf.get("dtype", "")))), text
    )


def _shape(leaf: Mapping[str, Any]) -> list[int] | None:
    """Return the sizes in a leaf; None for what is no shape, or one of more dimensions than tensors have."""
    shape = leaf.get("shape")
    if isinstance(shape, list) and len(shape) <= _MOST_DIMENSIONS and all(isinstance(one, int) for one in shape):
        return shape
    return None


def _tensors(value: Any, key: tuple[str, ...], depth: int) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield place and leaf of the tensors in nested lists and objects; a leaf has dtype and shape: its type has many names."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for place, one in enumerate(value):
            yield from _tensors(one, (*key, str(place)), depth + 1)
    elif isinstance(value, dict):
        if "dtype" in value and "shape" in value:
            yield key, value
            return
        for name, one in value.items():
            yield from _tensors(one, (*key, encodable(str(name))), depth + 1)


def stated_of(leaf: Mapping[str, Any]) -> Stated | None:
    """Return the statistics in a leaf, None if it has none. null, as of empty tensors, is unknown."""
    numbers = {name: _number(leaf.get(key)) for name, key in zip(_NUMBERED, _STATED, strict=True)}
    known = {name: value for name, value in numbers.items() if value is not None}
    hashed = leaf.get("md5")
    text = encodable(hashed) if isinstance(hashed, str) else ""
    if not known and not text:
        return None
    shape = _shape(leaf)
    count = math.prod(shape) if shape is not None and min(shape, default=0) >= 0 else -1
    most, least, mean, norm = (known.get(name, math.nan) for name in _NUMBERED)
    values = TensorStatistics(most, least, mean, l2=norm, count=count if 0 <= count < 1 << 62 else -1)
    return Stated(values, _non_finite(known), SOURCE, text)


def _number(value: Any) -> float | None:
    if isinstance(value, (bool, int, float)):
        try:
            return float(value)
        except OverflowError:
            return math.inf
    return None


def _non_finite(known: Mapping[str, float]) -> int:
    if not known:
        return -1
    extremes = [known[name] for name in ("max", "min") if name in known]
    if any(not math.isfinite(one) for one in extremes) or any(map(math.isnan, known.values())):
        return 1
    return int(not extremes and any(map(math.isinf, known.values())))


# What describes entries -----------------------------------------------------------------------------------------------------


def read_object(path: str) -> tuple[dict[str, Any], int]:
    """Return the content of construct.json or stack.json, and how many entries were too long; {} if there is no file.

    FormatError if it is damaged, OSError.
    """
    try:
        with RegularFile(path) as file:
            if file.size > LONGEST:
                raise FormatError(f"expected at most {LONGEST:,} bytes of JSON, found {file.size:,}")
            data = file.read(0, file.size)
    except FileNotFoundError:
        return {}, 0
    if many := _many_containers(data.count(b"[") + data.count(b"{"), len(data), _SHORTEST_STACK):
        raise FormatError(many)
    try:
        raw = _ENTRIES.decode(data)
        short = {name: value for name, value in raw.items() if memoryview(value).nbytes <= LONGEST_ENTRY}
        return {encodable(name): msgspec.json.decode(value) for name, value in short.items()}, len(raw) - len(short)
    except (ValueError, RecursionError):
        pass  # what Python reads besides: a mark of the byte order, NaN, unpaired surrogates, bytes that are no UTF-8
    try:
        found = parse_json(bytes(data).decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"expected JSON, found {error}") from error
    return (found if isinstance(found, dict) else {}), 0


def parents_of(construct: Mapping[str, Any]) -> dict[str, str]:
    """Return entry -> the module it is in, "" for none. Megatron's jobs have [parent, micro step]."""
    found = {}
    for name, value in construct.items():
        parent = value[0] if isinstance(value, list) and value else value
        if isinstance(parent, str) or parent is None:
            found[name] = parent or ""
    return found


def stacks_of(content: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return entry -> lines of its stack, innermost first: of the form {number: [[names], [lines]]} and the older one."""
    found: dict[str, list[str]] = {}
    for name, value in content.items():
        if not isinstance(value, list):
            continue
        if len(value) == 2 and all(isinstance(one, list) for one in value):
            lines = [str(line) for line in value[1]]
            found |= {one: lines for one in value[0] if isinstance(one, str)}
        else:
            found[name] = [str(line) for line in value]
    return found


def forward_name(name: str) -> str:
    """Return the forward entry of a backward one or of parameters_grad: only these have a stack."""
    parts = entry_name(name)
    if parts.direction == "backward":
        head, _, tail = name.rpartition(".backward")
        return f"{head}.forward{tail}"
    if parts.direction == "parameters_grad":
        return f"{name.rpartition('.parameters_grad.')[0]}.forward.{parts.call}"
    return name


def scope_of(parent: str) -> str:
    """Return the path of the module that an entry is in, separated by /."""
    return printable(entry_name(parent).path.replace(".", "/")) if parent else ""
