"""What every result promises, and how a case writes its files."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from parsers.model import KINDS as PROBLEM_KINDS
from parsers.model import Problem

DERIVED_OF = 32
"""Every so many cases one is chosen (`is_chosen`), whose frames are computed from, too: that takes up to three
times as long as reading, and reads the same bytes. Where coverage is known, cases that reach new code are chosen as well."""
_NUMBER: ContextVar[int | None] = ContextVar("_NUMBER", default=None)
"""What cases are chosen by, instead of by their own bytes."""


class Broken(AssertionError):
    """A result is not what its schema or its documentation says."""


def is_chosen(data: bytes, of: int) -> bool:
    """Return whether this file is one, of `of`, that is also asked for what takes long; always the same for a file."""
    number = _NUMBER.get()
    return (zlib.crc32(data) if number is None else number) % of == 0


@contextmanager
def chosen_by(data: bytes) -> Iterator[None]:
    """Choose by these bytes in the block, whatever those of a file are."""
    with _chosen(zlib.crc32(data) if _NUMBER.get() is None else _NUMBER.get()):
        yield


@contextmanager
def everything() -> Iterator[None]:
    """Choose every file in the block."""
    with _chosen(0):
        yield


@contextmanager
def _chosen(number: int | None) -> Iterator[None]:
    token = _NUMBER.set(number)
    try:
        yield
    finally:
        _NUMBER.reset(token)


def write_file(folder: str, name: str, data: bytes) -> str:
    """Write a file below a folder; return its path."""
    path = os.path.join(folder, name)
    try:
        file = open(path, "wb", buffering=0)  # noqa: SIM115  closed below; the directory is made once only
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        file = open(path, "wb", buffering=0)  # noqa: SIM115
    with file:
        file.write(data)
    return path


def check_problems(problems: object) -> None:
    """Check that every problem has a known kind and a text that pages can show."""
    for problem in problems if isinstance(problems, list | tuple) else ():
        if not isinstance(problem, Problem) or problem.kind not in PROBLEM_KINDS or not problem.text:
            raise Broken(f"expected a problem of a known kind with a text, found {problem!r}")
        if re.search(r"[\ud800-\udfff]", problem.text):
            raise Broken(f"a text that no page can show: {problem.text!r}")
