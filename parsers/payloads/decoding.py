"""Chooses the decoder for a kind of value of a format."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from parsers.errors import FormatError
from parsers.events.wire import WireError
from parsers.payloads.histograms import mindspore_histogram, tensorboard_histogram
from parsers.payloads.images import image, tensorboard_image
from parsers.payloads.landscapes import landscape
from parsers.payloads.tensors import mindspore_tensor, tensorboard_tensor
from parsers.payloads.texts import text
from parsers.payloads.values import Value

# (name of the reader, kind) -> decoder
DECODERS: Mapping[tuple[str, str], Callable[[memoryview], Value]] = {
    ("events", "histogram"): mindspore_histogram,
    ("events", "image"): image,
    ("events", "tensor"): mindspore_tensor,
    ("events", "landscape"): landscape,
    ("tensorboard", "histogram"): tensorboard_histogram,
    ("tensorboard", "image"): tensorboard_image,
    ("tensorboard", "tensor"): tensorboard_tensor,
    ("tensorboard", "text"): text,
}


LONGEST = {"histogram": 64 << 20, "image": 256 << 20, "landscape": 256 << 20, "text": 16 << 20, "lineage": 16 << 20,
           "dataset_graph": 16 << 20, "hparams": 16 << 20}  # fmt: skip
"""Maximum bytes of a value by kind; longer ones are not read. A tensor may be as long as a message."""


def check_length(kind: str, length: int) -> None:
    """Raise FormatError for a value too long for its kind."""
    if length > LONGEST.get(kind, length):
        raise FormatError(f"expected at most {LONGEST[kind]:,} bytes, found {length:,}")


def decode(reader: str, kind: str, data: memoryview) -> Value:
    """Decode the bytes of a message; FormatError if they hold no value that can be shown."""
    decoder = DECODERS.get((reader, kind))
    if decoder is None:
        raise FormatError(f"expected a value that can be shown, found {kind} of {reader}")
    try:
        with np.errstate(all="ignore"):  # a file may hold any number
            return decoder(data)
    except WireError as error:
        raise FormatError(f"expected a message, found {error}") from error
    except IndexError as error:
        raise FormatError("expected a whole message, found one that ends within a field") from error
    except MemoryError as error:
        raise FormatError("expected a value that fits in memory") from error
