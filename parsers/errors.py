"""The exceptions of this library.

::

    MindscopeError
    ├── SourceError (FileNotFoundError)   the path asked for is not there or holds no run
    ├── FormatError (ValueError)          a value asked for cannot be had from the bytes that are there
    │   ├── MediaError                    ... because they are of a type that is not shown: an SVG, a program
    │   └── PayloadError                  ... of one recorded image, tensor, histogram ...: names the file and the record
    └── SchemaError (TypeError)           a frame does not have the columns its Schema promises

Damage inside a file is not an exception: it is a `Problem` in the result, and everything intact is returned beside it.
"""

from __future__ import annotations


class MindscopeError(Exception):
    """Base of all exceptions raised on purpose by this project."""


class SourceError(MindscopeError, FileNotFoundError):
    """The path asked for does not exist, cannot be read, or holds no run."""


class FormatError(MindscopeError, ValueError):
    """Bytes or arguments are not what the format allows; says place, wanted and got."""


class MediaError(FormatError):
    """An image is of no type that a browser should be given."""


class PayloadError(FormatError):
    """One recorded value cannot be shown. path and order (byte offset of its record) are "" and -1 where there is none."""

    def __init__(self, text: str, path: str = "", order: int = -1) -> None:
        place = f"{path}: record at byte {order:,}: " if path else ""
        super().__init__(place + text)
        self.path, self.order = path, order


class SchemaError(MindscopeError, TypeError):
    """A frame differs from its Schema; says column, wanted and got."""
