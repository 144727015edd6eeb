"""Landscapes on a Dask cluster: the same points as by own processes, also where a worker dies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from app import dask_engine
from app.dask_pieces import DONE
from app.landscapes import LandscapeOptions, compute
from app.landscapes.options import LandscapeError
from app.landscapes.running import ComputedLandscape
from app.tasks import TaskMessage

SCRIPT = """
import os

def loss(parameters):
    with open(os.environ["SEEN"], "a") as seen:
        print(os.getppid(), file=seen)
    if parameters["w.bias"][0] > float(os.environ["WORST"]):
        raise ValueError("too large")
    return float((parameters["w.weight"] ** 2).sum() + parameters["w.bias"].sum())
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    base = tmp_path_factory.mktemp("cluster")
    (base / "run").mkdir()
    random = np.random.default_rng(5)
    weight = random.normal(size=(2, 3))
    for step in range(1, 5):
        np.savez(base / f"run/net_{step}.npz", **{"w.weight": weight, "w.bias": weight[0]})  # type: ignore[arg-type]
        weight = weight + random.normal(size=(2, 3)) * 0.2
    (base / "loss.py").write_text(SCRIPT)
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("SEEN", str(base / "seen"))
        changed.setenv("WORST", str(float(weight[0, 0])))
        yield base / "run"


@pytest.fixture(scope="module")
def own(run: Path) -> ComputedLandscape:
    """The points by own processes; what was seen there is forgotten."""
    (found,) = compute(options(run, run.parent / "own")).landscapes
    (run.parent / "seen").unlink()
    return found


@pytest.fixture(scope="module")
def scheduler(run: Path) -> Iterator[str]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as made:
        yield made.scheduler_address


def options(run: Path, out: Path, **more: object) -> LandscapeOptions:
    given = {"size": 6, "checkpoints": "*.npz", **more}
    return LandscapeOptions(str(run), str(run.parent / "loss.py"), str(out), **given)  # type: ignore[arg-type]


def test_a_cluster_computes_the_same_points(run: Path, tmp_path: Path, own: ComputedLandscape, scheduler: str) -> None:
    (found,) = compute(options(run, tmp_path / "out", dask=scheduler)).landscapes
    assert np.array_equal(found.z, own.z, equal_nan=True)
    assert found.failed == own.failed
    assert 0 < len(own.failed) < 36
    assert {reason for _, reason in found.failed} == {"ValueError: too large"}
    assert str(os.getpid()) not in (run.parent / "seen").read_text().split()


def wrong_losses(_do: object, _version: str, piece: bytes) -> bytes:
    """Answer rows with losses of places that nobody asked for, or with what is none."""
    numbers = [one.number for one in msgspec.msgpack.decode(piece, type=list[TaskMessage])]
    wrong = (b"nonsense", msgspec.msgpack.encode([(99, 0, 0.5, "")]), msgspec.msgpack.encode([]))
    return msgspec.msgpack.encode([(number, DONE, wrong[number % len(wrong)]) for number in numbers])


def test_rows_that_are_answered_wrongly_are_computed_here(
    run: Path, tmp_path: Path, own: ComputedLandscape, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_engine, "do_piece", wrong_losses)
    (found,) = compute(options(run, tmp_path / "out", dask=scheduler)).landscapes
    assert np.array_equal(found.z, own.z, equal_nan=True)


def test_addresses_that_cannot_be_used(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    for address, expected in (("tcp://192.0.2.1:8786", "--dask-trust"), ("nothing", "expected the address")):
        with pytest.raises(LandscapeError, match=expected):
            compute(options(run, tmp_path / "out", dask=address))
