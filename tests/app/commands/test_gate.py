"""`mindscope gate`: exit codes, reports and baselines, on written and on real runs."""

from __future__ import annotations

import json
import math
import os
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.app.commands.running import called, run
from tests.app.commands.written_runs import write_run
from tests.recorded import RECORDED
from tests.writers.dumps import Injection, write_dump

BASELINE, ALIKE, WORSE = (0.40, 0.42, 0.41, 0.43), (0.41, 0.43, 0.40, 0.42), (0.60, 0.62, 0.61, 0.64)
HOSTILE = 'loss"/><x>&amp;</script>\x1b[31m\u202e{0}%s\x00'


@pytest.fixture
def sides(tmp_path: Path):
    """Return a function that writes the runs of a side, each with a curve that ends at one of the values."""

    def write(side: str, ends, tag: str = "loss", points: int = 40, **options) -> Path:
        for place, end in enumerate(ends):
            write_run(tmp_path / side / f"run{place}", {tag: [*np.linspace(2.0, 0.7, points - 1), end]}, **options)
        return tmp_path / side

    return write


def facts(*arguments: object) -> tuple[int, dict]:
    done = called("gate", *arguments, "--json")
    return done.returncode, json.loads(done.stdout)


# Exit codes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ends", "options", "code"),
    [
        (ALIKE, (), 0), (WORSE, (), 1), (WORSE, ("--better", "higher"), 0), (ALIKE, ("--better", "higher"), 0),
        (WORSE, ("--margin", "0.5"), 0), (WORSE, ("--margin", "0.1"), 1), (WORSE, ("--margin", "100%"), 0),
        (WORSE, ("--margin", "10%"), 1), (WORSE, ("--robust",), 1), (WORSE[:2], (), 2), (WORSE[:2], ("--margin", "0.1"), 1),
        (WORSE[:1], ("--margin", "60%"), 0), ((0.4, math.nan, 0.4), (), 1), ((0.4, math.inf), ("--margin", "1"), 1),
    ],
)  # fmt: skip
def test_exit_codes(sides, ends, options, code: int) -> None:
    done = called("gate", sides("new", ends), "--against", sides("old", BASELINE), "--metric", "loss", *options)
    assert done.returncode == code, done.stdout + done.stderr
    assert len((done.stdout if code != 2 else done.stderr).splitlines()) == 1


def test_what_cannot_be_told(sides, tmp_path: Path) -> None:
    old, new = sides("old", BASELINE), sides("new", ALIKE)
    said = [
        called("gate", new, "--against", old, "--metric", "los", "--better", "lower"),
        called("gate", new, "--against", old, "--metric", "s", "--better", "lower"),
        called("gate", new, "--against", old, "--metric", "loss", "--value", "step:99"),
        called("gate", sides("short", ALIKE, points=20), "--against", old, "--metric", "loss"),
        called("gate", new, "--against", sides("nan", (0.4, math.nan, 0.4)), "--metric", "loss"),
        called("gate", new, "--against", old, "--peak-memory"),
        called("gate", new, "--against", old, "--check-dump"),
        called("gate", sides("wide", (0.1, 0.9, 0.4)), "--against", old, "--metric", "loss", "--margin", "0.01"),
    ]
    assert [done.returncode for done in said] == [3] * 8
    wanted = (
        "did you mean 'loss'?", "did you mean 'loss'?", "no value at step 99", "is unfinished: it ended at step 19", "is nan",
        "no recorded memory", "no dump", "more runs are needed",
    )  # fmt: skip
    for done, words in zip(said, wanted, strict=True):
        assert words in done.stdout
    assert called("gate", tmp_path / "short", "--against", old, "--metric", "loss", "--allow-shorter").returncode == 0


@pytest.mark.parametrize("idle", [False, True])
def test_a_run_whose_file_ends_within_a_record_is_unfinished(sides, idle: bool) -> None:
    new, old = sides("new", ALIKE), sides("old", BASELINE)
    file = next((new / "run1").iterdir())
    file.write_bytes(file.read_bytes()[:-3])
    if idle:
        os.utime(file, (1.7e9, 1.7e9))
    done = called("gate", new, "--against", old, "--metric", "loss")
    assert (done.returncode, "a file ends within a record" in done.stdout) == (3, True)
    assert ("truncated" in done.stderr) == idle


