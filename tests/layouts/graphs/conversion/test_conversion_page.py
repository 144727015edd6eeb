"""The conversion page: what it draws for no run, for the sample, and for differences beyond tolerance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layouts.graphs.conversion import figures, page, sections
from layouts.graphs.conversion.asks import read_graph
from layouts.graphs.conversion.drawing import FILLS, ConvertedGraphs, drawing
from layouts.graphs.conversion.listing import catalogue, listing
from layouts.kit.state import BadInput
from parsers import PayloadError, open_run
from parsers.graphs.conversion import ConversionReport, read_conversion
from tests.converted import CONVERSION, REPORT, changed
from tests.pages import page_named
from tests.sources import MemorySource

ASK = {"of": ["r"], "model": [REPORT]}


def source(report: ConversionReport | Exception | None = None) -> MemorySource:
    return MemorySource({"r": {"conversions": {REPORT: report or read_conversion(str(CONVERSION / REPORT))}}})


def words(content: Any) -> str:
    """All texts of components, in both languages."""
    if isinstance(content, (list, tuple)):
        return " ".join(map(words, content))
    if hasattr(content, "children"):
        return words(content.children)
    return "" if content is None else str(content)


def beyond(told: dict[str, Any]) -> None:
    told["check"]["values"][6] |= {"largest": 3.0, "beyond": True}


def test_the_page_is_in_the_menu_group_tools() -> None:
    found = page_named("conversion")
    assert (found.needs, found.group, found.folder) == (("conversion",), "tools", "graphs.conversion")


def test_a_run_without_a_conversion_is_not_listed() -> None:
    found = catalogue(MemorySource({"a": {}}), {"run": ["a"]})
    assert found is not None
    assert (found["runs"], found["chosen"]) == ([], 1)


def test_states_of_a_listing() -> None:
    assert listing(source(), {}) is None
    ready, missing = (listing(source(), {"of": ["r"], "model": [name]}) for name in (REPORT, "other"))
    assert ready is not None
    assert missing is not None
    assert (ready["state"], missing["state"]) == ("ready", "missing")
    failed = listing(source(PayloadError("it is damaged", "p", 0)), ASK)
    assert failed is not None
    assert failed["state"] == "failed"
    assert failed["text"].endswith("it is damaged")


def test_the_sample_is_summed_up() -> None:
    report = read_conversion(str(CONVERSION / REPORT))
    assert "92.9 % of 14 nodes converted" in words(sections.summary(report))
    check = words(sections.check(report))
    assert "Nothing found: no compared value is beyond tolerance." in check
    # 14 nodes, 3 of them folded; 9 values were compared.
    assert "Not judged: 2 of 11 nodes" in check
    assert "no mapping for this operator" in words(sections.marked_nodes(report))


def test_a_difference_beyond_tolerance_is_named(tmp_path: Path) -> None:
    report = read_conversion(str(changed(tmp_path, beyond)))
    assert "Found: 1 of 9 values are beyond tolerance, first /pool/out." in words(sections.check(report))
    drawn = figures.differences(report, language="en", dark=False)
    assert drawn is not None
    assert drawn["data"][0]["marker"]["symbol"].index("x") == 6


def test_without_a_check_nothing_is_concluded(tmp_path: Path) -> None:
    def change(told: dict[str, Any]) -> None:
        told["check"] = {"state": "not checked", "reason": "MindSpore is missing"}

    report = read_conversion(str(changed(tmp_path, change)))
    assert words(sections.check(report)).startswith("Not judged: MindSpore is missing")
    assert figures.differences(report, language="en", dark=False) is None


@pytest.mark.parametrize("dark", [False, True])
def test_boxes_have_the_colour_of_their_state(dark: bool) -> None:
    report = read_conversion(str(CONVERSION / REPORT))
    ask = read_graph({**ASK, "node": ["n12"], "theme": ["dark" if dark else "light"]})
    answer = drawing(ConvertedGraphs().of("r", REPORT, report), ask)
    fills = {one["data"]["id"]: one["data"]["fill"] for one in answer["elements"] if "fill" in one["data"]}
    assert fills["n12"] == FILLS["marked"][dark]
    assert fills["n7"] == FILLS["folded"][dark]
    assert fills["n11"] == FILLS["converted"][dark]
    assert [colour for _, colour in answer["meta"]["legend"]["keys"]] == [
        FILLS[state][dark] for state in ("converted", "folded", "marked")
    ]


def test_a_closed_scope_has_the_colour_of_its_worst_node(tmp_path: Path) -> None:
    report = read_conversion(str(changed(tmp_path, beyond)))
    graphs = ConvertedGraphs()
    shut = drawing(graphs.of("r", REPORT, report), read_graph({**ASK, "open": [""]}))
    boxes = {one["data"].get("name"): one["data"] for one in shut["elements"]}
    assert boxes["s:head"]["fill"] == FILLS["marked"][0]
    painted = drawing(graphs.of("r", REPORT, report), read_graph({**ASK, "open": [""], "colour": ["difference"]}))
    fills = {one["data"].get("name"): one["data"]["fill"] for one in painted["elements"] if "fill" in one["data"]}
    assert [name for name, fill in fills.items() if fill == "#c3262b"] == ["s:pool"]


def test_a_chosen_node_shows_its_lines_as_text(tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)>"
    report = read_conversion(str(changed(tmp_path, lambda told: told["nodes"][12].update(name=evil))))
    shown = sections.code(ConvertedGraphs().of("r", REPORT, report), "n12")
    assert shown[0].children == evil
    own = [line for line in shown[-1].children if "ms-conversion-own" in line.className]
    assert [line.children[1] for line in own] == ["        x = self.head2(x)"]
    assert "First" not in words(sections.code(ConvertedGraphs().of("r", REPORT, report), "n99999"))


def test_answers_of_parts() -> None:
    given = source()
    kept = ConvertedGraphs()
    assert page.answer_drawing(given, kept, ASK)["state"] == "ready"
    assert page.answer_code(given, kept, {**ASK, "model": ["other"]}) == {"state": "missing"}
    with pytest.raises(BadInput, match="colour"):
        page.answer_drawing(given, kept, {**ASK, "colour": ["red"]})


def test_many_values_are_reduced_to_the_largest_and_keep_those_beyond() -> None:
    largest = np.full(50_000, 1e-7)
    beyond_rows = np.zeros(50_000, np.bool_)
    largest[12_345], largest[40_000] = 5.0, 0.1
    beyond_rows[40_001] = True
    rows = figures.drawn_rows(largest, beyond_rows)
    assert {12_345, 40_000, 40_001} <= set(rows.tolist())
    assert len(rows) <= 2 * figures.MOST_POINTS


def test_tables_are_bounded_and_say_so(tmp_path: Path) -> None:
    def change(told: dict[str, Any]) -> None:
        told["weights"] = told["weights"] * 100

    report = read_conversion(str(changed(tmp_path, change)))
    assert "The first 500 of 800 weights" in words(sections.weights(report))
    assert open_run(tmp_path).kinds() == {"conversion": 1}
