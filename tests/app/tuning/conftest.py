"""Cheap trials: a shell script that copies a prepared event file, so a trial takes a few ms of CPU."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.commands.cli import main
from parsers.recording import EventWriter
from parsers.tuning.journal import StudyFile, StudyState

warnings.filterwarnings("ignore", module="optuna")

TRIAL = """
run=$(printf %s "$MINDSCOPE_HYPER_CONFIG" | sed 's/.*"summary_dir": "\\([^"]*\\)".*/\\1/')
x=$(printf %s "$MINDSCOPE_HYPER_CONFIG" | sed 's/.*"x": \\([0-9]*\\).*/\\1/')
mkdir -p "$run"
cp "DIR/values/$x" "$run/events.out.events.summary.1700000000.0.host_MS"
"""


@dataclass(frozen=True)
class Search:
    """A search with cheap trials: setting x from 0 to 9, target loss = (x - 6) ** 2."""

    directory: Path

    @property
    def journal(self) -> Path:
        return self.directory / "workspace" / "studies" / "search" / "journal.log"

    def write(self, more: str = "", *, command: str = "", parameters: str = "  x: {bounds: [0, 10], type: int}") -> Path:
        """Write the configuration; more are further lines of it."""
        path = self.directory / "search.yaml"
        words = command or f"sh {self.directory}/trial.sh"
        path.write_text(
            f"summary_base_dir: {self.directory}/runs\ncommand: {words}\n"
            f"parameters:\n{parameters}\n{more}\n" + ("" if "target:" in more else "target: {name: loss}\n")
        )
        return path

    def arguments(self, *options: object) -> list[str]:
        config = str(self.directory / "search.yaml")
        return ["tune", "--config", config, "--workspace", str(self.directory / "workspace"), *map(str, options)]

    def tune(self, *options: object) -> int:
        """Run the command in this process."""
        return main(self.arguments(*options))

    def forked(self, *options: object) -> int:
        """Run the command in a process; return its id."""
        pid = os.fork()
        if not pid:
            code = 99
            try:
                null = os.open(os.devnull, os.O_RDWR)
                log = os.open(self.directory / "tuner.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
                for descriptor, to in ((0, null), (1, log), (2, log)):
                    os.dup2(to, descriptor)
                sys.stdout = os.fdopen(1, "w", buffering=1)
                sys.stderr = os.fdopen(2, "w", buffering=1)
                code = main(self.arguments(*options))
            finally:
                os._exit(code)
        return pid

    def study(self) -> StudyState:
        """What the journal has."""
        found = StudyFile(str(self.journal))
        found.refresh()
        assert found.problems == ()
        return found.studies[0]


def script(search: Search, text: str, **more: str) -> None:
    """Let trials run a script of the shell; $run is the directory of the run and $x the setting."""
    head = (search.directory / "trial.sh").read_text().partition("mkdir")[0]
    (search.directory / "trial.sh").write_text(head + text)
    search.write(**more)


def ended(pid: int) -> int:
    """Wait for a process; return its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.fixture
def search(tmp_path: Path) -> Search:
    made = Search(tmp_path)
    (tmp_path / "values").mkdir()
    for x in range(10):
        with EventWriter(str(tmp_path / "values" / str(x)), "mindspore") as writer:
            for step in range(1, 4):
                writer.add(step, {"loss": float((x - 6) ** 2 + 3 - step)})
    (tmp_path / "trial.sh").write_text(TRIAL.replace("DIR", str(tmp_path)))
    made.write()
    return made


@pytest.fixture
def output(capsys: pytest.CaptureFixture[str]) -> Callable[[], Sequence[str]]:
    """Return a function that gives the lines printed since its last call, without their time."""

    def lines() -> Sequence[str]:
        said = capsys.readouterr()
        return [line[9:] if line[2:3] == ":" == line[5:6] else line for line in (said.out + said.err).splitlines()]

    return lines
