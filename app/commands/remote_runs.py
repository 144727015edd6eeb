"""Starts the mirror of an address that a server is to serve, and ends it with the server.

The mirror lives in `remote/<mark>/` of the workspace: `files/` are the copies, `wishes` is what the server writes for it. Its
standard input is a pipe from the server: when the server ends, even if it is killed, the pipe closes, and the mirror ends.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.commands.settings import SettingError
from app.mirror.addresses import Address
from app.store import workspace

REMOTE = "remote"
"""Directory of the workspace with one directory per address."""
_SECONDS = 10.0
_CREDENTIALS = ("AWS_", "FSSPEC_")


@dataclass(frozen=True, slots=True)
class Mirrored:
    """directory: of the copies. wishes: the file that the mirror looks for wishes in."""

    directory: str
    wishes: str


@contextlib.contextmanager
def mirrored(address: Address, base: str, environment: Mapping[str, str], options: Mapping[str, str]) -> Iterator[Mirrored]:
    """Run the mirror of an address. base is the workspace; options are those of the command `mirror`, such as `--every`."""
    if not base:
        raise SettingError(f"{address.text}: expected a workspace for the copies, found none: name one with --workspace")
    place = workspace.subdirectory(workspace.subdirectory(base, REMOTE), address.mark)
    found = Mirrored(workspace.subdirectory(place, "files"), os.path.join(place, "wishes"))
    command = [sys.executable, "-P", "-m", "app", "mirror", address.text, found.directory, "--of-server"]
    command += [f"--wishes={found.wishes}", *(f"{name}={value}" for name, value in options.items())]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=dict(environment))  # noqa: S603
    _forget_credentials()
    try:
        yield found
    finally:
        assert child.stdin is not None
        child.stdin.close()
        try:
            child.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _forget_credentials() -> None:
    """Remove from this process, and from all that it starts, what only the mirror needs."""
    for name in [name for name in os.environ if name.startswith(_CREDENTIALS)]:
        del os.environ[name]
