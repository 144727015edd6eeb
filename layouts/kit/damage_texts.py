"""Texts of the empty state of data that damage may have taken."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "damage.hint": (
        "Files of these runs are damaged, so the data may have been lost:", "这些训练的文件已损坏，相应数据可能已丢失：",
    ),
    "damage.all": ("Show all problems", "显示全部问题"),
})  # fmt: skip
