"""Boards in the file of notes: kept, changed by two windows at once, deleted and restored; files of older versions are read."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from app.store.runs.notes import Notes
from app.store.runs.notes_format import Content, SavedBoard, SavedColour, SavedView, decode, encode
from layouts.kit.user_input import InvalidInput
from layouts.runs.boards import MOST_BOARDS, MOST_LOST_CHARACTERS, Board, BoardCard, BoardChange, CardChange
from layouts.runs.notes import NamedView, NotKept, Stale

BASE = "/data"
KEYS = [f"{number:016x}" for number in range(300)]
CARDS = (
    BoardCard(KEYS[0], "scalars?run=a&q=%5Eloss", "key:loss", "Loss", w=6),
    BoardCard(KEYS[1], text="# 每日\n<b>x</b>", x=6),
)


def test_boards_are_kept_and_their_version_rises_the_format(tmp_path: Path) -> None:
    made = Notes(str(tmp_path)).create_board(BASE, KEYS[9], "Daily", CARDS)
    assert made == Board(KEYS[9], "Daily", CARDS)
    again = Notes(str(tmp_path))
    assert again.look().boards == {KEYS[9]: SavedBoard(BASE, made)}
    assert again.problems == ()
    lines = [json.loads(line[9:]) for line in (tmp_path / "notes.jsonl").read_bytes().splitlines()]
    assert lines[0] == {"format": "mindscope notes", "version": 5}
    assert [sorted(line) for line in lines[1:-1]] == [
        ["base", "board", "name"], *[["card", "h", "of", "part", "place", "text", "title", "w", "x", "y"]] * 2]  # fmt: skip


@pytest.mark.parametrize(("content", "version"), [
    (Content(), 1), (Content(colours={"a": SavedColour("/a", "#2e9ac8")}), 4),
    (Content(boards={KEYS[9]: SavedBoard(BASE, Board(KEYS[9], "x"))}), 5),
])  # fmt: skip
def test_programs_of_older_versions_read_files_without_boards(content: Content, version: int) -> None:
    data = encode(content)
    assert json.loads(data.splitlines()[0][9:])["version"] == version
    assert decode(data) == (content, True)


def test_one_damaged_card_costs_one_card(tmp_path: Path) -> None:
    kept = Notes(str(tmp_path))
    kept.create_board(BASE, KEYS[9], "Daily", CARDS)
    data = (tmp_path / "notes.jsonl").read_bytes().replace(b"%5Eloss", b"%5Eloxx")
    (tmp_path / "notes.jsonl").write_bytes(data)
    again = Notes(str(tmp_path))
    assert again.look().boards[KEYS[9]].board == Board(KEYS[9], "Daily", CARDS[1:])
    assert len(again.problems) == 1


def test_hostile_lines_are_left_out() -> None:
    board = Content(boards={KEYS[9]: SavedBoard(BASE, Board(KEYS[9], "x", (BoardCard(KEYS[0], "board"),)))})
    content, whole = decode(encode(board))
    assert (content.boards[KEYS[9]].board.cards, whole) == ((), False)
    many = Board(KEYS[9], "x", tuple(BoardCard(key) for key in KEYS[:150]))
    content, whole = decode(encode(Content(boards={KEYS[9]: SavedBoard(BASE, many)})))
    assert (len(content.boards[KEYS[9]].board.cards), whole) == (100, False)


def test_two_windows_change_cards_at_once(tmp_path: Path) -> None:
    one, two = Notes(str(tmp_path)), Notes(str(tmp_path))
    one.create_board(BASE, KEYS[9], "Daily", CARDS)

    def move(kept: Notes, card: BoardCard, **fields: int) -> None:
        for turn in range(20):
            change = CardChange(card.key, y=turn, **fields)
            assert kept.change_board(BASE, KEYS[9], BoardChange((change,))).overridden == ()

    threads = [threading.Thread(target=move, args=(kept, card)) for kept, card in ((one, CARDS[0]), (two, CARDS[1]))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [card.y for card in Notes(str(tmp_path)).look().boards[KEYS[9]].board.cards] == [19, 19]


def test_the_last_text_wins_and_the_other_is_returned(tmp_path: Path) -> None:
    one, two = Notes(str(tmp_path)), Notes(str(tmp_path))
    one.create_board(BASE, KEYS[9], "Daily", CARDS)
    was = CARDS[1].version
    one.change_board(BASE, KEYS[9], BoardChange((CardChange(KEYS[1], text="one", was=was),)))
    found = two.change_board(BASE, KEYS[9], BoardChange((CardChange(KEYS[1], text="two", was=was),)))
    assert [card.text for card in found.overridden] == ["one"]
    assert found.board.cards[1].text == "two"


def test_lost_fields_are_kept_in_their_order_and_numbered(tmp_path: Path) -> None:
    kept = Notes(str(tmp_path))
    kept.create_board(BASE, KEYS[9], "Daily", CARDS)
    card = CARDS[0]
    for w in (1, 2, 3):
        kept.change_board(BASE, KEYS[9], BoardChange((CardChange(card.key, w=w, seen={"w": card.w}),)))
    found = kept.lost_fields(KEYS[9])
    assert [(one["key"], one["name"], one["value"]) for one in found] == [(card.key, "w", 1), (card.key, "w", 2)]
    assert found[0]["number"] < found[1]["number"]
    assert kept.lost_fields(KEYS[8]) == []


def test_what_is_remembered_as_lost_is_limited_and_leaves_with_its_board(tmp_path: Path) -> None:
    kept = Notes(str(tmp_path))
    kept.create_board(BASE, KEYS[9], "Daily", CARDS)
    for turn in range(12):
        text = f"{turn:x}" * 20_000
        kept.change_board(BASE, KEYS[9], BoardChange((CardChange(KEYS[1], text=text, seen={"text": "old"}),)))
    found = kept.lost_fields(KEYS[9])
    assert [str(one["value"])[0] for one in found] == ["6", "7", "8", "9", "a"]
    assert sum(len(str(one["value"])) for one in found) <= MOST_LOST_CHARACTERS
    kept.delete_board(BASE, KEYS[9])
    kept.create_board(BASE, KEYS[9], "Daily", CARDS)
    assert kept.lost_fields(KEYS[9]) == []


def test_nothing_is_lost_by_a_change_that_cannot_be_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Notes(str(tmp_path))
    kept.create_board(BASE, KEYS[9], "Daily", CARDS)
    change = BoardChange((CardChange(CARDS[0].key, w=1, seen={"w": 2}),))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        with pytest.raises(NotKept):
            kept.change_board(BASE, KEYS[9], change)
    assert kept.lost_fields(KEYS[9]) == []
    kept.change_board(BASE, KEYS[9], change)
    assert [one["value"] for one in kept.lost_fields(KEYS[9])] == [6]


def test_nothing_is_lost_by_a_change_that_is_refused(tmp_path: Path) -> None:
    kept = Notes(str(tmp_path))
    kept.create_board(BASE, KEYS[9], "Daily", CARDS)
    with pytest.raises(InvalidInput):
        kept.change_board(BASE, KEYS[9], BoardChange((CardChange(CARDS[0].key, w=1000, seen={"w": 2}),)))
    assert kept.lost_fields(KEYS[9]) == []


def test_a_board_is_deleted_and_restored_under_its_address(tmp_path: Path) -> None:
    kept = Notes(str(tmp_path))
    made = kept.create_board(BASE, KEYS[9], "Daily", CARDS)
    assert kept.delete_board("/other", KEYS[9]) is None
    assert kept.delete_board(BASE, KEYS[9]) == made
    assert kept.delete_board(BASE, KEYS[9]) is None
    with pytest.raises(Stale):
        kept.change_board(BASE, KEYS[9], BoardChange(name="x"))
    assert kept.create_board(BASE, made.key, made.name, made.cards) == made


def test_names_differ_within_a_base(tmp_path: Path) -> None:
    kept = Notes(str(tmp_path))
    places = ((BASE, KEYS[1]), (BASE, KEYS[2]), ("/b", KEYS[3]))
    names = [kept.create_board(base, key, "Daily", ()).name for base, key in places]
    assert names == ["Daily", "Daily (2)", "Daily"]


def test_boards_are_limited(tmp_path: Path) -> None:
    boards = {key: SavedBoard(BASE, Board(key, key)) for key in KEYS[:MOST_BOARDS]}
    views = {"v": SavedView(BASE, NamedView("v", "v", ""))}
    (tmp_path / "notes.jsonl").write_bytes(encode(Content(boards=boards, views=views)))
    kept = Notes(str(tmp_path))
    with pytest.raises(InvalidInput, match="at most 200"):
        kept.create_board(BASE, KEYS[250], "more", ())
    with pytest.raises(InvalidInput, match="width"):
        kept.change_board(BASE, KEYS[0], BoardChange((CardChange(KEYS[1], text="x", w=13),)))
    assert kept.look().boards[KEYS[0]].board.cards == ()
