"""Where boxes stand: in the order of the data, none over another, whatever the shape of the tree."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layouts.graphs.dataset import boxes
from layouts.graphs.dataset.boxes import BETWEEN, MOST_BOXES, PARTS, PORT, WIDTH, PipelineDrawing, drawing
from parsers import DatasetGraph, DatasetNode
from parsers.analysis.lineage.pipelines import numbered
from tests.layouts.graphs.dataset.pipelines import chain, node


def drawn(root: DatasetNode, columns: int = 5) -> PipelineDrawing:
    return drawing(numbered(DatasetGraph(root)), columns)


def check(found: PipelineDrawing) -> None:
    """No box over another or outside, every link from the right side of its source to the left side of its target."""
    by_number = {box.number: box for box in found.boxes}
    for one, other in combinations(found.boxes, 2):
        beside = one.x + WIDTH <= other.x or other.x + WIDTH <= one.x
        assert beside or one.y + one.height <= other.y or other.y + other.height <= one.y, (one.number, other.number)
    for box in found.boxes:
        assert 0 <= box.x <= found.width - WIDTH
        assert 0 <= box.y <= found.height - box.height
    for source, target, points in found.links:
        assert points[0] == (by_number[source].x + WIDTH, by_number[source].y + PORT)
        assert points[-1] == (by_number[target].x, by_number[target].y + PORT)
        assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(points))


trees = st.recursive(
    st.builds(node, st.sampled_from(["MnistDataset", "ImageFolderDataset"])),
    lambda children: st.builds(
        lambda name, below: node(name, *below),
        st.sampled_from(["Zip", "Batch", "Map"]), st.lists(children, min_size=1, max_size=4),
    ),
    max_leaves=12,
)  # fmt: skip


@given(trees, st.integers(1, 8))
def test_boxes_and_links_of_any_tree_are_in_their_places(root: DatasetNode, columns: int) -> None:
    found = drawn(root, columns)
    check(found)
    assert len(found.boxes) == sum(1 for _ in DatasetGraph(root).walk())
    assert len(found.links) == len(found.boxes) - 1


def test_what_feeds_stands_to_the_left_and_a_pipeline_that_fits_stands_in_one_row() -> None:
    found = drawn(chain(5))
    assert [box.x for box in found.boxes] == [at * (WIDTH + BETWEEN) for at in (4, 3, 2, 1, 0)]
    assert {box.y for box in found.boxes} == {0}
    assert found.boxes[-1].title == "MnistDataset"


def test_two_hundred_operations_go_on_in_rows() -> None:
    found = drawn(chain(200), 5)
    check(found)
    assert found.width == 5 * WIDTH + 4 * BETWEEN
    assert len({box.y for box in found.boxes}) == 40
    assert found.boxes[-1].y == 0


def test_fifty_branches_stand_above_each_other() -> None:
    found = drawn(node("Batch", node("Concat", *(chain(1 + at % 3) for at in range(50)))))
    check(found)
    concat = found.boxes[1]
    feeding = [source for source, target, _ in found.links if target == concat.number]
    assert len(feeding) == 50
    assert concat.x > max(found.boxes[number].x for number in feeding)
    assert len({box.x for box in found.boxes if box.number in feeding}) == 1


def test_of_very_many_those_nearest_to_the_end_are_drawn_and_the_others_counted() -> None:
    found = drawn(node("Batch", node("Concat", *(node("MnistDataset") for _ in range(20_000)))))
    assert len(found.boxes) == MOST_BOXES
    assert found.boxes[1].hidden == 20_000 - (MOST_BOXES - 2)
    check(found)


def test_a_box_shows_the_sampler_and_the_operations_of_a_map_in_order() -> None:
    leaf = drawn(chain(1)).boxes[0]
    assert [(line.role, line.name, line.text) for line in leaf.lines] == [
        ("line", "dataset_dir", "/data/mnist"), ("line", "usage", "train"), ("sampler", "RandomSampler", "num_samples 0"),
    ]  # fmt: skip
    many = [(f"Op{at}", {"size": [at, at]}) for at in range(PARTS + 3)]
    box = drawn(node("Map", chain(1), operations=many, input_columns=['"image"'], output_columns=['"image"'])).boxes[0]
    assert (box.lines[0].name, box.lines[0].text) == ("columns", "image")
    assert [line.name for line in box.lines[1:-1]] == [name for name, _ in many[:PARTS]]
    assert (box.lines[-1].role, box.lines[-1].text) == ("more", "3")
    assert box.height >= box.lines[-1].y


@pytest.mark.parametrize("root", [node(""), node("X" * 10_000, **{"k" * 5_000: "v" * 1_000_000})])
def test_names_of_any_length_fit(root: DatasetNode) -> None:
    [box] = drawn(root).boxes
    assert 0 < len(box.title) <= boxes.SHOWN
    assert all(len(line.name) <= boxes.SHOWN and len(line.text) <= boxes.SHOWN for line in box.lines)
