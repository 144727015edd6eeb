"""TensorBoard event files, `*tfevents*`, as written by TensorFlow, torch.utils.tensorboard, tensorboardX and others.

Make one with `torch.utils.tensorboard.SummaryWriter(dir).add_scalar("loss", 1.0, step)`. Scalars are read in both forms,
`simple_value` and a tensor of rank 0; histograms, images, audio, text, hyperparameters, other tensors and graphs are
located. Session logs and log messages are ignored. The message is `Event` of tensorflow/core/util/event.proto.
"""

from __future__ import annotations

import re

from parsers.events.reader import EventReader
from parsers.events.walk import MessageLayout

FORM = MessageLayout(
    signature=b"brain.Event:",
    scalar=2 << 3 | 5,
    values={
        3 << 3 | 2: "other",
        4 << 3 | 2: "image",
        5 << 3 | 2: "histogram",
        6 << 3 | 2: "audio",
        8 << 3 | 2: "tensor",
    },
    contents={
        4 << 3 | 2: ("graph", "graph_def"),
        6 << 3 | 2: ("", "log_message"),
        7 << 3 | 2: ("", "session_log"),
        8 << 3 | 2: ("other", "tagged_run_metadata"),
        9 << 3 | 2: ("other", "meta_graph_def"),
    },
    metadata=True,
    plugins={
        "": "tensor",
        "scalars": "tensor",
        "tensors": "tensor",
        "histograms": "histogram",
        "images": "image",
        "text": "text",
        "audio": "audio",
    },
)


def _fits(_: int, __: bytes) -> bool:
    return True


TENSORBOARD = EventReader(
    name="tensorboard",
    pattern=re.compile(r"tfevents(?:\.(?P<stamp>\d+))?"),
    form=FORM,
    message="tensorflow.Event",
    fits=_fits,
)
