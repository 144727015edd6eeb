"""Removes copies of the demo that other versions made in a workspace, if nothing in them is anybody's own.

`prepared` makes a copy for each version, 40 MB with the jobs. Notes, index and logs are elsewhere in the workspace and stay.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import tempfile
from collections.abc import Collection
from pathlib import Path

from app.demo import story

NAME = re.compile(r"demo-[0-9a-f]{8}")
"""What `prepared.prepare` names its copies."""
OWN = "digits_"
"""How the name of everything in the demo begins."""
_log = logging.getLogger(__name__)


def remove(workspace: Path, served: Collection[str]) -> list[str]:
    """Remove the copies in a workspace that are not served by any server; return their names.

    A copy with a run, a file or a change that the demo did not make is kept whole, and so is one that cannot be removed.
    """
    kept = {os.path.realpath(one) for one in served}
    found = [one for one in workspace.iterdir() if NAME.fullmatch(one.name) and os.path.realpath(one) not in kept]
    return [one.name for one in sorted(found) if _is_ours(one) and _removed(one)]


def _is_ours(folder: Path) -> bool:
    """Whether there are only directories and files of the demo, all with the time that `story.date` gave to those of a run."""
    try:
        return not folder.is_symlink() and folder.is_dir() and all(_is_untouched(entry) for entry in folder.iterdir())
    except OSError:
        return False


def _is_untouched(entry: Path) -> bool:
    """Whether nothing was added to an entry or changed since it was dated an hour back: each would have a later time."""
    if not entry.name.startswith(OWN):
        return False
    below = [entry, *(Path(folder, name) for folder, folders, files in os.walk(entry) for name in (*folders, *files))]
    found = [one.lstat() for one in below]
    dated = all(one.st_ctime - one.st_mtime >= story.BACK_SECONDS for one in found)
    return dated and len({one.st_mtime_ns for one in found}) == 1 and not any(one.is_symlink() for one in below)


def _removed(folder: Path) -> bool:
    """Remove a copy. It disappears whole, by a rename, so that a start never opens what is left of one."""
    try:
        aside = Path(tempfile.mkdtemp(prefix=".demo-", dir=folder.parent))
        os.rename(folder, aside / folder.name)
    except OSError as error:
        _log.warning("the demo of another version is left in %s: %s", folder, error)
        return False
    shutil.rmtree(aside, ignore_errors=True)
    return True
