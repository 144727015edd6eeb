"""The job overview: what it says of made and real jobs, with numbers computed apart, and of files that are not there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from layouts.jobs.job.cards import MOST_GROUPS, groups_card, hosts_card, problems_card, steps_card
from layouts.jobs.job.members import MOST_CELLS, members, told_ranks
from layouts.jobs.job.page import FRAMES, listed, summarised
from layouts.profiles.frames import ProfileFrame
from layouts.profiles.profile_choice import JOB_KEYS
from parsers import Problem, open_run
from parsers.cluster_frames import CLUSTER_STEPS, GROUPS, JOB_FRAMES, RANKS
from parsers.profiler.frame_parts import frame_of
from parsers.profiler.groups import ranks_of
from parsers.profiler.jobs import JobFiles, JobMember
from parsers.profiler.sessions import ProfileFile
from tests.pages import page_named
from tests.sources import MemorySource
from tests.writers.clusters import Made, make

PAGE = page_named("job")

ASK: dict[str, Any] = {"run": ["a"], "session": ["s"], "rank": ["0"]}


def texts_in(component: Any) -> str:
    """All texts in components and in plain lists, in their order."""
    if isinstance(component, list | tuple):
        return "\n".join(texts_in(part) for part in component)
    if isinstance(component, str | int | float):
        return str(component)
    plain = getattr(component, "data-plain", None)
    return texts_in(getattr(component, "children", None) or []) if plain is None else texts_in(plain_texts(json.loads(plain)))


def plain_texts(plain: list[Any]) -> list[str]:
    return [text for one in plain for text in ([one] if isinstance(one, str) else plain_texts(one[2]))]


def source_of(frames: dict[str, Any], job: JobFiles | None = None, ranks: int = 1) -> MemorySource:
    content: dict[str, Any] = {"profiles": {("s", rank): frames for rank in range(ranks)}}
    return MemorySource({"a": content | ({"job": job} if job is not None else {})})


def frames_of(made: Made) -> dict[str, Any]:
    return {"groups": made.groups, "collectives": made.collectives, "cluster_steps": made.steps, "links": made.links}


def member(rank: int, *kinds: str, host: str = "") -> JobMember:
    files = tuple(ProfileFile(f"/d/{rank}/{kind}", kind, kind, rank, 1, 1) for kind in kinds)
    return JobMember("s", f"/d/{rank}", rank, host, files)


def test_the_address_keeps_the_choice_in_a_job() -> None:
    assert PAGE.keeps == JOB_KEYS == ("of", "session", "rank", "with", "group", "step")


def test_a_slow_rank_is_said_in_one_sentence_with_its_numbers() -> None:
    made = make(5, ranks=32, slow_rank=13, slower=0.4)
    head, cards, facts = summarised(source_of(frames_of(made), ranks=32), ASK)
    computing = made.steps.pivot(index="step", columns="rank", values="computing_ns")
    own = float((computing[13] - computing[[*range(8, 16)]].median(axis=1)).mean())
    share = own / float(made.steps["total_ns"].mean())
    said = texts_in(head[0])
    assert said.startswith("Rank 13 limits the job: it computes longer than its peers since step 1. As fast as they are, a ")
    assert float(said.partition("(")[2].partition(" %")[0]) == pytest.approx(100 * share, rel=0.05)
    assert facts["most"] == 13
    assert "rank 13" in texts_in(head[1])
    whole, mean = float(made.steps["total_ns"].mean()) / 1e6, float(made.steps["computing_ns"].mean()) / 1e6
    shown = texts_in(head[1])
    step, computed = (shown.partition(f"\n{name}\n")[2].splitlines()[1:3] for name in ("Step", "Computing"))
    assert step[1] == "100 %"
    assert float(step[0].removesuffix(" ms")) == pytest.approx(whole, rel=0.01)
    assert float(computed[0].removesuffix(" ms")) == pytest.approx(mean, rel=0.01)
    assert float(computed[1].removesuffix(" %")) == pytest.approx(100 * mean / whole, rel=0.01)
    parts = ("Computing", "Waiting for a slow rank", "Exposed communication", "Free")
    times = [float(shown.partition(f"\n{name}\n")[2].splitlines()[1].split()[0]) for name in parts]
    assert sum(times) == pytest.approx(whole, rel=0.01), "the parts add up to the step"
    text = texts_in(cards)
    assert "All ranks have the same steps: 1-10 (10)" in text
    assert "0-7" in text
    assert "No two ranks have an operation in common whose begin is known." in text


def test_what_was_not_checked_names_the_file() -> None:
    steps = make(5, ranks=4).steps
    head, _, _ = summarised(source_of({"cluster_steps": steps}, ranks=4), ASK)
    text = texts_in(head[1])
    assert text.count("Not checked: collectives.csv is missing.") == 2  # slow rank and bubble
    assert "Not checked: memory_record.csv is missing." in text
    torch = source_of({"cluster_steps": steps}, ranks=4)
    for run in torch.data.values():
        run["of_torch"] = True
    assert "Not checked: torch.profiler records memory with profile_memory=True." in texts_in(summarised(torch, ASK)[0][1])
    nothing, cards, facts = summarised(source_of({}), ASK)
    assert texts_in(nothing[0]).splitlines()[0] == "What limits the job is not known: cluster_steps.csv is missing."
    assert "Nothing that was checked" not in texts_in(nothing)
    assert (facts["most"], facts["told"]) == (-1, "")
    assert "The files tell of no group." in texts_in(cards)


def test_what_was_not_looked_for_is_not_said_to_be_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(6, ranks=32)
    shaped = made.groups.assign(kind=pd.Categorical(["pp"] * len(made.groups)))
    head, _, _ = summarised(source_of(frames_of(made) | {"groups": shaped}, ranks=32), ASK)
    assert "Not checked: no group is known whose ranks do the same work." in texts_in(head[1])
    assert "Nothing found." not in texts_in(head[1])
    monkeypatch.setattr("layouts.profiles.profile_choice.PATIENCE", 0.0)
    head, _, _ = summarised(source_of(frames_of(made) | {"collectives": ProfileFrame("reading")}, ranks=32), ASK)
    assert "Not checked: its file is being read again." in texts_in(head[1])


def test_empty_frames_are_not_said_to_be_missing_files() -> None:
    empty = {name: schema.empty() for name, schema in JOB_FRAMES.items()}
    head, _, _ = summarised(source_of(empty), ASK)
    assert "the files tell of no step" in texts_in(head[0])
    assert "Not checked: the files have no such rows." in texts_in(head[1])


def test_steps_without_parts_are_not_said_to_be_fine() -> None:
    parts = ("computing_ns", "exposed_ns", "overlapped_ns", "communication_ns", "free_ns", "own_bubble_ns")
    steps = make(5, ranks=4).steps
    steps = steps.assign(**{name: float("nan") for name in parts if name in steps})
    head, _, _ = summarised(source_of({"cluster_steps": steps}, ranks=4), ASK)
    said = texts_in(head[0])
    assert "the files do not tell what a step of" in said
    assert "nan" not in said.lower()


def test_few_steps_and_an_unknown_capacity_are_said() -> None:
    made = make(5, ranks=8, steps=3)
    peaks = {"rank": [0, 1], "peak_reserved_bytes": [1 << 30, 3 << 30], "capacity_bytes": [-1, -1]}
    said = {
        "Rank 1 reserved the most, 3.00 GiB.": {},
        "Rank 0 allocated the most, 4.00 GiB.": {"peak_allocated_bytes": [4 << 30, 2 << 30]},
        "The whole process of rank 1 held the most, 5.00 GiB.": {"peak_process_bytes": [2 << 30, 5 << 30]},
    }
    for sentence, more in said.items():
        ranks = frame_of(RANKS, 2, {**peaks, **more}, "made")
        head, _, _ = summarised(source_of({**frames_of(made), "ranks": ranks}, ranks=8), ASK)
        text = texts_in(head[1])
        assert "Not judged: that takes 8 steps; recorded: 3." in text
        assert sentence in text


def test_no_profile_no_answer() -> None:
    source = source_of({})
    assert not isinstance(summarised(source, {})[1], list)
    assert not isinstance(summarised(source, ASK | {"session": ["gone"]})[1], list)
    assert not isinstance(listed(source, ASK | {"session": ["gone"]})[0], dict)
    assert not isinstance(listed(source, None)[0], dict)


def test_ranks_found_missing_and_lacking_files() -> None:
    job = JobFiles(
        "s", (member(0, "steps", "trace", host="h0"), member(1, "steps", host="h0"), member(3, "steps", "trace", host="h1")),
        size=6, problems=(Problem("/d", 0, 0, "bad_table", "Rank 0 occurs up to 2 times."),),
    )  # fmt: skip
    lacking_kinds = replace(job, members=tuple(
        replace(one, files=tuple(replace(file, kind={"steps": "step_trace_time", "trace": "communication"}[file.kind])
                                 for file in one.files)) for one in job.members
    ))  # fmt: skip
    told = members(lacking_kinds)
    assert (told["size"], told["missing"], told["missing_n"]) == (6, "2,4-5", 3)
    assert ranks_of(told["drawn"]) == (0, 1, 2, 3, 4, 5)
    assert told["hosts"] == [["h0", "0-1"], ["h1", "3"]]
    assert told["lacking"] == [["communication.json", "1", 1, 2]]
    of_source, cards = listed(source_of({}, lacking_kinds), ASK)
    assert of_source["of"] == "a|s|0"
    assert "communication.json" in texts_in(cards)
    assert "Rank 0 occurs up to 2 times." in texts_in(cards)


@pytest.mark.long
def test_a_job_that_is_said_to_be_huge_is_drawn_by_its_files() -> None:
    told = members(JobFiles("s", (member(4), member(9)), size=1_000_000))
    assert (told["drawn"], told["missing_n"]) == ("4,9", 999_998)
    every = members(JobFiles("s", tuple(member(rank) for rank in range(10_000)), size=10_000))
    assert (every["drawn"], every["missing"]) == ("0-9999", "")
    assert MOST_CELLS >= 10_000


def test_ranks_that_only_files_about_all_ranks_name() -> None:
    steps = frame_of(CLUSTER_STEPS, 3, {"rank": [3, -1, 0], "kind": ["rank", "stage", "rank"], "step": [1] * 3}, "made")
    assert told_ranks({"cluster_steps": steps, "ranks": None}) == [0, 3]


def groups(number: int) -> pd.DataFrame:
    columns = {
        "group": [str(place) for place in range(number)], "name": [f"g{place}" for place in range(number)],
        "kind": ["tp" if place % 2 else "" for place in range(number)],
        "ranks": [f"{8 * place}-{8 * place + 7}" for place in range(number)], "size": [8] * number,
        "sections": ["collective" if place % 3 else "collective;p2p" for place in range(number)], "told": ["yes"] * number,
    }  # fmt: skip
    return frame_of(GROUPS, number, columns, "made")


def test_groups_are_listed_or_summed_up() -> None:
    few = texts_in(groups_card(groups(MOST_GROUPS)))
    assert "8-15" in few
    assert "g1" in few
    many = texts_in(groups_card(groups(1_250)))
    assert "625" in many
    assert "8-15, 24-31 and 623 more" in many
    assert "not known" in many
    assert "g1" not in many


def test_steps_that_some_ranks_lack() -> None:
    told = [(1, 0), (2, 0), (1, 1), (2, 1), (2, 2)]
    columns = {"step": [step for step, _ in told], "rank": [rank for _, rank in told], "kind": ["rank"] * len(told)}
    steps = frame_of(CLUSTER_STEPS, len(told), columns, "made")
    text = texts_in(steps_card(steps, [0, 1, 2, 3]))
    assert "Steps that all ranks with steps have: 2 (1)" in text
    assert "Ranks without any step: 3" in text
    assert steps_card(steps.iloc[:0], [0]) == []
    unmarked = frame_of(CLUSTER_STEPS, 1, {"step": [-1], "rank": [0], "kind": ["rank"]}, "made")
    assert "No step was marked" in texts_in(steps_card(unmarked, [0]))


def test_hosts_of_files_stand_above_names_of_directories() -> None:
    job = JobFiles("s", (member(0, host="named"), member(1)))
    assert "named" in texts_in(hosts_card(job, None))
    ranks = frame_of(RANKS, 2, {"rank": [0, 1], "host": ["real", "real"]}, "made")
    text = texts_in(hosts_card(job, ranks))
    assert "real" in text
    assert "0-1" in text
    assert "named" not in text
    gaps = JobFiles("s", tuple(member(rank, host="h") for rank in (0, 1, 4, 6, 8, 10, 12, 14)))
    text = texts_in(hosts_card(gaps, None))
    assert "0-1, 4, 6, 8, 10, 12, …" in text
    assert "14" in str(hosts_card(gaps, None))
    many = frame_of(RANKS, 500, {"rank": list(range(500)), "host": [f"h{rank}" for rank in range(500)]}, "made")
    text = texts_in(hosts_card(job, many))
    assert "200 of 500 are listed." in text
    assert "h499" not in text
    assert "No file and no directory name tells a host." in texts_in(hosts_card(JobFiles("s", (member(0),)), None))
    assert problems_card(()) == []


def test_frames_that_are_being_read_are_waited_for() -> None:
    source = source_of(dict.fromkeys(FRAMES, ProfileFrame("cancelled")))
    head, _, _ = summarised(source, ASK)
    assert texts_in(head[0]).startswith("What limits the job is not known")


def test_every_real_job_has_an_overview(real_data: Path) -> None:
    shown = 0
    made = "cluster_samples/made_with_msprof_analyze_26.2.0/torch_npu_st_4ranks_pp2_db"
    new = ("profiler_new/torch_npu_st_4ranks_pp2", "profiler_new/torch_npu_db_level2")
    for base in (*new, "mindinsight_legacy/cluster_propose", made):
        for job in open_run(real_data / base).profile.jobs:
            frames = {name: job.frame(name) for name in JOB_FRAMES if job.gives(name)}
            head, cards, _ = summarised(source_of(frames, job.files), ASK)
            assert texts_in(head[0])
            assert texts_in(cards)
            shown += 1
    assert shown >= 4


def test_a_job_of_files_about_all_ranks_says_that_no_rank_has_its_own() -> None:
    english, chinese = members(JobFiles("s", ()))["alternative"]
    assert english.startswith("No rank has files of its own")
    assert "0" not in english + chinese
