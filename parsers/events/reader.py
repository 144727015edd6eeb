"""The reader of event files; each format is an instance of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from parsers.events.event_reading import read_events
from parsers.events.rounds import RecordPatterns
from parsers.events.signature import opening
from parsers.events.walk import MessageLayout
from parsers.model import Batch, Cursor, Problem, Reader


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EventReader(Reader):
    """Reads one form of event file.

    fits takes key and first bytes of the content of the first record after the version, and returns whether they are of this
    form: MindSpore states one version for all its files, and none in lineage files (versioned=False). message names the
    message of one record.
    """

    form: MessageLayout
    message: str
    fits: Callable[[int, bytes], bool]
    versioned: bool = True
    signed: bool = True
    appendable: bool = True
    checksummed: bool = True
    patterns: RecordPatterns = field(default_factory=RecordPatterns, repr=False)

    def sniff(self, head: bytes) -> bool:
        """Return whether the first up to 4,096 bytes of a file can be of this format."""
        begin = opening(head)
        if begin is None or (begin.content is not None and not self.fits(*begin.content)):
            return False
        if not begin.version:
            return not self.versioned and begin.content is not None
        return begin.version.startswith(self.form.signature)

    def read(self, path: str, cursor: Cursor | None = None, limit: int | None = None) -> Batch:
        """Read what lies after the cursor (everything for None), at most about limit bytes; never raises for damage."""
        return read_events(path, self.form, cursor, limit, self.patterns)

    def verify(self, path: str) -> Sequence[Problem]:
        """Read the whole file, check every CRC and decode every message; return all problems."""
        from parsers.events.verify import verify_events  # imports protobuf, which reading does without

        return verify_events(path, self.form, self.message)
