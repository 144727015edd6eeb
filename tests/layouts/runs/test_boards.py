"""Boards as data: what is valid, where a new card goes, and whose change wins."""

from __future__ import annotations

import random
from dataclasses import replace

import msgspec
import pytest

from layouts.kit.user_input import InvalidInput
from layouts.runs.boards import (
    COLUMNS,
    LONGEST_TEXT,
    MOST_CARDS,
    Board,
    BoardCard,
    BoardChange,
    CardChange,
    free_place,
    new_name,
)  # fmt: skip

KEYS = [f"{number:016x}" for number in range(300)]
LOSS = BoardCard(KEYS[0], "scalars?run=a", "key:loss")
TEXT = BoardCard(KEYS[1], text="# Daily", x=4)
BOARD = Board(KEYS[9], "Daily", (LOSS, TEXT))


def test_a_board_without_cards_is_valid() -> None:
    assert Board(KEYS[0], " Daily\nboard ").checked() == Board(KEYS[0], "Daily board")


@pytest.mark.parametrize("card", [
    replace(LOSS, x=9), replace(LOSS, x=-1), replace(LOSS, w=0), replace(LOSS, w=13), replace(LOSS, h=1), replace(LOSS, h=61),
    replace(LOSS, y=-1), replace(LOSS, y=10**30), replace(LOSS, place="board"), replace(LOSS, place="board?board=x"),
    replace(LOSS, place="//evil.example"), replace(LOSS, place="javascript:alert(1)"), replace(LOSS, place="scalars#x"),
    replace(LOSS, text="both"), replace(TEXT, text="x" * (LONGEST_TEXT + 1)), replace(LOSS, part="x" * 4_001),
    replace(LOSS, title="x" * 201), replace(LOSS, key="../x"), replace(LOSS, key=""),
])  # fmt: skip
def test_other_cards_are_refused(card: BoardCard) -> None:
    with pytest.raises(InvalidInput):
        Board(KEYS[9], "Daily", (card,)).checked()


def test_boards_are_bounded() -> None:
    with pytest.raises(InvalidInput, match="at most 100 on a board, found 101"):
        Board(KEYS[0], "x", tuple(BoardCard(key) for key in KEYS[: MOST_CARDS + 1])).checked()
    with pytest.raises(InvalidInput, match="1,000,000 characters"):
        Board(KEYS[0], "x", tuple(BoardCard(key, text="x" * LONGEST_TEXT) for key in KEYS[:51])).checked()
    with pytest.raises(InvalidInput, match="same key"):
        Board(KEYS[0], "x", (LOSS, LOSS)).checked()


def test_what_belongs_to_a_window_is_dropped() -> None:
    card = replace(LOSS, place="scalars?embed=1&card=key%3Aloss&run=a&token=t", title=" a\n b ").checked()
    assert (card.place, card.title) == ("scalars?run=a", "a b")


@pytest.mark.parametrize("tag", ["\u202eloss\u2066", " loss ", "a\u2028b", "</script><script>alert(1)</script>", "a\r\nb\x00"])
def test_the_tag_of_a_card_is_kept_to_the_character(tag: str) -> None:
    assert replace(LOSS, part=f"key:{tag}").checked().part == f"key:{tag}"
    assert replace(LOSS, part="key:\ud800").checked().part == "key:\ufffd"


def test_a_new_card_covers_no_other() -> None:
    assert free_place([], 4, 7) == (0, 0)
    picked = random.Random(7)
    cards: list[BoardCard] = []
    for key in KEYS[:60]:
        w, h = picked.randint(1, COLUMNS), picked.randint(2, 12)
        x, y = free_place(cards, w, h)
        cards.append(BoardCard(key, x=x, y=y, w=w, h=h).checked())
    cells = [(x, y) for card in cards for x in range(card.x, card.x + card.w) for y in range(card.y, card.y + card.h)]
    assert len(cells) == len(set(cells))


def test_changes_of_different_fields_both_count() -> None:
    moved = BoardChange((CardChange(LOSS.key, x=8, y=3),)).applied(BOARD)
    titled = BoardChange((CardChange(LOSS.key, title="Mine", was=LOSS.version),))
    assert titled.applied(moved).cards[0] == replace(LOSS, x=8, y=3, title="Mine")
    assert titled.overridden(moved) == ()


def test_the_last_change_wins_and_says_what_it_overrides() -> None:
    theirs = BoardChange((CardChange(TEXT.key, text="theirs", was=TEXT.version),)).applied(BOARD)
    mine = BoardChange((CardChange(TEXT.key, text="mine", was=TEXT.version),))
    assert mine.applied(theirs).cards[1].text == "mine"
    assert mine.overridden(theirs) == (replace(TEXT, text="theirs"),)
    assert BoardChange((CardChange(TEXT.key, text="theirs", was=TEXT.version),)).overridden(theirs) == ()  # the same


def test_what_a_change_replaces_without_having_seen_it_is_lost() -> None:
    theirs = BoardChange((CardChange(LOSS.key, w=LOSS.w + 1, h=LOSS.h + 1),)).applied(BOARD)
    narrower = CardChange(LOSS.key, w=LOSS.w - 1, seen={"w": LOSS.w})
    assert BoardChange((narrower,)).lost(BOARD) == []  # nobody changed it
    assert BoardChange((narrower,)).lost(theirs) == [(LOSS.key, "w", LOSS.w + 1)]
    assert BoardChange((replace_seen(narrower, LOSS.w + 1),)).lost(theirs) == []  # it was seen
    assert BoardChange((CardChange(LOSS.key, w=LOSS.w + 1, seen={"w": LOSS.w}),)).lost(theirs) == []  # the same
    assert BoardChange((CardChange(LOSS.key, x=LOSS.x + 1, seen={"x": LOSS.x}),)).lost(theirs) == []  # another field
    assert BoardChange((CardChange(LOSS.key, w=LOSS.w - 1),)).lost(theirs) == []  # no browser: nothing was on screen


def replace_seen(change: CardChange, w: int) -> CardChange:
    return msgspec.structs.replace(change, seen={"w": w})


def test_a_changed_card_comes_back_if_somebody_removed_it() -> None:
    without = BoardChange(remove=(TEXT.key,)).applied(BOARD)
    assert without.cards == (LOSS,)
    back = BoardChange((CardChange(TEXT.key, text="mine", was=TEXT.version),)).applied(without)
    assert [(card.key, card.text) for card in back.cards] == [(LOSS.key, ""), (TEXT.key, "mine")]


def test_a_moved_card_does_not_come_back_if_somebody_removed_it() -> None:
    without = BoardChange(remove=(TEXT.key,)).applied(BOARD)
    change = BoardChange((CardChange(TEXT.key, x=1, y=2), CardChange(LOSS.key, x=3)))
    assert change.applied(without).cards == (replace(LOSS, x=3),)


def test_names_that_are_taken_get_a_number() -> None:
    assert new_name(" a ", []) == "a"
    assert new_name("a", ["a", "a (2)"]) == "a (3)"
    assert len(new_name("x" * 100, ["x" * 100])) <= 100


def test_the_version_of_a_card_does_not_depend_on_where_it_is() -> None:
    assert replace(LOSS, x=3, y=9, w=2, h=4).version == LOSS.version
    assert len({replace(LOSS, **{name: "x"}).version for name in ("place", "part", "title")} | {LOSS.version}) == 4
    assert BoardCard(KEYS[0], "").version != BoardCard(KEYS[0]).version
    assert replace(BOARD, cards=(replace(LOSS, x=1), TEXT)).version != BOARD.version
