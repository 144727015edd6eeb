"""What is a run, from names alone."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import tracemalloc
import zlib
from pathlib import Path

import pytest

from parsers import SourceError, discover, open_run
from parsers.discovery import rescan, source_of
from parsers.discovery import scanner as scanner_module
from parsers.discovery.listing import MANY, classify
from parsers.discovery.scanner import Scanner
from parsers.model import Source

EVENTS = "events.out.events.summary.1600000000.0.host_MS"


def touch(path: Path, mtime: float = 1e9) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    os.utime(path, (mtime, mtime))
    return path


def age(directory: Path) -> None:
    """Set directory times back, so that their listings count as settled."""
    for place, _, _ in os.walk(directory):
        os.utime(place, (1e9, 1e9))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        (EVENTS, ("events", 1600000000)),
        ("xx_.out.events.summary.7.0.vm_yy", ("events", 7)),
        ("a.summary.12.h_lineage", ("lineage", 12)),
        ("a.summary.12.h_explain", ("explain", 12)),
        ("events.out.tfevents.1795221705.vm.18095.3", ("tensorboard", 1795221705)),
        ("my_tfevents_file", ("tensorboard", None)),
        ("ms_output_optimize.pb", ("graph", None)),
        ("24_execute_0097.ir", ("graph", None)),
        ("ModelDigraph_0994.dot", ("graph", None)),
        ("trace_code_graph_0989", ("graph", None)),
        ("model.onnx", ("graph", None)),
        ("memory_usage_3.pb", None),
        ("summary.txt", None),
        ("model.ckpt", None),
        ("", None),
    ],
)
def test_names(name: str, wanted: tuple[str, int | None] | None) -> None:
    assert classify(name) == wanted


def test_an_empty_directory_has_no_runs(tmp_path: Path) -> None:
    assert discover(tmp_path) == []


def test_a_missing_base_says_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="expected a directory of runs"):
        discover(tmp_path / "none")


def test_any_depth_newest_first(tmp_path: Path) -> None:
    touch(tmp_path / "old" / EVENTS, 1e9)
    touch(tmp_path / "a/b/c/new" / EVENTS, 2e9)
    touch(tmp_path / EVENTS, 1.5e9)
    touch(tmp_path / ".hidden" / EVENTS)
    touch(tmp_path / "nothing" / "notes.txt")
    assert [source.name for source in discover(tmp_path)] == ["a/b/c/new", ".", "old"]


def test_more_than_a_thousand_runs(tmp_path: Path) -> None:
    for number in range(1100):
        touch(tmp_path / f"run{number:04d}" / EVENTS, 1e9 + number)
    names = [source.name for source in discover(tmp_path)]
    assert names == [f"run{number:04d}" for number in reversed(range(1100))]


def test_ranks_are_one_job(tmp_path: Path) -> None:
    for number in (10, 2, 0):
        touch(tmp_path / f"job/rank_{number}" / EVENTS)
    touch(tmp_path / "job2/rank0" / EVENTS)
    touch(tmp_path / "job2" / EVENTS)
    touch(tmp_path / "job3/rank_0/summary" / EVENTS)
    jobs = {source.name: source for source in discover(tmp_path)}
    assert [rank.name for rank in jobs["job"].ranks] == ["job/rank_0", "job/rank_2", "job/rank_10"]
    assert jobs["job"].path == str(tmp_path / "job")
    assert jobs["job2"].files
    assert [rank.name for rank in jobs["job2"].ranks] == ["job2/rank0"]
    assert jobs["job3/rank_*/summary"].path == str(tmp_path / "job3")
    assert len(jobs) == 3


def test_ranks_directly_below_the_base(tmp_path: Path) -> None:
    touch(tmp_path / "rank_0" / EVENTS)
    touch(tmp_path / "rank_1" / EVENTS)
    (job,) = discover(tmp_path)
    assert (job.name, job.path, len(job.ranks)) == (".", str(tmp_path), 2)


def test_summary_and_profile_of_a_job_belong_together(tmp_path: Path) -> None:
    touch(tmp_path / "output/summary/rank_0" / EVENTS)
    touch(tmp_path / "output/profile/rank_0/profiler/profiler_info_0.json")
    (job,) = discover(tmp_path)
    assert job.name == "output/summary"
    assert job.profile_dirs == (str(tmp_path / "output/profile/rank_0/profiler"),)


def test_profiler_and_dump_directories_are_noted_and_not_entered(tmp_path: Path) -> None:
    touch(tmp_path / "run/host_1_ascend_ms/deep" / EVENTS)
    touch(tmp_path / "dump/rank_0/.dump_metadata/config.json")
    touch(tmp_path / "dump/rank_0/Net/0/0" / EVENTS)
    found = {source.name: source for source in discover(tmp_path)}
    assert found["run"].profile_dirs == (str(tmp_path / "run/host_1_ascend_ms"),)
    assert found["run"].files == ()
    assert found["dump"].ranks[0].dump_dirs == (str(tmp_path / "dump/rank_0"),)
    assert len(found) == 2


def test_links_are_followed_once(tmp_path: Path) -> None:
    base, outside = tmp_path / "base", tmp_path / "outside"
    touch(outside / "far" / EVENTS)
    touch(base / "near" / EVENTS)
    (base / "link").symlink_to(outside)
    (base / "again").symlink_to(base / "near")
    (base / "near" / "up").symlink_to(base)
    (base / "nowhere").symlink_to(tmp_path / "missing")
    found = {source.name: source for source in discover(base)}
    assert sorted(found) == ["link/far", "near"]
    assert found["link/far"].real_path == str(outside / "far")


def test_links_out_of_the_base_are_shown_and_not_read(tmp_path: Path) -> None:
    base, outside = tmp_path / "base", tmp_path / "outside"
    secret = touch(outside / "far" / "x.summary.1.h_MS")
    run = touch(base / "near" / "x.summary.1.h_MS").parent
    (run / "y.summary.2.h_MS").symlink_to(secret)
    (run / "hparams.json").symlink_to(secret)
    (run / "z.summary.3.h_MS").symlink_to(run / "x.summary.1.h_MS")
    (base / "link").symlink_to(outside)
    (base / "again").symlink_to(base / "near")
    (base / "nowhere").symlink_to(tmp_path / "missing")
    (base / "beside").symlink_to(tmp_path / "base2")
    touch(tmp_path / "base2" / "x.summary.1.h_MS")
    touch(base / "profiled" / "profiler" / "step_trace_raw_0_detail_time.csv")
    (base / "profiled" / "profiler" / "minddata_pipeline_raw_0.csv").symlink_to(secret)
    (base / "elsewhere").mkdir()
    (base / "elsewhere" / "profiler").symlink_to(outside)
    (outside / "step_trace_raw_0_detail_time.csv").write_text("")
    found = {source.name: source for source in Scanner(base, stay_inside=True).scan()}
    assert sorted(found) == ["beside", "elsewhere", "link", "near", "profiled"]
    assert [os.path.basename(file.path) for file in found["near"].files] == ["x.summary.1.h_MS", "z.summary.3.h_MS"]
    for name in ("beside", "elsewhere", "link", "profiled"):
        assert not found[name].files
        assert not found[name].profile_dirs
    told = {problem.path: problem for source in found.values() for problem in source.problems}
    assert {problem.kind for problem in told.values()} == {"outside"}
    assert set(told) == {
        str(base / path) for path in (
            "near/y.summary.2.h_MS", "near/hparams.json", "link", "beside", "elsewhere/profiler",
            "profiled/profiler/minddata_pipeline_raw_0.csv",
        )
    }  # fmt: skip
    assert f"to {outside}; what is there is not read" in told[str(base / "link")].text
    followed = {source.name for source in Scanner(base).scan()}
    assert followed == {"beside", "elsewhere", "link", "link/far", "near", "profiled"}


def test_a_base_that_is_a_link_is_inside_itself(tmp_path: Path) -> None:
    touch(tmp_path / "real" / "run" / "x.summary.1.h_MS")
    (tmp_path / "base").symlink_to(tmp_path / "real")
    (source,) = Scanner(tmp_path / "base", stay_inside=True).scan()
    assert (source.name, len(source.files), source.problems) == ("run", 1, ())


def test_a_link_to_nothing_with_a_name_of_ours_is_a_problem(tmp_path: Path) -> None:
    touch(tmp_path / "run" / EVENTS)
    (tmp_path / "run" / "x.summary.1.h_MS").symlink_to(tmp_path / "missing")
    (run,) = discover(tmp_path)
    assert [problem.kind for problem in run.problems] == ["unreadable"]
    assert len(run.files) == 1


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="root may list every directory")
def test_a_closed_directory_is_shown_as_such(tmp_path: Path) -> None:
    touch(tmp_path / "closed" / EVENTS)
    (tmp_path / "closed").chmod(0)
    try:
        (run,) = discover(tmp_path)
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert [problem.kind for problem in run.problems] == ["unreadable"]


@pytest.mark.skipif(os.name != "posix", reason="names are bytes on POSIX only")
def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    directory = os.path.join(os.fsencode(tmp_path), b"\xff run")
    os.mkdir(directory)
    (Path(os.fsdecode(directory)) / EVENTS).write_bytes(b"x")
    (run,) = discover(tmp_path)
    assert run.name == "\\xff run"
    assert os.path.exists(run.files[0].path)


def test_a_rescan_lists_only_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        touch(tmp_path / name / EVENTS)
    age(tmp_path)
    scanner = Scanner(tmp_path)
    scanner.scan()
    listed: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(os.path.basename(path)) or scandir(path))
    assert len(scanner.scan()) == 2
    assert listed == []
    touch(tmp_path / "b" / "y.summary.2.h_MS")
    assert len(scanner.scan()[0].files) + len(scanner.scan()[1].files) == 3
    assert set(listed) == {"b"}


def test_a_grown_file_is_seen_though_its_directory_did_not_change(tmp_path: Path) -> None:
    path = touch(tmp_path / "a" / EVENTS)
    age(tmp_path)
    scanner = Scanner(tmp_path)
    scanner.scan()
    path.write_bytes(b"xyz")
    age(tmp_path)
    assert scanner.scan()[0].size == 3


def test_one_run_from_a_directory_or_a_file(tmp_path: Path) -> None:
    path = touch(tmp_path / "a/run" / EVENTS)
    assert source_of(tmp_path / "a/run").name == "."
    assert source_of(tmp_path).name == "a/run"
    one = source_of(path)
    assert [file.path for file in one.files] == [str(path)]
    touch(tmp_path / "a/run" / "z.summary.9.h_MS")
    assert len(rescan(one).files) == 1
    assert len(rescan(source_of(tmp_path / "a/run")).files) == 2
    touch(tmp_path / "b" / EVENTS)
    with pytest.raises(SourceError, match="found 2 runs"):
        source_of(tmp_path)
    (tmp_path / "c").mkdir()
    with pytest.raises(SourceError, match="without event"):
        source_of(tmp_path / "c")


TRACE = '[{"ph": "X", "name": "op", "pid": 1, "tid": 2, "ts": 3, "dur": 4}]'


@pytest.mark.parametrize(
    "name", ["trace_view.json", "h_1.17.pt.trace.json", "ascend_timeline_display_3.json", "msprof_0_2_1.json"]
)
def test_a_directory_with_nothing_but_a_trace_is_a_run(name: str, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / name).write_text(TRACE)
    (source,) = discover(tmp_path)
    assert (source.name, source.files, source.profile_size) == ("a", (), len(TRACE))
    run = open_run(tmp_path / "a")
    assert run.kinds() == {"profile": 1}
    (profile,) = run.profile.values()
    assert profile.rank == (3 if "_3" in name else 0)
    assert profile.trace.slices[["start_ns", "duration_ns", "name"]].values.tolist() == [[0, 4000, "op"]]
    assert not run.problems


def test_a_single_trace_of_any_name_is_a_run(tmp_path: Path) -> None:
    path = tmp_path / "odd name.txt"
    path.write_bytes(gzip.compress(TRACE.encode()))
    (tmp_path / "trace_view.json").write_text(TRACE)
    for one in (path, tmp_path / "trace_view.json"):
        source = source_of(one)
        assert (source.name, source.profile_dirs) == (one.name, (str(one),))
        assert rescan(source) == source
        run = open_run(one)
        assert [profile.traces for profile in run.profile.values()] == [(str(one),)]
        assert len(run.profile[".", 0].trace.slices) == 1
    path.write_text(TRACE[:-1] + ", " + TRACE[1:])
    assert run.refresh(rescan(source_of(path)))
    assert len(run.profile[".", 0].trace.slices) == 2
    path.unlink()
    assert rescan(source).profile_dirs == source.profile_dirs
    other = tmp_path / "notes.json"
    other.write_text('{"a": [1, 2]}')
    assert source_of(other).profile_dirs == ()


def test_the_real_runs(real_data: Path) -> None:
    sources = discover(real_data / "summary")
    assert len(sources) == 28
    assert sum(len(source.leaves) for source in sources) == 35


def test_a_link_in_a_circle_hides_nothing_beside_it(tmp_path: Path) -> None:
    touch(tmp_path / "run" / EVENTS)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "run" / "self").symlink_to("self")
    (run,) = discover(tmp_path)
    assert (run.name, len(run.files)) == ("run", 1)


def test_a_link_whose_target_comes_later_is_found(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "link").symlink_to(tmp_path / "later")
    age(base)
    scanner = Scanner(base)
    assert scanner.scan() == []
    touch(tmp_path / "later" / EVENTS)
    assert [source.name for source in scanner.scan()] == ["link"]


@pytest.mark.skipif(os.name != "posix", reason="names are bytes on POSIX only")
def test_two_names_that_are_written_alike_are_two_runs(tmp_path: Path) -> None:
    for name in (b"r\xff", b"r\\xff"):
        os.mkdir(os.path.join(os.fsencode(tmp_path), name))
        touch(Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))) / EVENTS)
    assert sorted(source.name for source in discover(tmp_path)) == ["r\\xff", "r\\xff~2"]


def test_a_time_no_calendar_has_is_no_time() -> None:
    assert classify("events.summary.99999999999999999999.x_MS") == ("events", None)


def test_what_mindspore_saves_beside_graphs_belongs_to_their_run(tmp_path: Path) -> None:
    for name in ("24_execute_0097.ir", "actor_set/final_actor_set.ir", "verbose_ir_files/hwopt_0001.ir"):
        touch(tmp_path / "saved" / name, 1e9)
    touch(tmp_path / "alone/actor_set/a.ir", 1e9)
    found = {source.name: [os.path.relpath(file.path, source.path) for file in source.files] for source in discover(tmp_path)}
    saved = ["24_execute_0097.ir", "actor_set/final_actor_set.ir", "verbose_ir_files/hwopt_0001.ir"]
    assert found == {"saved": saved, "alone/actor_set": ["a.ir"]}
    again = rescan(source_of(tmp_path / "saved"))
    assert [os.path.relpath(file.path, again.path) for file in again.files] == saved


def test_quiet_runs_are_looked_at_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What changed in any of them is found after one turn; what is watched, or changed lately, is found at once."""
    monkeypatch.setattr("parsers.discovery.scanner.LEAST_QUIET", 4)
    paths = [touch(tmp_path / f"run{number:02}" / EVENTS, 1e9) for number in range(12)]
    age(tmp_path)
    scanner = Scanner(tmp_path, share=0.0)
    first = scanner.scan()
    assert all(a is b for a, b in zip(first, scanner.scan(), strict=True)), "an unchanged run is the same object"

    def size(number: int) -> int:
        return next(source.size for source in scanner.scan() if source.name == f"run{number:02}")

    for number in (3, 9):
        paths[number].write_bytes(b"xy")
        os.utime(paths[number], (1e9, 1e9))
        assert [size(number) for _ in range(3)][-1] == 2, "three scans look at all twelve"
        paths[number].write_bytes(b"xyz")
        assert size(number) == 3, "it changed lately"
    scanner.watched = [str(tmp_path / "run05")]
    paths[5].write_bytes(b"xy")
    assert size(5) == 2
    scanner.watched = []
    touch(tmp_path / "new" / EVENTS)
    assert "new" in [source.name for source in scanner.scan()]
    for path in paths[6:8]:
        path.write_bytes(b"wxyz")
    scanner.forget()
    assert [size(6), size(7)] == [4, 4]


