"""That targets with few cases come first, and what becomes of a file of cases that is missing, damaged or of other targets."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("fuzzing needs fork and limits of resources", allow_module_level=True)

from tests.fuzz import driver, state
from tests.fuzz.driver import BLOCK, BLOCKS, Fuzzing, main
from tests.fuzz.guided import MOST_RUNS
from tests.fuzz.state import Ran
from tests.fuzz.targets import Target
from tests.waiting import until


def made(name: str, ran: Sequence[Path] = ()) -> Target:
    def run(_data: bytes, _folder: str) -> None:
        for path in ran:
            with path.open("a") as file:
                file.write(f"{name}\n")

    return Target(name, "plain", lambda: (b"seed",), run)


def order_of(path: Path) -> list[str]:
    return list(dict.fromkeys(path.read_text().split()))


def test_the_target_with_the_fewest_cases_comes_first(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    targets = [made(name, [ran]) for name in ("many", "none", "few")]
    third = 2 * BLOCKS * BLOCK + 1  # two turns have fewer
    fuzzing = Fuzzing(targets, 1, str(tmp_path / "scratch"), 60.0, third, {"many": 10**6, "few": 10, "gone": 3})
    fuzzing.run(None)
    assert not fuzzing.failures
    assert order_of(ran) == ["none", "few", "many"]
    assert min(ran.cases for ran in fuzzing.cases_run().values()) >= BLOCK
    assert not any(ran.guided for ran in fuzzing.cases_run().values())


def test_each_has_a_turn_before_one_has_two_however_slow_it_is(tmp_path: Path) -> None:
    fuzzing = Fuzzing([made(name) for name in "abc"], 1, str(tmp_path), 1.0, 1.0, {"a": 50_000, "b": 50_000})
    assert [fuzzing.targets[fuzzing.next()].name for _ in range(7)] == ["c", "a", "b", "c", "a", "b", "c"]


def test_those_with_too_few_cases_have_all_turns_until_none_is_left(tmp_path: Path) -> None:
    names = ("few", "none", "many")
    fuzzing = Fuzzing([made(name) for name in names], 1, str(tmp_path), 1.0, 1.0, {"few": 30, "many": 50}, least=50)
    order = []
    for _ in range(9):
        number = fuzzing.next()
        order.append(names[number])
        for _ in range(10):
            fuzzing.slot.begin(number, b"")
    assert order == ["none", "few", "none", "few", "none", "none", "none", "many", "many"]


def test_a_turn_has_no_more_cases_than_a_target_needs_while_others_have_too_few(tmp_path: Path) -> None:
    before = {"none": 0, "few": 49_000, "enough": 50_000}
    fuzzing = Fuzzing([made(name) for name in before], 1, str(tmp_path), 1.0, 1.0, before, least=50_000)
    assert [fuzzing.cases_of_turn(number) for number in range(3)] == [MOST_RUNS, 1_000, MOST_RUNS]
    fuzzing.slot.begin(1, b"")
    assert fuzzing.cases_of_turn(1) == 999


@pytest.mark.parametrize(
    ("patterns", "meant"),
    [
        ("*", ["dump-npy", "events", "profile-analysis.db", "schema-analysis"]),
        ("events", ["events"]),
        ("dump-*,*.db", ["dump-npy", "profile-analysis.db"]),
        ("!*.db,!schema-*", ["dump-npy", "events"]),
        ("*-analysis*,!schema-*", ["profile-analysis.db"]),
    ],
)
def test_targets_are_named_by_patterns(patterns: str, meant: list[str]) -> None:
    names = ["dump-npy", "events", "profile-analysis.db", "schema-analysis"]
    assert [name for name in names if driver.is_meant(name, patterns)] == meant


def test_two_processors_share_the_targets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = tmp_path / "ran"
    monkeypatch.setattr(driver, "all_targets", lambda _seeds: {name: made(name, [ran]) for name in "abcde"})
    for share, expected in (("1/2", ["a", "c", "e"]), ("2/2", ["b", "d"])):
        assert main(["--executions", "900", "--seed", "1", "--share", share, "--state", str(tmp_path / "none")], None) == 0
        assert sorted(order_of(ran)) == expected
        ran.unlink()
    for wrong in ("0/2", "3/2", "1", "a/b"):
        with pytest.raises(SystemExit):
            main(["--share", wrong], None)
        assert f"invalid share value: '{wrong}'" in capsys.readouterr().err


def test_cases_are_added_to_what_other_sessions_have_written(tmp_path: Path) -> None:
    path = tmp_path / "cases.txt"
    state.add(path, {"b": Ran(5), "a": Ran(2, 2)}, ["b", "a", "new"])
    assert path.read_text() == "a 2 2\nb 5 0\nnew 0 0\n"
    state.add(path, {"b": Ran(1)}, ["a", "b", "c"])  # "new" is now called "c"
    assert path.read_text() == "a 2 2\nb 6 0\nc 0 0\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("text", "cases", "damaged"),
    [
        (b"", {}, 0),
        (b"a 3 1\nb 4\na 7 2\na 5 3\n", {"a": 7, "b": 4}, 0),
        (b"<<<<<<< HEAD\na 3\n=======\na 4\n>>>>>>> other\n", {"a": 4}, 3),
        (b"a 3\nb\nb -4\nc 1e9\nd 5 6 7\ne " + b"9" * 5000 + b"\nf 1", {"a": 3, "f": 1}, 5),
        (b"\xff\x00\xfe" * 100, {}, 1),
    ],
    ids=["empty", "merged", "conflict", "no-numbers", "bytes"],
)
def test_damaged_lines_are_told_and_the_others_count(text: bytes, cases: dict[str, int], damaged: int, tmp_path: Path) -> None:
    path = tmp_path / "cases.txt"
    path.write_bytes(text)
    found = state.load(path)
    assert found.cases == cases
    assert len(found.problems) == bool(damaged)
    assert all(f": {damaged} of " in problem for problem in found.problems)


def test_a_file_that_is_not_there_has_no_cases(tmp_path: Path) -> None:
    assert state.load(tmp_path / "none") == state.State()


def test_a_run_writes_its_cases_only_when_it_is_told_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(driver, "all_targets", lambda _seeds: {name: made(name) for name in ("one", "two")})
    path = tmp_path / "cases.txt"
    path.write_text("two 9\nrenamed 7\n?\n")
    arguments = ["--executions", "32", "--seconds", "20", "--targets", "one", "--state", str(path), "--seed", "1"]
    assert main(arguments, None) == 0
    assert path.read_text() == "two 9\nrenamed 7\n?\n"
    assert f"{path}: 1 of 3 lines are none" in capsys.readouterr().out
    assert main([*arguments, "--count"], None) == 0
    one, two = path.read_text().splitlines()
    assert two == "two 9 0"  # it was not chosen, and keeps what it has
    assert one.startswith("one ")
    assert one.endswith(" 0")  # of cases by mutation it is not known what they reach
    assert int(one.split()[1]) >= 32
    said = capsys.readouterr().out
    assert "of 2 targets have 50,000." in said
    assert "Neither: 2, the fewest cases 9 (two)." in said


def test_a_session_adds_only_what_is_new_since_it_was_last_written(tmp_path: Path) -> None:
    path = tmp_path / "cases.txt"
    count = state.Count(path, ["a", "b"])
    count.update({"a": Ran(3)})
    state.add(path, {"b": Ran(100)}, ["a", "b"])  # another session
    count.update({"a": Ran(5), "b": Ran(1)})
    count.update({"a": Ran(5), "b": Ran(1)})
    assert path.read_text() == "a 5 0\nb 101 0\n"


def test_guided_cases_count_from_the_last_one_that_reached_new_code(tmp_path: Path) -> None:
    path = tmp_path / "cases.txt"
    path.write_text("a 100 40\n")
    count = state.Count(path, ["a"])
    since = []
    for ran in (Ran(10, 10), Ran(30, 30, 25), Ran(50, 50, 25), Ran(80, 80, 25), Ran(90, 90, 90)):
        count.update({"a": ran})
        since.append(state.load(path).since["a"])
    assert since == [50, 5, 25, 55, 0]
    assert state.load(path).cases == {"a": 190}


def test_a_summary_names_targets_with_few_cases_apart_from_saturated_ones() -> None:
    found = state.State({"a": 50_000, "b": 20_000, "c": 12_000, "d": 700}, {"b": 10_000, "c": 9_999})
    assert state.summary(found).splitlines() == [
        "In all sessions: 82,700 cases; 1 of 4 targets have 50,000.",
        "Saturated before that, without new code in 10,000 guided cases: b.",
        "Neither: 2, the fewest cases 700 (d).",
    ]
    assert state.summary(state.State({"a": 50_000})) == "In all sessions: 50,000 cases; 1 of 1 targets have 50,000."


@pytest.mark.parametrize("how", ["ended", "killed"])
def test_a_session_that_is_ended_has_counted_its_cases(how: str, tmp_path: Path) -> None:
    """What was counted a moment ago is in the file even if the process is killed, and no copy of it goes on."""
    path, pids = tmp_path / "cases.txt", tmp_path / "pids"
    command = [sys.executable, "-c", _SESSION, str(path), str(pids), str(tmp_path)]
    process = subprocess.Popen(command, cwd=state.STATE.parents[2])
    try:
        until(lambda: path.exists() and state.load(path).cases["one"] > 0)
        if how == "ended":
            process.terminate()
            assert process.wait(60) == 0
            begun = state.load(path).cases["one"]
            assert begun - pids.stat().st_size in (0, 1)  # a byte for each case, except one that had just begun
        else:
            process.kill()
            process.wait(60)
            assert state.load(path).cases["one"] <= pids.stat().st_size
    finally:
        process.kill()
        process.wait(60)


_SESSION = """
import contextlib, sys
from tests.fuzz import driver
from tests.fuzz.targets import Target

def run(data, folder):
    with open(sys.argv[2], "ab", buffering=0) as file:
        file.write(b".")

driver.all_targets = lambda _seeds: {"one": Target("one", "plain", lambda: (b"seed",), run)}
driver.scratch = lambda: contextlib.nullcontext(sys.argv[3])  # which outlives a kill
driver.LIFE_S, driver.PROGRESS_S = 0.2, 0.1
sys.exit(driver.main(["--count", "--unguided", "--seconds", "60", "--state", sys.argv[1]], None))
"""


def test_the_committed_file_is_whole_and_in_order() -> None:
    lines = state.STATE.read_text("utf-8").splitlines()
    assert not state.load(state.STATE).problems
    assert lines == sorted(lines, key=lambda line: line.split()[0])
