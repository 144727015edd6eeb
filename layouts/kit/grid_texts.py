"""Texts of AG Grid's own interface, by its names for them after the dot of a key, and of links to the pages of a run."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "grid.open_page": ("{page} of {name}", "{name} 的{page}"),
    "grid.noRowsToShow": "common.no_run_matches",
    "grid.loadingOoo": "common.reading",
    "grid.contains": ("contains", "包含"),
    "grid.notContains": ("does not contain", "不包含"),
    "grid.equals": ("equals", "等于"),
    "grid.notEqual": ("does not equal", "不等于"),
    "grid.startsWith": ("begins with", "开头是"),
    "grid.endsWith": ("ends with", "结尾是"),
    "grid.blank": ("is blank", "为空"),
    "grid.notBlank": ("is not blank", "不为空"),
    "grid.greaterThan": ("greater than", "大于"),
    "grid.greaterThanOrEqual": ("at least", "大于等于"),
    "grid.lessThan": ("less than", "小于"),
    "grid.lessThanOrEqual": ("at most", "小于等于"),
    "grid.inRange": ("between", "介于"),
    "grid.inRangeStart": "common.from_inline",
    "grid.inRangeEnd": "common.to",
    "grid.andCondition": "common.and",
    "grid.orCondition": "common.or_inline",
    "grid.filterOoo": ("Filter", "筛选"),
    "grid.sortAscending": ("Sort ascending", "升序"),
    "grid.sortDescending": ("Sort descending", "降序"),
    "grid.sortUnSort": ("Do not sort", "取消排序"),
    "grid.ariaLabelColumnMenu": ("Column menu", "列菜单"),
    "grid.ariaLabelColumnFilter": ("Column filter", "列筛选"),
    "grid.ariaFilterInput": ("Filter value", "筛选值"),
    "grid.ariaFilteringOperator": ("Filter operator", "筛选条件"),
    "grid.ariaColumnSelectAll": ("Select all runs", "全选"),
    "grid.ariaRowToggleSelection": ("Select or deselect", "选中或取消选中"),
    "grid.ariaRowSelect": ("Select", "选中"),
    "grid.ariaRowDeselect": ("Deselect", "取消选中"),
})
