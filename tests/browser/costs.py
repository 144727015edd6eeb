"""Count page loads and processor time of the browser tests, and print both at the end of a run, by file.

A page load is what a browser test pays for: each reads and runs all scripts of the application. Works with and without xdist.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Generator
from typing import Any

import psutil
import pytest
from playwright.sync_api import Browser, BrowserContext, Response

FILES_SHOWN = 20


class Costs:
    """A plugin: every report carries what its phase cost; the process that prints adds them up."""

    def __init__(self) -> None:
        self._loads = 0
        self._spent_s = 0.0
        self._spent_s_of: dict[psutil.Process, float] = {}
        self._loads_of: Counter[str] = Counter()
        self._cpu_s_of: Counter[str] = Counter()
        self._tests_of: Counter[str] = Counter()

    def follow(self, browser: Browser) -> None:
        """Count every document that the browser loads from now on, those in frames too."""
        new_context = browser.new_context

        def counted(**options: Any) -> BrowserContext:
            context = new_context(**options)
            context.on("response", self._count)
            return context

        browser.new_context = counted

    def _count(self, answer: Response) -> None:
        download = "content-disposition" in answer.headers
        self._loads += answer.request.is_navigation_request() and not download

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now_s = self._spent_by_now_s()
        report.user_properties = [*report.user_properties, ("loads", self._loads), ("cpu_s", now_s - self._spent_s)]
        self._loads, self._spent_s = 0, now_s
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = report.nodeid.split("::")[0]
        cost = {name: value for name, value in report.user_properties if name in ("loads", "cpu_s")}
        self._loads_of[file] += int(str(cost.get("loads", 0)))
        self._cpu_s_of[file] += float(str(cost.get("cpu_s", 0)))
        self._tests_of[file] += report.when == "call"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._loads_of.total():
            return
        terminalreporter.section("page loads and processor time of the browser tests")
        for file, cpu_s in sorted(self._cpu_s_of.items(), key=lambda one: -one[1])[:FILES_SHOWN]:
            terminalreporter.write_line(f"{self._loads_of[file]:5} loads {cpu_s:7.1f} s {self._tests_of[file]:4} tests  {file}")
        terminalreporter.write_line(
            f"{self._loads_of.total():5} loads {self._cpu_s_of.total():7.1f} s {self._tests_of.total():4} tests  in all"
        )

    def _spent_by_now_s(self) -> float:
        """Return the processor time of this process and of all below it, those that were seen and have ended included.

        The browser does not wait for all of its processes, so what they used is not that of an ended child everywhere.
        """
        own = psutil.Process()
        for process in (own, *own.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                self._spent_s_of[process] = times.user + times.system
        return sum(self._spent_s_of.values())
