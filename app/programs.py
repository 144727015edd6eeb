"""Starts programs of our own with the same modules as this one."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def command(module: str) -> list[str]:
    """Return the command that runs a module of ours as a program."""
    return [sys.executable, "-P", "-m", module]


def environment() -> dict[str, str]:
    """Return the environment in which a program finds the modules that this one finds."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths())}


def paths() -> list[str]:
    """Return where modules are found."""
    return [path for path in dict.fromkeys((str(Path(__file__).resolve().parents[1]), *sys.path)) if path]