@pytest.mark.parametrize("seed", range(8))
def test_a_scan_in_turns_ends_where_a_new_one_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """After a full turn the runs are those of a fresh scan, whatever was created, grown, renamed, linked and deleted."""
    monkeypatch.setattr("parsers.discovery.scanner.LEAST_QUIET", 3)
    monkeypatch.setattr("parsers.discovery.scanner.QUIET_SECONDS", -1.0)
    chance = random.Random(seed)
    base = tmp_path / "base"
    places = ["a", "b", "b/c", "job/rank_0", "job/rank_1", "job", "fit/summary", "saved", "saved/actor_set", "deep/er/one"]
    scanner = Scanner(base, share=0.0)
    touch(base / "a" / EVENTS)
    for number in range(40):
        place = base / chance.choice(places)
        act = chance.choice(["create", "create", "graph", "grow", "delete", "rename", "link", "profile"])
        if act in ("create", "graph"):
            touch(place / (f"{number}.{EVENTS}" if act == "create" else f"{number}.ir"))
        elif act == "grow":
            for file in place.glob("*summary*"):
                file.write_bytes(b"x" * number)
        elif act == "delete":
            shutil.rmtree(place, ignore_errors=True)
        elif act == "rename" and place.exists() and not (base / f"old{number}").exists():
            place.rename(base / f"old{number}")
        elif act == "link" and not os.path.lexists(base / f"link{number}"):
            (base / f"link{number}").symlink_to(place)
        elif act == "profile":
            touch(base / "fit" / "profile" / "profiler" / "profiler_info_0.json")
        for path, directories, files in os.walk(base):  # a directory's time changes with what is in it, and is long past
            listed = zlib.crc32("/".join((*sorted(directories), "", *sorted(files))).encode())
            os.utime(path, (1e8 + listed % 1e8, 1e8 + listed % 1e8))
        for _ in range(1 + chance.randrange(2)):
            scanner.scan()
        if number % 5 == 4:
            for _ in range(30):
                found = scanner.scan()
            assert found == discover(base)


