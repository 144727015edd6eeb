"""Numbers for rows, and which rows are of a group, a kind and a step."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.analysis.jobs.choosing import KINDS, compact, distinct, kind_of, links_of_kind, numbered, places_in, rows_of
from parsers.cluster_frames import COLLECTIVES, LINKS
from parsers.profiler.frame_parts import frame_of

NUMBERS = st.one_of(st.integers(-3, 5), st.integers(-(2**40), 2**40))


@given(st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(-1, 2)), max_size=40))
def test_rows_have_the_same_number_where_they_are_equal(rows: list[tuple[int, int, int]]) -> None:
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    key, first = numbered(*columns)
    known = dict.fromkeys(rows)
    assert len(first) == len(known)
    assert sorted(set(key.tolist())) == [*range(len(known))]
    assert all((rows[a] == rows[b]) == (key[a] == key[b]) for a in range(len(rows)) for b in range(len(rows)))
    assert [rows.index(rows[at]) for at in first.tolist()] == first.tolist()


@given(st.lists(NUMBERS, max_size=40))
def test_compact_numbers_keep_their_order(values: list[int]) -> None:
    codes, count = compact(np.array(values, np.int64))
    ordered = sorted(set(values))
    assert count == len(ordered)
    assert codes.tolist() == [ordered.index(value) for value in values]


@given(st.lists(NUMBERS, max_size=40), st.lists(NUMBERS, max_size=40))
def test_places_among_known_numbers(values: list[int], wanted: list[int]) -> None:
    known = distinct(np.array(values, np.int64))
    assert known.tolist() == sorted(set(values))
    found = places_in(known, np.array(wanted, np.int64))
    ordered = known.tolist()
    assert found.tolist() == [ordered.index(one) if one >= 0 and one in values else -1 for one in wanted]


def test_rows_of_a_choice() -> None:
    columns = {
        "group": ["a", "a", "b", "b"], "name": ["hcom_allReduce__1", "hcom_send__1", "hcom_allReduce__1", "x"],
        "step": [1, 1, 2, 2],
    }  # fmt: skip
    frame = frame_of(COLLECTIVES, 4, columns, "made")
    assert rows_of(frame).tolist() == [0, 1, 2, 3]
    assert rows_of(frame, group="b").tolist() == [2, 3]
    assert rows_of(frame, kind="allreduce").tolist() == [0, 2]
    assert rows_of(frame, kind="allreduce", step=2).tolist() == [2]
    assert rows_of(frame, group="none").tolist() == []
    assert rows_of(COLLECTIVES.empty(), group="a").tolist() == []


def test_single_operations_stand_in_for_a_class_that_no_file_has() -> None:
    columns = {
        "class": ["total", "single", "mean", "top1"], "name": ["allreduce", "hcom_allGather__1", "", "allreduce"],
        "group": ["g"] * 4, "step": [1, 1, -1, 1],
    }  # fmt: skip
    links = frame_of(LINKS, 4, columns, "made")

    def chosen(kind: str = "", of: str = "total") -> list[int]:
        return links_of_kind(links, group="g", kind=kind, step=None, of=of).tolist()

    assert chosen() == [0]
    assert chosen(of="top1") == [3]
    assert chosen(of="bottom1") == [1]
    assert chosen("allgather") == [1]
    assert links_of_kind(links, group="other", kind="", step=None, of="total").tolist() == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("hcom_allReduce__271_0_1", "allreduce"), ("hcom_reduceScatter__1", "reducescatter"), ("hcom_reduce__1", "reduce"),
        ("hcom_batchSendRecv__128_3_1", "batchsendrecv"), ("hcom_alltoallv__1", "alltoallv"), ("all_to_all_x", "alltoall"),
        ("stream_11_0_Receive-op2068", "receive"), ("MatMul", ""), ("", ""),
    ],
)  # fmt: skip
def test_kinds_of_operations(name: str, kind: str) -> None:
    assert kind_of(name) == kind


@given(
    st.text("rdbcast_A1907eE", max_size=12), st.sampled_from(["", "all_Reduce", "hcom_Barrier_", "send"]),
    st.sampled_from(["", "__271_0_1", "9_", "__a7f_12"]),
)  # fmt: skip
def test_the_kind_of_an_operation_is_found_anywhere_in_its_name(before: str, within: str, after: str) -> None:
    name = before + within + after
    found = re.search("|".join(KINDS), name.lower().replace("_", ""))
    assert kind_of(name) == (found[0] if found else "")
