"""`mindscope digest`: sentences, JSON, following a run that grows, and commands that are started for what arises."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from app.commands.following import RESCAN, FollowedRuns
from app.commands.hooks import MOST_WAITING, Hook, arguments_of
from app.commands.settings import SettingError
from parsers import open_run
from parsers.recording import Recorder
from tests.app.commands.running import ROOT, called
from tests.app.commands.written_runs import append, write_run
from tests.recorded import RECORDED
from tests.waiting import until
from tests.writers.dumps import Injection, write_dump

HANG_S = 60.0
"""After so long a program that does not answer hangs."""
KEYS = {
    "about", "name", "kind", "state", "step", "last_step", "value", "usual", "measured", "limit", "unit", "rule", "points",
    "missing",
}  # fmt: skip


# Sentences and JSON --------------------------------------------------------------------------------------------------


def test_sentences_in_both_languages(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"loss": np.linspace(2, 1, 4), "acc": np.linspace(0, 1, 4)})
    done = called("digest", run)
    assert (done.returncode, done.stdout.splitlines()) == (0, [
        "run", "  loss fell from 2 to 1 (best 1 at 3), not judged: that takes 8 points, it has 4, 4 steps/s.",
        "  acc rose from 0 to 1 (best 1 at 3), not judged: that takes 8 points, it has 4, 4 steps/s.",
    ])  # fmt: skip
    assert "loss 由 2 降至 1" in called("digest", run, "--lang", "zh", "--tags", "^loss$").stdout


def test_json_has_the_facts_of_the_library(tmp_path: Path) -> None:
    found = json.loads(called("digest", RECORDED / "nan_inf", RECORDED / "ranks", "--json").stdout, parse_constant=pytest.fail)
    assert found["version"] == 1
    assert [run["run"] for run in found["runs"]] == ["nan_inf", "ranks"]
    first, ranks = found["runs"]
    assert first["facts"] == open_run(RECORDED / "nan_inf").digest().as_json()["facts"]
    assert len(first["text"]) == len(open_run(RECORDED / "nan_inf").tags())
    assert [len(rank["facts"]) > 0 for rank in ranks["ranks"]] == [True, True]
    for fact in (*first["facts"], *ranks["ranks"][0]["facts"]):
        assert set(fact) == KEYS


def test_the_manual_lists_the_keys_of_a_fact() -> None:
    manual = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]+) \| [^|]* \| [^|]* \|$", manual, re.MULTILINE)
    assert {key for row in rows for key in re.findall(r"`(\w+)`", row)} == KEYS


def test_hostile_names_do_not_reach_the_terminal(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run\x1b[31m", {"loss\x1b]0;x\x07\n{0}%s\u202e": [2.0, 1.0]})
    out = called("digest", run).stdout
    assert len(out.splitlines()) == 2
    assert not set("\x1b\x07\u202e") & set(out)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--lang", "de"), "en or zh"), (("--tags", "("), "regular expression"), (("--exec", "true"), "--follow"),
        (("--follow", "--every", "0"), "seconds"), (("--follow", "--no-step", "nan"), "seconds"),
        (("--follow", "--exec", ""), "--exec"), (("--follow", "--exec", "'"), "--exec"),
        (("--follow", "--exec", "no-such-program"), "can be started"), (("--folow",), "did you mean --follow?"),
    ],
)  # fmt: skip
def test_wrong_options_are_one_line(tmp_path: Path, options, words: str) -> None:
    done = called("digest", write_run(tmp_path / "run", {"loss": [1.0]}), *options)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert words in done.stderr


def test_a_path_without_runs_is_refused(tmp_path: Path) -> None:
    assert called("digest", tmp_path).returncode == 2
    assert called("digest", tmp_path / "gone").returncode == 2


# Following -----------------------------------------------------------------------------------------------------------


class Following:
    """A program that follows, and the lines it has printed."""

    def __init__(self, *arguments: object) -> None:
        command = [sys.executable, "-m", "app", "digest", *map(str, arguments), "--follow", "--every", "0.1"]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines: list[str] = []
        self.errors: list[str] = []
        self._readers = [
            threading.Thread(target=lambda stream, lines: lines.extend(iter(stream.readline, "")), args=pair, daemon=True)
            for pair in ((self.process.stdout, self.lines), (self.process.stderr, self.errors))
        ]
        for one in self._readers:
            one.start()

    def ended(self, number: int) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.end()

    def end(self) -> int:
        """Wait for its end and for all that it printed, and return the exit code."""
        code = self.process.wait(HANG_S)
        for one in self._readers:
            one.join(HANG_S)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return code


@contextmanager
def following(*arguments: object) -> Iterator[Following]:
    program = Following(*arguments)
    try:
        yield program
    finally:
        program.process.kill()
        program.end()


def flush(recorder: Recorder, curves, first: int) -> None:
    """Write steps so that they are in the file."""
    append(recorder, curves, first=first)
    recorder.flush()


def test_new_facts_are_printed_and_given_to_the_command(tmp_path: Path) -> None:
    out = tmp_path / "told"
    script = tmp_path / "a script.py"
    script.write_text(f"import sys; open({str(out)!r}, 'a').write(sys.stdin.read()); print('from the command'); sys.exit(3)")
    with Recorder(str(tmp_path / "run")) as recorder:
        flush(recorder, {"loss": np.linspace(2, 1, 20)}, 0)
        with following(tmp_path / "run", "--no-step", "1.5", "--exec", f"{sys.executable} '{script}'") as program:
            until(lambda: len(program.lines) >= 2)
            assert program.lines[1].startswith("  loss fell from 2 to 1")
            flush(recorder, {"loss": [math.nan, 1.0]}, 20)
            until(lambda: {"non_finite", "no_step"} <= {kind for _, kind in told(out)})
            until(lambda: "no new step" in program.lines[-1])
            assert program.ended(signal.SIGINT) == 130
    new = "".join(program.lines[2:])
    assert len(re.findall(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d run: loss: first NaN at 20, 1 not finite$", new, re.MULTILINE)) == 1
    assert told(out).count(("run", "non_finite")) == 1
    assert "mindscope: --exec: ended with 3\n" in program.errors
    assert "from the command\n" in program.errors


def told(path: Path) -> list[tuple[str, str]]:
    """The runs and kinds of the facts that a command was given, a line each."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    every = [json.loads(line, parse_constant=pytest.fail) for line in lines if line.endswith("\n")]
    assert all(set(fact) == KEYS for one in every for fact in one["facts"])
    return [(one["run"], fact["kind"]) for one in every for fact in one["facts"]]


