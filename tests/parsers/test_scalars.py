"""Series of a run: what was computed from one is kept while the run only grows by appending."""

from __future__ import annotations

import numpy as np
import pytest

from parsers.analysis.curves.blocks import BLOCK
from parsers.analysis.curves.series_facts import LONG, SeriesFacts
from parsers.file_states import FileState
from parsers.model import Batch, Cursor, ScalarBlock, SourceFile
from parsers.recorded import RunSeries
from parsers.run_files import RunFiles
from parsers.scalars import RunScalars

CURSOR = Cursor(0, 0, 0, 0, 0)


def block(first: int, stop: int, tag: str = "loss") -> ScalarBlock:
    at = np.arange(first, stop)
    return ScalarBlock((tag,), at, at * 2.0, at * 60, np.cos(at)[None])


def state(name: str, stamp: int, *blocks: ScalarBlock) -> FileState:
    found = FileState(SourceFile(name, "events", 0, 0.0, stamp, 0, 0))
    found.add(Batch(CURSOR, scalars=blocks))
    return found


@pytest.fixture
def files() -> RunFiles:
    found = RunFiles()
    found.restore([state("b", 5, block(0, LONG))])
    return found


def grow(files: RunFiles, name: str, batch: Batch) -> None:
    files.states[name].add(batch)
    files.touch()


def series(scalars: RunScalars) -> RunSeries:
    found = scalars.series("loss")
    assert isinstance(found, RunSeries)
    blocks = SeriesFacts(found).blocks
    assert blocks is not None
    assert blocks.size == found.value.size
    # Against a look at every point.
    starts = np.arange(0, found.value.size, BLOCK)
    np.testing.assert_array_equal(blocks.low, np.minimum.reduceat(found.value, starts))
    np.testing.assert_array_equal(blocks.high, np.maximum.reduceat(found.value, starts))
    return found


def test_a_long_series_knows_its_blocks_when_it_was_read(files: RunFiles) -> None:
    found = RunScalars(files).series("loss")
    assert {"value", "step"} <= found.known.keys()


def test_points_that_are_appended_are_added(files: RunFiles) -> None:
    scalars = RunScalars(files)
    before = series(scalars)
    grow(files, "b", Batch(CURSOR, scalars=[block(LONG, LONG + 1000)]))
    after = series(scalars)
    assert after.known is before.known
    files.restore([*files.states.values(), state("c", 6, block(LONG + 1000, LONG + 1300))])
    assert series(scalars).known is before.known
    assert scalars.steps == LONG + 1300


def test_a_file_before_the_others_changes_everything(files: RunFiles) -> None:
    scalars = RunScalars(files)
    before = series(scalars)
    files.restore([*files.states.values(), state("a", 4, block(3, 9))])
    assert series(scalars).known is not before.known


def test_a_replaced_file_changes_everything(files: RunFiles) -> None:
    scalars = RunScalars(files)
    before = series(scalars)
    grow(files, "b", Batch(CURSOR, scalars=[block(7, LONG + 2000)], restarted=True))
    assert series(scalars).known is not before.known


def test_a_lost_record_changes_everything(files: RunFiles) -> None:
    scalars = RunScalars(files)
    before = series(scalars)
    files.states["b"].lose(60 * 100, {6000: 60}, ())
    grow(files, "b", Batch(CURSOR, scalars=[block(LONG, LONG + 10)]))
    after = series(scalars)
    assert after.value.size == LONG + 9
    assert after.known is not before.known


def test_a_tag_twice_in_a_file_is_put_in_order_and_keeps_nothing(files: RunFiles) -> None:
    scalars = RunScalars(files)
    before = series(scalars)
    both = ScalarBlock(("loss", "lr"), *_columns(LONG, LONG + 5))
    grow(files, "b", Batch(CURSOR, scalars=[both]))
    middle = series(scalars)
    assert middle.known is not before.known
    grow(files, "b", Batch(CURSOR, scalars=[block(LONG + 5, LONG + 9)]))
    assert series(scalars).known is not middle.known


def _columns(first: int, stop: int) -> tuple[np.ndarray, ...]:
    at = np.arange(first, stop)
    return at, at * 2.0, at * 60, np.stack((np.cos(at), np.sin(at)))
