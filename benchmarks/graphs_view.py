"""Response times of the computation graph page without reading files: `python -m benchmarks.graphs_view`."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable
from typing import Any

from benchmarks.measure import Figure, anonymous_rss, in_fresh_process

LAYERS, LAYER = 1_000, 100
FIGURES = (
    ("100,000 nodes / 150,000 edges: arrays and tree of scopes", "tree", "CPU s", 2.0),
    ("100,000 nodes: first picture, drawn", "first", "CPU ms", 1000.0),
    ("100,000 nodes: expand or collapse, drawn (slowest of 12)", "expand", "CPU ms", 150.0),
    ("100,000 nodes: simplified, arrays and tree", "simple", "CPU s", 0.5),
    ("100,000 nodes: search for a text", "search", "CPU ms", 200.0),
    ("100,000 nodes: node revealed in its scopes, drawn", "reveal", "CPU ms", 150.0),
    ("100,000 nodes: difference of two such graphs", "difference", "CPU s", 5.0),
    ("a scope of 20,000 children: first page, drawn", "children", "CPU ms", 1000.0),
    ("a scope of 20,000 children: next page, drawn", "next", "CPU ms", 150.0),
    ("layout of 2,000 nodes and 2,500 edges", "layout", "CPU ms", 100.0),
    ("memory of all this", "rss", "MB", 600.0),
)


def figures(times: int) -> list[Figure]:
    """Measure each figure against its bound."""
    results = in_fresh_process("benchmarks.graphs_view", times=times)
    return [Figure(what, unit, bound, tuple(r[name] for r in results)) for what, name, unit, bound in FIGURES]


def network_frames(layers: int = LAYERS, size: int = LAYER) -> tuple[Any, Any]:
    """A transformer-like graph as frames: layers of attention heads and dense blocks, half as many edges again as nodes."""
    import numpy as np
    import pandas as pd

    from parsers.frames import EDGES, NODES

    heads = (size - 20) // 8
    names: list[str] = []
    types: list[str] = []
    kinds: list[str] = []
    scopes: list[str] = []
    edges: list[tuple[int, int]] = []

    def add(scope: str, kind: str, *inputs: int, of: str = "operator") -> int:
        row = len(names)
        names.append(f"{kind}-op{row}" if of == "operator" else f"{scope.replace('/', '.')}.weight{row}")
        types.append(kind)
        kinds.append(of)
        scopes.append(scope if of == "operator" else "")
        edges.extend((one, row) for one in inputs)
        return row

    state = add("Default/embedding-Embedding", "Gather")
    for layer in range(layers):
        top = f"Default/network/encoder-CellList/{layer}-EncoderLayer"
        attention, residual = f"{top}/attention-SelfAttention", state
        ends = []
        for head in range(heads):
            inside = f"{attention}/{head}-Head"
            weight = add(inside, "Parameter", of="parameter")
            loaded = add(inside, "Load", weight)
            query = add(inside, "MatMul", state, loaded)
            shaped = add(inside, "Reshape", query)
            score = add(inside, "BatchMatMul", shaped, query)
            mask = add(inside, "Add", score, residual)
            soft = add(inside, "Softmax", mask)
            ends.append(add(inside, "MatMul", soft, loaded, shaped))
        state = add(attention, "Concat", *ends)
        for step in range(size - 8 * heads - 1):
            inside = top if step % 5 == 4 else f"{top}/{step // 5}-Dense"
            more = (residual,) if step % 5 == 4 else ()
            state = add(inside, ("MatMul", "BiasAdd", "GeLU", "Reshape", "Add")[step % 5], state, *more)
    full = [f"{scope}/{name}" if scope else name for scope, name in zip(scopes, names, strict=True)]
    columns = {"name": names, "full_name": full, "scope": scopes, "type": types, "kind": kinds}
    same = {"output_type": "Tensor[Float32]", "shape": "8x128x768", "instance": "", "subgraph": ""}
    nodes = pd.DataFrame({**columns, **same, "order": range(len(names))})
    pairs = np.array(edges, np.int64)
    links = pd.DataFrame({"source": pairs[:, 0], "target": pairs[:, 1], "output": 0, "kind": "data"})
    links["input"] = links.groupby("target").cumcount()
    links["type"], links["shape"] = "Tensor[Float32]", "8x128x768"
    typed = (
        frame[list(schema.names)].astype({column.name: column.dtype for column in schema.columns})
        for frame, schema in ((nodes, NODES), (links, EDGES))
    )
    return next(typed), next(typed)


def one() -> dict[str, float]:
    """Measure all figures once, in CPU time of this process."""
    import random

    from layouts.graphs.figure import arrange, elements
    from layouts.graphs.figure.layered import NodeSpace, layered
    from parsers.analysis.graphs import GraphView, OpenScopes, compare, network, search, simplified

    nodes, edges = network_frames()
    spent: dict[str, float] = {}
    views: list[GraphView] = []

    def tree() -> None:
        views.append(GraphView(network(nodes, edges)))
        _ = views[-1].scopes.operators, views[-1].scopes.parameter_bytes

    def drawn(shown: OpenScopes, of: GraphView) -> Any:
        visible = of.visible(shown)
        elements(visible, arrange(visible))
        return visible

    spent["tree"] = _ms(tree) / 1000
    view = views[-1]
    spent["first"] = _ms(lambda: drawn(OpenScopes(), view))
    opened: list[str] = []
    times = []
    for _ in range(12):
        begun = time.process_time()
        visible = drawn(OpenScopes(tuple(opened)), view)
        times.append(1000 * (time.process_time() - begun))
        opened += [item.key for item in visible.items if item.kind in ("scope", "stack") and not item.opened][-1:]
    spent["expand"] = max(times)
    spent["simple"] = _ms(lambda: GraphView(simplified(view.network).network)) / 1000
    search(view, "op77")
    spent["search"] = _ms(lambda: search(view, "7-encoderlayer/2-dense"))
    spent["reveal"] = _ms(lambda: drawn(view.reveal(90_000)[1], view))
    other = network(*network_frames())
    spent["difference"] = _ms(lambda: compare(view.network, other)) / 1000
    flat, links = network_frames(200)
    flat["scope"] = flat["scope"].astype("str").str.slice(0, 7).astype("category")
    wide = GraphView(network(flat, links))
    spent["children"] = _ms(lambda: drawn(OpenScopes(("s1",)), wide))
    spent["next"] = _ms(lambda: drawn(OpenScopes(("s1",), {"s1": 300}), wide))
    chosen = random.Random(0)
    pairs = {(max(0, node - chosen.randint(1, 6)), node) for node in range(1, 2000)}
    while len(pairs) < 2500:
        node = chosen.randint(12, 1999)
        pairs.add((node - chosen.randint(1, 12), node))
    spent["layout"] = min(_ms(lambda: layered([NodeSpace(50, 50, 28)] * 2000, sorted(pairs))) for _ in range(3))
    spent["rss"] = anonymous_rss()
    return spent


def _ms(work: Callable[[], object]) -> float:
    gc.collect()  # what the parts before left is not this one's
    begun = time.process_time()
    work()
    return 1000 * (time.process_time() - begun)


if __name__ == "__main__":
    print(json.dumps(one()))