def test_json_is_a_line_for_each_run_and_a_signal_ends_following(tmp_path: Path) -> None:
    write_run(tmp_path / "runs" / "one", {"loss": np.linspace(2, 1, 20)})
    with following(tmp_path / "runs", "--json") as program:
        until(lambda: program.lines)
        assert program.ended(signal.SIGTERM) == 130
    (line,) = program.lines
    assert (json.loads(line)["run"], json.loads(line)["version"]) == ("runs/one", 1)


def test_a_run_that_appears_is_told_of_with_all_it_has(tmp_path: Path) -> None:
    write_run(tmp_path / "one", {"loss": np.linspace(2, 1, 20)})
    runs = FollowedRuns([str(tmp_path)], re.compile(""), math.inf)
    assert [name for name, _ in runs.begin(0.0)] == [f"{tmp_path.name}/one"]
    write_run(tmp_path / "two", {"loss": [2, 1, math.nan]})
    assert list(runs.look(RESCAN / 2)) == []
    ((name, news),) = runs.look(RESCAN)
    assert (name, [fact.kind for fact in news.facts]) == (f"{tmp_path.name}/two", ["non_finite"])
    assert list(runs.look(RESCAN * 3)) == []


def test_a_dump_and_a_profile_that_appear_are_told_of_once(tmp_path: Path) -> None:
    write_run(tmp_path / "run", {"loss": np.linspace(2, 1, 20)})
    runs = FollowedRuns([str(tmp_path / "run")], re.compile(""), math.inf)
    assert len(list(runs.begin(0.0))) == 1
    write_dump(tmp_path / "run" / "dump", injection=Injection(3, 4, "nan"))
    profiled = ROOT / "tests" / "data" / "mindspore_profiler" / "2.10_minddata" / "profiler"
    shutil.copytree(profiled, tmp_path / "run" / "profiler")
    news = list(runs.look(RESCAN))
    kinds = {(name, fact.kind.partition("/")[0]) for name, one in news for fact in one.facts}
    assert kinds == {("run", "advice"), ("run", "step_time"), ("run/dump", "first_cause")}
    assert all(len(one.texts) > 0 for _, one in news)
    assert list(runs.look(RESCAN + 1.0)) == []


def test_an_interrupt_kills_the_command_that_runs(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    script = tmp_path / "hangs.py"
    script.write_text(f"import os, time; open({str(pid) + '.part'!r}, 'w').write(str(os.getpid()))\n"
                      f"os.rename({str(pid) + '.part'!r}, {str(pid)!r}); time.sleep(600)")  # fmt: skip
    write_run(tmp_path / "run", {"loss": [2, 1]})
    with following(tmp_path / "run", "--no-step", "0.2", "--exec", f"{sys.executable} {script}") as program:
        until(pid.exists)
        assert program.ended(signal.SIGINT) == 130
    assert "Traceback" not in "".join(program.errors)
    until(lambda: not alive(int(pid.read_text())))


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


# Commands ------------------------------------------------------------------------------------------------------------


def test_a_command_that_hangs_is_killed_with_its_children_and_the_next_one_starts(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script, pids = tmp_path / "hook.py", tmp_path / "pids"
    script.write_text(
        "import os, subprocess, sys, time\n"
        "if sys.stdin.read() == 'hang':\n"
        f"    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"    open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}'); time.sleep(600)\n"
        f"open({str(tmp_path / 'done')!r}, 'w').close()\n"
    )
    hook = Hook([sys.executable, str(script)], limit=3.0)
    hook.start(b"hang")
    hook.start(b"go")
    until((tmp_path / "done").exists)
    hook.close()
    assert "killed, as it took more than 3 s" in capfd.readouterr().err
    for pid in pids.read_text().split():
        until(lambda pid=pid: not alive(int(pid)))


def test_a_program_that_vanished_and_too_many_facts_are_lines_on_stderr(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nsleep 600\n")
    program.chmod(0o700)
    arguments = arguments_of(str(program))
    hook = Hook(arguments)
    for _ in range(MOST_WAITING + 3):
        hook.start(b"")
    hook.close()
    assert f"not started, {MOST_WAITING} are waiting" in capfd.readouterr().err
    os.unlink(program)
    said: list[str] = []
    other = Hook(arguments)
    other.start(b"")
    until(lambda: said.append(capfd.readouterr().err) or "could not be started" in "".join(said))
    other.close()
    with pytest.raises(SettingError):
        arguments_of(str(program))


def test_a_command_is_a_list_of_arguments_and_no_shell() -> None:
    assert arguments_of("echo 'a b' $(touch x) ; rm") == ["echo", "a b", "$(touch", "x)", ";", "rm"]
