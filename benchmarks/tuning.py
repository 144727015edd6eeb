"""What `mindscope tune` costs: a trial that ends at once, beyond its command and the sampler; following 16 growing files;
what the page answers while they grow."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

from app.store.store import Store
from app.tuning.following import TagFollower
from app.tuning.processes import environment_of
from benchmarks.measure import Figure
from layouts.tuning.tuning.page import answer_curves, answer_settings, answer_study
from parsers.recording import EventWriter
from tests.writers.studies import begun, line, trial

TRIALS, FILES, SECONDS, LOOK, STUDY = 40, 16, 10.0, 0.5, 1_000


def figures(times: int) -> list[Figure]:
    """CPU per trial, and the share of a core that following takes."""
    costs = tuple(1e3 * _trial() for _ in range(times))
    answers = tuple(1e3 * one for one in _answers(times))
    shares = tuple(100 * _following() for _ in range(min(times, 3)))
    return [
        Figure("CPU of a trial beyond command and sampler", "ms", 150, costs),
        Figure(f"answer of the tuning page after growth, {STUDY:,} trials of which {FILES} run", "ms", 150, answers),
        Figure(f"share of a core to follow {FILES} files of 10 steps a second each", "%", 5, shares),
    ]


def _cpu() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _trial() -> float:
    """CPU seconds: of TRIALS trials with the tuner, less the same commands alone, less the sampler alone."""
    import optuna

    from app.commands.cli import main

    warnings.filterwarnings("ignore", module="optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with tempfile.TemporaryDirectory() as directory:
        base = Path(directory)
        with EventWriter(str(base / "value"), "mindspore") as writer:
            writer.add(1, {"loss": 1.0})
        name = "events.out.events.summary.1700000000.0.host_MS"
        (base / "trial.sh").write_text(f'mkdir -p "$MINDSCOPE_TRIAL"; cp "{base}/value" "$MINDSCOPE_TRIAL/{name}"\n')
        (base / "search.yaml").write_text(
            f"summary_base_dir: {base}/runs\ncommand: sh {base}/trial.sh\ntarget: {{name: loss}}\n"
            "parameters: {x: {bounds: [0, 1], type: float}, y: {bounds: [0, 1], type: float}}\n"
            f"budget: {{trials: {TRIALS}}}\n"
        )
        with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
            begin = _cpu()
            main(["tune", "--config", str(base / "search.yaml"), "--workspace", str(base / "workspace")])
            whole = _cpu() - begin
        begin = _cpu()
        for number in range(TRIALS):
            environment = environment_of({"x": 0.5, "y": 0.5}, str(base / "alone" / str(number)), {}, "")
            subprocess.run(["sh", str(base / "trial.sh")], env=environment, check=True)
        commands = _cpu() - begin
        space = {"x": optuna.distributions.FloatDistribution(0, 1), "y": optuna.distributions.FloatDistribution(0, 1)}
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(multivariate=True))
        begin = _cpu()
        for _ in range(TRIALS):
            study.tell(study.ask(space), 1.0)
        sampler = _cpu() - begin
    return (whole - commands - sampler) / TRIALS


def _answers(times: int) -> list[float]:
    """CPU seconds of frames and of all parts of the page, each time after every running trial has reported a value."""
    with tempfile.TemporaryDirectory() as directory:
        journal = Path(directory) / "runs" / "search" / "journal.log"
        journal.parent.mkdir(parents=True)
        rng = np.random.default_rng(1)
        text = begun()
        for number in range(STUDY):
            state = "running" if number >= STUDY - FILES else "pruned" if number % 3 == 0 else "complete"
            values = [float(rng.random())] if state == "complete" else None
            text += trial(number, state, values, x=float(rng.random()), y=float(10 ** -rng.uniform(0, 4)), mode=number % 2,
                          curve=rng.random(20).tolist())  # fmt: skip
        journal.write_text(text)
        store = Store([Path(directory) / "runs"], interval=1e9).start()
        found = []
        for turn in range(times + 1):
            with journal.open("a") as file:
                for number in range(STUDY - FILES, STUDY):
                    file.write(line(7, trial_id=number, step=100 + turn, intermediate_value=0.5))
            store.studies.wait()
            begin = time.thread_time()
            for answer in (answer_study, answer_curves, answer_settings):
                assert answer(store, {"study": ["search"]})["state"] == "ready"
            found.append(time.thread_time() - begin)
        store.stop()
    return found[1:]


def _following() -> float:
    """Share of a core that looking at files takes which another process writes."""
    with tempfile.TemporaryDirectory() as directory:
        runs = [os.path.join(directory, str(number)) for number in range(FILES)]
        program = (
            "import os, sys, time\nfrom parsers.recording import EventWriter\n"
            "made = []\n"
            "for run in sys.argv[1:]:\n"
            "    os.makedirs(run)\n"
            "    made.append(EventWriter(run + '/events.out.events.summary.1700000000.0.h_MS', 'mindspore'))\n"
            "for step in range(100000):\n"
            "    for one in made:\n"
            "        one.add(step, {'loss': 1 / (step + 1), 'accuracy': 0.5}); one.flush()\n"
            "    time.sleep(0.1)\n"
        )
        writer = subprocess.Popen([sys.executable, "-c", program, *runs])
        try:
            followers = [TagFollower(run, ("loss",)) for run in runs]
            time.sleep(1.0)
            seen = 0
            begin, until = time.thread_time(), time.monotonic() + SECONDS
            while time.monotonic() < until:
                seen += sum(one.look()[0].size for one in followers)
                threading.Event().wait(LOOK)
            assert seen > FILES * SECONDS * 5
            return (time.thread_time() - begin) / SECONDS
        finally:
            writer.kill()
            writer.wait()