def test_many_files_of_profiles_are_not_looked_at_all_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at 10,000 ranks takes a second. A new rank, a request of the user and a scan without a share look at once."""
    now = [1000.0]
    looks: list[float] = []
    measured = scanner_module.measured

    def slow(source: Source) -> Source:
        looks.append(now[0])
        now[0] += 2.0
        return measured(source)

    monkeypatch.setattr(scanner_module, "measured", slow)
    monkeypatch.setattr(scanner_module.time, "monotonic", lambda: now[0])
    file = touch(tmp_path / "run/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv")
    scanner = Scanner(tmp_path, share=0.5)

    def size() -> int:
        return scanner.scan()[0].profile_size

    assert size() == 1
    file.write_bytes(b"xy")
    assert [size() for _ in range(3)] == [1, 1, 1]
    now[0] += 21.0  # ten times as long as a look takes
    assert size() == 2
    file.write_bytes(b"xyz")
    assert size() == 2
    scanner.forget()
    assert size() == 3
    touch(tmp_path / "run/rank1_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv")
    assert size() == 4
    assert len(looks) == 4
    file.write_bytes(b"wxyz")
    scanner = Scanner(tmp_path)
    assert size() == 5
    file.write_bytes(b"vwxyz")
    assert size() == 6


def test_a_scan_that_failed_half_way_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path / "a" / EVENTS)
    age(tmp_path)
    scanner = Scanner(tmp_path, share=0.5)
    assert len(scanner.scan()) == 1
    touch(tmp_path / "b" / EVENTS)
    touch(tmp_path / "c" / EVENTS)
    age(tmp_path)
    os.utime(tmp_path, (1.1e9, 1.1e9))
    scandir = os.scandir

    def failing(path: str) -> object:
        if os.path.basename(path) == "c":
            raise MemoryError
        return scandir(path)

    with monkeypatch.context() as broken:
        broken.setattr(os, "scandir", failing)
        with pytest.raises(MemoryError):
            scanner.scan()
    assert {source.name for source in scanner.scan()} == {"a", "b", "c"}


def test_files_of_a_very_large_directory_take_little_and_are_those_of_a_small_one(tmp_path: Path) -> None:
    count = 3 * MANY + 7
    for number in range(count):  # in another order by name than by time
        touch(tmp_path / f"{number % 7}.events.summary.{1_600_000_000 + number % 1000}.{number}.h_MS")
    for number in range(30):
        touch(tmp_path / f"c{29 - number:02}.yaml")
    age(tmp_path)
    tracemalloc.start()
    try:
        scanner = Scanner(tmp_path)
        (run,) = scanner.scan()
        (again,) = scanner.scan()
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert again is run
    assert len(run.files) == count + 20
    assert run.files == tuple(sorted(run.files, key=lambda file: (file.stamp or 0, file.path)))
    left_out = {f"c{number}.yaml" for number in range(20, 30)}
    assert {os.path.basename(file.path) for file in run.files} == set(os.listdir(tmp_path)) - left_out
    assert [problem.text for problem in run.problems] == [
        "Expected at most 20 files of kind config, found 30; the first 20 by name are read."
    ]
    assert {file.stamp for file in run.files if file.kind == "events"} == set(range(1_600_000_000, 1_600_001_000))
    assert held / count < 440  # it was 600, which a million files make 600 MB
