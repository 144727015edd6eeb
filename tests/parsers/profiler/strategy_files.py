"""A small file of a parallel strategy, as MindSpore writes it."""

from __future__ import annotations

from app.demo.simulated.strategy_files import Node, content, node, parameter, whole


def strategy_file() -> Node:
    """A file with 10 operators: 4 with a strategy, 3 that redistribute, 2 that aggregate gradients; two stages of two ranks."""
    return content(
        [
            node("1", "GetNext", "Default", shape=(8, 16)),
            node("2", "MatMul", "Default/net/fc1", ["1", "fc1.weight"], strategy=[[2, 1], [1, 1]], shape=(8, 32)),
            node("3", "AllGather", "Default/net/fc1", ["2"], instance="redistribution_op_0_AllGather"),
            node("4", "Split", "Default/net/fc1", ["3", "one"], instance="redistribution_op_1_Split"),
            node("5", "MatMul", "Default/net/fc2", ["4", "fc2.weight"], user=[[1, 2], [2, 3]], strategy=None, shape=(8, 8)),
            node("6", "MatMul", "recompute_Default/net/fc1", ["1", "fc1.weight"], strategy=[[2, 1], [1, 1]]),
            node("7", "MatMulGrad", "Gradients/Default/net/fc1", ["5", "^6"], strategy=[[1, 1], [1, 1]]),
            node("8", "AllReduce", "Gradients/Default/net/fc1", ["7"], instance="grad_mirror_AllReduce_fc1.weight"),
            node("9", "AllReduce", "Gradients/Default/net/fc2", ["7"], instance="cell/grad_mirror_1"),
            node("10", "AllToAll", "Default/optimizer-Adam", ["8", "9"], instance="x_redistribution"),
        ],
        stages=((0, 1), (2, 3)), parameters=[parameter("fc1.weight", (16, 32)), parameter("fc2.weight", (32, 8))],
        constants=[{"key": "one", "value": whole(1)}],
    )  # fmt: skip
