"""The catalogue: what is used is there, what is there is used, and both languages say the same."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from layouts import PAGES
from layouts.dumps.body import DUMPS
from layouts.explanations.body import EXPLANATIONS
from layouts.kit import i18n
from layouts.kit.i18n import CATALOGUE, REFERENCES, attributes, both, t
from layouts.kit.page import Page
from layouts.kit.texts import COMMON
from layouts.profiles.body import PROFILES

ROOT = Path(__file__).resolve().parents[3]
BODY_ENDINGS = (
    "controls", "none", "unknown", "nothing", "nothing_hint", "failed", "elsewhere", "left", "damaged_n",
    "compare", "reading", "working", "preparing", "waiting", "cancelled", "work_failed", "progress", "again", "of_total",
    *(f"{what}{ending}" for what in ("rank", "step") for ending in ("", "_previous", "_next", "_absent")),
)
KEY = re.compile(r"""["'`]([a-z_]+\.[A-Za-z_.]+)["'`]""")

AMBIGUOUS = {
    "All": {"全选": "the button that selects all", "全部": "the choice that leaves out nothing"},
    "Allocated": {"已申请": "how much memory is allocated", "申请": "when it was allocated"},
    "Blocks": {"块数": "number of blocks", "核数": "cores that an operator runs on", "内存块": "blocks of memory"},
    "Change": {"变化": "what changed", "修改": "the button that changes it"},
    "Close": {"折叠": "hide what is inside a scope", "关闭": "remove a panel"},
    "Columns": {"列数": "number of columns", "列": "which columns"},
    "Constants": {"常量": "the constants", "常量数": "number of constants"},
    "Count": {"数量": "number of things", "次数": "number of times"},
    "Create": {"新建": "the button that makes a board", "创建": "operations that create a dataset"},
    "Device": {"设备耗时": "time on the device", "设备": "the device"},
    "Difference": {"差异": "what differs", "差值": "a number minus another one"},
    "Executions": {"各次执行": "each execution", "执行次数": "number of executions"},
    "From": {"下限": "lower end of a range", "来源": "where something comes from"},
    "Gaps": {"空隙": "the gaps", "空隙数": "number of gaps"},
    "Group": {"通信域": "group of ranks", "分组": "group of runs"},
    "Groups": {"通信域": "the groups of ranks", "通信域数": "number of groups"},
    "Interval": {"区间": "range of steps or epochs", "间隔": "time between iterations"},
    "Name": {"按名称": "an order", "名称": "the name"},
    "None": {"全不选": "the button that selects none", "无": "the choice of nothing"},
    "Number": {"数量": "how many", "编号": "which one"},
    "Open": {"打开": "go to a page", "展开": "show what is inside a scope"},
    "Operation": {"操作": "step of a dataset graph", "算子": "what the profiler measures"},
    "Operations": {"算子": "the operations", "算子数": "number of operations"},
    "Operator": {"操作": "other step of a dataset graph", "算子": "operator of a network"},
    "Operators": {"算子数": "number of operators", "算子": "the operators"},
    "Order": {"排序": "how rows are sorted", "顺序": "order of execution"},
    "Other": {"其他": "what is in no other group", "对比": "what is compared with"},
    "Packets": {"数据包": "the packets", "数据包数": "number of packets"},
    "Parameters": {"参数": "the parameters", "参数个数": "number of parameters"},
    "Per step": {"每步": "amount per step", "每步次数": "number of times per step"},
    "Pipeline": {"数据处理流水线": "pipeline of a dataset", "流水线": "pipeline parallelism"},
    "Place": {"名次": "rank in an order", "位置": "position in a tensor"},
    "Preparing": {"准备中": "state of a page", "准备": "part of a step"},
    "Ranks": {"卡数": "number of ranks", "各卡": "each rank"},
    "Recompute": {"重新计算": "the button that computes again", "重计算": "MindSpore's recomputation of activations"},
    "Relative": {"相对时间": "time since the start", "相对": "in proportion"},
    "Reset": {"恢复默认": "back to the default", "还原": "back to what was saved"},
    "Runs": {"训练列表": "title of the list", "训练": "the runs", "训练数": "number of runs"},
    "Samples": {"采样数": "number of measurements", "样本": "samples of a dataset", "样本数": "number of these"},
    "Scalars": {"标量": "the scalars", "标量数": "number of scalars"},
    "Scopes": {"作用域数": "number of scopes", "作用域": "the scopes"},
    "Source": {"来源": "where a fact comes from", "源码": "source code"},
    "Start": {"起点": "where a path starts", "开始时间": "when something starts", "开始": "title of a page"},
    "Step": {"步骤": "which step", "单步": "a step as a whole"},
    "Steps": {"步骤数": "number of steps", "步骤": "which steps", "单步耗时": "title of the page of step times"},
    "Tags": {"标记": "tags of a run, by its users", "标签": "tags of data, as recorded"},
    "Time": {"时间": "when", "耗时": "how long"},
    "To": {"上限": "upper end of a range", "目的": "where something goes to"},
    "Total": {"总计": "sum", "综合得分": "score over all metrics"},
    "Value": {"数值": "the value", "按值": "an order"},
    "Values": {"数值": "the values", "总数": "number of values"},
    "Watch": {"关注": "mark a tag", "监测": "watch a tensor, as in MindSpore's watchpoints"},
    "at most": {"小于等于": "a filter", "上限": "a value that is a bound"},
    "at {at}": {"位于 {at}": "a place on the time axis", "{at} 时": "a moment"},
    "idle": {"无更新": "a run that gets no new data", "空闲": "a processor without work"},
    "values": {"个值": "unit after a number", "取值": "an order by values"},
}
"""English texts with several meanings that Chinese tells apart: their Chinese versions, and what each means."""

MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path
    for path in sorted((ROOT / "layouts").rglob("*.py")) if path.name != "__init__.py"
}
for module in MODULES:  # so that the catalogue has all texts
    import_module(module)

