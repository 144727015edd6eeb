"""What parameters are for, and which cells several layers share: on real graphs and on made ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from parsers import open_run
from parsers.analysis.graphs import ROLES, Network, is_training, network, roles, scopes, shared, simplified
from parsers.analysis.graphs.roles import stored
from parsers.analysis.graphs.sharing import spans
from tests.parsers.analysis.graphs.made import frames


def of_run(path: Path) -> Network:
    graph = next(iter(open_run(path).graphs.values()))
    return network(graph.nodes, graph.edges)


@pytest.mark.parametrize(
    ("run", "wanted", "training"),
    [
        # Adam keeps two moments of 198 weights, two powers, the step and the learning rate.
        ("graph_bert_train", {"weights": 198, "state": 2 * 198 + 4, "inputs": 2}, True),
        ("graph_bert24_forward", {"weights": 390, "inputs": 1}, False),
        ("graph_resnet50_forward", {"weights": 267, "inputs": 1}, False),
    ],
)
def test_parameters_are_weights_state_and_inputs(real_data: Path, run: str, wanted: dict[str, int], training: bool) -> None:
    net = of_run(real_data / "summary" / run)
    codes = roles(net)
    assert Counter(ROLES[code] for code in codes.tolist() if code >= 0) == wanted
    assert ((codes >= 0) == (net.kind == 1)).all()
    assert is_training(net) is training
    for row in np.flatnonzero(codes == ROLES.index("state")).tolist():
        assert net.names[row].startswith(("moment", "beta", "learning_rate", "global_step"))


@pytest.mark.parametrize(("run", "left_out"), [
    ("graph_bert_train", {"inputs0", "inputs1"}), ("graph_resnet50_train", {"inputs0", "inputs1"}),
])  # fmt: skip
def test_inputs_are_no_parameters_of_a_checkpoint(real_data: Path, run: str, left_out: set[str]) -> None:
    net = of_run(real_data / "summary" / run)
    assert {net.names[row] for row in np.flatnonzero((net.kind == 1) & ~stored(net))} == left_out


def test_weights_that_are_named_like_inputs_are_kept_where_nothing_tells_them_apart() -> None:
    nodes = [("onnx::MatMul_7", "Parameter", "parameter"), ("fc.bias", "Parameter", "parameter"), ("op", "MatMul")]
    assert stored(network(*frames(nodes, [(0, 2), (1, 2)]))).tolist() == [True, True, False]


def test_cells_that_layers_share_are_found_in_the_first_of_them(real_data: Path) -> None:
    tree = scopes(of_run(real_data / "summary/graph_bert24_forward"))
    found = {tree.paths[scope]: spans(layers) for scope, layers in shared(tree).items()}
    assert set(found.values()) == {"1–23"}
    cell = "Default/encoder-CellList/0-EncoderLayer"
    assert {cell, f"{cell}/gelu-GELU", f"{cell}/attention-SelfAttention", f"{cell}/norm1-LayerNorm"} == set(found)
    # One GeLU for each of the 24 layers stands in the first.
    assert tree.operators[tree.numbers[f"{cell}/gelu-GELU"]] == 24
    less = scopes(simplified(of_run(real_data / "summary/graph_bert24_forward")).network)
    assert f"{cell}/gelu-GELU" in {less.paths[scope] for scope in shared(less)}


def test_layers_that_only_follow_each_other_share_nothing(real_data: Path) -> None:
    tree = scopes(of_run(real_data / "summary/graph_resnet50_forward"))
    found = {tree.paths[scope]: spans(layers) for scope, layers in shared(tree).items()}
    # The operator Add of the first block is also that of the two after it; no other scope is shared.
    assert found == {"Default/layer1-SequentialCell/0-Bottleneck": "1–2"}


def test_numbers_are_written_as_spans() -> None:
    assert spans(()) == ""
    assert spans((4,)) == "4"
    assert spans((1, 2, 3, 7, 9, 10)) == "1–3, 7, 9–10"
