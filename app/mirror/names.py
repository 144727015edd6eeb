"""Which remote files are copied, from their names alone, and which names are never written to disk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from app.mirror import OWN
from app.mirror.remote import RemoteFile
from parsers.discovery.listing import MAY_MARK, PROFILE_PARTS
from parsers.dumps.names import BINARY, MAPPING, NPY, OPDEBUG, STATISTIC
from parsers.dumps.places import JSON, METADATA, STEP
from parsers.mlflow.directories import META
from parsers.names import CLUSTER_OUTPUT, PROFILE_NAME
from parsers.nsys import ENDINGS
from parsers.registry import kind_of

_SNAPSHOT = re.compile(r".*(?:snapshot|memory).*\.(?:pickle|pkl)", re.IGNORECASE)
_BESIDE_REPORTS = re.compile(r".*\.(?:py|log)")
"""Scripts that models were converted to, and journals of searches."""
_OF_EXPLANATION = re.compile(r"_explain_\d+")
_LONGEST = 255
"""Bytes that a name of a file may have on the usual file systems."""


def is_safe(name: str) -> bool:
    """Return whether a name leads to a file below the directory of copies, and to none of the mirror's own files."""
    parts = name.split("/")
    if name.startswith("/") or "\0" in name or "\\" in name or not name:
        return False
    return not any(part in ("", ".", "..") or part.startswith(OWN) or _length(part) > _LONGEST for part in parts)


def _length(part: str) -> int:
    return len(part.encode("utf-8", "surrogateescape"))


def wanted(files: Iterable[RemoteFile]) -> list[RemoteFile]:
    """Return those files that readers open: of known kinds, settings, and all in directories of profiles and dumps."""
    listed = list(files)
    dumps = _dumps(listed)
    return [file for file in listed if _is_wanted(file.name, dumps)]


def _is_wanted(name: str, dumps: set[str]) -> bool:
    *parents, own = name.split("/")
    if kind_of(own) is not None or MAY_MARK.fullmatch(own) or _SNAPSHOT.fullmatch(own) or own.endswith(ENDINGS):
        return True
    if any(_of_profile(part) for part in parents) or _is_dumped(own) or _BESIDE_REPORTS.fullmatch(own):
        return True
    return any("/".join(parents[:number]) in dumps for number in range(len(parents) + 1))


def _of_profile(part: str) -> bool:
    named = PROFILE_NAME.fullmatch(part) or _OF_EXPLANATION.fullmatch(part)
    return part == CLUSTER_OUTPUT or part in PROFILE_PARTS or named is not None


def _is_dumped(name: str) -> bool:
    return name in (STATISTIC, MAPPING) or any(pattern.fullmatch(name) for pattern in (NPY, OPDEBUG, BINARY))


def _dumps(files: Sequence[RemoteFile]) -> set[str]:
    """Return the directories of which everything is copied: dumps, and the metrics, parameters and tags of MLflow."""
    found = set()
    for file in files:
        directory, _, own = file.name.rpartition("/")
        step = directory.rpartition("/")[0].rpartition("/")[2]
        if own == METADATA or (own in JSON and STEP.fullmatch(step)):
            found.add(directory)
        elif own == META:
            found |= {f"{directory}/{part}".lstrip("/") for part in ("metrics", "params", "tags")}
    return found


def clashes(names: Iterable[str]) -> dict[str, str]:
    """Return the names that cannot be files beside the others, with the reason: "name" if another name needs a directory there.

    The directory, which holds more, is kept.
    """
    known = set(names)
    directories = {name[:at] for name in known for at, letter in enumerate(name) if letter == "/"}
    return dict.fromkeys(known & directories, "name")


def same_but_for_case(names: Iterable[str]) -> dict[str, str]:
    """Return the names that a file system which ignores case cannot keep, with the reason; the first of each is kept."""
    first: dict[str, str] = {}
    found = {}
    for name in sorted(names):
        if first.setdefault(name.casefold(), name) != name:
            found[name] = "case"
    return found