TAKERS = "t|both|attributes|button|icon_button|empty_state|translations|translate|writeText|setLabel|words"


def sources() -> Iterator[str]:
    for path in [*(ROOT / "layouts").rglob("*.py"), *(ROOT / "assets").rglob("*.js")]:
        if not path.name.endswith("texts.py") and path.parent.name != "vendor":
            yield path.read_text(encoding="utf-8")


def test_every_key_is_used_somewhere() -> None:
    text = "\n".join(sources())
    literal = set(KEY.findall(text))
    # Families whose keys are put together from what the data says.
    families = set(re.findall(r"""[`"']([a-z_]+(?:\.[a-z_]+)*\.)(?:\$\{|\{)""", text))
    families |= set(re.findall(r"""startswith\(\(?([^)]*)\)""", text))
    made = tuple(family for family in families if family.endswith("."))
    titles = {page.title for page in PAGES}
    used = literal | titles | set(REFERENCES.values())
    # What the bodies of subjects put together: layouts/kit/body.py, assets/kit/body.js and assets/kit/progress.js.
    subjects = (PROFILES, DUMPS, EXPLANATIONS)
    used |= {f"{subject.name}.{ending}" for subject in subjects for ending in BODY_ENDINGS}
    used |= {"profiling.reading_ranks", "profiling.preparing_ranks"}  # of a job
    used.add(f"{PROFILES.name}.waiting_for")  # assets/kit/progress.js, where an answer says what is read first
    unused = [key for key in CATALOGUE if key not in used and not key.startswith(made)]
    assert unused == []


def test_every_key_asked_for_is_there() -> None:
    namespaces = {key.split(".")[0] for key in CATALOGUE}
    asked = set()
    for text in sources():
        calls = re.findall(rf"\b(?:{TAKERS})\([^\n]*", text)
        asked |= {key for call in calls for key in KEY.findall(call) if key.split(".")[0] in namespaces}
    assert sorted(asked - set(CATALOGUE) - {"shell.py", "runs.js"}) == []


