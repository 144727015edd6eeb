"""Declared parameters: what is read, what is refused, and the keys that follow from the declaration."""

from __future__ import annotations

import contextlib
import importlib
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import layouts
from layouts.kit import parameters as asked
from layouts.kit.parameters import Request, parameters
from layouts.kit.state import BadInput, text


def run_of(data: Any) -> str | None:
    return text(data, "run") or None


@dataclass(frozen=True, slots=True)
class Sample(Request):
    run: str = asked.subject(run_of, named=("run", "rank"))
    unit: str = asked.one_of("unit", ("time", "share"))
    order: str = asked.one_of("order", ("rank", "value"), "value")
    find: str = asked.word("q", limit=5)
    tags: tuple[str, ...] = asked.words("tag", most=2, limit=3)
    kinds: tuple[str, ...] = asked.some_of("kind", ("a", "b"))
    step: int | None = asked.whole("step", high=9)
    lines: int = asked.count("lines", 20, 1, 50)
    capacity: float = asked.real("capacity", 2.0, 0.0, 8.0, unit=1024.0)
    log: bool = asked.switch("log")
    zoom: tuple[int, int] | None = asked.window()
    sort: tuple[str, bool] = asked.parsed("sort", lambda sort: (sort.strip("-"), sort.startswith("-")), default=("", False))
    zone: float = asked.zone()
    language: str = asked.language()
    columns: int = asked.columns(600)
    dark: bool = asked.dark()


def test_what_is_not_asked_for_has_the_declared_default() -> None:
    assert Sample.read({"run": ["a"]}) == Sample("a")
    assert (Sample("a").unit, Sample("a").order, Sample("a").capacity, Sample("a").columns) == ("time", "value", 2048.0, 600)


def test_every_kind_of_parameter_is_read() -> None:
    found = Sample.read({
        "run": ["a"], "unit": ["share"], "order": ["rank"], "q": ["loss"], "tag": ["x", "y", "x"], "kind": ["b"], "step": ["0"],
        "lines": ["7"], "capacity": ["0.5"], "log": ["1"], "from": ["3"], "to": ["9"], "sort": ["-time"], "zone": ["480"],
        "lang": ["zh"], "columns": ["1200"], "theme": ["dark"],
    })  # fmt: skip
    assert found == Sample(
        "a", "share", "rank", "loss", ("x", "y"), ("b",), 0, 7, 512.0, True, (3, 9), ("time", True), 28_800.0, "zh", 1200, True
    )
    assert Sample.read({"run": ["a"], "from": ["3"]}).zoom is None


@pytest.mark.parametrize("wrong", [
    {"unit": ["bytes"]}, {"q": ["longer"]}, {"tag": ["x", "y", "z"]}, {"tag": ["long"]}, {"kind": ["a", "c"]}, {"step": ["10"]},
    {"step": ["-1"]}, {"step": ["x"]}, {"lines": ["0"]}, {"lines": ["nan"]}, {"capacity": ["9"]}, {"log": ["yes"]},
    {"from": ["inf"]}, {"zone": ["1441"]}, {"lang": ["fr"]}, {"columns": ["9000"]}, {"theme": ["blue"]}, {"unit": "share"},
    {"unit": [1]},
])  # fmt: skip
def test_what_is_not_valid_is_refused_by_its_key(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=next(iter(wrong))):
        Sample.read_any({"run": ["a"]} | wrong)


@pytest.mark.parametrize("data", [[], "run", 3, [("run", "a")]])
def test_what_is_no_object_is_refused(data: Any) -> None:
    with pytest.raises(BadInput, match="ask: expected an object"):
        Sample.read_any(data)


def test_a_request_without_its_subject_is_none_or_refused() -> None:
    assert Sample.read_any(None) is None
    assert Sample.read_any({"unit": ["share"]}) is None
    with pytest.raises(BadInput, match="expected what it is about, found unit"):
        Sample.read({"unit": ["share"]})


def test_keys_follow_from_the_declaration() -> None:
    assert Sample.keys() == ("unit", "order", "q", "tag", "kind", "step", "lines", "capacity", "log", "from", "to", "sort")
    assert Sample.route_keys() == ("run", "rank", *Sample.keys())


WORDS = st.text(max_size=8)
VALUES = st.one_of(st.none(), st.integers(), WORDS, st.lists(st.one_of(WORDS, st.integers()), max_size=3))


@given(st.dictionaries(st.sampled_from((*Sample.route_keys(), "theme", "lang", "columns")), VALUES))
def test_any_values_are_read_or_refused(data: dict[str, Any]) -> None:
    with contextlib.suppress(BadInput):
        found = Sample.read_any(data)
        assert found is None or found.run


def requests() -> list[type[Request]]:
    """Every request of the pages."""
    top = Path(layouts.__path__[0])
    for path in top.rglob("*.py"):
        importlib.import_module(".".join(("layouts", *path.relative_to(top).with_suffix("").parts)).removesuffix(".__init__"))
    return sorted(Request.__subclasses__(), key=lambda one: one.__module__)


def test_every_field_of_every_request_is_a_parameter() -> None:
    found = [one for one in requests() if one.__module__.startswith("layouts.") and is_dataclass(one)]
    assert len(found) >= 23
    assert {
        f"{one.__name__}.{field.name}" for one in found for field in fields(one) if field.name not in dict(parameters(one))
    } == set()


@pytest.mark.parametrize("value", ["1", "nonsense", "-1e99", "regex:", "a,b,c,d", "x" * 5000])
def test_a_value_that_no_parameter_of_an_address_knows_is_refused_in_one_line_with_its_key(value: str) -> None:
    refused: list[tuple[str, str]] = []
    for request in requests():
        for _, parameter in parameters(request):
            for key in parameter.keys:
                try:
                    parameter.read({key: [value], "tag": ["loss"]})
                except BadInput as error:
                    refused.append((key, str(error)))
    assert len(refused) > 20
    for key, text_of_error in refused:
        assert text_of_error.startswith((f"{key}: expected ", "tag: expected ")), key
        assert "\n" not in text_of_error


def test_an_order_is_a_column_that_there_is() -> None:
    @dataclass(frozen=True, slots=True)
    class Ordered(Request):
        by: tuple[str, bool] = asked.order(("name", "size"), "-size")

    assert Ordered.read({}).by == ("size", True)
    assert Ordered.read({"by": ["name"]}).by == ("name", False)
    assert Ordered.read({"by": ["-name"]}).by == ("name", True)
    assert Ordered.keys() == ("by",)
    for wrong in ("other", "--name", "-"):
        with pytest.raises(BadInput, match="by: expected one of name, size; found"):
            Ordered.read({"by": [wrong]})
