"""Which page answers a question, opened where: from rows of the list of runs and of profiles, known results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from layouts.profiles.frames import ProfileRow
from layouts.runs.questions import Destination, Profiles, Question, counted, questions
from layouts.runs.rows import RunRow
from tests.sources.made import row

NAMES = ["best", "broke", "time", "late", "memory", "looks"]


def none(_run: str) -> Sequence[ProfileRow]:
    return ()


def profiles(having: Mapping[str, Sequence[tuple[str, int, float, str]]]) -> Profiles:
    """Profiles by run: (session, rank, updated, frames)."""
    made = {
        run: [
            ProfileRow(session, rank, "Ascend", (), 1, updated, tuple(frames.split()), "m")
            for session, rank, updated, frames in some
        ]
        for run, some in having.items()
    }  # fmt: skip
    return lambda run: made.get(run, ())


def asked(rows: Sequence[RunRow], of: Profiles = none, **places: Destination) -> dict[str, Question]:
    return {one.name: one for one in questions(rows, of, places)}


def test_without_runs_nothing_is_answered_and_each_question_says_what_it_needs() -> None:
    found = questions([], none)
    assert [one.name for one in found] == ["going", *NAMES]
    assert all(one.place is None for one in found)
    assert [one.needs for one in found] == ["scalar", "lineage", "dump", "profile", "communication", "memory", "explain"]
    assert counted([]) == {}


def test_one_run_with_a_loss_is_opened_itself() -> None:
    found = asked([row("old"), row("training", state="live"), row("older")])
    assert found["going"].place == Destination("overview", {"run": ["training"]})
    assert asked([row("new"), row("old")])["going"].run == "new", "the newest without one that grows"
    assert asked([row("new")])["best"].place is None, "one run is not compared"


def test_runs_with_results_and_no_settings_are_compared_in_the_list_of_runs() -> None:
    found = asked([row("a"), row("b"), row("c", main_tag="")])["best"]
    assert (found.place, found.number) == (Destination(""), 2)


def test_the_largest_sweep_is_chosen() -> None:
    sweep = [row(f"sweep/{n}", tags={"lineage": 1}) for n in range(4)]
    others = [row(f"other/{n}", tags={"hparams": 1}) for n in range(3)]
    found = asked([*others, *sweep, row("plain")])["best"]
    assert found.place == Destination("optimisation", {"run": [f"sweep/{n}" for n in range(4)]})
    assert found.number == 4
    assert asked(sweep)["best"].place == Destination("optimisation", {"run": ["*"]}), "all that have settings need no names"
    scattered = [row(f"{n}/run", tags={"config": 1}) for n in range(3)]
    assert asked(scattered)["best"].place == Destination("optimisation", {"run": ["*"]}), "of different directories"
    assert asked(scattered[:2])["best"].place == Destination(""), "two are no sweep"


def test_the_dump_of_a_run_that_broke_comes_before_a_newer_one() -> None:
    dumps = [row("new", tags={"dump": 1}), row("broken", tags={"dump": 1}, main_value=math.nan)]
    assert asked(dumps)["broke"].place == Destination("first_cause", {"run": ["broken"], "of": ["broken"]})
    assert asked(dumps[:1])["broke"].run == "new"


def test_a_loss_that_became_infinite_is_shown_where_there_is_no_dump() -> None:
    found = asked([row("fine"), row("broken", main_value=math.inf)])["broke"]
    assert found.place == Destination("scalars", {"run": ["broken"], "tag": ["loss"]})
    assert asked([row("fine")])["broke"].place is None
    assert asked([row("no value", main_value=None)])["broke"].place is None


def test_a_profile_is_opened_at_its_newest_session_and_lowest_rank() -> None:
    rows = [row("new", tags={"profile": 9, "profile.steps": 9, "profile.memory": 1})]
    of = profiles({"new": [("s1", 3, 1.0, "steps"), ("s1", 1, 1.0, "steps"), ("s2", 1, 2.0, "steps"), (".", -1, 9.0, "steps"),
                           ("s0", 0, 5.0, "operators"), ("s9", 7, 3.0, "memory")]})  # fmt: skip
    found = asked(rows, of)
    time = {"run": ["new"], "of": ["new"], "session": ["s0"], "rank": ["0"]}
    assert found["time"].place == Destination("profile_overview", time)
    assert found["memory"].place == Destination("memory", {"run": ["new"], "of": ["new"], "session": ["s9"], "rank": ["7"]})
    assert (found["memory"].rank, found["late"].place) == (7, None)


def test_profiles_that_tell_of_steps_come_before_newer_ones_that_do_not() -> None:
    rows = [row("data only", tags={"profile": 1}), row("steps", tags={"profile": 1, "profile.steps": 1})]
    of = profiles({"data only": [(".", 0, 2.0, "queues")], "steps": [(".", 0, 1.0, "steps")]})
    assert asked(rows, of)["time"].run == "steps"
    assert asked(rows[:1], of)["time"].run == "data only", "what there is, then"


def test_a_job_is_late_only_with_several_ranks() -> None:
    alone = row("alone", tags={"profile": 1, "profile.cluster_steps": 1})
    job = row("job", ("job/rank_0", "job/rank_1"), tags={"profile": 1, "profile.cluster_steps": 1})
    of = profiles({
        "alone": [(".", 0, 5.0, "cluster_steps"), (".", -1, 5.0, "cluster_steps")],
        "job/rank_0": [(".", 0, 1.0, "cluster_steps")], "job/rank_1": [(".", 1, 1.0, "cluster_steps")],
    })  # fmt: skip
    found = asked([alone, job], of)["late"]
    assert found.place == Destination("cluster", {"run": ["job"], "of": ["job/rank_0"], "session": ["."], "rank": ["0"]})
    assert (found.run, found.number, found.rank) == ("job", 2, None)
    assert asked([alone], of)["late"].place is None


def test_explanations_are_those_of_the_newest_run() -> None:
    found = asked([row("plain"), row("new", tags={"explain": 1}), row("old", tags={"explain": 1})])["looks"]
    assert found.place == Destination("saliency", {"run": ["new"], "of": ["new"]})


def test_six_answers_need_no_seventh_question() -> None:
    rows = [
        *(row(f"sweep/{n}", tags={"lineage": 1, "scalar": 1}) for n in range(3)),
        row("all", tags={"dump": 1, "profile": 2, "profile.cluster_steps": 2, "profile.memory": 2, "explain": 1}),
    ]  # fmt: skip
    of = profiles({"all": [(".", 0, 1.0, "cluster_steps memory"), (".", 1, 1.0, "cluster_steps memory")]})
    assert [one.name for one in questions(rows, of)] == NAMES


def test_a_place_that_is_known_better_is_preferred_while_its_runs_exist() -> None:
    rows = [row("new", tags={"dump": 1}), row("faulty", ("faulty/rank_0", "faulty/rank_3"), tags={"dump": 1})]
    place = Destination("first_cause", {"of": ["faulty"], "step": ["40"], "rank": ["3"]})
    found = asked(rows, broke=place)["broke"]
    assert (found.place, found.run, found.rank) == (place, "faulty", 3)
    member = Destination("first_cause", {"of": ["faulty/rank_3"]})
    assert asked(rows, broke=member)["broke"].run == "faulty"
    both = Destination("optimisation", {"run": ["new", "faulty"]})
    assert (asked(rows, best=both)["best"].number, asked(rows, best=both)["best"].run) == (2, "")
    gone = Destination("first_cause", {"of": ["deleted"]})
    assert asked(rows, broke=gone)["broke"].run == "new"
    assert asked([], broke=place)["broke"].place is None


def test_things_are_counted_by_kind() -> None:
    rows = [row("a", tags={"profile": 2, "scalar": 7, "graph": 1}), row("b", tags={"profile": 1, "dump": 1})]
    assert counted(rows, studies=2) == {"run": 2, "profile": 3, "dump": 1, "graph": 1, "study": 2}
