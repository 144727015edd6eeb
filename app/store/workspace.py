"""The directories this program writes to: all of one user, none below the runs."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from app.commands.settings import SettingError


def cache_directory(environment: Mapping[str, str] = os.environ) -> str:
    """The default workspace: the user's cache directory. Nothing is made."""
    base = environment.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "mindscope")


def prepare(path: str, *, base: str | None = None, origin: str = "--workspace") -> str:
    """Make the workspace (mode 0700) if need be and return its absolute path.

    A directory that was there keeps its mode but must be this user's and not writable for others. Raises SettingError, which
    names the origin of the path, if it is not, lies below base, or cannot be written.
    """
    path = os.path.expanduser(path)
    if path.startswith("~"):
        raise SettingError(f"{origin}: wanted a directory to write to, got {path!r}: this user has no home")
    path = os.path.abspath(path)
    if base is not None and _inside(path, base):
        raise SettingError(f"{origin}: wanted a directory outside the runs in {base!r}, got {path!r}")
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        found = os.stat(path)
    except OSError as error:
        raise SettingError(f"{origin}: wanted a directory to write to, got {path!r}: {error.strerror}") from None
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        raise SettingError(f"{origin}: wanted a directory of this user, got {path!r} of user {found.st_uid}")
    if found.st_mode & 0o022:
        mode = stat.S_IMODE(found.st_mode)
        raise SettingError(f"{origin}: wanted a directory only this user may write to, got {path!r} of mode {mode:04o}")
    if not os.access(path, os.W_OK | os.X_OK):
        raise SettingError(f"{origin}: wanted a directory to write to, got {path!r}")
    return path


def subdirectory(workspace: str, name: str, *, origin: str = "--workspace") -> str:
    """Make a directory of ours (mode 0700) in the workspace; returns its path. Raises SettingError."""
    path = prepare(os.path.join(workspace, name), origin=origin)
    if stat.S_IMODE(os.stat(path).st_mode) != 0o700:
        os.chmod(path, 0o700)
    return path


def _inside(path: str, base: str) -> bool:
    """Whether path is base or below it, links resolved; the last directories need not exist yet."""
    path, base = os.path.realpath(path), os.path.realpath(base)
    return path == base or path.startswith(base.rstrip(os.sep) + os.sep)
