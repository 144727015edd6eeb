"""Texts of "Add to board", which every page has."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "boards.add": ("Add to a board", "添加到看板"),
    "boards.add_page": ("Add this page to a board", "将此页添加到看板"),
    "boards.new_name": "common.name_of_a_new_board",
    "boards.create": ("Create", "新建"),
    "boards.cards": "common.n_cards",
    "boards.added": ("Added to {name}.", "已添加到 {name}。"),
    "boards.open": ("Open the board", "打开看板"),
    "boards.gone": ("the board was deleted meanwhile", "该看板已被删除"),
})
