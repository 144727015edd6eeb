"""Remarks, tags and views: what is kept, by several at once, over restarts and damage."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from app import create_app
from app.commands.settings import SettingError
from app.store.runs import locked_file
from app.store.runs.notes import MOST_WATCHED, Notes
from app.store.runs.notes_format import Content, SavedWatchList, encode
from app.store.store import Store
from layouts.dumps.watchpoints import WatchList
from layouts.kit.user_input import InvalidInput
from layouts.runs.notes import Note, NoteChange, NotKept, Stale, ordered_tags
from layouts.shell.run_list import listing
from tests.amounts import examples, some_or_every
from tests.app.store.runs.some_notes import HARMLESS, POINTS, remark, says

# Changes -------------------------------------------------------------------------------------------------------------


def test_fields_merge_and_one_field_gives_both(tmp_path: Path) -> None:
    one, two = Notes(str(tmp_path)), Notes(str(tmp_path))
    empty = Note().version
    first = one.annotate("a", "/a", says("mine", empty).applied)
    with pytest.raises(Stale) as stale:
        two.annotate("a", "/a", says("theirs", empty).applied)
    assert stale.value.now == first
    assert two.annotate("a", "/a", NoteChange(add=("paper", ":star")).applied) == Note("mine", (":star", "paper"))
    assert one.annotate("a", "/a", NoteChange(remove=("paper",), add=(":bug",)).applied).tags == (":star", ":bug")
    assert two.annotate("a", "/a", says("theirs", first.version).applied).remark == "theirs"
    assert one.annotate("a", "/a", says("theirs", empty).applied).remark == "theirs"  # the same thing twice is no quarrel
    assert one.look() == two.look()


def test_a_note_without_anything_is_not_kept(tmp_path: Path) -> None:
    note = remark(tmp_path, "a", "x")
    kept = Notes(str(tmp_path))
    assert kept.annotate("a", "/a", says("  ", note.version).applied) == Note()
    assert kept.look().notes == {}


def test_revision_tells_of_changes_by_others_only_when_there_are_any(tmp_path: Path) -> None:
    one, two = Notes(str(tmp_path)), Notes(str(tmp_path))
    before = one.revision
    one.look()
    assert one.revision == before
    for turn in range(30):  # faster than the clock of some file systems
        two.annotate("a", "/a", NoteChange(add=("x",)).applied if turn % 2 == 0 else NoteChange(remove=("x",)).applied)
        one.look()
        assert one.revision == before + turn + 1


@pytest.mark.parametrize("change", [
    NoteChange("x" * 10_001, Note().version), NoteChange(add=("",)), NoteChange(add=("  ",)), NoteChange(add=("a,b",)),
    NoteChange(add=("x" * 41,)), NoteChange(add=(":nothing",)), NoteChange(add=(" :star",)),
    NoteChange(add=tuple(f"t{n}" for n in range(11))),
])  # fmt: skip
def test_what_does_not_fit_is_refused(change: NoteChange) -> None:
    with pytest.raises(InvalidInput):
        change.applied(Note())


def test_text_is_text() -> None:
    text = "<img src=x onerror=alert(1)>\u202e\r\nnext\x00\ud800"
    assert says(text, Note().version).applied(Note()).remark == "<img src=x onerror=alert(1)>\ufffd\nnext\ufffd\ufffd"
    assert ordered_tags(["b", ":eye", "a", ":star", "a"]) == (":star", ":eye", "a", "b")


@pytest.mark.parametrize(("place", "kept"), [
    ("", ""), ("scalars", "scalars"), ("scalars?run=a&run=b%2Fc", "scalars?run=a&run=b%2Fc"), ("?q=x", "?q=x"),
    ("lineage?embed=1&run=a&token=secret", "lineage?run=a"), ("lineage?embed=1", "lineage"), ("x?", "x"),
])  # fmt: skip
def test_places_of_our_own(tmp_path: Path, place: str, kept: str) -> None:
    assert Notes(str(tmp_path)).save_view("/data", "1", "n", place).place == kept


@pytest.mark.parametrize("place", [
    "http://evil.example/", "//evil.example", "/scalars", "javascript:alert(1)", "scalars/../x", "Scalars", "scalars#x",
    "data:text/html,x", "scalars?run=<b>", "scalars?run=\"", "scalars?run=a b", "scalars?a\nb", "\\\\evil", "scalars\n", "标量",
    "x?" + "a" * 60_000,
])  # fmt: skip
def test_other_places_are_refused(tmp_path: Path, place: str) -> None:
    with pytest.raises(InvalidInput):
        Notes(str(tmp_path)).save_view("/data", "1", "n", place)
    assert os.listdir(tmp_path) == []


def test_views_are_saved_renamed_and_deleted(tmp_path: Path) -> None:
    one, two = Notes(str(tmp_path)), Notes(str(tmp_path))
    made = one.save_view("/data", "1", "  Losses \n of today", HARMLESS)
    assert made.name == "Losses of today"
    with pytest.raises(Stale) as stale:  # overwriting asks
        two.save_view("/data", "2", made.name, "images")
    assert stale.value.now == made
    other = two.save_view("/data", "2", made.name, "images", instead=made.version)
    assert (other.key, other.place) == ("1", "images")
    assert one.save_view("/other", "3", made.name, "text").key == "3"  # views of other runs have names of their own
    with pytest.raises(Stale):
        one.rename_view("/data", "1", "Images", made.version)
    renamed = one.rename_view("/data", "1", "Images", other.version)
    two.save_view("/data", "4", "Losses", HARMLESS)
    with pytest.raises(Stale):  # the name is taken
        two.rename_view("/data", "1", "Losses", renamed.version)
    with pytest.raises(Stale):
        two.delete_view("/data", "1", other.version)
    two.delete_view("/data", "1", renamed.version)
    two.delete_view("/data", "1", renamed.version)
    with pytest.raises(Stale):
        one.rename_view("/data", "1", "Gone", renamed.version)
    left = [(one.base, one.view.name) for one in two.look().views.values()]
    assert left == [("/other", "Losses of today"), ("/data", "Losses")]


class ManyWindows(RuleBasedStateMachine):
    """Windows that change notes of one file over what each of them last saw, against a plain dict of texts and sets."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        self.windows = [Notes(self.directory.name) for _ in range(3)]
        self.seen = [{run: Note() for run in "ab"} for _ in range(3)]
        self.texts = {"a": "", "b": ""}
        self.tags: dict[str, set[str]] = {"a": set(), "b": set()}

    @rule(window=st.integers(0, 2), run=st.sampled_from("ab"))
    def look(self, window: int, run: str) -> None:
        found = self.windows[window].look().notes.get(run)
        self.seen[window][run] = found.note if found else Note()
        assert self.seen[window][run] == Note(self.texts[run], ordered_tags(self.tags[run]))

    @rule(window=st.integers(0, 2), run=st.sampled_from("ab"), text=st.sampled_from(["", "x", "y", "z"]))
    def say(self, window: int, run: str, text: str) -> None:
        was = self.seen[window][run].remark
        try:
            self.windows[window].annotate(run, "/", says(text, self.seen[window][run].version).applied)
        except Stale:
            assert was != self.texts[run] != text
        else:
            assert was == self.texts[run] or text == self.texts[run]
            self.texts[run] = text

    @rule(window=st.integers(0, 2), run=st.sampled_from("ab"), tag=st.sampled_from([":star", "p", "q"]), on=st.booleans())
    def tag(self, window: int, run: str, tag: str, on: bool) -> None:
        change = NoteChange(add=(tag,)) if on else NoteChange(remove=(tag,))
        self.windows[window].annotate(run, "/", change.applied)
        (self.tags[run].add if on else self.tags[run].discard)(tag)

    @invariant()
    def nothing_is_lost(self) -> None:
        found = Notes(self.directory.name).look().notes
        for run in "ab":
            note = found[run].note if run in found else Note()
            assert note == Note(self.texts[run], ordered_tags(self.tags[run]))

    def teardown(self) -> None:
        self.directory.cleanup()


