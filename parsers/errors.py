"""The exceptions of this library.

::

    MindscopeError
    ├── SourceError (FileNotFoundError)   the path does not exist or holds no run
    ├── FormatError (ValueError)          bytes or arguments are not valid, so a value cannot be returned
    │   ├── MediaError                    ... because they are of a type that is not shown: an SVG, a program
    │   └── PayloadError                  ... for one recorded image, tensor, histogram ...: names the file and the record
    └── SchemaError (TypeError)           a frame does not have the columns of its Schema

Damage inside a file is not an exception: it is a `Problem` in the result, and everything intact is returned beside it.
"""

from __future__ import annotations


class MindscopeError(Exception):
    """Base of all exceptions raised on purpose by this project."""


class SourceError(MindscopeError, FileNotFoundError):
    """The path does not exist, cannot be read, or holds no run."""


class FormatError(MindscopeError, ValueError):
    """Bytes or arguments are not what the format allows; the message says where, what was expected and what was found."""


class MediaError(FormatError):
    """An image is of a type that must not be sent to a browser."""


class PayloadError(FormatError):
    """One recorded value cannot be shown. path and order (byte offset of its record) are "" and -1 if unknown."""

    def __init__(self, text: str, path: str = "", order: int = -1) -> None:
        place = f"{path}: record at byte {order:,}: " if path else ""
        super().__init__(place + text)
        self.path, self.order = path, order


class SchemaError(MindscopeError, TypeError):
    """A frame differs from its Schema; the message names the column, what was expected and what was found."""
