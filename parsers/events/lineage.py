"""MindSpore lineage files, `*.summary.<seconds>.*_lineage`: how a model was trained, evaluated and fed.

SummaryCollector writes them beside the summary, without a version record. Each record is located with the kind of lineage
as its tag, a pipeline as kind "dataset_graph"; the message is `LineageEvent` of MindSpore's lineage.proto.
"""

from __future__ import annotations

import re

from parsers.events.reader import EventReader
from parsers.events.signature import keys
from parsers.events.walk import MessageLayout

FORM = MessageLayout(
    signature=b"MindSpore.Event:",
    summary=False,
    contents={
        6 << 3 | 2: ("lineage", "train_lineage"),
        7 << 3 | 2: ("lineage", "evaluation_lineage"),
        9 << 3 | 2: ("dataset_graph", "dataset_graph"),
        10 << 3 | 2: ("lineage", "user_defined_info"),
    },
)

TRAIN_LINEAGE = 6 << 3 | 2
TRAIN_LINEAGE_KEYS = {0x0A, 0x12, 0x1A, 0x22}


def _fits(key: int, content: bytes) -> bool:
    # the explainer's events use the same field number for another message
    return key in FORM.contents and (key != TRAIN_LINEAGE or keys(content) <= TRAIN_LINEAGE_KEYS)


LINEAGE = EventReader(
    name="lineage",
    pattern=re.compile(r"summary\.(?P<stamp>\d+)(?s:.*)_lineage\Z"),
    form=FORM,
    message="mindspore.LineageEvent",
    fits=_fits,
    versioned=False,
)
