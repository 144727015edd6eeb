"""MindSpore explainer files, `*.summary.<seconds>.*_explain`, written up to MindSpore 1.9 by its explainer runner.

Each record is located with the tag "explain"; the message is `Event` of summary.proto with its field `explain`.
"""

from __future__ import annotations

import re

from parsers.events.lineage import TRAIN_LINEAGE_KEYS
from parsers.events.reader import EventReader
from parsers.events.signature import keys
from parsers.events.walk import MessageLayout

FORM = MessageLayout(signature=b"MindSpore.Event:", summary=False, contents={6 << 3 | 2: ("explain", "explain")})


def _fits(key: int, content: bytes) -> bool:
    return key in FORM.contents and not keys(content) <= TRAIN_LINEAGE_KEYS


EXPLAIN = EventReader(
    name="explain",
    pattern=re.compile(r"summary\.(?P<stamp>\d+)(?s:.*)_explain\Z"),
    form=FORM,
    message="mindspore.Event",
    fits=_fits,
    versioned=False,
)
