"""Prepares the demo in a workspace: the recorded runs are copied, the jobs of ranks are written by a process of their own."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path

from app.demo import outdated, story

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "runs"
_log = logging.getLogger(__name__)


def announcement() -> str:
    """Return one line that says what the demo is."""
    number = sum(path.is_dir() for path in RECORDED.iterdir())
    return f"Demo: {number} recorded runs of a project that reads digits, and two simulated jobs ({HERE / 'README.md'})"


def prepare(
    workspace: Path, environment: Mapping[str, str], served: Collection[str] = (), failed: threading.Event | None = None
) -> Path:
    """Return a folder of the workspace with the recorded runs, after copying them if necessary; the jobs follow within seconds.

    environment is that of the process that writes the jobs; failed is set if it ends without having written them. Copies of
    other versions are removed in the background, except those that other servers serve. OSError if the workspace cannot be
    written to.
    """
    folder = workspace / f"demo-{_fingerprint():08x}"
    if not folder.is_dir():
        _copy(folder)
    if not all((folder / name).is_dir() for name in (story.JOB, story.JOB_REPAIRED)):
        command = [sys.executable, "-P", "-m", "app.demo.jobs", os.fspath(folder)]
        child = subprocess.Popen(  # noqa: S603 - our own program
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=dict(environment)
        )
        threading.Thread(target=_report, args=(child, failed), name="mindscope-demo", daemon=True).start()
    in_use = (*served, folder)
    threading.Thread(target=outdated.remove, args=(workspace, in_use), name="mindscope-demo-old", daemon=True).start()
    return folder


def _fingerprint() -> int:
    """Another number where a file of the demo has another size, so that another version does not open the old copy."""
    found = sorted((path.relative_to(HERE).as_posix(), path.stat().st_size) for path in HERE.rglob("*.*") if path.is_file())
    return zlib.crc32(repr([one for one in found if not one[0].endswith(".pyc")]).encode())


def _copy(folder: Path) -> None:
    """Copy the recorded runs; the folder appears whole, by a rename. It can be written to, where the installation cannot."""
    made = Path(tempfile.mkdtemp(prefix=".demo-", dir=folder.parent))
    try:
        shutil.copytree(RECORDED, made / "runs")
        for path in (made / "runs", *(made / "runs").rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)
        story.date(made / "runs")
        os.rename(made / "runs", folder)
    except OSError:
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _report(child: subprocess.Popen[bytes], failed: threading.Event | None) -> None:
    code = child.wait()
    if code:
        if failed is not None:
            failed.set()
        _log.warning("the jobs of the demo were not written: their program ended with exit code %d", code)
