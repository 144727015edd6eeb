"""Times from digits: never through a float."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal, localcontext

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.profiler.trace.times import LATEST, nanoseconds

_PLAIN, _QUOTED = r"-?[0-9]{1,22}(?:\.[0-9]{1,20})?", r'"-?[0-9]{1,17}(?:\.[0-9]{1,6})?"'
_POWER = r"-?[0-9]{1,3}[eE]-?[0-9]{1,3}"
NUMBERS = st.from_regex(rf"\A(?:{_PLAIN}|{_QUOTED}|{_POWER})\Z")
OTHERS = st.sampled_from(
    ["", "null", "NaN", '"', '""', "-", "1.2.3", "--1", "1_0", "true", '"abc"', "0x10", "1e", "[1]", "Infinity"]
)


def exact(text: str) -> int | None:
    with localcontext(prec=2000):
        found = int((Decimal(text.strip('"')) * 1000).to_integral_value(ROUND_HALF_EVEN))
    return found if abs(found) < LATEST else None


def test_nothing_gives_nothing() -> None:
    found, valid = nanoseconds([])
    assert (len(found), len(valid)) == (0, 0)


@given(st.lists(NUMBERS, max_size=30))
def test_numbers_equal_decimal(texts: list[str]) -> None:
    found, valid = nanoseconds([msgspec.Raw(text.encode()) for text in texts])
    pairs = zip(found.tolist(), valid.tolist(), strict=True)
    assert [number if good else None for number, good in pairs] == list(map(exact, texts))


@given(st.lists(st.one_of(NUMBERS, OTHERS), max_size=12))
def test_what_is_no_number_spoils_no_other(texts: list[str]) -> None:
    together = nanoseconds([text.encode() for text in texts])
    for place, text in enumerate(texts):
        found, valid = nanoseconds([text.encode()])
        assert (together[0][place], together[1][place]) == (found[0], valid[0])


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ('"1736412474714258.990"', 1736412474714258990), ("1736412474994600", 1736412474994600000),
        ("54.669999999999995", 54670),
        ("23.9805", 23980), ("23.9815", 23982), ("0.0005000001", 1), ("-0.0015", -2), ("1e3", 1000000), ("0", 0),
        ("2305843009213693.951", 2305843009213693951), ("2305843009213693.952", None), ("9" * 400, None), ("1e999999", None),
        ("1e-9999", 0), ("a\nb", None), ('" 12 "', 12000),
    ],
)  # fmt: skip
def test_single_numbers(text: str, ns: int | None) -> None:
    found, valid = nanoseconds([text.encode()])
    assert (found[0] if valid[0] else None) == ns
