"""Notes that tests write."""

from __future__ import annotations

from pathlib import Path

from app.store.runs.notes import Notes
from app.store.runs.notes_format import Content, RunNote, SavedView
from layouts.dumps.watchpoints import SavedWatchpoint
from layouts.runs.notes import NamedView, Note, NoteChange

HARMLESS = "scalars?run=a&smooth=0.6"
SMALL = Content(
    {
        "k1": RunNote("/data/a", Note('best, "so"\nfar 训练', (":star", "paper"))),
        "k2": RunNote("/data/b", Note("", (":bug",))),
    },
    {"v1": SavedView("/data", NamedView("v1", "Losses", HARMLESS))},
)
POINTS = (
    SavedWatchpoint("tensor_too_large", {"max_gt": 1e9, "mean_gt": -1e-9}, ("Default/a", "Default/фi"), by="nodes", said="Def"),
    SavedWatchpoint("tensor_overflow", {}, None, "(?i)conv", False, "pattern"),
)


def says(text: str, was: str = "") -> NoteChange:
    return NoteChange(remark=text, was=was)


def remark(directory: Path, key: str, text: str) -> Note:
    kept = Notes(str(directory))
    found = kept.look().notes.get(key)
    return kept.annotate(key, f"/{key}", says(text, found.note.version if found else Note().version).applied)
