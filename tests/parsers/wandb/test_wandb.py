"""Files of Weights & Biases: one that wandb wrote from known numbers, and written ones of several blocks."""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np
import pytest

from parsers import open_run
from parsers.model import Batch
from parsers.wandb.reader import WANDB
from tests.parsers.tables.test_tables import points
from tests.writers.wandb import BLOCK, HEADER, field, history, wandb_file

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "wandb" / "0.31.0"


def read(path: Path, data: bytes) -> Batch:
    path.write_bytes(data)
    return WANDB.read(str(path))


def test_a_run_of_wandb() -> None:
    run = open_run(SAMPLE)
    assert run.series("loss").step.tolist() == [*range(12), 20]
    assert run.series("loss").value.tolist() == [*(1 / (step + 1) for step in range(12)), 0.05]
    assert run.series("val/acc").value.tolist() == [step / 12 for step in range(12)]
    assert [math.isnan(value) for value in run.series("bad").value] == [step == 3 for step in range(12)]
    assert (np.diff(run.series("loss").wall_time) > 0).all()
    expected = {
        "learning_rate": 0.1, "user_defined/model.layers": 3, "user_defined/model.name": "mlp", "batch_size": 32,
        "user_defined/summary.best": 0.96,
    }  # fmt: skip
    assert {name: run.settings[name] for name in expected} == expected
    assert "system/memory_percent" in run.tags()
    assert "note" not in run.tags()
    assert not run.problems


ROWS = [history({"_step": row, "loss": row / 7, "text": "x" * (row % 90), "_timestamp": 1e9 + row}) for row in range(2000)]
EXPECTED = [(row, row / 7) for row in range(2000)]


def test_many_blocks_and_a_record_of_several(tmp_path: Path) -> None:
    long = history({"_step": 2000, "loss": 1.5, "text": "y" * 200_000})
    batch = read(tmp_path / "a.wandb", wandb_file([*ROWS, long]))
    assert points(batch)["loss"] == [*EXPECTED, (2000, 1.5)]
    assert (batch.records, batch.pending, list(batch.problems)) == (2001, 0, [])


def test_growth_is_followed(tmp_path: Path) -> None:
    path, whole = tmp_path / "a.wandb", wandb_file(ROWS)
    batches = [read(path, whole[:5])]
    for cut in (7, 9, BLOCK - 3, BLOCK, BLOCK + 4, 2 * BLOCK + 100, len(whole)):
        path.write_bytes(whole[:cut])
        batches.append(WANDB.read(str(path), batches[-1].cursor))
    assert points(*batches)["loss"] == EXPECTED
    assert not any(batch.problems for batch in batches)


def test_a_read_stops_at_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.wandb"
    path.write_bytes(wandb_file(ROWS))
    batches = [WANDB.read(str(path), None, 10_000)]
    while batches[-1].more:
        batches.append(WANDB.read(str(path), batches[-1].cursor, 10_000))
    assert len(batches) > 5
    assert points(*batches)["loss"] == EXPECTED


@pytest.mark.parametrize("at", [0, 3, 7, 11, 13, 500, BLOCK - 20, BLOCK + 1, BLOCK + 5])
def test_damage_loses_its_record_alone(at: int, tmp_path: Path) -> None:
    whole = bytearray(wandb_file(ROWS))
    whole[at] ^= 0x41
    batch = read(tmp_path / "a.wandb", bytes(whole))
    assert batch.problems
    assert batch.records >= 1999
    assert set(points(batch)["loss"]) <= set(EXPECTED)


def test_a_file_cut_in_a_block_is_damage_when_verified(tmp_path: Path) -> None:
    path = tmp_path / "a.wandb"
    batch = read(path, wandb_file(ROWS)[:-5])
    assert (batch.records, batch.problems, batch.tail is not None) == (1999, [], True)
    assert [problem.kind for problem in WANDB.verify(str(path))] == ["truncated"]


def test_hostile_values(tmp_path: Path) -> None:
    batch = read(tmp_path / "a.wandb", wandb_file([
        history({"_step": 1, "loss": math.nan, "a": "1_0", "b": None, "c": True, "d": [1], "e": 10**400, "": 3}),
        history({"_step": 10**30, "loss": 2}), history({"_step": -1.5, "loss": 3}), history({"loss": math.inf, "_step": 1}),
        field(2, b"\x0a\xff\xff\xff\xff\xff\xff\xff\x01"), field(2, field(1, b"\x0a\x7f")), b"\xff" * 30, b"",
        field(5, field(1, field(1, b"lr") + field(16, b"{"))), field(7, field(3, field(1, b"cpu") + field(16, b"1"))),
    ]))  # fmt: skip
    found = points(batch)
    assert repr(found["loss"]) == repr([(1, math.nan), (0, 2.0), (1, 3.0), (1, math.inf)])
    assert found["e"] == [(1, math.inf)]
    assert not {"b", "c", "d", "_step"} & found.keys()
    assert found["system/cpu"] == [(0, 1.0)]
    assert len(batch.problems) >= 2


def test_many_chunks_that_might_be_one_are_soon_given_up(tmp_path: Path) -> None:
    begun = time.process_time()
    read(tmp_path / "a.wandb", HEADER + b"\x01\x00\x00\x00\x00\x40\x01" * (20 * BLOCK // 7))
    assert time.process_time() - begun < 5.0