TestManyWindows = ManyWindows.TestCase
TestManyWindows.settings = settings(max_examples=examples(15), stateful_step_count=15, deadline=None)


def work(directory: str, number: int, times: int) -> None:
    """What another program does: a tag of its own and a remark on a run of its own, over and over."""
    kept = Notes(directory)
    for turn in range(times):
        kept.annotate("shared", "/shared", NoteChange(add=(f"{number}-{turn}",), remove=(f"{number}-{turn - 1}",)).applied)
        found = kept.look().notes.get(f"run{number}")
        was = found.note.version if found else Note().version
        kept.annotate(f"run{number}", "/", says(f"turn {turn}", was).applied)
        kept.save_view("/data", f"{number}-{turn}", f"view {number} {turn}", HARMLESS)


@pytest.mark.long
@some_or_every
def test_programs_that_write_at_once_lose_nothing(tmp_path: Path, every: bool) -> None:
    context = multiprocessing.get_context("spawn")
    times = 25 if every else 2
    workers = [context.Process(target=work, args=(str(tmp_path), number, times)) for number in range(3)]
    for worker in workers:
        worker.start()
    reader = Notes(str(tmp_path))
    while any(worker.is_alive() for worker in workers):
        reader.look()  # never a half-written file
        assert reader.problems == ()
        time.sleep(0.002)
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    content = reader.look()
    assert content.notes["shared"].note.tags == tuple(f"{number}-{times - 1}" for number in range(3))
    assert [content.notes[f"run{number}"].note.remark for number in range(3)] == [f"turn {times - 1}"] * 3
    assert len(content.views) == 3 * times


