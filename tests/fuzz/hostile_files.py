"""Directories as others may leave them, also while they are read: pipes, links, and files that are cut, grown or replaced.

A case is JSON: {"entries": [{"path", "kind", "to"}, ...], "changes": [{"at", "path", "kind", "to"}, ...]}. An entry is a file
of the corpus by its name, or what `_PUT` has; a change is made just before the file of number `at` is opened.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from parsers.discovery import discover
from parsers.files import RegularFile
from parsers.profiler.registry import FILE_KINDS
from parsers.registry import KINDS
from parsers.runs import Run
from tests.fuzz.corpus import Files, Seeds
from tests.fuzz.mutated_schemas import join_log, split_log
from tests.fuzz.promises import Broken, check_problems, chosen_by, is_chosen, write_file

MOST_ENTRIES = 24
_LOOKED_AT_OF = 4
"""Of this many directories one is asked for all that pages show, which takes twice as long as reading it."""
_LARGE = 1 << 30
_SUBDIRECTORIES = ("", "a", "a/b", "a/profiler", "rank_0")

Content = Mapping[str, bytes]


def contents(seeds: Seeds) -> dict[str, bytes]:
    """Return one small file of each kind by its name."""
    found = [named for kind in KINDS for named in seeds.recorded(kind.name).values()]
    found += [named for kind in FILE_KINDS for named in seeds.profiles(kind).values()]
    return {name: files[0] for name, files in found}


def trees(content: Content) -> Files:
    """Return cases: for each name a directory with that file, something that is none, and a change while it is read."""
    made = []
    kinds = tuple(_PUT)
    for number, name in enumerate(content):
        path = os.path.join(_SUBDIRECTORIES[number % len(_SUBDIRECTORIES)], name)
        change = {"at": number % 4, "path": path, "kind": kinds[number % len(kinds)], "to": name}
        other = {"path": f"b/{name}", "kind": kinds[(number + 3) % len(kinds)], "to": "../a"}
        made.append({"entries": [{"path": path, "kind": "file", "to": name}, other], "changes": [change]})
    return tuple(json.dumps(one).encode() for one in made)


def read_tree(content: Content, look_at: Callable[[Run], None], data: bytes, folder: str) -> None:
    """Make a directory, find the runs in it, and read them while it changes."""
    try:
        case = json.loads(data)
    except (ValueError, RecursionError):
        return
    root = os.path.join(folder, "tree")
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    if not isinstance(case, dict):
        return
    for one in _dicts(case.get("entries")):
        _put(content, root, one)
    chosen = is_chosen(data, _LOOKED_AT_OF)
    with _changing(content, root, _dicts(case.get("changes"))):
        for source in discover(root):
            run = Run(source)
            run.refresh(source)
            if chosen:
                look_at(run)
            run.refresh(source)
            check_problems([*source.problems, *run.problems])
    for source in discover(root):
        Run(source).refresh(source)


def _dicts(found: Any) -> list[dict[str, Any]]:
    return [one for one in found if isinstance(one, dict)][:MOST_ENTRIES] if isinstance(found, list) else []


@contextlib.contextmanager
def _changing(content: Content, root: str, changes: list[dict[str, Any]]) -> Iterator[None]:
    """Make changes before the files are opened whose numbers they have."""
    opened, number = RegularFile.__init__, 0

    def opening(file: RegularFile, path: str) -> None:
        nonlocal number
        for one in changes:
            if one.get("at") == number:
                _put(content, root, one)
        number += 1
        opened(file, path)

    RegularFile.__init__ = opening  # type: ignore[method-assign]
    try:
        yield
    finally:
        RegularFile.__init__ = opened  # type: ignore[method-assign]


def _put(content: Content, root: str, one: dict[str, Any]) -> None:
    """Put something where a case wants it; what the system refuses is left out."""
    parts = [part for part in str(one.get("path")).replace("\0", "").split("/") if part not in ("", ".", "..")]
    if not parts:
        return
    path = os.path.join(root, *parts[:8])
    put = _PUT.get(str(one.get("kind")), _file)
    with contextlib.suppress(OSError, ValueError):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        put(path, str(one.get("to")), content)


def _file(path: str, to: str, content: Content) -> None:
    _remove(path, to, content)
    with open(path, "wb") as file:
        file.write(content.get(to, b"x"))


def _grown(path: str, to: str, content: Content) -> None:
    with open(path, "ab") as file:
        file.write(content.get(to, b"x"))


def _cut(path: str, _to: str, _content: Content) -> None:
    os.truncate(path, os.path.getsize(path) // 2)


def _hole(path: str, _to: str, _content: Content) -> None:
    with open(path, "ab") as file:
        file.truncate(_LARGE)


def _pipe(path: str, to: str, content: Content) -> None:
    _remove(path, to, content)
    os.mkfifo(path)


def _socket(path: str, to: str, content: Content) -> None:
    _remove(path, to, content)
    with closing(socket.socket(socket.AF_UNIX)) as made:
        made.bind(path)


def _link(path: str, to: str, content: Content) -> None:
    _remove(path, to, content)
    os.symlink(to if not os.path.isabs(to) else "/dev/zero", path)


def _directory(path: str, to: str, content: Content) -> None:
    _remove(path, to, content)
    os.makedirs(path)


def _remove(path: str, _to: str, _content: Content) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


_PUT: dict[str, Callable[[str, str, Content], None]] = {
    "file": _file, "cut": _cut, "grown": _grown, "pipe": _pipe, "link": _link, "directory": _directory, "hole": _hole,
    "socket": _socket, "removed": _remove,
}  # fmt: skip


# Databases with a log --------------------------------------------------------------------------------------------------------


def logs(databases: Files) -> Files:
    """Return databases with a log that has rows, as a program leaves them that is killed."""
    found = []
    for data in databases:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "x.db")
            path.write_bytes(data)
            try:
                with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                    connection.execute("PRAGMA journal_mode=WAL")
                    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall():
                        connection.execute(f'INSERT OR REPLACE INTO "{name}" SELECT * FROM "{name}"')
                    found.append(join_log(path.read_bytes(), Path(f"{path}-wal").read_bytes()))
            except (sqlite3.Error, OSError):
                continue  # tests/data has databases that are damaged on purpose
    return tuple(found)


def read_log(name: str, read: Callable[[bytes, str], None], data: bytes, folder: str) -> None:
    """Read a database with a log beside it; nothing is written there."""
    found, log = split_log(data)
    beside = write_file(folder, os.path.join("profiler", f"{name}-wal"), log)
    try:
        with chosen_by(data):  # where only the log differs, the database would be chosen always or never
            read(found, folder)
        left = sorted(os.listdir(os.path.dirname(beside)))
    finally:
        os.unlink(beside)
    if left != [name, f"{name}-wal"]:
        raise Broken(f"files beside a database: {left}")
