"""Remarks, tags and views: what is kept, by several at once, over restarts and damage."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
import tempfile
import time
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from app import create_app
from app.commands.settings import SettingError
from app.store import notes
from app.store.notes import Notes
from app.store.notes_format import Content, RunNote, SavedMark, SavedView, decode, encode
from app.store.store import Store
from layouts.notes import ICONS, Mark, Note, NoteChange, NotKept, Stale, Unfit, View, ordered_tags
from layouts.shell.run_list import listing

HARMLESS = "scalars?run=a&smooth=0.6"
SMALL = Content(
    {
        "k1": RunNote("/data/a", Note('best, "so"\nfar 训练', (":star", "paper"))),
        "k2": RunNote("/data/b", Note("", (":bug",))),
    },
    {"v1": SavedView("/data", View("v1", "Losses", HARMLESS))},
)


def says(text: str, was: str = "") -> NoteChange:
    return NoteChange(remark=text, was=was)


def remark(directory: Path, key: str, text: str) -> Note:
    kept = Notes(str(directory))
    found = kept.look().notes.get(key)
    return kept.annotate(key, f"/{key}", says(text, found.note.version if found else Note().version).applied)


# The file ------------------------------------------------------------------------------------------------------------


def test_a_file_is_lines_that_any_program_can_check() -> None:
    lines = encode(SMALL).decode("ascii").splitlines()
    records = [json.loads(line[9:]) for line in lines]
    assert [line[:8] for line in lines] == [f"{zlib.crc32(line[9:].encode()):08x}" for line in lines]
    assert records[0] == {"format": "mindscope notes", "version": 1}
    assert records[1] == {"run": "k1", "path": "/data/a", "remark": 'best, "so"\nfar 训练', "tags": [":star", "paper"]}
    assert records[3] == {"view": "v1", "base": "/data", "name": "Losses", "place": HARMLESS}
    assert records[-1] == {"records": 3}


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8"), max_size=5), st.tuples(st.text(), st.sets(st.sampled_from(ICONS))), max_size=4
    )
)
@settings(deadline=None)
def test_what_is_written_is_read(said) -> None:
    changes = {
        key: NoteChange(text, Note().version, tuple(f":{icon}" for icon in icons)) for key, (text, icons) in said.items()
    }
    content = Content({key: RunNote("/p", change.applied(Note())) for key, change in changes.items()}, {})
    assert decode(encode(content)) == (content, True)


def lost(content: Content) -> int:
    return sum(SMALL.notes[key] != content.notes.get(key) for key in SMALL.notes) + (SMALL.views != content.views)


MARKED = Content(SMALL.notes, SMALL.views, {"m1": SavedMark("k1", "/data/a", Mark("m1", "stall 停顿", "s", 3, (12, 2**60)))})


def test_marks_are_lines_of_version_2_and_files_without_any_stay_what_they_were() -> None:
    assert decode(encode(MARKED)) == (MARKED, True)
    lines = [json.loads(line[9:]) for line in encode(MARKED).decode("ascii").splitlines()]
    assert lines[0] == {"format": "mindscope notes", "version": 2}
    assert lines[4] == {"mark": "m1", "run": "k1", "path": "/data/a", "session": "s", "rank": 3, "name": "stall 停顿",
                        "times": [12, 2**60]}  # fmt: skip
    assert encode(SMALL).splitlines()[0] == encode(Content()).splitlines()[0]
    for place, byte in enumerate(encode(MARKED)):
        data = bytearray(encode(MARKED))
        data[place] ^= 1
        content, intact = decode(bytes(data))
        assert not intact
        assert (content.marks != MARKED.marks) + lost(content) <= (2 if byte == 0x0A else 1)


def test_marks_are_saved_replaced_and_deleted(tmp_path: Path) -> None:
    kept, other = Notes(str(tmp_path)), Notes(str(tmp_path))
    made = kept.save_mark("k1", "/data/a", Mark("m1", "  the   stall ", ".", 0, (90, 20)))
    assert (made.name, made.times) == ("the stall", (20, 90))
    assert other.look().marks["m1"].mark == made
    with pytest.raises(Stale):
        other.save_mark("k1", "/data/a", Mark("m2", "the stall", ".", 0, (5,)))
    moved = other.save_mark("k1", "/data/a", Mark("m2", "the stall", ".", 0, (5,)), instead=made.version)
    assert (moved.key, moved.times) == ("m1", (5,))
    other.save_mark("k1", "/data/a", Mark("m3", "the stall", ".", 1, (7,)))  # another rank
    with pytest.raises(Stale):
        kept.delete_mark("m1", made.version)
    kept.delete_mark("m1", moved.version)
    kept.delete_mark("m1", moved.version)
    assert list(kept.look().marks) == ["m3"]
    for times in ((), (1, 2, 3), (2**62,)):
        with pytest.raises(Unfit):
            kept.save_mark("k1", "/data/a", Mark("m4", "n", ".", 0, times))
    for session, rank in (("a\0b", 0), (".", 10**30), (".", -1)):
        with pytest.raises(Unfit):
            kept.save_mark("k1", "/data/a", Mark("m4", "n", session, rank, (1,)))


def test_a_mark_of_an_impossible_rank_in_the_file_is_left_out() -> None:
    content = Content(marks={"m1": SavedMark("k1", "/data/a", Mark("m1", "n", ".", 10**30, (5,)))})
    assert decode(encode(content))[0].marks == {}


def test_every_flipped_byte_is_noticed_and_costs_one_record() -> None:
    whole = encode(SMALL)
    for place in range(len(whole)):
        for bit in (0, 3, 7):
            data = bytearray(whole)
            data[place] ^= 1 << bit
            content, intact = decode(bytes(data))
            assert not intact, place
            assert lost(content) <= (2 if whole[place] == 0x0A else 1), place
            assert content.notes.keys() <= SMALL.notes.keys()


def test_a_cut_at_every_byte_is_noticed_and_costs_what_is_cut_off() -> None:
    whole = encode(SMALL)
    ends = [place for place, byte in enumerate(whole) if byte == 0x0A]
    for length in range(len(whole)):
        content, intact = decode(whole[:length])
        assert not intact, length
        complete = sum(end < length for end in ends)
        assert len(content.notes) + len(content.views) == min(max(complete - 1, 0), 3)


@given(st.binary(max_size=300))
def test_any_bytes_are_read(data: bytes) -> None:
    assert decode(data) == (Content(), False)


def test_a_damaged_file_is_kept_aside_and_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    data = encode(SMALL).replace(b"paper", b"pepar")
    path.write_bytes(data)
    kept = Notes(str(tmp_path))
    content = kept.look()
    assert (content.notes.keys(), content.views) == ({"k2"}, SMALL.views)
    (problem,) = kept.problems
    assert Path(problem.path).read_bytes() == data
    assert decode(path.read_bytes()) == (content, True)
    assert kept.annotate("k1", "/data/a", says("again", Note().version).applied).remark == "again"
    again = Notes(str(tmp_path))
    assert again.look().notes["k1"].note.remark == "again"
    assert again.problems == kept.problems  # told for as long as the copy is there
    os.remove(problem.path)
    remark(tmp_path, "k2", "now")
    again.look()
    assert again.problems == ()


def test_what_cannot_be_read_is_neither_emptied_nor_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "notes.jsonl"
    newer = encode(SMALL).split(b"\n", 1)[1]
    first = json.dumps({"format": "mindscope notes", "version": 3}).encode()
    path.write_bytes(b"%08x %s\n" % (zlib.crc32(first), first) + newer)
    written = path.read_bytes()
    kept = Notes(str(tmp_path))
    kept.look()
    assert "version" in kept.why_not
    assert kept.problems[0].kind == "unreadable"
    with pytest.raises(NotKept):
        kept.annotate("k", "/k", says("x").applied)
    assert path.read_bytes() == written
    monkeypatch.setattr(notes, "LARGEST", 10)
    path.write_bytes(encode(SMALL))
    with pytest.raises(NotKept, match="MiB"):
        kept.annotate("k", "/k", says("x").applied)
    path.unlink()
    path.mkdir()
    with pytest.raises(NotKept):
        kept.annotate("k", "/k", says("x").applied)
    assert path.is_dir()


def test_no_copy_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "notes.jsonl"
    data = encode(SMALL)[:-9]
    path.write_bytes(data)

    def full(_path: str, _to: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(notes, "_copy", full)
    kept = Notes(str(tmp_path))
    assert kept.look().notes == SMALL.notes  # what can be read is shown
    assert "No space left" in kept.why_not
    with pytest.raises(NotKept, match="No space left"):
        kept.annotate("k1", "/data/a", says("x").applied)
    assert path.read_bytes() == data


def test_the_file_is_this_users_alone_and_leaves_nothing_beside(tmp_path: Path) -> None:
    remark(tmp_path, "a", "x")
    assert sorted(os.listdir(tmp_path)) == ["notes.jsonl", "notes.lock"]
    assert {stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in os.listdir(tmp_path)} == {0o600}


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
    with pytest.raises(Unfit):
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
    with pytest.raises(Unfit):
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
TestManyWindows.settings = settings(max_examples=15, stateful_step_count=15, deadline=None)


def work(directory: str, number: int, times: int) -> None:
    """What another program does: a tag of its own and a remark on a run of its own, over and over."""
    kept = Notes(directory)
    for turn in range(times):
        kept.annotate("shared", "/shared", NoteChange(add=(f"{number}-{turn}",), remove=(f"{number}-{turn - 1}",)).applied)
        found = kept.look().notes.get(f"run{number}")
        was = found.note.version if found else Note().version
        kept.annotate(f"run{number}", "/", says(f"turn {turn}", was).applied)
        kept.save_view("/data", f"{number}-{turn}", f"view {number} {turn}", HARMLESS)


def test_programs_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    times = 25
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
    monkeypatch.setattr(notes, "PATIENCE", 0.05)
    with open(tmp_path / "notes.lock", "wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(NotKept, match="another program"):
            remark(tmp_path, "a", "x")
    assert remark(tmp_path, "a", "x").remark == "x"


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
    before = two.status().version
    one.annotate("one", NoteChange("good", Note().version, (":star",)))
    one.save_view("Mine", HARMLESS)
    assert two.status().version > before
    told = listing(two)["notebook"]
    assert told["kept"] is True
    assert told["notes"] == {"one": {"remark": "good", "tags": (":star",), "version": Note("good").version}}
    assert [view["name"] for view in told["views"]] == ["Mine"]
    version = two.status().version
    assert two.status().version == version
    with pytest.raises(KeyError):
        one.annotate("../one", says("x"))
    one.stop()
    two.stop()
    again = opened(base, tmp_path / "notes")
    assert again.notebook().notes["one"] == Note("good", (":star",))
    again.stop()
    assert os.listdir(base) == ["one"]
    other = Store([base / "one"], interval=0, notes_directory=str(tmp_path / "notes")).start()
    assert other.wait(30)
    assert [note.remark for note in other.notebook().notes.values()] == ["good"]  # by the run's real path, whatever its key
    assert other.notebook().views == ()  # its links name other keys
    other.stop()


def test_damage_is_told_with_the_problems(base: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir(mode=0o700)
    (tmp_path / "notes" / "notes.jsonl").write_bytes(b"nothing of ours")
    store = opened(base, tmp_path / "notes")
    assert store.status().problems == len(store.problems())
    assert any("damaged" in problem.path for _, problem in store.problems())
    store.stop()


def test_a_workspace_can_be_given_to_an_application(base: Path, tmp_path: Path) -> None:
    app = create_app(base, workspace=tmp_path / "work")
    assert app.source.wait(30)
    answer = app.server.test_client().post("/api/note", json={"run": "one", "add": [":star"]})
    assert answer.json == {"done": True, "now": {"remark": "", "tags": [":star"], "version": Note().version}}
    app.source.stop()
    with pytest.raises(SettingError, match="outside the runs"):
        create_app(base, workspace=base / "work")
    with pytest.raises(ValueError, match="FrameSource"):
        create_app(app.source, workspace=tmp_path / "work")