def test_damage_is_reported(sides) -> None:
    new, old = sides("new", ALIKE), sides("old", BASELINE)
    file = next((new / "run1").iterdir())
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    done = called("gate", new, "--against", old, "--metric", "loss")
    assert (done.returncode, str(file) in done.stderr) == (0, True)
    assert str(file) in called("digest", new).stderr


def test_worse_wins_over_what_cannot_be_told(sides) -> None:
    new, old = sides("new", WORSE), sides("old", BASELINE)
    assert called("gate", new, "--against", old, "--metric", "loss", "--peak-memory").returncode == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--metric"), (("--metric", "loss", "--value", "mean:0"), "mean:N"),
        (("--metric", "loss", "--margin", "x"), "percent"), (("--metric", "loss", "--margin", "-1"), "a number from 0"),
        (("--metric", "loss", "--alpha", "0.5"), "below 0.5"),
        (("--metric", "loss", "--alpha", "a"), "below 0.5"), (("--metric", "loss", "--better", "less"), "lower or higher"),
        (("--metric", "group0"), "does not tell"), (("--metric", "loss", "--watch", "x"), "--check-dump"),
        (("--metrics", "none.toml"), "readable TOML"), (("--metric", "loss", "--margni", "1"), "did you mean --margin?"),
    ],
)  # fmt: skip
def test_wrong_options_are_one_line(sides, options, words: str) -> None:
    done = called("gate", sides("new", ALIKE), "--against", sides("old", BASELINE), *options)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert words in done.stderr


