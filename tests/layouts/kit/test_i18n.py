"""The catalogue: what is used is there, what is there is used, and both languages say the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from layouts import PAGES
from layouts.kit import i18n
from layouts.kit.i18n import CATALOGUE, attributes, both, t
from layouts.kit.page import Page

ROOT = Path(__file__).resolve().parents[3]
KEY = re.compile(r"""["'`]([a-z_]+\.[A-Za-z_.]+)["'`]""")

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
    unused = [key for key in CATALOGUE if key not in literal | titles and not key.startswith(made)]
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


def test_a_key_has_one_text() -> None:
    assert i18n.define_texts({"shell.menu": CATALOGUE["shell.menu"]}) == {"shell.menu": CATALOGUE["shell.menu"]}
    with pytest.raises(ValueError, match=r"'shell\.menu' is already defined with another text"):
        i18n.define_texts({"shell.menu": ("Something else", "别的")})
    assert CATALOGUE["shell.menu"] != ("Something else", "别的")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_first_part_of_a_key_belongs_to_one_page(page: Page) -> None:
    assert page.title in page.texts
    prefixes = {key.partition(".")[0] for key in page.texts}
    assert [key for key in CATALOGUE.keys() - page.texts.keys() if key.partition(".")[0] in prefixes] == []


def test_a_text_holds_both_languages() -> None:
    span = t("picker.of", n=3, total=28)
    assert [part.children for part in span.children] == ["3 of 28 runs", "已选 3/28 个训练"]
    assert [part.lang for part in span.children] == ["en", "zh-CN"]
    assert both("picker.of", n=3, total=28)[0] == "3 of 28 runs"


def test_attributes_hold_both_languages_and_show_english() -> None:
    got = attributes(title="shell.language", aria_label="shell.theme")
    assert got["title"] == got["data-en-title"] == "切换到中文"
    assert got["data-zh-title"] == "Switch to English"
    assert {"aria-label", "data-en-aria-label", "data-zh-aria-label"} < set(got)
