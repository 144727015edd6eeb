"""What the readers of event files have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from parsers.events.reading import read_events
from parsers.events.signature import opening
from parsers.events.walk import Form
from parsers.model import Batch, Cursor, Problem


@dataclass(frozen=True, eq=False)
class EventReader:
    """Reads one form of event file; satisfies `parsers.model.Reader`.

    pattern is searched for in a file's name. fits says of key and first bytes of what the first record after the version
    holds whether they are of this form: MindSpore states one version for all its files, and none in lineage files
    (versioned). message names the message of one record.
    """

    name: str
    kinds: tuple[str, ...]
    form: Form
    message: str
    pattern: str
    fits: Callable[[int, bytes], bool]
    versioned: bool = True
    signed: bool = True
    appendable: bool = True
    checksummed: bool = True

    def sniff(self, head: bytes) -> bool:
        """Whether the first up to 4,096 bytes of a file are of this format, as far as they tell."""
        begin = opening(head)
        if begin is None or (begin.content is not None and not self.fits(*begin.content)):
            return False
        if not begin.version:
            return not self.versioned and begin.content is not None
        return begin.version.startswith(self.form.signature)

    def named(self, name: str) -> bool:
        """Whether a file of this name is expected to be of this format."""
        return re.search(self.pattern, name) is not None

    def read(self, path: str, cursor: Cursor | None = None, limit: int | None = None) -> Batch:
        """Read what came after the cursor (everything for None), at most about limit bytes; never raises for damage."""
        return read_events(path, self.form, cursor, limit)

    def verify(self, path: str) -> Sequence[Problem]:
        """Read the whole file, check every CRC and decode every message; return all that is wrong."""
        from parsers.events.verify import verify_events  # brings protobuf, which reading does without

        return verify_events(path, self.form, self.message)
