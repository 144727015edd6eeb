"""Texts of expressions: the dialog that takes one, its errors, and what a card says of a derived curve."""

from __future__ import annotations

from parsers.analysis.curves.expressions import (
    EXPECTED,
    FUNCTIONS,
    MOST_CHARACTERS,
    MOST_DEPTH,
    MOST_OPERATIONS,
    MOST_TAGS,
    MOST_WINDOW,
    ExpressionError,
    shown,
)

from layouts.kit.i18n import both, define_texts

_FUNCTIONS = ", ".join(FUNCTIONS)
_ZH = {
    "value": "标签、数字、函数或 (",
    "operator": "+、-、*、/ 或结尾",
    "operator or )": "+、-、*、/ 或 )",
    "comma": "逗号和第二个参数",
    "window": f"1 到 {MOST_WINDOW:,} 的整数窗口（点数或步数），如 20 或 100 steps",
    "points or steps": "points、steps 或 )",
    "function": f"以下函数之一：{_FUNCTIONS}",
    "closing quote": "与之配对的右引号",
    "tag": "至少一个标签",
    "argument with a tag": "含有标签的参数",
    "finite number": "有限的数字",
    "fewer brackets": f"至多 {MOST_DEPTH} 层括号",
    "fewer operations": f"标签、数字和运算合计至多 {MOST_OPERATIONS} 个",
    "fewer tags": f"至多 {MOST_TAGS} 个不同的标签",
    "fewer characters": f"至多 {MOST_CHARACTERS:,} 个字符",
}

TEXTS = define_texts({
    "expr.add": ("Expression", "表达式"),
    "expr.add.title": ("Add a curve computed from tags", "添加由标签计算得到的曲线"),
    "expr.add.column": ("Add a column computed from tags", "添加由标签计算得到的列"),
    "expr.new.column": ("New column of an expression", "新建表达式列"),
    "expr.new": ("New derived curve", "新建派生曲线"),
    "expr.change": ("Change the derived curve", "修改派生曲线"),
    "expr.field": ("Expression over tags", "标签表达式"),
    "expr.hint": (
        "For example train/loss - val/loss. Put other names in quotes: 'grad-norm'. With spaces a / divides: a / b.",
        "例如 train/loss - val/loss。含其他字符的名称加引号：'grad-norm'。两侧有空格的 / 表示除法：a / b。",
    ),
    "expr.functions": (
        ("abs  exp  log  log10  sqrt  min(x, y)  max(x, y)\nmean(x, 20)  mean of 20 points;  mean(x, 100 steps)  of 100 steps\n"
        "diff(x)  change since the point before;  rate(x)  the same per step"),
        ("abs  exp  log  log10  sqrt  min(x, y)  max(x, y)\nmean(x, 20)  20 个点的滑动均值；"
        "mean(x, 100 steps)  100 步的滑动均值\ndiff(x)  与前一点之差；rate(x)  每步的变化量"),
    ),
    "expr.tags": "common.tags",
    "expr.set": "common.set",
    "expr.cancel": "common.cancel",
    "expr.delete": ("Delete the derived curve", "删除派生曲线"),
    "expr.edit": ("Change the expression", "修改表达式"),
    "expr.fine": ("Valid", "表达式有效"),
    "expr.no_answer": "common.the_server_does_not_answer",
    "expr.unknown": ("No run here has {tags}.", "这里的训练都没有 {tags}。"),
    "expr.unknown.slash": (
        "No run here has {tags}. With spaces a slash divides: {divided}",
        "这里的训练都没有 {tags}。斜杠两侧加空格表示除法：{divided}",
    ),
    "expr.error": ("Column {column}: expected {expected}; found {found}.", "第 {column} 列：应为{expected}，实际为{found}。"),
    "expr.error.badge": ("column {column}", "第 {column} 列有误"),
    "expr.end": ("the end", "结尾"),
    "expr.lacking": ("{n} of {total} runs lack a tag", "{total} 个训练中有 {n} 个缺少标签"),
    "expr.lacking.title": ("Without these tags there are no values:\n{which}", "缺少以下标签，因此没有值：\n{which}"),
    "expr.apart": ("{n} runs without a common step", "{n} 个训练没有共同步骤"),
    "expr.apart.one": ("1 run without a common step", "1 个训练没有共同步骤"),
    "expr.apart.title": (
        "The tags have no step in common, so there is nothing to compute:\n{which}",
        "各标签没有共同的步骤，无法计算：\n{which}",
    ),
    "expr.unpaired": ("{n} without a partner", "{n} 个值无配对"),
    "expr.unpaired.title": (
        "Tags are combined at the steps that all of them have. Values at other steps:\n{which}",
        "仅在各标签都有值的步骤上计算。其他步骤上的值：\n{which}",
    ),
    "expr.superseded": ("{n} replaced", "{n} 个值被覆盖"),
    "expr.superseded.title": (
        "Of several values for one step the last written counts. Values left out:\n{which}",
        "同一步骤写入多个值时，以最后写入的为准。未计入的值：\n{which}",
    ),
    "expr.undefined": ("{n} undefined", "{n} 个值无定义"),
    "expr.undefined.title": (
        ("Results that are not finite although their operands are: a logarithm of a value ≤ 0, a root of one < 0, "
        "a division by 0, or an overflow. By operation:\n{which}"),
        "操作数有限而结果非有限：对 ≤ 0 的值取对数、对负值开方、除以 0 或溢出。按运算统计：\n{which}",
    ),
})  # fmt: skip


def sentence(error: ExpressionError) -> tuple[str, str]:
    """Return what is wrong with an expression in English and Chinese."""
    end = both("expr.end")
    found = [f"“{shown(error.found)}”" if error.found else end[language] for language in (0, 1)]
    expected = EXPECTED[error.expected], _ZH[error.expected]
    told = [both("expr.error", column=error.column, expected=expected[i], found=found[i])[i] for i in (0, 1)]
    return told[0], told[1]
