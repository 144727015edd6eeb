"""The command `mirror`: copy runs from an object store or another machine into a directory, and follow them as they grow.

Exit codes: 0 done; 1 files could not be copied (with --once), or the place refused; 2 bad options; 130 interrupted.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
import warnings

from app.commands.settings import SettingError, parse_size, seconds_of, size_bytes
from app.commands.terminal import printable
from app.mirror import STATE
from app.mirror.addresses import Address, AddressError, parse_address
from app.mirror.copies import Copies
from app.mirror.following import Mirror
from app.mirror.places import remote_at
from app.mirror.planning import CopyLimits
from app.mirror.reasons import sentence
from app.mirror.remote import RemoteError
from app.mirror.state import MirrorFacts, locked, read_state
from app.store import workspace

_LOCK_SECONDS = 2.0


def mirror(options: argparse.Namespace) -> int:
    """Run a mirror and return the exit code."""
    try:
        address = parse_address(options.address)
    except AddressError as error:
        raise SettingError(f"URL: expected {error}") from None
    facts = MirrorFacts(
        address=address.text, most=_size("--most", options.most), largest=_size("--largest", options.largest),
        every=seconds_of("--every", options.every), wishes=bool(options.wishes),
    )  # fmt: skip
    os.umask(0o077)
    directory = _directory(options.directory, address)
    _silence()
    while True:
        with locked(directory) as free:
            if free:
                return _run(options, address, directory, facts)
        if not options.of_server:
            raise SettingError(f"DIR: expected a directory without a mirror at work, found {options.directory!r}")
        time.sleep(_LOCK_SECONDS)  # that of another server of the same address; when it ends, this one goes on


def _run(options: argparse.Namespace, address: Address, directory: str, facts: MirrorFacts) -> int:
    try:
        work = Mirror(
            remote_at(address), Copies(directory), facts, CopyLimits(facts.most, facts.largest), options.wishes, _say
        )
        failed = asyncio.run(_until_told(work, once=options.once, of_server=options.of_server))
    except RemoteError as error:
        _say(f"{address.text}: {sentence(error)}")
        return 1
    except asyncio.CancelledError:
        return 0
    return 1 if failed else 0


async def _until_told(work: Mirror, *, once: bool, of_server: bool) -> int:
    """Run until SIGTERM, or until the server that started this process has ended, by whichever way."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    loop.set_exception_handler(lambda _loop, found: _say(f"unexpected: {type(found.get('exception')).__name__}"))
    with contextlib.suppress(NotImplementedError):
        loop.add_signal_handler(signal.SIGTERM, task.cancel)
    if of_server:
        # The other end of this pipe is the server's: it closes when the server ends, even if it was killed.
        loop.add_reader(sys.stdin.fileno(), _ended, loop, task)
    try:
        return await work.run(once=once)
    finally:
        await work.remote.close()


def _ended(loop: asyncio.AbstractEventLoop, task: asyncio.Task[int]) -> None:
    if not os.read(sys.stdin.fileno(), 1024):
        loop.remove_reader(sys.stdin.fileno())
        task.cancel()


def _silence() -> None:
    """Keep what libraries log and warn of from the terminal: it may quote headers and settings."""
    logging.getLogger().addHandler(logging.NullHandler())
    logging.getLogger().setLevel(logging.CRITICAL + 1)
    warnings.simplefilter("ignore")


def _say(text: str) -> None:
    sys.stderr.write(f"mindscope mirror: {printable(text)}\n")
    sys.stderr.flush()


def _directory(path: str, address: Address) -> str:
    """Create the directory of copies; one with other files is refused, so that no mirror changes or removes them."""
    made = workspace.prepare(path, origin="DIR")
    names = os.listdir(made)
    known = read_state(made)
    if known is not None and known.facts.address not in ("", address.text):
        raise SettingError(f"DIR: expected a directory of this address, found a mirror of {known.facts.address!r}")
    if names and STATE not in names and not all(name.startswith(".mindscope-") for name in names):
        raise SettingError(f"DIR: expected an empty directory or one of a mirror, found {path!r} with other files")
    return made


def _size(option: str, text: str) -> int:
    try:
        return size_bytes(parse_size(text))
    except ValueError as error:
        raise SettingError(f"{option}: expected {error}, found {text!r}") from None
