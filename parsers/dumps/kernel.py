"""Lists MindSpore's kernel dump (MINDSPORE_DUMP_CONFIG), and dumps of Ascend devices: directories of one rank.

`{net}/{graph}/{iteration}/` holds a file per tensor, `constants` beside the iterations tensors that never change; Ascend's
synchronous dumps of msprobe have `{time}/step_<n>/`, asynchronous ones `{time}/{device}/{net}/{graph}/{iteration}/` with a
binary file per operator, those of PyTorch `step<n>/{time}/{device}/`. `graphs/` and `execution_order/` hold the graphs and the
order of their operators. No tensor is read; of binary files the header is, as their names do not tell what is in them. Links
within a dump are not followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from parsers.dumps import statistic_csv
from parsers.dumps.ascend import read_parts
from parsers.dumps.listing import DumpRankFiles, Overflow, Stated, Template, TensorListing
from parsers.dumps.names import BINARY, MAPPING, NPY, OPDEBUG, STATISTIC, TensorFileName, tensor_name, time_in
from parsers.dumps.overflow import OverflowRecord, parse_binary, parse_json
from parsers.dumps.places import ADUMP_STEP, STEP, TIMESTAMP
from parsers.dumps.values import TensorPlace
from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.names import printable
from parsers.profiler.json_files import read_json

_GRAPH = re.compile(r"ms_output_trace_code_graph_(\d{1,9})\.(pb|ir)")
_ORDER = re.compile(r"ms_execution_order_graph_(\d{1,9})\.csv")
_RUNS = re.compile(r"ms_global_execution_order_graph_(\d{1,9})\.csv")
_ASIDE = frozenset(("graphs", "execution_order"))
_DEEPEST = 6
_LONGEST_TEXT = 256 << 20
_UNKNOWN_SHOWN = 3
CONSTANTS = "constants"


def list_rank(listing: TensorListing, root: str, rank: int) -> None:
    """List the dump in the directory of one rank. Damage becomes problems of the listing."""
    part = printable(os.path.basename(root))
    listing.ranks[root] = _files_of(listing, root)
    nets: dict[str, None] = {}
    for path, names in _directories(listing, root, 0):
        parts = os.path.relpath(path, root).split(os.sep)
        step = ADUMP_STEP.fullmatch(parts[-1])
        if step is not None:
            context = listing.open_context(rank, part, "", -1, int(step[1]), root, path)
        elif len(parts) == 1 and parts[0].isdecimal() and TIMESTAMP.fullmatch(part):
            of_step = STEP.fullmatch(os.path.basename(os.path.dirname(root)))
            context = listing.open_context(_whole(parts[0]), part, "", -1, int(of_step[1]) if of_step else 0, root, path)
        elif len(parts) >= 2 and parts[-2].isdecimal() and (parts[-1].isdecimal() or parts[-1] == CONSTANTS):
            net = printable(parts[-3]) if len(parts) > 2 else ""
            number = -1 if parts[-1] == CONSTANTS else _whole(parts[-1])
            device = _whole(parts[-4]) if len(parts) == 4 and parts[-4].isdecimal() else rank
            context = listing.open_context(device, part, net, _whole(parts[-2]), number, root, path)
            nets[net] = None
        else:
            continue
        _list_files(listing, context, names)
    if len(nets) > 1:
        text = (
            f"Expected the dump of one network, found {len(nets)} in one directory ({', '.join(nets)}); all of them are shown."
        )
        listing.problem(root, text)


def _whole(digits: str) -> int:
    return int(digits) if len(digits) < 10 else -1


def _directories(listing: TensorListing, path: str, depth: int) -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
    """Yield the directories below with their files, in the order of their numbers."""
    files: list[os.DirEntry[str]] = []
    below: list[str] = []
    try:
        listing.listed[path] = os.stat(path).st_mtime_ns
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_symlink():
                    continue
                if entry.is_dir():
                    below.append(entry.name)
                else:
                    files.append(entry)
    except OSError as error:
        listing.unreadable(path, error)
        return
    yield path, files
    for name in sorted(below, key=lambda name: (_whole(name) if name.isdecimal() else -1, name)):
        if depth < _DEEPEST and not name.startswith(".") and not (depth == 0 and name in _ASIDE):
            yield from _directories(listing, os.path.join(path, name), depth + 1)


# Files of one iteration ---------------------------------------------------------------------------------------------------


def _list_files(listing: TensorListing, context: int, entries: list[os.DirEntry[str]]) -> None:
    """Add the files of one directory; the same operator and slot has the same template in all iterations."""
    names = {entry.name for entry in entries}
    mapped = _mapping(listing, context) if MAPPING in names else {}
    constant = listing.contexts[context].iteration < 0
    known = listing.known if not constant else {}
    contexts, templates, times, sizes, files = listing.context, listing.template, listing.time_ns, listing.size, listing.name
    mtimes = listing.mtime_ns
    strange: list[str] = []
    binary: list[os.DirEntry[str]] = []
    debug: list[os.DirEntry[str]] = []
    for entry in entries:
        name = entry.name
        if not name.endswith(".npy"):
            if name.startswith("Opdebug."):
                debug.append(entry)
            elif BINARY.fullmatch(mapped.get(name, name)):
                binary.append(entry)
            continue
        match = NPY.fullmatch(mapped.get(name, name) if mapped else name)
        template = None
        if match is not None:
            head, digits, tail = match.groups()
            key = (head, tail)
            if key in known:
                template = known[key]
            else:
                parsed = tensor_name(head, tail)
                if parsed is not None:
                    made = _template(parsed, constant)
                    template = listing.templates.setdefault(made, len(listing.templates))
                known[key] = template
        if template is None or match is None:
            strange.append(name)
            continue
        try:
            status = entry.stat()
        except OSError:
            continue  # gone since the directory was listed
        time = int(digits) if len(digits) > 9 else time_in(head, digits)
        contexts.append(context)
        templates.append(template)
        times.append(time * 1000 if time < 1 << 53 else -1)
        sizes.append(status.st_size)
        mtimes.append(status.st_mtime_ns)
        files.append(name)
    if STATISTIC in names:
        _list_statistics(listing, context)
    tasks = _list_binary(listing, context, binary, mapped)
    if debug:
        tasks = sorted([*tasks, *_tasks_of(mapped.get(entry.name, entry.name) for entry in entries)])
    _list_overflows(listing, context, debug, tasks)
    if strange:
        path = listing.contexts[context].path
        shown = ", ".join(printable(name) for name in sorted(strange)[:_UNKNOWN_SHOWN])
        text = f"Expected names of dumped tensors, found {len(strange):,} other npy files ({shown}); they are not shown."
        listing.problem(path, text)


def _template(name: TensorFileName, constant: bool) -> Template:
    io = CONSTANTS[:-1] if constant else "parameter" if name.type == "Parameter" else name.io
    kind, operator, dtype, layout = map(printable, (name.type, name.operator, name.dtype, name.format))
    return Template(kind, operator, io, name.slot, "", dtype, "", layout)


def _mapping(listing: TensorListing, context: int) -> dict[str, str]:
    """Return name of a file -> the name it would have, had it not been too long."""
    path = os.path.join(listing.contexts[context].path, MAPPING)
    found = {}
    for number, line in enumerate(_lines(listing, path), 1):
        short, comma, full = line.partition(",")
        if comma and short.strip() and full.strip():
            found[short.strip()] = full.strip()
        elif line.strip():
            listing.problem(path, f"Line {number}: expected a new and an original name, found {line[:60]!r}; it was skipped.")
    return found


def _lines(listing: TensorListing, path: str) -> list[str]:
    """Return the lines of a text file; none if it cannot be read."""
    text = _text(listing, path)
    return text.splitlines()


def _text(listing: TensorListing, path: str) -> str:
    try:
        with RegularFile(path) as file:
            if file.size > _LONGEST_TEXT:
                listing.problem(path, f"Expected at most {_LONGEST_TEXT:,} bytes, found {file.size:,}; the file is not read.")
                return ""
            return file.read(0, file.size).decode("utf-8-sig", "backslashreplace")
    except OSError as error:
        listing.unreadable(path, error)
        return ""


def _list_statistics(listing: TensorListing, context: int) -> None:
    """Add the rows of statistic.csv; those of tensors that are files too give these their statistics."""
    place = listing.contexts[context]
    path = os.path.join(place.path, STATISTIC)
    dumped: dict[tuple[str, str, int], list[int]] = {}
    by_number = list(listing.templates)
    for row in range(len(listing.context) - 1, -1, -1):
        if listing.context[row] != context:
            break
        template = by_number[listing.template[row]]
        dumped.setdefault((template.recorded, "input" if template.io == "input" else "output", template.slot), []).append(row)
    for rows in dumped.values():
        rows.sort(key=lambda row: -listing.time_ns[row])  # the earliest comes last, and is taken first
    bad: list[statistic_csv.BadLine] = []
    for one in statistic_csv.parse_statistics(_text(listing, path)):
        if isinstance(one, statistic_csv.BadLine):
            bad.append(one)
            continue
        files = dumped.get((one.operator, one.io, one.slot))
        if files:
            row = files.pop()
        else:
            io = "parameter" if one.type == "Parameter" else one.io
            template = Template(one.type, printable(one.operator), io, one.slot, "", one.dtype, one.shape, one.format)
            row = listing.add(context, template, one.time_us * 1000, one.size_bytes, "")
        listing.stated[row] = Stated(one.values, one.non_finite, STATISTIC, one.hash)
    if bad:
        first = bad[0]
        text = f"Line {first.line}: {first.text}; such lines were skipped ({len(bad):,}), the others are shown."
        listing.problem(path, text, "bad_table")


def _list_binary(
    listing: TensorListing, context: int, entries: Iterable[os.DirEntry[str]], mapped: dict[str, str]
) -> list[tuple[int, int, int, str, str]]:
    """Add the tensors of binary files; return time, task, stream, type and operator of each file."""
    tasks = []
    for entry in sorted(entries, key=lambda one: one.name):
        match = BINARY.fullmatch(mapped.get(entry.name, entry.name))
        if match is None:
            continue
        kind, operator, time = printable(match[1]), printable(match[2]), int(match[5])
        tasks.append((time, int(match[3]), int(match[4]), kind, operator))
        try:
            with RegularFile(entry.path) as file:
                parts, mtime_ns = read_parts(file), file.status.st_mtime_ns
        except OSError as error:
            listing.unreadable(entry.path, error)
            continue
        except FormatError as error:
            listing.problem(entry.path, f"The file is not shown: {error}.")
            continue
        for part in parts:
            shape = part.original or part.shape
            text = "x".join(map(str, shape)) or "[]"
            template = Template(kind, operator, part.io, part.slot, "", part.dtype, text, part.format)
            row = listing.add(context, template, time * 1000 if time < 1 << 53 else -1, part.size, entry.name, mtime_ns)
            listing.places[row] = TensorPlace(
                entry.path, part.offset, part.size, part.dtype, part.shape, part.format, part.original
            )
    return sorted(tasks)


def _tasks_of(names: Iterable[str]) -> Iterator[tuple[int, int, int, str, str]]:
    """Yield time, task, stream, type and operator of files of tensors."""
    for name in names:
        match = NPY.fullmatch(name)
        parsed = tensor_name(match[1], match[3]) if match is not None else None
        if match is not None and parsed is not None:
            yield time_in(match[1], match[2]), parsed.task, parsed.stream, printable(parsed.type), printable(parsed.operator)


def _list_overflows(
    listing: TensorListing, context: int, entries: Iterable[os.DirEntry[str]], tasks: list[tuple[int, int, int, str, str]]
) -> None:
    """Add overflow records; one that is there as JSON too counts once."""
    seen: set[tuple[int, OverflowRecord]] = set()
    place = listing.contexts[context]
    for entry in sorted(entries, key=lambda one: one.name):
        match = OPDEBUG.fullmatch(entry.name)
        if match is None:
            continue
        try:
            if match["json"]:
                records = parse_json(read_json(entry.path))
            else:
                with RegularFile(entry.path) as file:
                    records = [one for part in read_parts(file) for one in parse_binary(file.read(part.offset, part.size))]
        except OSError as error:
            listing.unreadable(entry.path, error)
            continue
        except FormatError as error:
            listing.problem(entry.path, f"The overflow record is not shown: {error}.")
            continue
        time = int(match[3])
        for record in records:
            if (time, record) in seen:
                continue
            seen.add((time, record))
            of_task = (one for one in tasks if one[1:3] == (record.task, record.stream))
            _, _, _, kind, operator = next(of_task, (0, 0, 0, "", ""))
            listing.overflows.append(
                Overflow(
                    context, operator, kind, record.unit, record.task, record.stream, record.status,
                    time * 1000 if time < 1 << 53 else -1, place.shown + printable(entry.name),
                )
            )  # fmt: skip


# Files about the rank -----------------------------------------------------------------------------------------------------


def _files_of(listing: TensorListing, root: str) -> DumpRankFiles:
    """Return the graphs and execution orders of a rank."""
    found = DumpRankFiles()
    for name, path in _files_in(listing, os.path.join(root, "graphs")):
        match = _GRAPH.fullmatch(name)
        if match is not None:
            (found.graphs if match[2] == "pb" else found.texts)[int(match[1])] = path
    for name, path in _files_in(listing, os.path.join(root, "execution_order")):
        order, runs = _ORDER.fullmatch(name), _RUNS.fullmatch(name)
        if order is not None:
            found.orders[int(order[1])] = [line for line in _lines(listing, path)[1:] if line.strip()]
        elif runs is not None:
            lines = [line.strip() for line in _lines(listing, path) if line.strip()]
            numbers = [int(line) for line in lines if line.isdecimal() and len(line) < 10]
            if len(numbers) < len(lines):
                text = f"Expected an iteration per line, found {len(lines) - len(numbers)} others; they were skipped."
                listing.problem(path, text, "bad_table")
            found.runs[int(runs[1])] = numbers
    return found


def _files_in(listing: TensorListing, directory: str) -> list[tuple[str, str]]:
    try:
        listing.listed[directory] = os.stat(directory).st_mtime_ns
        return [(name, os.path.join(directory, name)) for name in sorted(os.listdir(directory))]
    except FileNotFoundError:
        return []
    except OSError as error:
        listing.unreadable(directory, error)
        return []
