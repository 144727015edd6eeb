"""Reports the progress of reading a profile or a graph to the caller, who may cancel it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

Watch = Callable[[int], None]
"""Called with the bytes read since the last call; raises Cancelled to stop reading."""
Aside = Callable[[], AbstractContextManager[object]]
"""Returns a context in which others may compute, since this thread only waits."""
_WATCH: ContextVar[Watch | None] = ContextVar("profile_watch", default=None)
_ASIDE: ContextVar[Aside] = ContextVar("profile_aside", default=nullcontext)


class Cancelled(BaseException):
    """The caller cancelled reading a frame. Derived from BaseException so that no handler mistakes it for damage."""


@contextmanager
def watched(watch: Watch, aside: Aside = nullcontext) -> Iterator[None]:
    """Call `watch` for everything read in this thread within the block; `aside` is entered while it waits for a process."""
    token, aside_token = _WATCH.set(watch), _ASIDE.set(aside)
    try:
        yield
    finally:
        _WATCH.reset(token)
        _ASIDE.reset(aside_token)


def waiting() -> AbstractContextManager[object]:
    """Return the context in which this thread waits for another process."""
    return _ASIDE.get()()


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