def test_paths_without_runs_and_runs_on_both_sides(sides, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    new, old = sides("new", ALIKE), sides("old", BASELINE)
    for arguments, words in (
        ((tmp_path / "gone", "--against", old), "RUN: expected the directory of a run"),
        ((tmp_path / "empty", "--against", old), "RUN: expected a run at or below"),
        ((new, "--against", tmp_path / "empty"), "--against: expected a run"),
        ((new, "--against", old, new / "run1"), "on both sides"),
    ):
        done = called("gate", *arguments, "--metric", "loss")
        assert (done.returncode, words in done.stderr) == (2, True), done.stderr


def test_the_program_ends_with_the_code(sides) -> None:
    assert run("gate", sides("new", WORSE), "--against", sides("old", BASELINE), "--metric", "loss").returncode == 1


# Values and reports --------------------------------------------------------------------------------------------------


def test_values_and_interval_are_those_of_numpy_and_scipy(sides) -> None:
    new, old = sides("new", WORSE), sides("old", BASELINE)
    code, found = facts(new, "--against", old, "--metric", "loss", "--value", "mean:5", "--alpha", "0.01")
    before = np.linspace(2.0, 0.7, 39)[-4:].sum()
    mine, theirs = ((before + np.array(ends)) / 5 for ends in (WORSE, BASELINE))
    one = found["metrics"][0]
    wanted = stats.ttest_ind(mine, theirs, equal_var=False).confidence_interval(0.98)
    assert (code, one["state"], one["reason"]) == (1, "worse", "beyond")
    assert (one["low"], one["high"]) == pytest.approx((wanted.low, wanted.high), rel=1e-6)
    assert sorted(run["value"] for run in one["runs"]) == pytest.approx(sorted(mine), rel=1e-6)
    assert (one["candidate"], one["baseline"]) == pytest.approx((mine.mean(), theirs.mean()), rel=1e-6)


def test_a_line_has_values_runs_interval_margin_and_reason(sides) -> None:
    new, old = sides("new", WORSE), sides("old", BASELINE)
    line = called("gate", new, "--against", old, "--metric", "loss", "--margin", "2%").stdout
    assert line.startswith("loss (last): worse: 0.6175 (4 runs) against 0.415 (4 runs), lower is better; difference +0.2025, ")
    assert "(Welch, 95 % one-sided), margin 0.0083 (2 % of the baseline): the whole interval lies beyond" in line


def test_junit_reports_failures_and_errors_with_hostile_names(sides, tmp_path: Path) -> None:
    new, old = sides("new", WORSE, tag=HOSTILE), sides("old", BASELINE, tag=HOSTILE)
    report = tmp_path / "report.xml"
    others = ("--peak-memory", "--steps-per-second", "--junit", report)
    done = called("gate", new, "--against", old, "--metric", HOSTILE, "--better", "lower", *others)
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert len(done.stdout.splitlines()) == 3
    suite = ET.parse(report).getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert [[part.tag for part in case] for case in suite] == [["failure"], ["system-out"], ["error"]]
    assert '"/><x>&amp;</script>' in str(suite[0].get("name"))


def test_a_report_that_cannot_be_written_is_an_error(sides, tmp_path: Path) -> None:
    done = called("gate", sides("new", ALIKE), "--against", sides("old", BASELINE), "--metric", "loss", "--junit",
                  tmp_path / "no" / "r.xml")  # fmt: skip
    assert (done.returncode, "--junit" in done.stderr) == (2, True)


# Other measures ------------------------------------------------------------------------------------------------------


def test_slower_runs_are_worse(sides) -> None:
    new, old = sides("new", ALIKE[:1], step_s=0.5), sides("old", BASELINE[:1])
    assert called("gate", new, "--against", old, "--steps-per-second", "--margin", "20%").returncode == 1
    done = called("gate", old, "--against", new, "--steps-per-second", "--margin", "0")
    assert (done.returncode, "4 steps/s (1 run) against 2 steps/s" in done.stdout) == (0, True)


def test_more_memory_is_worse_and_other_sources_are_not_compared(tmp_path: Path) -> None:
    def memory(name: str, tag: str, most: float) -> Path:
        return write_run(tmp_path / name, {f"system/{tag}_bytes": [1e9, most, 2e9], "loss": [3, 2, 1]})

    new, old = memory("new", "npu_0/memory_used", 8e9), memory("old", "npu_0/memory_used", 4e9)
    process = memory("process", "process_memory", 4e9)
    code, found = facts(new, "--against", old, "--peak-memory", "--margin", "10%")
    assert (code, found["metrics"][0]["candidate"], found["metrics"][0]["baseline"]) == (1, 8e9, 4e9)
    assert facts(new, "--against", process, "--peak-memory", "--margin", "10%")[1]["metrics"][0]["reason"] == "sources"


def test_a_hit_in_a_dump_is_worse(tmp_path: Path, sides) -> None:
    write_dump(tmp_path / "healthy")
    write_dump(tmp_path / "bad", injection=Injection(3, 4, "nan"))
    old = sides("old", BASELINE)
    assert called("gate", tmp_path / "healthy", "--check-dump").returncode == 0
    assert "--against" in called("gate", tmp_path / "healthy", "--check-dump", "--metric", "loss").stderr
    done = called("gate", tmp_path / "healthy", tmp_path / "bad", "--against", old, "--check-dump")
    assert (done.returncode, "hits in bad" in done.stdout) == (1, True)
    watch = tmp_path / "watch.toml"
    watch.write_text('[[watchpoint]]\ncondition = "tensor_too_large"\nmax_gt = 1e30\n')
    healthy = called("gate", tmp_path / "healthy", "--against", old, "--check-dump", "--watch", watch)
    assert healthy.returncode == 0


# Files ---------------------------------------------------------------------------------------------------------------


def test_a_saved_baseline_decides_as_its_runs_do(sides, tmp_path: Path) -> None:
    new, old, saved = sides("new", WORSE), sides("old", BASELINE), tmp_path / "base.json"
    metrics = ("--metric", "loss", "--steps-per-second")
    first = facts(new, "--against", old, *metrics, "--save", saved)
    assert facts(new, "--against", saved, *metrics) == first
    again = called("gate", new, "--against", old, *metrics, "--save", saved)
    assert (again.returncode, "--force" in again.stderr) == (2, True)
    assert called("gate", new, "--against", old, *metrics, "--save", saved, "--force").returncode == 1
    unknown = called("gate", new, "--against", saved, "--metric", "loss", "--value", "best")
    assert (unknown.returncode, "not among the saved metrics" in unknown.stdout) == (3, True)


def test_nan_in_a_saved_baseline_stays_nan(sides, tmp_path: Path) -> None:
    new, old, saved = sides("new", ALIKE), sides("old", (0.4, math.nan, 0.4)), tmp_path / "base.json"
    called("gate", new, "--against", old, "--metric", "loss", "--save", saved)
    json.loads(saved.read_text(), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert called("gate", new, "--against", saved, "--metric", "loss").returncode == 3


def saved_as(**keys: object) -> str:
    """A baseline of one run, with other values of some keys."""
    run: dict[str, object] = {"run": "a", "value": 0.4, "last_step": 39, "bad": 0, "first_bad": -1, "missing": ""}
    run |= {"incomplete": False, "source": ""}
    return json.dumps({"mindscope_baseline": 1, "metrics": [{"metric": ["tag", "loss", "last", ""], "runs": [run | keys]}]})


def test_a_baseline_written_by_hand_is_read(sides, tmp_path: Path) -> None:
    (tmp_path / "base.json").write_text(saved_as())
    done = called("gate", sides("new", ALIKE), "--against", tmp_path / "base.json", "--metric", "loss", "--margin", "10%")
    assert done.returncode == 0


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", '{"mindscope_baseline": 2}', '{"mindscope_baseline": 1}', '{"mindscope_baseline": 1, "metrics": [3]}',
        "[" * 100_000, '{"mindscope_baseline": 1, "metrics": [{"metric": ["tag"], "runs": [{"run": "a", "value": "x"}]}]}',
        "\xff\xfe\x00\xd8", saved_as(last_step=1 << 64), saved_as(last_step=0.5), saved_as(run=3), saved_as(value=True),
        saved_as(value=10**400), saved_as(missing=None),
    ],
)  # fmt: skip
def test_other_files_are_no_baseline(sides, tmp_path: Path, text: str) -> None:
    (tmp_path / "base.json").write_text(text, encoding="latin-1")
    done = called("gate", sides("new", ALIKE), "--against", tmp_path / "base.json", "--metric", "loss")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)


