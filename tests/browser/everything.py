"""Data of every kind in one directory, so that every page has something to show."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from parsers.recording import ExplanationWriter, Layer, Uncertainty
from tests.converted import CONVERSION
from tests.parsers.profiler.written import FILES
from tests.recorded import RECORDED
from tests.writers import chrome_traces
from tests.writers.clusters import write
from tests.writers.dumps import Injection, write_dump
from tests.writers.studies import write_study

ROOT = Path(__file__).resolve().parents[2]


def write_everything(base: Path) -> None:
    """Write the recorded runs, a profile, a trace, two jobs, a dump with NaN, explanations, a study and a conversion."""
    shutil.copytree(RECORDED, base / "runs")
    profile = base / "profiled" / "profiler"
    shutil.copytree(ROOT / "tests" / "data" / "mindspore_profiler" / "2.10_minddata" / "profiler", profile)
    for name in ("memory_record.csv", "operator_memory.csv", "npu_module_mem.csv"):
        (profile / name).write_text(FILES[name], encoding="utf-8")
    traced = base / "traced" / "host_1_2_ascend_ms" / "ASCEND_PROFILER_OUTPUT"
    traced.mkdir(parents=True)
    (traced / "trace_view.json").write_text(chrome_traces.text(), encoding="utf-8")
    for job, seed in (("job_a", 1), ("job_b", 2)):
        write(base / job, ranks=16, steps=4, operations=3, seed=seed)
    write_dump(base / "dump", iterations=4, injection=Injection(3, 5, "nan"))
    explain(base / "explained")
    write_study(base / "search" / "journal.log")
    shutil.copytree(CONVERSION, base / "converted")


def explain(
    folder: Path, labels: Sequence[str] = ("cat", "dog"), explainers: Sequence[str] = ("GradCAM", "RISE"),
    metrics: Sequence[str] = ("Faithfulness", "Robustness", "Localization"),
) -> None:  # fmt: skip
    """Record explanations for every page about them."""
    rng = np.random.default_rng(1)
    with ExplanationWriter(str(folder), labels=list(labels), explainers=explainers, metrics=metrics, seconds=1) as writer:
        for sample in range(8):
            p = float(rng.random())
            sure = {label: Uncertainty(0.05, max(0.0, one - 0.1), one) for label, one in ((0, p), (1, 1 - p))}
            picture = rng.integers(0, 256, (32, 32, 3), np.uint8)
            writer.sample(sample, picture, truth=[sample % 2], probabilities={0: p, 1: 1 - p}, uncertainty=sure)
            writer.counterfactual(sample, 0, [Layer(p, [(4, 4, 16, 16)]), Layer(p / 2, [(8, 8, 8, 8)])], radius=2)
            for explainer in explainers:
                writer.heat_map(sample, explainer, 0, rng.random((32, 32)))
        for explainer in explainers:
            for metric in metrics:
                writer.score(explainer, metric, float(rng.random()), rng.random(2).tolist())
