"""The cache: bounded by bytes, least recently used out first."""

from __future__ import annotations

from parsers import PayloadCache, TextValue


def text(size: int) -> TextValue:
    return TextValue(("x" * size,))


def test_what_was_used_longest_ago_goes_first() -> None:
    cache = PayloadCache(limit=3 * text(100).nbytes)
    for name in "abc":
        cache.put(name, text(100))
    assert cache.get("a") is not None
    cache.put("d", text(100))
    assert [name for name in "abcd" if cache.get(name) is not None] == ["a", "c", "d"]
    assert cache.size == 3 * text(100).nbytes <= cache.limit


def test_a_key_put_again_is_counted_once() -> None:
    cache = PayloadCache(limit=10_000)
    cache.put("a", text(100))
    cache.put("a", text(300))
    assert (len(cache), cache.size) == (1, text(300).nbytes)


def test_a_value_larger_than_all_is_not_kept() -> None:
    cache = PayloadCache(limit=10_000)
    cache.put("small", text(10))
    cache.put("large", text(10_000))
    assert cache.get("large") is None
    assert cache.get("small") is not None
