"""Texts of tables of values (assets/kit/tensor_grid/)."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "tensor_grid.format": ("Notation", "显示格式"),
    "tensor_grid.format.value": "common.value",
    "tensor_grid.format.sci": ("Scientific", "科学计数法"),
    "tensor_grid.digits": ("Decimals", "小数位数"),
    "tensor_grid.dims": "common.dimensions",
    "tensor_grid.box": (
        "Dimension {dim} of size {size}: an index up to {last}, a negative one from the end, or a range such as 2:5",
        "第 {dim} 维，大小 {size}：可输入至 {last} 的索引、从末尾算起的负索引，或 2:5 形式的范围",
    ),
    "tensor_grid.table": ("Values of the tensor; arrow keys move", "张量数值；用方向键移动"),
    "tensor_grid.keys": ("↑ ↓ ← → PgUp PgDn Home End, with Ctrl to the ends", "↑ ↓ ← → PgUp PgDn Home End，加 Ctrl 到端点"),
    "tensor_grid.next_bad": ("Next NaN or Inf", "下一个 NaN 或 Inf"),
    "tensor_grid.next_bad.title": (
        "Go to the next value of the whole tensor that is not finite (n)", "转到整个张量中下一个非有限值（n）",
    ),
    "tensor_grid.empty": ("This tensor has no values: its shape is {shape}.", "该张量没有数值：形状为 {shape}。"),
    "tensor_grid.unanswered": "common.the_server_did_not_answer",
})  # fmt: skip
