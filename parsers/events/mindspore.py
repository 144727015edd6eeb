"""MindSpore summary files, `*.summary.<seconds>.*_MS`, as written by SummaryRecord and SummaryCollector.

Make one with `SummaryRecord(dir)` and `record.add_value("scalar", "loss", tensor)`. One event holds all values of a step, so
a scalar may stand beside a tensor of 100 MB; scalars are read, images, tensors, histograms, loss landscapes and graphs are
located. The message is `Event` of MindSpore's summary.proto.
"""

from __future__ import annotations

import re

from parsers.events.reader import EventReader
from parsers.events.walk import SUMMARY, MessageLayout

FORM = MessageLayout(
    signature=b"MindSpore.Event:",
    scalar=3 << 3 | 5,
    values={
        4 << 3 | 2: "image",
        8 << 3 | 2: "tensor",
        9 << 3 | 2: "histogram",
        10 << 3 | 2: "landscape",
    },
    contents={4 << 3 | 2: ("graph", "graph_def"), 6 << 3 | 2: ("explain", "explain")},
)


def _fits(key: int, _: bytes) -> bool:
    return key in (SUMMARY, 4 << 3 | 2)


MINDSPORE = EventReader(
    name="events",
    pattern=re.compile(r"summary\.(?P<stamp>\d+)(?s:.*)\Z(?<!_lineage)(?<!_explain)"),
    form=FORM,
    message="mindspore.Event",
    fits=_fits,
)
