"""Numbers with the noun that they count: one way on all pages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from layouts.kit.counted import NOUNS, counted
from layouts.kit.i18n import CATALOGUE

CASES = json.loads(Path(__file__).with_name("counted.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['text']} {case['values']}")
def test_a_noun_is_singular_after_a_1_that_counts_it(case) -> None:
    assert counted(case["text"], case["values"]) == case["wanted"]


def test_every_text_that_counts_these_nouns_says_one_of_one() -> None:
    """No text writes "1 steps", whatever its placeholder is called; numbers that are names stay."""
    wrong = []
    for key, (english, _) in CATALOGUE.items():
        values = dict.fromkeys(re.findall(r"\{(\w+)\}", english), "1")
        said = counted(english, values).format(**values)
        found = re.search(rf"(?<!rank )(?<!step )(?<!stage )(?<!graph )\b1 ({'|'.join(NOUNS)})\b", said)
        if found:
            wrong.append((key, said))
    assert wrong == []
