"""What may be saved, and the file that it is saved to, which never replaces another one by mistake."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Sequence
from typing import Any

PICTURES = ("html", "png", "svg", "pdf")
"""Kinds of files that need a browser."""
TABLES = ("csv", "json")
"""Kinds that hold data alone."""
KINDS = (*PICTURES, *TABLES)
THEMES = ("light", "dark")
LANGUAGES = ("en", "zh")
PATIENCE = 60.0
"""Seconds that a browser may be silent, and a page may take to be drawn."""
_URL = re.compile(r"https?://", re.IGNORECASE)


class SaveError(RuntimeError):
    """A page cannot be saved, for a reason that is no wrong option; the text is one line."""


def is_url(text: Any) -> bool:
    """Return whether a text is the address of a server."""
    return isinstance(text, str) and _URL.match(text) is not None


def kind_of(path: str, kinds: Sequence[str] = KINDS) -> str:
    """Return the kind of a file by its name. Raises ValueError for any other one."""
    kind = os.path.splitext(path)[1].lower().removeprefix(".")
    if kind not in kinds:
        raise ValueError(f"expected a name that ends in {', '.join(f'.{one}' for one in kinds)}, found {path!r}")
    return kind


def refuse_existing(path: str, *, force: bool) -> None:
    """Raise FileExistsError for a file that exists unless force is set, ValueError for a directory or one without a folder."""
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path) or "."):
        raise ValueError(f"expected a file in an existing directory, found {path!r}")
    if os.path.lexists(path) and not force:
        raise _exists(path)


def write_file(path: str, data: bytes, *, force: bool) -> None:
    """Write a file whole: it appears under its name once it is complete, and replaces another one only with force.

    Raises FileExistsError if it exists, also if it has appeared meanwhile, and SaveError if it cannot be written, as on a
    full disk; then nothing is left behind.
    """
    part = f"{path}.{secrets.token_hex(4)}.part"
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as stream:
            stream.write(data)
        if force:
            os.replace(part, path)
        else:
            _name(part, path)
    except FileExistsError:
        raise _exists(path) from None
    except OSError as error:
        raise SaveError(f"{path} could not be written: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(part)


def _name(part: str, path: str) -> None:
    """Give a file its name unless another one has it."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        os.rename(part, path)


def _exists(path: str) -> FileExistsError:
    return FileExistsError(f"expected a new file, or --force, found {path!r}")
