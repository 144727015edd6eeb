"""Insights of a store's runs: kept for each state of a series, within bounds of time and number."""

from __future__ import annotations

import csv
import io

import numpy as np

from app.store.curves import insights as module
from app.store.curves.insights import Insights, insight_rows
from parsers import INSIGHTS
from tests.sources import MemorySource, series


class Run:
    """A run of series at hand that counts how often each was looked at."""

    def __init__(self, every):
        self.every = every

    def tags(self, kind="scalar"):
        return tuple(self.every)

    def series(self, tag):
        return self.every[tag]


def spiked(n=400, at=200):
    plain = series(n)
    value = plain.value.copy()
    value[at] += 5
    return plain._replace(value=value)


def test_a_series_is_looked_at_once_for_each_of_its_states(monkeypatch):
    looked = []
    real = module.insights_of
    monkeypatch.setattr(module, "insights_of", lambda tag, one: looked.append(tag) or real(tag, one))
    run, known = Run({"loss": spiked(), "lr": series(400)}), Insights()
    found, left = known.of("r", run.series, run.tags(), 10)
    assert ([one.kind for one in found], left, looked) == (["spike"], 0, ["loss", "lr"])
    assert known.of("r", run.series, run.tags(), 10) == (found, 0)
    assert looked == ["loss", "lr"]
    # It grew: only that one is looked at again.
    run.every["loss"] = spiked(500)
    known.of("r", run.series, run.tags(), 10)
    assert looked == ["loss", "lr", "loss"]
    # Another run of the same tags is another matter.
    known.of("other", run.series, ["lr"], 10)
    assert looked[-1] == "lr"


def test_no_series_is_begun_after_the_time_is_over():
    run, known = Run({f"t{n}": spiked() for n in range(5)}), Insights()
    clock = iter(range(100))
    found, left = known.of("r", run.series, run.tags(), 2, lambda: next(clock))
    assert 0 < left < 5
    assert len(found) == 5 - left
    assert known.of("r", run.series, run.tags(), 100)[1] == 0
    # What is known costs nothing.
    assert known.of("r", run.series, run.tags(), 0)[1] == 0


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "MOST_SERIES", 3)
    run, known = Run({f"t{n}": series(30) for n in range(6)}), Insights()
    known.of("r", run.series, run.tags(), 10)
    assert known.of("r", run.series, ["t3", "t4", "t5"], 0)[1] == 0
    assert known.of("r", run.series, ["t0"], 0)[1] == 1


def test_an_export_has_the_columns_of_the_frame_and_no_formula():
    bad = spiked()._replace(value=np.full(400, np.nan))
    source = MemorySource({"=run": {"scalar": {"@loss": bad}}})
    rows = list(csv.DictReader(io.StringIO(b"".join(insight_rows(source, ["=run"])).decode())))
    assert tuple(rows[0]) == ("run", *INSIGHTS.names)
    assert (rows[0]["run"], rows[0]["tag"], rows[0]["kind"], rows[0]["points"]) == ("'=run", "'@loss", "non_finite", "400")
    assert b"".join(insight_rows(source, [])).count(b"\n") == 1