def test_both_languages_have_text_and_the_same_placeholders() -> None:
    holes = re.compile(r"\{(\w+)\}")
    assert len(CATALOGUE) > 1000
    assert [key for key, texts in CATALOGUE.items() if not all(text.strip() for text in texts)] == []
    different = [key for key, texts in CATALOGUE.items() if len({frozenset(holes.findall(text)) for text in texts}) > 1]
    assert different == []


def test_an_english_text_has_one_chinese_text() -> None:
    versions: dict[str, set[str]] = {}
    for english, chinese in CATALOGUE.values():
        versions.setdefault(english, set()).add(chinese)
    several = {english: found for english, found in versions.items() if len(found) > 1}
    assert several == {english: set(meanings) for english, meanings in AMBIGUOUS.items()}


def test_no_text_is_written_twice() -> None:
    written: dict[tuple[str, str], list[str]] = {}
    for key, text in CATALOGUE.items():
        if key not in REFERENCES:
            written.setdefault(text, []).append(key)
    twice = [" = ".join(keys) for keys in written.values() if len(keys) > 1]
    assert twice == [], "name the `common.` key instead of the text; where there is none, move the text to layouts/kit/texts.py"


def test_a_common_text_is_used_by_several_keys() -> None:
    number = Counter(REFERENCES.values())
    assert [key for key in COMMON if number[key] < 2 and not any(f'"{key}"' in text for text in sources())] == []


def test_a_key_can_have_the_text_of_another_one() -> None:
    found = i18n.define_texts({"shell.menu": CATALOGUE["shell.menu"], "tuning.run": "common.run"})
    assert found["tuning.run"] == COMMON["common.run"] == CATALOGUE["tuning.run"]
    with pytest.raises(ValueError, match=r"'two\.new' names 'tuning\.run', which is neither a common nor an earlier text"):
        i18n.define_texts({"two.new": "tuning.run"})
    assert "two.new" not in CATALOGUE


def test_keys_are_named_in_full_width_brackets() -> None:
    half = re.compile(r"[\u4e00-\u9fff] ?\((?:[a-zA-Z0+\-←→\[\]]|Esc|空格|双击|方向键)\)")
    ends = ("(s)",)  # a unit, not a key
    assert [key for key, (_, chinese) in CATALOGUE.items() if half.search(chinese) and not chinese.endswith(ends)] == []


def test_a_key_has_one_text() -> None:
    assert i18n.define_texts({"shell.menu": CATALOGUE["shell.menu"]}) == {"shell.menu": CATALOGUE["shell.menu"]}
    with pytest.raises(ValueError, match=r"'shell\.menu' is already defined with another text"):
        i18n.define_texts({"shell.menu": ("Something else", "别的")})
    assert CATALOGUE["shell.menu"] != ("Something else", "别的")


def test_the_first_part_of_a_key_says_which_modules_have_its_text() -> None:
    defined: dict[str, set[str]] = {}
    for name, path in MODULES.items():
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "define_texts" and isinstance(call.args[0], ast.Dict):
                keys = [ast.literal_eval(key) for key in call.args[0].keys if isinstance(key, ast.Constant)]
                for key in keys:
                    defined.setdefault(key.partition(".")[0], set()).add(name)
    assert len(defined) > 80
    known = {part: {f"layouts.{name}" for name in names} for part, names in i18n._modules.items()}
    assert known == defined


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_a_title_before_its_module_is_imported(page: Page) -> None:
    assert set(page.texts) == {page.title}


def test_a_text_holds_both_languages() -> None:
    span = t("picker.of", n=3, total=28)
    assert [part.children for part in span.children] == ["3 of 28 runs", "3/28 个训练"]
    assert [part.lang for part in span.children] == ["en", "zh-CN"]
    assert both("picker.of", n=3, total=28)[0] == "3 of 28 runs"


def test_attributes_hold_both_languages_and_show_english() -> None:
    got = attributes(title="shell.language", aria_label="shell.theme")
    assert got["title"] == got["data-en-title"] == "切换到中文"
    assert got["data-zh-title"] == "EN, switch to English"
    assert {"aria-label", "data-en-aria-label", "data-zh-aria-label"} < set(got)
