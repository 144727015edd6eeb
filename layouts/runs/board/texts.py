"""Texts of the board page."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "board.none": ("No boards yet.", "还没有看板。"),
    "board.none_hint": (
        ("A board shows cards of any pages side by side: curves, images, tables, graphs, and your texts. Create one, then "
         "press the board icon in the head of a card on any page."),
        "看板将任意页面的卡片（曲线、图像、表格、计算图等）与你写的文本并排显示。先新建一个看板，再打开任意页面，点击卡片标题栏中的看板图标即可添加。",
    ),
    "board.name": "common.name_of_a_new_board",
    "board.create": ("Create a board", "新建看板"),
    "board.import": ("Import a board", "导入看板"),
    "board.import.title": (
        "Open a board file (JSON) that was exported here or elsewhere", "打开在此处或别处导出的看板文件（JSON）",
    ),
    "board.export": ("Export as JSON", "导出为 JSON"),
    "board.all": ("All boards", "所有看板"),
    "board.cards": "common.n_cards",
    "board.one_card": ("1 card", "1 张卡片"),
    "board.more": ("More actions", "更多操作"),
    "board.add_text": ("Add a text", "添加文本"),
    "board.rename": "common.rename",
    "board.duplicate": ("Duplicate", "复制一份"),
    "board.copy_of": ("{name} (copy)", "{name}（副本）"),
    "board.tidy": ("Arrange in {n} columns", "排成 {n} 列"),
    "board.tidy_one": ("Arrange in one column", "排成一列"),
    "board.tidied": ("All cards have one size now.", "所有卡片的大小已统一。"),
    "board.use_runs": ("Use the chosen runs in all cards", "全部卡片使用所选训练"),
    "board.use_runs.title": (
        "Show the runs chosen above in every card; cards that have them already stay as they are",
        "让每张卡片显示上方所选的训练；已显示这些训练的卡片保持不变",
    ),
    "board.runs_used": ("All cards show the chosen runs now.", "全部卡片现已显示所选训练。"),
    "board.delete": "common.delete",
    "board.delete_board": ("Delete this board", "删除此看板"),
    "board.empty": ("This board has no cards.", "此看板还没有卡片。"),
    "board.empty_hint": (
        "Open a page, for example Scalars, and press the board icon in the head of a card; or begin with a text.",
        "打开任一页面（例如标量），点击卡片标题栏中的看板图标；也可以先添加一段文本。",
    ),
    "board.to_scalars": ("Open Scalars", "打开标量页"),
    "board.missing": ("This board does not exist. It may have been deleted.", "该看板不存在，可能已被删除。"),
    "board.no_page": ("There is no page {page} in this version.", "此版本没有名为 {page} 的页面。"),
    "board.restore": ("Restore it", "恢复"),
    "board.run_gone": ("Run gone", "训练已不存在"),
    "board.run_gone.title": ("These runs no longer exist: {names}", "以下训练已不存在：{names}"),
    "board.keys": (
        "Arrow keys move the card, Shift and arrow keys resize it, Delete deletes it.",
        "方向键移动卡片，Shift 加方向键调整大小，Delete 键删除。",
    ),
    "board.card": ("Card {name}", "卡片 {name}"),
    "board.frame": ("{name}: content of the card", "{name}：卡片内容"),
    "board.tools": ("Card tools", "卡片工具"),
    "board.open_page": ("Open the page of this card", "打开此卡片所在页面"),
    "board.full": ("Full screen (Esc: back)", "全屏（Esc 返回）"),
    "board.edit": ("Edit the text", "编辑文本"),
    "board.text": "common.text",
    "board.text_hint": ("Markdown · Ctrl+Enter: save · Esc: discard", "Markdown · Ctrl+Enter 保存 · Esc 放弃"),
    "board.save": "common.save",
    "board.cancel": "common.cancel",
    "board.keep": ("Keep changes", "保留更改"),
    "board.keep.title": (
        "What you changed in this card (zoom, axes, ...) is not on the board yet",
        "你在此卡片中的更改（缩放、坐标轴等）尚未存入看板",
    ),
    "board.reset": ("Reset", "还原"),
    "board.reset.title": ("Show the card as it is on the board", "按看板中保存的状态显示"),
    "board.resize": ("Drag to resize", "拖动调整大小"),
    "board.deleted": ("“{name}” deleted.", "已删除“{name}”。"),
    "board.undo": "common.undo",
    "board.dismiss": ("Dismiss", "关闭"),
    "board.overridden": (
        "“{name}” was changed in another window meanwhile; your change replaced it.",
        "“{name}”已在另一个窗口中被修改，现已被你的更改替换。",
    ),
    "board.lost": (
        "“{name}” was changed in another window at the same time, which replaced your change.",
        "“{name}”同时在另一个窗口中被修改，你的更改已被替换。",
    ),
    "board.mine": ("Restore mine", "恢复我的更改"),
    "board.theirs": ("Take theirs", "采用对方的"),
    "board.came_back": (
        "“{name}” was deleted in another window; your change restored it.",
        "“{name}”已在另一个窗口中被删除，你的更改已将其恢复。",
    ),
    "board.failed": "common.not_saved_text",
    "board.no_file": ("The file is no board: {text}", "该文件不是看板：{text}"),
    "board.too_large": ("The file is larger than {size}.", "文件超过 {size}。"),
    "board.by_key": (
        "{name}: column {x} of 12, row {y}, {w} wide, {h} high", "{name}：第 {x} 列（共 12 列），第 {y} 行，宽 {w}，高 {h}",
    ),
})
