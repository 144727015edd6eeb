"""`--times`: the slowest tests, and how the time of a run divides into collection, set-up, test and teardown.

Processor time includes that of processes which a test started and waited for; with pytest-xdist, all workers are added up.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import pytest

PHASES = ("setup", "call", "teardown")
SLOWEST = 30
_CPU = pytest.StashKey[dict[str, float]]()


def cpu_s() -> float:
    """Return the processor seconds of this process and of its ended children."""
    return sum(os.times()[:4])


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--times", action="store_true", help=f"print the {SLOWEST} slowest tests and how the time divides")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("times"):
        config.pluginmanager.register(Durations(config), "durations")


class Durations:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._wall_s: Counter[str] = Counter()
        self._cpu_s: Counter[str] = Counter()
        self._tests: dict[str, Counter[str]] = {}
        self._collecting = (0.0, 0.0)

    # Where tests run ---------------------------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        # Counted from the start of the process, since most of it are imports, of which some precede the collection.
        started = time.monotonic()
        found = yield
        self._collecting = (time.monotonic() - started, cpu_s())
        return found

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        with measured(item, "setup"):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        with measured(item, "call"):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        with measured(item, "teardown"):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        vars(report)["cpu_s"] = item.stash.get(_CPU, {}).get(report.when, 0.0)  # sent along by pytest-xdist
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput["collecting"] = self._collecting

    # Where they are reported -------------------------------------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """Add what a worker of pytest-xdist needed to collect the tests, if it ended well enough to say so."""
        self._collected(*getattr(node, "workeroutput", {}).get("collecting", (0.0, 0.0)))

    def _collected(self, wall_s: float, cpu_s: float) -> None:
        self._wall_s["collection"] += wall_s
        self._cpu_s["collection"] += cpu_s

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._wall_s[report.when] += report.duration
        self._cpu_s[report.when] += getattr(report, "cpu_s", 0.0)
        one = self._tests.setdefault(report.nodeid, Counter())
        one[report.when] += report.duration
        one["cpu"] += getattr(report, "cpu_s", 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._wall_s["collection"]:
            self._collected(*self._collecting)
        write = terminalreporter.write_line
        terminalreporter.section(f"the {SLOWEST} slowest of {len(self._tests):,} tests")
        write("   total   set-up     test      CPU")
        order = sorted(self._tests.items(), key=lambda entry: -sum(entry[1][phase] for phase in PHASES))
        for name, one in order[:SLOWEST]:
            total = sum(one[phase] for phase in PHASES)
            write(f"{total:7.2f}s {one['setup']:7.2f}s {one['call']:7.2f}s {one['cpu']:7.2f}s  {name}")
        terminalreporter.section("where the time went")
        for phase in ("collection", *PHASES):
            write(f"{phase:12}{self._wall_s[phase]:9.1f} s, {self._cpu_s[phase]:9.1f} s of processor time")
        write(f"{'together':12}{self._wall_s.total():9.1f} s, {self._cpu_s.total():9.1f} s of processor time")


@contextmanager
def measured(item: pytest.Item, phase: str) -> Iterator[None]:
    started = cpu_s()
    try:
        yield
    finally:
        item.stash.setdefault(_CPU, {})[phase] = cpu_s() - started
