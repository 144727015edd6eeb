"""Which tuner looks after which trial: locks on files, which the system releases when a tuner ends, however it ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # to mypy a module, which cannot be None; every use asks first

_CLAIM, _ASKING = "claim", "asking.lock"


class Claim:
    """The right to look after a trial, or to something else that one process may do; held until `release` or its end."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def release(self) -> None:
        """Give it up; a second time does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def claim(directory: str) -> Claim | None:
    """Claim the trial that a directory belongs to; None if another tuner has it. OSError if that cannot be found out."""
    return hold(os.path.join(directory, _CLAIM))


def hold(path: str) -> Claim | None:
    """Hold the file of a lock, which is made if need be; None if another process does."""
    descriptor = _opened(path)
    if _locked(descriptor, exclusive=True):
        return Claim(descriptor)
    os.close(descriptor)
    return None


@contextlib.contextmanager
def asking(directory: str) -> Iterator[None]:
    """Show other tuners of this study, while the body runs, that a trial without a claim may be one that is just chosen."""
    descriptor = _opened(os.path.join(directory, _ASKING))
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def nobody_asks(directory: str) -> Iterator[bool]:
    """Return whether no tuner is just choosing a trial; none can begin while the body runs."""
    descriptor = _opened(os.path.join(directory, _ASKING))
    try:
        yield _locked(descriptor, exclusive=True)
    finally:
        os.close(descriptor)


def _opened(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def _locked(descriptor: int, *, exclusive: bool) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
