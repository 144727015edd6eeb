"""Runs with dumps that a store opened: waiting for what it does in the background."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from app.store.store import Store
from layouts.dumps.open_dump import DumpReport, DumpView, DumpWork, OpenDump
from layouts.kit.work import WorkResult
from tests.waiting import when

WAIT = 60.0
Opener = Callable[..., Store]


def opened(store: Store, run: str) -> OpenDump:
    return when(lambda: store.dumps.open(run), lambda found: found.state != "reading")


def done(store: Store, run: str, work: DumpWork) -> WorkResult:
    return when(lambda: store.dumps.work(run, work), lambda found: found.state not in ("waiting", "working"))


def measured(dump: DumpView, report: DumpReport) -> pd.DataFrame:
    report.measure(np.arange(len(dump.tensors)))
    return dump.statistics_of()


ALL = DumpWork("statistics", None, measured)
