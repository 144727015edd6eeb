"""The pictures and heat maps of a run: files that its records name, read only from below its directory.

A path in a record is untrusted. It must be relative, without "..", and after resolving all links still lie below the directory
of the run; it must be a regular file of a limited size. Anything else is a PayloadError whose text says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.explanations.occlusion import boxes_of, outcome_picture, radius_of
from parsers.errors import FormatError, PayloadError
from parsers.files import RegularFile
from parsers.payloads.cache import PayloadCache, Sized
from parsers.payloads.pictures import MOST_BYTES, GreyPicture, checked_picture, grey_picture, png_of, rgb_picture
from parsers.payloads.values import ImageValue

T = TypeVar("T", bound=Sized)


class PictureFiles:
    """The picture files of one run."""

    def __init__(self, base: str, cache: PayloadCache | None = None) -> None:
        """base is the directory of the run; cache keeps what was read."""
        self.base = base
        self._cache = PayloadCache() if cache is None else cache

    def picture(self, path: str) -> ImageValue:
        """Return a picture as its file has it, PNG or JPEG. PayloadError names the file and the reason it is not shown."""
        return self._decoded(path, "picture", checked_picture)

    def heat_map(self, path: str) -> GreyPicture:
        """Return a heat map as grey values. PayloadError as for `picture`."""
        return self._decoded(path, "heat map", grey_picture)

    def grey_values(self, path: str) -> NDArray[np.uint8]:
        """Return the values of a heat map without keeping them: for those who go through all of them.

        PayloadError for a damaged one too, whose values are in part those that the decoder fills in.
        """
        found = self._decoded(path, "heat map", grey_picture, keep=False)
        if found.problem:
            raise PayloadError(f"{path}: {found.problem}")
        return found.values

    def outcome(self, path: str, boxes: str, mask: str) -> ImageValue:
        """Return a picture of which only boxes are visible, as PNG; boxes and mask are cells of the frame `counterfactuals`.

        PayloadError as for `picture`, and for a mask that is not known. See `parsers.analysis.explanations.occlusion`.
        """

        def draw(data: bytes) -> ImageValue:
            pixels, problem = rgb_picture(data)
            drawn = outcome_picture(pixels, boxes_of(boxes), radius_of(mask))
            return ImageValue(png_of(drawn), "image/png", drawn.shape[1], drawn.shape[0], problem=problem)

        return self._decoded(path, f"{mask} {boxes}", draw)

    def _decoded(self, path: str, what: str, decode: Callable[[bytes], T], *, keep: bool = True) -> T:
        try:
            with RegularFile(file_below(self.base, path)) as file:
                status = file.status
                key = (what, self.base, path, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
                known: T | None = self._cache.get(key)
                if known is not None:
                    return known
                if file.size > MOST_BYTES:
                    raise FormatError(f"expected at most {MOST_BYTES:,} bytes, found {file.size:,}")
                value = decode(file.read(0, file.size))
        except OSError as error:
            raise PayloadError(f"{path}: {error.strerror or error}") from error
        except PayloadError:
            raise
        except FormatError as error:
            raise PayloadError(f"{path}: {error}") from error
        if keep:
            self._cache.put(key, value)
        return value


def file_below(base: str, path: str) -> str:
    """Return the file that a record names, with links resolved; PayloadError if it does not lie below the directory base."""
    parts = path.replace("\\", "/").split("/")
    if not path or "\0" in path or os.path.isabs(path) or os.path.splitdrive(path)[0] or parts[0] == "":
        raise PayloadError(f"expected a path relative to the run, found {path[:200]!r}")
    if ".." in parts:
        raise PayloadError(f"expected a path below the run, found {path[:200]!r}")
    root = os.path.realpath(base)
    try:
        found = os.path.realpath(os.path.join(root, path))
    except (OSError, ValueError) as error:
        raise PayloadError(f"{path[:200]}: {error}") from error
    if found != root and not found.startswith(root.rstrip(os.sep) + os.sep):
        raise PayloadError(f"expected a file below the run, found a link that leaves it: {path[:200]!r}")
    return found
