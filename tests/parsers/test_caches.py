"""The bounded cache: what is evicted, what is kept, and that concurrent callers compute a value once."""

import threading

import pytest

from parsers.caches import Cache


def test_an_empty_cache() -> None:
    cache: Cache[str, int] = Cache(0)
    assert (cache.get("a"), cache.pop("a"), list(cache), cache.clear(), len(cache), cache.total) == (None, None, [], [], 0, 0)
    assert "a" not in cache
    assert cache.shrink(0) == []


def test_the_least_recently_used_values_are_evicted() -> None:
    cache: Cache[str, int] = Cache(2)
    assert cache.put("a", 1) == []
    assert cache.put("b", 2) == []
    assert cache.get("a") == 1
    assert cache.put("c", 3) == [2]
    assert list(cache) == ["a", "c"]
    assert "a" in cache, "to look is no use"
    assert cache.put("d", 4) == [1]
    assert cache.pop("c") == 3
    assert cache.clear() == [4]
    assert not cache.total


def test_values_cost_at_most_the_limit_but_the_latest_stays() -> None:
    cache: Cache[str, bytes] = Cache(limit=10, cost=len)
    cache.put("a", b"." * 4)
    cache.put("b", b"." * 6)
    assert cache.total == 10
    assert cache.put("a", b"." * 5) == [b"." * 6], "a value that replaces another is the latest"
    assert cache.total == 5
    assert cache.put("c", b"." * 100) == [b"." * 5]
    assert (cache.total, list(cache)) == (100, ["c"])
    assert cache.shrink(99) == [b"." * 100]


def test_a_value_nobody_asked_for_is_evicted_first() -> None:
    cache: Cache[str, int] = Cache(2)
    cache.put("a", 1)
    cache.put("by-product", 2, asked=False)
    assert cache.put("b", 3) == [2]


def test_values_asked_for_lately_are_held() -> None:
    now = [0.0]
    cache: Cache[str, int] = Cache(1, held=10.0, clock=lambda: now[0])
    cache.put("a", 1)
    now[0] = 9.0
    assert cache.put("b", 2) == []
    now[0] = 10.0
    assert cache.get("a") == 1
    now[0] = 19.5
    assert cache.put("c", 3) == [2], "a was asked for after b"
    assert list(cache) == ["a", "c"]
    assert cache.put("by-product", 4, asked=False) == [4]


def test_a_value_is_made_again_of_other_objects() -> None:
    cache: Cache[str, int] = Cache()
    first, second, calls = [1], [1], []

    def make() -> int:
        calls.append(1)
        return len(calls)

    assert [cache.made("a", make, (first,)), cache.made("a", make, (first,))] == [1, 1]
    assert cache.get("a", (second,)) is None, "equal, but another object"
    assert cache.made("a", make, (second,)) == 2
    assert cache.get("a", (first,)) is None
    assert len(cache) == 1


def test_what_is_not_to_be_kept_is_made_each_time() -> None:
    cache: Cache[str, int | None] = Cache()
    assert cache.made("a", lambda: None, keep=lambda value: value is not None) is None
    assert cache.made("a", lambda: 2, keep=lambda value: value is not None) == 2
    assert cache.made("a", lambda: 3) == 2


def test_concurrent_callers_make_a_value_once() -> None:
    cache: Cache[str, int] = Cache()
    begun, go, calls, found = threading.Event(), threading.Event(), [], []

    def make() -> int:
        calls.append(1)
        begun.set()
        assert go.wait(10)
        return 7

    threads = [threading.Thread(target=lambda: found.append(cache.made("a", make))) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert begun.wait(10)
    assert cache.made("b", lambda: 8) == 8, "another key does not wait"
    go.set()
    for thread in threads:
        thread.join(10)
    assert (found, len(calls)) == ([7] * 4, 1)


def test_after_a_failure_a_caller_that_waited_makes_the_value_itself() -> None:
    cache: Cache[str, int] = Cache()
    begun, go, found = threading.Event(), threading.Event(), []

    def fail() -> int:
        begun.set()
        assert go.wait(10)
        raise ValueError("not today")

    def failing() -> None:
        with pytest.raises(ValueError, match="not today"):
            cache.made("a", fail)
        found.append("failed")

    first = threading.Thread(target=failing)
    first.start()
    assert begun.wait(10)
    second = threading.Thread(target=lambda: found.append(str(cache.made("a", lambda: 2))))
    second.start()
    go.set()
    first.join(10)
    second.join(10)
    assert sorted(found) == ["2", "failed"]
