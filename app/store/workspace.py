"""The directories this program writes to: they belong to one user, and none lies below the runs."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping

from app.commands.settings import SettingError


class ReadOnlyError(SettingError):
    """The workspace is on a file system that cannot be written to now."""


def cache_directory(environment: Mapping[str, str] = os.environ) -> str:
    """Return the default workspace, in the user's cache directory, without creating it."""
    base = environment.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "mindscope")


def prepare(path: str, *, base: str | None = None, origin: str = "--workspace") -> str:
    """Create the workspace (mode 0700) if it does not exist and return its absolute path.

    An existing directory keeps its mode, but it must belong to this user and not be writable by others. Raises SettingError,
    which names the origin of the path, if that is not so, or if it lies below base, or cannot be written to;
    ReadOnlyError if its file system is read-only.
    """
    path = os.path.expanduser(path)
    if path.startswith("~"):
        raise SettingError(f"{origin}: expected a writable directory, found {path!r}: this user has no home directory")
    path = os.path.abspath(path)
    if base is not None and _inside(path, base):
        raise SettingError(f"{origin}: expected a directory outside the runs in {base!r}, found {path!r}")
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        found = os.stat(path)
    except OSError as error:
        kind = ReadOnlyError if error.errno == errno.EROFS else SettingError
        raise kind(f"{origin}: expected a writable directory, found {path!r}: {error.strerror}") from None
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        raise SettingError(f"{origin}: expected a directory owned by this user, found {path!r} owned by user {found.st_uid}")
    if found.st_mode & 0o022:
        mode = stat.S_IMODE(found.st_mode)
        raise SettingError(f"{origin}: expected a directory writable by this user only, found {path!r} with mode {mode:04o}")
    if not os.access(path, os.W_OK | os.X_OK):
        kind = ReadOnlyError if _is_read_only(path) else SettingError
        raise kind(f"{origin}: expected a writable directory, found {path!r}")
    return path


def subdirectory(workspace: str, name: str, *, origin: str = "--workspace") -> str:
    """Create a subdirectory (mode 0700) of the workspace if necessary and return its path. Raises SettingError."""
    path = prepare(os.path.join(workspace, name), origin=origin)
    if stat.S_IMODE(os.stat(path).st_mode) != 0o700:
        os.chmod(path, 0o700)
    return path


def _is_read_only(path: str) -> bool:
    return hasattr(os, "statvfs") and bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def _inside(path: str, base: str) -> bool:
    """Return whether path is base or lies below it, with links resolved; its last directories need not exist."""
    path, base = os.path.realpath(path), os.path.realpath(base)
    return path == base or path.startswith(base.rstrip(os.sep) + os.sep)
