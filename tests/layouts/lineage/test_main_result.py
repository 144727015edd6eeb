"""Which result is the main one: names made of parts whose kind is known, on every page that has a target."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest

from app.store.runs.run_rows import run_row
from layouts.lineage.drawing import sheet
from layouts.lineage.model_columns import table as model_table
from layouts.lineage.optimisation.page import explained
from layouts.lineage.table import LineageTables
from layouts.lineage.two_runs.differences import metrics, scalars
from layouts.tuning.studies import StudyFrames
from layouts.tuning.tuning.asks import StudyRequest
from layouts.tuning.tuning.page import target_of
from parsers import Setting, open_run
from parsers.analysis.lineage.results import main_result, main_tag, main_target, order
from parsers.deferred import pandas as pd
from parsers.recording import EventWriter
from tests.sources import MemorySource, series

SPLITS = ("val/", "valid_", "eval/", "Validation/", "test-")
"""Beginnings of scalars of an evaluation."""
TRAINING = ("", "train/", "epoch/")
SCORES = ("accuracy", "acc", "Top1", "f1", "mIoU", "perplexity")
LOSSES = ("loss", "Loss", "total_loss")
OTHERS = ("learning_rate", "throughput", "epoch_time", "grad_norm", "loss_scale", "steps_per_second")
RANKED = (
    ["metric/" + name for name in SCORES],
    [split + name for split, name in product(SPLITS, SCORES)],
    [split + name for split, name in product(SPLITS, LOSSES)],
    [split + name for split, name in product(TRAINING, LOSSES)],
    [
        *(split + name for split, name in product(TRAINING, (*SCORES, *OTHERS))),
        *(split + name for split, name in product(SPLITS, OTHERS[:4])),
    ],
)
"""Names by what they must come before: evaluations that lineage has, those of scalars, validation losses, losses, the rest."""


@pytest.mark.parametrize("seed", range(200))
def test_the_main_tag_is_of_the_first_kind_there_is(seed: int) -> None:
    random = Random(seed)
    kinds = [random.sample(names, random.randint(0, 3)) for names in RANKED[1:]]
    tags = [tag for names in kinds for tag in names]
    random.shuffle(tags)
    assert main_tag(tags) in next((names for names in kinds if names), [""])


@pytest.mark.parametrize("seed", range(200))
def test_the_main_result_is_of_the_first_kind_there_is(seed: int) -> None:
    random = Random(seed)
    kinds = [random.sample(names, random.randint(0, 3)) for names in RANKED]
    recorded = [kinds[0], *([random.choice(["best/", "last/"]) + name for name in names] for names in kinds[1:])]
    names = [name for kind in recorded for name in kind]
    random.shuffle(names)
    assert main_result(dict.fromkeys(names, 12)) in next((kind for kind in recorded if kind), [""])
    frame = pd.DataFrame({name: np.arange(12.0) for name in names})
    assert main_target(frame, names) == main_result(dict.fromkeys(names, 12))


def test_usual_losses_come_first_and_a_loss_scale_is_no_loss() -> None:
    assert main_tag(["loss_scale", "a_loss", "train/loss", "loss/auto"]) == "loss/auto"
    assert main_tag(["loss_scale", "x", "a_loss"]) == "a_loss"
    assert main_tag(["b", "a"]) == "b"
    assert main_tag(["latest_acc", "contest_score", "loss"]) == "loss", "'test' within a word says nothing"
    assert main_tag([]) == main_result({}) == ""


def test_a_result_that_few_runs_have_is_not_the_target() -> None:
    assert main_result({"loss": 20, "metric/acc": 3}) == "loss"
    assert main_result({"last/loss": 20, "best/val/acc": 16}) == "best/val/acc"


def test_a_result_in_which_runs_do_not_differ_is_not_the_target_of_either_page() -> None:
    """The lineage table once chose by other values (NaN counted as a difference) than the page about the target."""
    runs: dict[str, dict[str, Setting]] = {
        str(n): {"metric/acc": 0.5 if n else float("nan"), "loss": 1.0 / (n + 1), "epoch": n} for n in range(6)
    }
    source = MemorySource({key: {"settings": one} for key, one in runs.items()})
    tables = LineageTables(source, model_table)
    assert sheet(tables.table())["colour"] == explained(source, tables, {}, None)[0]["target"] == "loss"


@pytest.mark.parametrize("seed", range(20))
def test_every_page_opens_on_the_same_target(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    scores, losses = random.sample(RANKED[1], 2), random.sample(RANKED[3], 1)
    tags = ["learning_rate", *losses, *scores, "train/accuracy"]
    random.shuffle(tags)
    wanted = min(scores, key=tags.index)
    # The list of runs, from files
    directory = tmp_path / "run"
    directory.mkdir()
    with EventWriter(str(directory / "events.out.events.summary.1700000000.0.host_MS"), "mindspore") as writer:
        for step in range(3):
            writer.add(step, dict.fromkeys(tags, 0.1 * step + 0.3))
    run = open_run(directory)
    assert run_row("run", run, run.source, (0, 0), loaded=True).main_tag in scores
    # Two runs
    source = MemorySource({key: {"scalar": dict.fromkeys(tags, series(5, at))} for at, key in enumerate("ab")})
    assert {line.tag for line in scalars(source, ("a", "b"))[:2]} == set(scores)
    assert scalars(source, ("a", "b"))[2].tag == losses[0]
    # Lineage and the page about the target: the values of these tags
    settings: dict[str, dict[str, Setting]] = {
        f"r{n}": {"learning_rate": 0.1 * n, **{f"last/{tag}": random.random() for tag in tags}} for n in range(8)
    }  # type: ignore[dict-item]
    source = MemorySource({key: {"settings": one} for key, one in settings.items()})
    tables = LineageTables(source, model_table)
    lineage, target = sheet(tables.table())["colour"], explained(source, tables, {}, None)[0]["target"]
    assert lineage == target
    assert target.removeprefix("last/") in scores
    # A study
    study = StudyFrames(
        None, tuple((tag, "maximize") for tag in tags), {}, *[pd.DataFrame()] * 4  # type: ignore[arg-type]
    )  # fmt: skip
    assert target_of(study, StudyRequest.read({})) == wanted
    assert target_of(study, StudyRequest.read({"target": [losses[0]]})) == losses[0]


def test_a_target_that_a_search_calls_a_metric_is_one() -> None:
    noted = json.loads('{"targets": [{"name": "loss", "group": "scalar"}, {"name": "Accuracy", "group": "metric"}]}')
    study = StudyFrames(
        None, (("loss", "minimize"), ("Accuracy", "maximize")), noted, *[pd.DataFrame()] * 4  # type: ignore[arg-type]
    )  # fmt: skip
    assert target_of(study, StudyRequest.read({})) == "Accuracy"


def test_metrics_of_two_runs_come_before_their_losses() -> None:
    recorded: dict[str, Setting] = {"loss": 0.1, "metric/loss": 0.2, "metric/acc": 0.9}
    source = MemorySource({key: {"settings": recorded} for key in "ab"})
    assert [line.column for line in metrics(source, ("a", "b"))] == ["metric/acc", "metric/loss", "loss"]
    assert order("metric/acc") < order("best/val_acc") < order("last/val_acc") < order("last/val_loss") < order("loss")