def test_metrics_of_a_file_have_options_of_their_own(sides, tmp_path: Path) -> None:
    file = tmp_path / "gates.toml"
    file.write_text('[[metric]]\ntag = "loss"\nmargin = "100%"\n[[metric]]\ntag = "loss"\nvalue = "best"\nmargin = 0.01\n'
                    '[[metric]]\ntag = "loss"\nbetter = "higher"\nrobust = true\nalpha = 0.01\n')  # fmt: skip
    code, found = facts(sides("new", WORSE), "--against", sides("old", BASELINE), "--metrics", file, "--margin", "0.5")
    assert code == 1
    assert [one["state"] for one in found["metrics"]] == ["not worse", "worse", "not worse"]
    assert [one["margin"] for one in found["metrics"]] == pytest.approx([0.415, 0.01, 0.5])
    assert [(one["alpha"], one["robust"]) for one in found["metrics"]] == [(0.05, False)] * 2 + [(0.01, True)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "[[metric]]"), ("metric = 3", "[[metric]]"), ("[[metric]]\n", "either a tag"), ("x = [", "valid TOML"),
        ('[[metrics]]\ntag = "loss"', "found 'metrics'"), ('[[metric]]\ntag = "loss"\nmargn = 1', "did you mean margin?"),
        ('[[metric]]\ntag = "loss"\nmeasure = "peak_memory"', "either"),
        ('[[metric]]\nmeasure = "speed"', "steps_per_second"),
        ('[[metric]]\nmeasure = "peak_memory"\nbetter = "higher"', "better: expected only with a tag"),
        ('[[metric]]\nmeasure = "steps_per_second"\nvalue = "best"', "value: expected only with a tag"),
        ('[[metric]]\ntag = 3', "expected a text"), ('[[metric]]\ntag = "loss"\nmargin = true', "margin"),
        ('[[metric]]\ntag = "loss"\nrobust = 1', "true or false"), ('[[metric]]\ntag = "loss"\nalpha = true', "alpha"),
        ('[[metric]]\ntag = "loss"\nwatch = "a"', "watch"), ('[[metric]]\ntag = "loss"\nmargin = nan', "margin"),
    ],
)  # fmt: skip
def test_mistakes_in_a_file_are_named(sides, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "gates.toml").write_text(text)
    done = called("gate", sides("new", ALIKE), "--against", sides("old", BASELINE), "--metrics", tmp_path / "gates.toml")
    assert (done.returncode, words in done.stderr, len(done.stderr.splitlines())) == (2, True, 1), done.stderr


# Real runs -----------------------------------------------------------------------------------------------------------


def test_real_runs(tmp_path: Path) -> None:
    good, nan = RECORDED / "lenet_adam_lr0.01_b64", RECORDED / "lenet_diverges_nan"
    copies = [shutil.copytree(good, tmp_path / f"copy{place}") for place in range(3)]
    assert called("gate", *copies[:2], "--against", copies[2], "--metric", "loss", "--margin", "0").returncode == 0
    done = called("gate", nan, "--against", good, "--metric", "loss", "--margin", "10%")
    assert (done.returncode, "43 NaN or Inf, the first at step 2" in done.stdout) == (1, True)
    assert called("gate", good, "--against", nan, "--metric", "loss", "--margin", "10%").returncode == 3
    assert called("gate", RECORDED / "ranks", "--against", good, "--metric", "loss", "--margin", "0.1").returncode == 3
