"""What the pages about dumps share: choice, catalogue, listing, parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layouts.dumps.catalogue import catalogue
from layouts.dumps.dump_choice import DumpChoice, read_against, read_choice, read_node
from layouts.dumps.listing import iterations, listing
from layouts.dumps.open_dump import DumpWork, OpenDump
from layouts.kit.page_parts import answering, progress, worked
from layouts.kit.state import BadInput
from layouts.kit.work import WorkResult
from parsers import Series, open_run
from tests.sources import MemorySource, row
from tests.sources.dumps import MemoryDumps
from tests.writers.dumps import write_dump


@pytest.fixture
def source(tmp_path: Path) -> MemorySource:
    """Run a: a dump of three iterations. Run b: none."""
    write_dump(tmp_path / "a", iterations=3)
    return MemorySource({"a": {"dump": open_run(tmp_path / "a").dump}, "b": {}})


def test_nothing_is_chosen() -> None:
    assert read_choice(None) is None
    assert read_choice({}) is None
    assert read_against({"of": ["a"]}) is None
    assert read_node({}) == ("", "")


def test_a_choice_is_read() -> None:
    ask = {"of": ["a"], "rank": ["2"], "step": ["0"], "mark": ["m"], "node": ["x/y"], "io": ["output.0"]}
    assert read_choice(ask) == DumpChoice("a", 2, 0, "m")
    assert read_node(ask) == ("x/y", "output.0")
    assert read_choice({"of": ["live:1"]}) == DumpChoice("live:1", 0, None)


def test_what_to_compare_with_is_as_chosen_but_for_what_is_named() -> None:
    ask = {"of": ["a"], "rank": ["2"], "step": ["4"], "mark": ["m"]}
    assert read_against(ask | {"with_step": ["3"]}) == DumpChoice("a", 2, 3, "m")
    assert read_against(ask | {"with_rank": ["0"]}) == DumpChoice("a", 0, 4, "m")
    assert read_against(ask | {"with": ["b"], "with_mark": ["n"]}) == DumpChoice("b", 2, 4, "n")


@pytest.mark.parametrize("ask", [[], {"of": "a"}, {"of": ["a"], "rank": ["x"]}, {"of": ["a"], "step": ["-2"]},
                                 {"of": ["a" * 30_000]}])  # fmt: skip
def test_a_malformed_choice_is_refused(ask: Any) -> None:
    with pytest.raises(BadInput):
        read_choice(ask)


def test_of_several_dumps_the_one_of_a_run_with_nan_opens_first_unless_one_is_named(tmp_path: Path) -> None:
    write_dump(tmp_path / "a", iterations=3)
    dump = open_run(tmp_path / "a").dump
    step = np.arange(3, dtype=np.int64)

    def losses(*values: float) -> dict[str, Series]:
        return {"loss": Series(step, 1e9 + step, np.array(values), np.zeros(3, np.int32), step)}

    source = MemorySource({
        "healthy": {"dump": dump, "scalar": losses(3.0, 2.0, 1.0)},
        "broken": {"dump": dump, "scalar": losses(3.0, 2.0, np.nan)},
    })  # fmt: skip

    def broken(state: dict[str, list[str]]) -> str:
        found = catalogue(source, state)
        assert found is not None
        return found["broken"]

    assert broken({"run": ["healthy", "broken"]}) == "broken"
    assert broken({"run": ["healthy", "broken"], "of": ["healthy"]}) == ""
    assert broken({"run": ["broken"]}) == ""


def test_a_dump_is_not_settled_on_while_scalars_are_not_analysed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_dump(tmp_path / "a", iterations=3)
    dump = open_run(tmp_path / "a").dump
    step = np.arange(3, dtype=np.int64)
    loss = Series(step, 1e9 + step, np.array([3.0, 2.0, np.nan]), np.zeros(3, np.int32), step)
    source = MemorySource({"healthy": {"dump": dump}, "broken": {"dump": dump, "scalar": {"loss": loss}}})
    analysed = source.curves.insights
    monkeypatch.setattr(source.curves, "insights", lambda run, tags, _seconds: ((), 1) if run == "broken" else ((), 0))
    before = catalogue(source, {"run": ["healthy", "broken"]})
    assert before is not None
    assert (before["broken"], before["unjudged"]) == ("", True)
    named = catalogue(source, {"run": ["healthy", "broken"], "of": ["healthy"]})
    assert named is not None
    assert not named["unjudged"]
    monkeypatch.setattr(source.curves, "insights", analysed)
    after = catalogue(source, {"run": ["healthy", "broken"]}, before["digest"])
    assert after is not None
    assert (after["broken"], after["unjudged"]) == ("broken", False)


def test_other_ranks_of_a_broken_run_need_not_be_analysed_to_settle_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_dump(tmp_path / "a", iterations=3)
    dump = open_run(tmp_path / "a").dump
    step = np.arange(3, dtype=np.int64)
    loss = Series(step, 1e9 + step, np.array([3.0, 2.0, np.nan]), np.zeros(3, np.int32), step)
    ranks = {f"rank_{rank}": {"dump": dump, "scalar": {"loss": loss}} for rank in range(2)}
    source = MemorySource({"last": {"dump": dump}, **ranks}, jobs={"job": list(ranks)})
    rows = {row.key: row for row in source.runs.rows()}
    source.rows = [rows["job"], rows["last"]]
    analysed = source.curves.insights
    monkeypatch.setattr(source.curves, "insights", lambda run, *asked: ((), 1) if run == "rank_0" else analysed(run, *asked))
    found = catalogue(source, {"run": ["rank_0", "rank_1", "last"]})
    assert found is not None
    assert (found["broken"], found["unjudged"]) == ("job", False)
    source.rows = source.rows[::-1]
    monkeypatch.setattr(source.curves, "insights", lambda run, *asked: ((), 1) if run == "last" else analysed(run, *asked))
    found = catalogue(source, {"run": ["rank_0", "rank_1", "last"]})
    assert found is not None
    assert (found["broken"], found["unjudged"]) == ("job", True), "the run before it may be broken, too"


def test_the_catalogue_lists_dumps_of_the_chosen_runs(source: MemorySource) -> None:
    found = catalogue(source, {"run": ["a", "b"]})
    assert found is not None
    assert [key for key, _, _ in found["dumps"]] == ["a"]
    assert found["chosen"] == 2
    assert catalogue(source, {"run": ["a", "b"]}, found["digest"]) is None
    none = catalogue(source, {"run": ["b"]})
    assert none is not None
    assert (none["dumps"], none["elsewhere"]) == ([], [{"key": "a", "name": "a"}])


def test_the_dump_of_a_job_is_listed_once_if_any_rank_is_chosen() -> None:
    job = row("job", ["job/rank_0", "job/rank_1"], tags={"dump": 1})
    found = catalogue(MemorySource(rows=[job]), {"run": ["job/rank_1"]})
    assert found is not None
    assert [key for key, _, _ in found["dumps"]] == ["job"]


def test_a_listing_has_ranks_and_iterations(source: MemorySource) -> None:
    found = listing(source, DumpChoice("a", 0, None))
    assert (found["state"], found["ranks"], found["steps"], found["with"]) == ("ready", [0], [0, 1, 2], None)
    assert listing(source, DumpChoice("b", 0, None))["state"] == "missing"
    assert listing(source, DumpChoice("a", 0, None), "b")["with"]["state"] == "missing"
    dump = source.dumps.open("a").dump
    assert dump is not None
    assert iterations(dump, 0) == [0, 1, 2]
    assert iterations(dump, 7) == []


class SlowDumps(MemoryDumps):
    """A dump that is being listed, and whose work is not done yet."""

    def open(self, run: str) -> OpenDump:
        return OpenDump("reading")

    def work(self, run: str, work: DumpWork, *, again: bool = False) -> WorkResult:
        return WorkResult("working", None, 3, 10, "again" if again else "")

    def cancel(self, run: str, work: DumpWork) -> None:
        self._memory.wanted = [work.name]


def test_the_progress_of_listing_and_of_work_is_told() -> None:
    source = MemorySource(dumps=SlowDumps)
    assert listing(source, DumpChoice("a", 0, None))["state"] == "reading"
    work = DumpWork("sum", 1, lambda dump, report: int(np.sum(dump.series)))
    told = progress(worked(source.dumps, "a", work, {"again": ["1"]}))
    assert told == {"state": "working", "done": 3, "total": 10, "text": "again", "mark": ""}
    worked(source.dumps, "a", work, {"cancel": ["1"]})
    assert source.wanted == ["sum"]


def test_a_part_answers_with_its_name_and_turn() -> None:
    respond = answering("sum", lambda ask: {"state": "ready", "sum": len(ask)})
    assert respond({"turn": ["4"]}) == {"state": "ready", "sum": 1, "part": "sum", "turn": "4"}
    with pytest.raises(BadInput):
        respond([])
