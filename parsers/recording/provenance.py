"""What ran: command line, git commit, host, Python and package versions. Options that look like secrets are masked."""

from __future__ import annotations

import os
import platform
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata

from .masking import masked, masked_setting

_PATIENCE = 5.0
"""Seconds that git may take."""


def facts(environment: Iterable[str] = ()) -> dict[str, str]:
    """Return what is running by name; environment names the variables whose values are wanted."""
    here = _working_directory()
    found = {
        "command": shlex.join(masked([sys.executable, *sys.argv])), "directory": here, "host": socket.gethostname(),
        "python": f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}",
        "packages": packages(),
    }  # fmt: skip
    commit = git_commit(here) if here else ""
    if commit:
        found["git"] = commit
    named = [f"{name}={masked_setting(name, os.environ[name])}" for name in environment if name in os.environ]
    if named:
        found["environment"] = "\n".join(named)
    return found


def _working_directory() -> str:
    """Return the working directory, "" where it has been removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def git_commit(directory: str) -> str:
    """Return the commit of a working tree and whether it has changes, "" where there is no git or no repository."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", directory, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=True, errors="replace")  # noqa: S603
        return done.stdout.strip()

    try:
        commit = git("rev-parse", "HEAD")
        changed = git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return ""
    return f"{commit}, with uncommitted changes" if changed else commit


def packages() -> str:
    """Return the installed packages with their versions, one on a line."""
    found = {}
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        if name:
            found[name] = distribution.version
    return "\n".join(f"{name}=={found[name]}" for name in sorted(found, key=str.lower))
