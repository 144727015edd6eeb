"""What pages about profiles share: which profiles there are, which is chosen, how far it has been read."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import replace
from typing import Any

import pytest

from layouts.kit.body import MOST_PROBLEMS
from layouts.kit.state import BadInput
from layouts.profiles.catalogue import MOST_FILES, MOST_KEPT, catalogue
from layouts.profiles.frames import ProfileFrame, ProfileRow
from layouts.profiles.profile_choice import ALL_RANKS, ProfileChoice, read_against, read_choice, read_group, read_step
from layouts.profiles.reading_progress import reading
from parsers import OPERATORS, Problem
from parsers.caches import Cache
from tests.sources import MemorySource
from tests.sources.profiles import MemoryProfiles


def profiled(run: str, ranks: int = 1) -> MemorySource:
    """A run with a profile per rank, and one without any."""
    return MemorySource({run: {"profiles": {("s", rank): {} for rank in range(ranks)}}, "bare": {}})


def test_profiles_of_the_chosen_runs() -> None:
    source = profiled("a", 8)
    found = catalogue(source, {})
    assert found is not None
    assert [run["key"] for run in found["runs"]] == ["a"]
    assert [job["rank"] for job in found["jobs"]] == [list(range(8))]
    assert catalogue(source, {}, found["digest"]) is None
    del source.data["a"]["profiles"]["s", 7]
    assert catalogue(source, {}, found["digest"]) is not None


def test_runs_without_any_are_told_of_others() -> None:
    source = profiled("other", 2)
    found = catalogue(source, {"run": ["bare"]})
    assert found is not None
    assert (found["runs"], found["elsewhere"]) == ([], [{"key": "other", "name": "other"}])


def test_a_great_many_are_cut_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("layouts.profiles.catalogue.MOST_PROFILES", 20)
    monkeypatch.setattr("layouts.profiles.catalogue.MOST_IN_ALL", 30)
    source = MemorySource({run: {"profiles": {("s", rank): {} for rank in range(25)}} for run in "abc"})
    found = catalogue(source, {})
    assert found is not None
    assert [(run["listed"], run["total"]) for run in found["runs"]] == [(20, 25), (10, 25)]
    assert (sum(len(job["rank"]) for job in found["jobs"]), found["left"]) == (30, 1)


def test_what_profiles_have_in_common_is_sent_once() -> None:
    files = [f"a_{number}.csv" for number in range(100, 100 + MOST_FILES)]
    rows = [
        ProfileRow(f"rank_{one}", one, "Ascend", (f"profiler_info_{one}.json", *files), 1, 5.0 + one, ("steps",), f"m{one}")
        for one in (1, 10, 2)
    ]
    found = catalogue(listing(rows), {})
    assert found is not None
    (job,) = found["jobs"]
    assert (job["rank"], job["session"], job["mark"]) == ([1, 2, 10], ["rank_1", "rank_2", "rank_10"], ["m1", "m2", "m10"])
    assert (job["run"], job["kind"], job["updated"]) == (0, 0, 15.0)
    (kind,) = found["kinds"]
    assert kind["files"] == ["profiler_info_*.json", *files[:-1]]
    assert (kind["frames"], kind["device"], kind["more"]) == (["steps"], "Ascend", 1)


def test_the_mark_of_a_job_changes_with_any_of_its_ranks() -> None:
    def mark(*marks: str) -> str:
        rows = [ProfileRow(f"rank_{rank}", rank, "", (), 1, 5.0, (), mark) for rank, mark in enumerate(marks)]
        found = catalogue(listing(rows), {})
        assert found is not None
        return str(found["jobs"][0]["whole"])

    assert mark("a", "b") == mark("a", "b")
    assert len({mark("a", "b"), mark("a", "c"), mark("a", "b", "c"), mark("b", "a")}) == 4


def test_what_did_not_change_is_not_listed_again() -> None:
    source = listing([ProfileRow("r0", 0, "", (), 1, 5.0, (), "m")])
    kept = Cache(MOST_KEPT)
    first = catalogue(source, {}, kept=kept)
    assert first is not None
    assert catalogue(source, {}, kept=kept) == first
    assert catalogue(source, {}, first["digest"], kept=kept) is None
    assert source.profiles.asked == 1
    source.change([replace(row, version=row.version + 1) for row in source.runs.rows()])
    assert catalogue(source, {}, kept=kept) == first
    assert source.profiles.asked == 2


def test_ten_thousand_ranks_are_a_few_hundred_kilobytes() -> None:
    files = ("step_trace_time.csv", "communication.json", "kernel_details.csv")
    rows = [
        ProfileRow(
            f"node_{4000 + rank}_20261120233012998_ascend_ms", rank, "Ascend",
            (f"profiler_info_{rank}.json", *files), 1, 5.0, ("steps",),
            f"{zlib.crc32(str(rank).encode()):08x}-{5_000_000 + rank:x}",
        )
        for rank in range(10_000)
    ]  # fmt: skip
    found = catalogue(listing(rows), {})
    assert found is not None
    (job,) = found["jobs"]
    assert job["rank"] == list(range(10_000))
    assert len(gzip.compress(json.dumps(found, separators=(",", ":")).encode(), 6)) < 300_000


def listing(rows: list[ProfileRow]) -> MemorySource:
    source = MemorySource({"a": {"profiles": {("s", 0): {}}}}, profiles=ListedProfiles)
    source.profiles.listed = rows  # type: ignore[attr-defined]
    return source


class ListedProfiles(MemoryProfiles):
    """A run with these profiles, which are the ranks of one job, and how often they were asked for."""

    listed: list[ProfileRow]
    asked = 0

    def rows(self, run: str) -> list[ProfileRow]:
        self.asked += 1
        return self.listed

    def members(self, run: str, session: str, rank: int) -> list[tuple[str, str, int]]:
        return [(run, row.session, row.rank) for row in sorted(self.listed, key=lambda row: row.rank)]


def test_a_choice() -> None:
    assert read_choice(None) is None
    assert read_choice({"session": ["s"]}) is None
    asked = {"run": ["a"], "session": ["s"], "rank": ["3"], "mark": ["m"], "with_run": ["b"], "with_rank": ["1"]}
    assert read_choice(asked) == ProfileChoice("a", "s", 3, "m")
    assert read_against(asked) == ProfileChoice("b", ".", 1, "")
    assert read_choice({"run": ["a"], "session": ["cluster_analysis_output"], "rank": ["-1"]}) == ProfileChoice(
        "a", "cluster_analysis_output", ALL_RANKS
    )


def test_group_and_step_of_a_job() -> None:
    assert (read_group({}), read_step({})) == ("", None)
    assert read_group({"group": ["3985310405473756128"]}) == "3985310405473756128"
    assert [read_step({"step": [text]}) for text in ("13", "0", "-1", "")] == [13, 0, -1, None]
    for wrong in ({"step": ["x"]}, {"step": ["-2"]}, {"step": ["nan"]}):
        with pytest.raises(BadInput):
            read_step(wrong)
    with pytest.raises(BadInput):
        read_group({"group": ["1" * 41]})


@pytest.mark.parametrize(
    "asked", ["a", {"run": "a"}, {"run": ["a"], "rank": ["x"]}, {"run": ["a"], "rank": ["-2"]}, {"run": [3]}]
)
def test_what_is_no_choice_is_refused(asked: Any) -> None:
    with pytest.raises(BadInput):
        read_choice(asked)


def test_how_far_the_reading_is() -> None:
    source = profiled("a", 2)
    answers = source.data["a"]["profiles"]["s", 0]
    one, other = ProfileChoice("a", "s", 0, "m"), ProfileChoice("a", "s", 1, "m")
    frames = ("operators", "steps")
    told = reading(source, one, None, frames)
    assert (told["state"], told["wanted"]) == ("missing", ["operators.csv", "steps.csv"])
    answers["operators"] = ProfileFrame("reading", done=3, total=9)
    told = reading(source, one, None, frames)
    assert (told["state"], told["name"], told["done"], told["total"]) == ("reading", "operators", 3, 9)
    problems = tuple(Problem("/a.csv", 0, 0, "bad_table", f"Line {line}") for line in range(MOST_PROBLEMS + 3))
    answers["operators"] = ProfileFrame("ready", OPERATORS.empty(), problems=problems)
    told = reading(source, one, None, frames)
    assert (told["state"], told["frames"], len(told["problems"]), told["more"]) == ("ready", ["operators"], MOST_PROBLEMS, 3)
    told = reading(source, one, other, frames)
    assert (told["state"], told["which"]) == ("missing", "with")
    told = reading(source, ProfileChoice("a", "s", 1, "m"), None, frames, needed=False)
    assert (told["state"], told["frames"]) == ("ready", [])


def test_a_page_without_data_knows_traces_of_torch() -> None:
    source = profiled("a")
    assert reading(source, ProfileChoice("a", "s", 0), None, ("queues",))["torch"] is False
    source.data["a"]["of_torch"] = True
    assert reading(source, ProfileChoice("a", "s", 0), None, ("queues",))["torch"] is True
