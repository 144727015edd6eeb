"""Runs with dumps that a store opened: waiting for what it does in the background."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from app.store.store import Store
from layouts.dumps.open_dump import DumpReport, DumpView, DumpWork, OpenDump
from layouts.kit.work import WorkResult

WAIT = 60.0
Opener = Callable[..., Store]


def wait_for(found: Callable[[], Any], seconds: float = WAIT) -> Any:
    until = time.monotonic() + seconds
    while not (value := found()) and time.monotonic() < until:
        time.sleep(0.02)
    assert value
    return value


def opened(store: Store, run: str) -> OpenDump:
    def ready() -> OpenDump | None:
        found = store.dumps.open(run)
        return None if found.state == "reading" else found

    found: OpenDump = wait_for(ready)
    return found


def done(store: Store, run: str, work: DumpWork) -> WorkResult:
    def ended() -> WorkResult | None:
        found = store.dumps.work(run, work)
        return None if found.state in ("waiting", "working") else found

    found: WorkResult = wait_for(ended)
    return found


def measured(dump: DumpView, report: DumpReport) -> pd.DataFrame:
    report.measure(np.arange(len(dump.tensors)))
    return dump.statistics_of()


ALL = DumpWork("statistics", None, measured)
