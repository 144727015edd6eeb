"""Reports the progress of reading a profile or a graph to the caller, who may cancel it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Watch = Callable[[int], None]
"""Called with the bytes read since the last call; raises Cancelled to stop reading."""
_WATCH: ContextVar[Watch | None] = ContextVar("profile_watch", default=None)


class Cancelled(BaseException):
    """The caller cancelled reading a frame. Derived from BaseException so that no handler mistakes it for damage."""


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Call `watch` for everything read in this thread within the block."""
    token = _WATCH.set(watch)
    try:
        yield
    finally:
        _WATCH.reset(token)


REPORTED = 1 << 18
"""Bytes after which a reader of one large value reports."""


def report_up_to(position: int, reported: int) -> int:
    """Report the bytes of a value from `reported` to `position` if they are enough; return the end of what is reported."""
    if position - reported < REPORTED:
        return reported
    report_read(position - reported)
    return position


def report_read(size: int) -> None:
    """Report that this many more bytes have been read."""
    watch = _WATCH.get()
    if watch is not None:
        watch(size)