def test_a_program_that_holds_the_file_is_waited_for_and_then_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(locked_file, "PATIENCE", 0.05)
    with open(tmp_path / "notes.lock", "wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(NotKept, match="another program"):
            remark(tmp_path, "a", "x")
    assert remark(tmp_path, "a", "x").remark == "x"


@pytest.fixture(scope="module")
def numbered_runs() -> dict[str, SavedWatchList]:
    return {f"k{number}": SavedWatchList("/p", WatchList(POINTS[1:])) for number in range(MOST_WATCHED)}


def test_the_runs_with_watchpoints_are_limited(tmp_path: Path, numbered_runs: dict[str, SavedWatchList]) -> None:
    (tmp_path / "notes.jsonl").write_bytes(encode(Content(watched=numbered_runs)))
    kept = Notes(str(tmp_path))
    with pytest.raises(InvalidInput, match="at most 1,000 runs"):
        kept.save_watchpoints("more", "/p", WatchList(POINTS), WatchList().version)
    kept.save_watchpoints("k1", "/p", WatchList(), WatchList(POINTS[1:]).version)
    assert kept.save_watchpoints("more", "/p", WatchList(POINTS), WatchList().version) == WatchList(POINTS)


# The store -------------------------------------------------------------------------------------------------------


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "runs" / "one").mkdir(parents=True)
    (tmp_path / "runs" / "one" / "x.summary.1.host").write_bytes(b"")
    return tmp_path / "runs"


def opened(base: Path, workspace: Path) -> Store:
    workspace.mkdir(mode=0o700, exist_ok=True)
    store = Store([base], interval=0, notes_directory=str(workspace)).start()
    assert store.wait(30)
    return store


def test_notes_survive_a_restart_and_reach_another_window(base: Path, tmp_path: Path) -> None:
    one, two = (opened(base, tmp_path / "notes") for _ in range(2))
    before = two.runs.status().version
    one.notes.annotate("one", NoteChange("good", Note().version, (":star",)))
    one.notes.save_view("Mine", HARMLESS)
    assert two.runs.status().version > before
    told = listing(two)["notebook"]
    assert told["kept"] is True
    assert told["notes"] == {"one": {"remark": "good", "tags": (":star",), "by": "", "version": Note("good").version}}
    assert [view["name"] for view in told["views"]] == ["Mine"]
    version = two.runs.status().version
    assert two.runs.status().version == version
    with pytest.raises(KeyError):
        one.notes.annotate("../one", says("x"))
    one.stop()
    two.stop()
    again = opened(base, tmp_path / "notes")
    assert again.notes.notebook().notes["one"] == Note("good", (":star",))
    again.stop()
    assert os.listdir(base) == ["one"]
    other = Store([base / "one"], interval=0, notes_directory=str(tmp_path / "notes")).start()
    assert other.wait(30)
    # By the run's real path, whatever its key.
    assert [note.remark for note in other.notes.notebook().notes.values()] == ["good"]
    assert other.notes.notebook().views == ()  # its links name other keys
    other.stop()


def test_watchpoints_of_a_run_survive_a_restart(base: Path, tmp_path: Path) -> None:
    store = opened(base, tmp_path / "notes")
    assert store.notes.notebook().watchpoints == {}
    store.notes.save_watchpoints("one", WatchList(POINTS), WatchList().version)
    with pytest.raises(KeyError):
        store.notes.save_watchpoints("../one", WatchList(POINTS), WatchList().version)
    with pytest.raises(InvalidInput, match="regular expression"):
        store.notes.save_watchpoints("one", WatchList((replace(POINTS[1], pattern="(a"),)), WatchList(POINTS).version)
    store.stop()
    again = opened(base, tmp_path / "notes")
    assert again.notes.notebook().watchpoints == {"one": WatchList(POINTS)}
    assert "watchpoints" not in listing(again)["notebook"]  # every page asks for the list of runs
    again.stop()


def test_damage_is_told_with_the_problems(base: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir(mode=0o700)
    (tmp_path / "notes" / "notes.jsonl").write_bytes(b"nothing of ours")
    store = opened(base, tmp_path / "notes")
    assert store.runs.status().problems == len(store.runs.problems())
    assert any("damaged" in problem.path for _, problem in store.runs.problems())
    store.stop()


def test_a_workspace_can_be_given_to_an_application(base: Path, tmp_path: Path) -> None:
    app = create_app(base, workspace=tmp_path / "work")
    assert app.source.wait(30)
    answer = app.server.test_client().post("/api/note", json={"run": "one", "add": [":star"]})
    assert answer.json == {"done": True, "now": {"remark": "", "tags": [":star"], "by": "", "version": Note().version}}
    app.source.stop()
    with pytest.raises(SettingError, match="outside the runs"):
        create_app(base, workspace=base / "work")
    with pytest.raises(ValueError, match="Sources"):
        create_app(app.source, workspace=tmp_path / "work")
