"""Graphs as text, .ir and .dot, against counts of regular expressions; text that is cut; names of any characters."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import EDGES, NODES, Graph, SourceLine
from parsers.graphs import dot, ir_text
from parsers.graphs.graph import Origin
from parsers.graphs.ir_parts import arguments, constant_type, result_type, split, value_type
from tests.amounts import some_or_every

DOT_NODES = {
    "00_bootstrap_0001.dot": 9, "01_type_inference_0003.dot": 1380, "05_inline_0011.dot": 1842, "13_optimize_0917.dot": 280,
    "21_validate_0937.dot": 280, "24_execute_0993.dot": 280, "ModelDigraph_0994.dot": 193,
    "opt_a.r1.a_2.addn_check_dump_0065.dot": 374,
}  # fmt: skip
DATA = Path(__file__).parents[2] / "data/mindspore/2.10"


def read_ir(data: bytes) -> Graph:
    return checked(ir_text.read_graph(data, Origin("file.ir")))


def read_dot(data: bytes) -> Graph:
    return checked(dot.read_graph(data, Origin("file.dot")))


def checked(graph: Graph) -> Graph:
    NODES.check(graph.nodes)
    EDGES.check(graph.edges)
    assert graph.edges["source"].between(0, len(graph.nodes) - 1).all()
    assert graph.edges["target"].between(0, len(graph.nodes) - 1).all()
    for row in range(0, len(graph.nodes), max(1, len(graph.nodes) // 8)):
        graph.attributes(row)
        graph.source_lines(row)
    return graph


def count(graph: Graph, kind: str) -> int:
    return int((graph.nodes["kind"] == kind).sum())


def ir_files(real_data: Path) -> list[Path]:
    found = [path for path in sorted((real_data / "ir").rglob("*")) if path.is_file()]
    return [path for path in found if path.read_bytes().startswith(b"# IR entry")]


# Real files --------------------------------------------------------------------------------------------------------


def test_every_ir_text(real_data: Path) -> None:
    files = ir_files(real_data)
    assert len(files) == 17
    for path in files:
        data = path.read_bytes()
        graph = read_ir(data)
        lines = data.decode().splitlines()
        assignments = [line for line in lines if re.match(r" +%\d+\(.*\) = ", line)]
        assert ir_text.sniff(data[:4096])
        assert count(graph, "operator") == len(assignments)
        given = sum(len(re.findall(r"%para\d+_", line)) for line in lines if line.startswith("subgraph @"))
        assert count(graph, "parameter") == given + sum(line.startswith("%para") for line in lines)
        assert not graph.problems, path
        names = re.findall(r"^      # Fullname with scope: \((.*)\)$", data.decode(), re.MULTILINE)
        returns = {name for name in names if "/Return-op" in name}
        if names and len(names) == len(assignments) + len(returns):
            operators = graph.nodes["full_name"][: len(assignments)].tolist()
            assert operators == [name for name in names if name not in returns]
        code = re.findall(r"^ +# In file (.*?):(\d+)", data.decode(), re.MULTILINE)
        seen = {(line.file, str(line.first)) for row in range(len(assignments)) for line in graph.source_lines(row)}
        assert seen <= set(code)
        assert bool(seen) == bool(code)


def test_edges_of_a_text_are_those_of_the_saved_message(real_data: Path) -> None:
    from parsers.graphs.anf_ir import read_graph

    folder = real_data / "ir/level1_env"
    text = read_ir((folder / "13_optimize_0068.ir").read_bytes())
    message = read_graph((folder / "ms_output_optimize.pb").read_bytes(), Origin("x"))

    def edges(graph: Graph) -> set[tuple[str, str, int]]:
        # a parameter has its name in both; a constant is named by its text in one of them, so only where it goes counts
        name = graph.nodes["full_name"].where(graph.nodes["kind"] != "constant", "")
        pairs = zip(graph.edges["source"], graph.edges["target"], graph.edges["input"], strict=True)
        return {(str(name[source]), str(name[target]), int(place)) for source, target, place in pairs}

    assert edges(text) == edges(message)
    operators = [graph.nodes[graph.nodes["kind"] == "operator"] for graph in (text, message)]
    assert operators[0]["type"].tolist() == operators[1]["type"].tolist()
    shapes = [graph.nodes.loc[graph.nodes["kind"] != "constant", "shape"].tolist() for graph in (text, message)]
    known = [pair for pair in zip(*shapes, strict=True) if pair[1]]
    assert len(known) > 80
    assert [pair[0] for pair in known] == [pair[1] for pair in known]


def test_calls_of_subgraphs_in_either_order(real_data: Path) -> None:
    data = (real_data / "ir/level3_env/opt_a.r1.a_2.addn_check_dump_0064.ir").read_bytes()
    head, first, second = re.split(rb"(?m)^(?=subgraph attr:)", data)
    graph, other = read_ir(data), read_ir(head + second.rstrip() + b"\n\n\n" + first)

    def told(one: Graph) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        where = one.nodes[["name", "full_name", "type", "subgraph", "output_type", "shape"]].astype(str)
        rows = [tuple(row) for row in where.itertuples(index=False)]
        pairs = one.edges[["source", "target", "input", "kind"]].itertuples(index=False)
        return sorted(rows), sorted((*rows[a][:4], *rows[b][:4], str(place), str(kind)) for a, b, place, kind in pairs)

    assert told(graph) == told(other)
    assert not other.problems
    calls = graph.edges[graph.edges["kind"] == "call"]
    within = graph.nodes["subgraph"].astype(str)
    across = [within[a] != within[b] for a, b in zip(calls["source"], calls["target"], strict=True)]
    assert any(across)
    assert set(graph.nodes.index[graph.nodes["type"] == "call"]) <= set(calls["target"])
    assert graph.nodes["subgraph"].nunique() == 2


def test_every_dot(real_data: Path) -> None:
    for name, wanted in DOT_NODES.items():
        data = (real_data / "ir/level3_env" / name).read_bytes()
        graph = read_dot(data)
        assert dot.sniff(data[:4096])
        statements = [line for line in data.decode().splitlines() if line.startswith("node")]
        arrows = [line for line in statements if re.match(r"node\w+(:\w+)?->", line)]
        assert (len(graph.nodes), len(graph.edges)) == (wanted, len(arrows)) == (len(statements) - len(arrows), len(arrows))
        assert not graph.problems
        returns = graph.nodes[graph.nodes["type"] == "Return"]
        assert len(returns) == data.count(b"<td>Return</td>") or name.startswith("ModelDigraph")


# Damage ------------------------------------------------------------------------------------------------------------


def test_an_ir_text_cut_at_every_line() -> None:
    data = (DATA / "00_bootstrap_0000.ir").read_bytes()
    whole = read_ir(data)
    assert (count(whole, "operator"), whole.problems) == (2, ())
    for cut in [at for at in range(len(data)) if data[at : at + 1] == b"\n"]:
        graph = read_ir(data[:cut])
        assert count(graph, "operator") == len(re.findall(rb"(?m)^  %\d+\(.*\) = .*$", data[:cut]))
        closed = b"\n}" in data[: cut + 1]
        assert bool(graph.problems) != closed


@some_or_every
@pytest.mark.parametrize("name", ["00_bootstrap_0000.ir", "00_bootstrap_0001.dot"])
def test_no_flipped_or_missing_byte_raises(name: str, every: bool) -> None:
    data = (DATA / name).read_bytes()
    read = read_ir if name.endswith(".ir") else read_dot
    for at in range(0, len(data), 5 if every else 41):
        read(data[:at])
        read(data[:at] + bytes((data[at] ^ (0x01, 0x80, 0x08)[at % 3],)) + data[at + 1 :])


def test_a_call_of_what_is_not_there_is_told() -> None:
    graph = read_ir(
        b"# IR entry: @main\n# Total subgraphs: 1\nsubgraph @main() {\n"
        b"  %0(a) = call @gone(%5)\n  %1(b) = Add(%0, %0)\n  Return(%1)\n}\n"
    )
    assert [problem.kind for problem in graph.problems] == ["bad_graph"]
    assert "@gone" in graph.problems[0].text
    assert graph.edges[["source", "target", "input"]].to_numpy().tolist() == [[0, 1, 0], [0, 1, 1]]
    assert graph.outputs == (1,)


def test_a_loop_of_functions_that_return_each_other_ends() -> None:
    body = b"subgraph @%s() {\n  %%0(x) = call @%s()\n  Return(@%s)\n}\n"
    graph = read_ir(b"# IR entry: @a\n# Total subgraphs: 2\n" + body % (b"a", b"b", b"b") + body % (b"b", b"a", b"a"))
    assert count(graph, "operator") == 2
    assert graph.outputs == ()


# Pieces ------------------------------------------------------------------------------------------------------------

MARKS = '"(),[]{}<>=%@$#:;\\/'
WORDS = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters=MARKS), min_size=1, max_size=12)


@given(st.lists(WORDS, min_size=1, max_size=5), st.data())
def test_names_of_any_character(names: list[str], data: st.DataObject) -> None:
    head = "# IR entry: @main\n# Total subgraphs: 1\nsubgraph @main() {\n"
    line = "  %{row}({name}) = {name}(%{before})\n      # Scope: ({name}/x)\n"
    lines = [line.format(row=row, name=name, before=max(row - 1, 0)) for row, name in enumerate(names)]
    graph = read_ir((head + "".join(lines) + f"  Return(%{len(names) - 1})\n}}\n").encode())
    assert graph.nodes["name"].tolist() == names
    assert graph.nodes["type"].tolist() == [name.removeprefix("PrimFunc_") for name in names]
    assert graph.nodes["scope"].tolist() == [f"{name}/x" for name in names]
    texts = data.draw(st.lists(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\\\r")), max_size=5))
    quoted = [text.replace('"', '\\"') for text in texts]
    drawn = read_dot(("digraph g {" + "".join(f'n{row} [label="{text}"]; ' for row, text in enumerate(quoted)) + "}").encode())
    shown = [text or f"n{row}" for row, text in enumerate(texts)]
    assert drawn.nodes["name"].tolist() == shown


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("F(%0, %1)", (["%0", "%1"], "")),
        ("F() {a: 1}", ([], " {a: 1}")),
        ("F[x]{y: (1, 2)}(%0, (1, 2), \"a, b)\") rest", (["%0", "(1, 2)", '"a, b)"'], " rest")),
        ("F(%0, Tensor(shape=[2], value=[1, 2])", (["%0", "Tensor(shape=[2], value=[1, 2])"], "")),
        ("nothing", ([], "")),
    ],
)
def test_arguments(text: str, wanted: tuple[list[str], str]) -> None:
    assert arguments(text) == wanted


def test_types() -> None:
    assert value_type("<Tensor[Float32], (8, 1, 32, 32)>") == ("Tensor[Float32]", "8x1x32x32")
    assert value_type("<Tensor[Float32], ()>") == ("Tensor[Float32]", "[]")
    assert value_type("<Tensor[Float32], (-1, 8)>") == ("Tensor[Float32]", "-1x8")
    assert value_type("<null>") == ("", "")
    assert result_type(": (<UMonad, NoShape>) -> (<Tuple[Int64*2], TupleShape((8, 2), NoShape)>)") == (
        "Tuple[Int64*2]", "(8x2, ?)",
    )  # fmt: skip
    assert [constant_type(text) for text in ("I64(3)", "Bool(1)", '"x"', "UMonad[U]", "F32(1)", "@f")] == [
        "Int64", "Bool", "String", "UMonad", "Float32", "",
    ]  # fmt: skip


@given(st.text('"()[]{}<>, ab-', max_size=60))
def test_splitting_loses_nothing_but_commas_and_spaces(text: str) -> None:
    parts, end = split(text, 0)
    assert 0 <= end <= len(text)
    kept = "".join(parts)
    assert [c for c in kept if c not in ", )]}>"] == [c for c in text[:end] if c not in ", )]}>"]


def test_lines_of_the_program() -> None:
    from parsers.graphs.sources import source_line

    assert source_line("# In file /a b/n.py:93~106, 4~16/    def construct(self, x):/") == SourceLine(
        "/a b/n.py", 93, 106, "def construct(self, x):"
    )
    assert source_line("In file /n.py(96)/        x = 1/") == SourceLine("/n.py", 96, 96, "x = 1")
    assert source_line("what else") == SourceLine("", 0, 0, "what else")


def test_edges_of_tables_that_list_parameters_are_skipped() -> None:
    graph = read_dot(b"digraph mindspore {\nparameters_1 -> a:1\na -> parameters_1\na -> b\n}")
    assert list(graph.nodes["name"]) == ["a", "b"]
    assert graph.edges[["source", "target"]].to_numpy().tolist() == [[0, 1]]


@pytest.mark.parametrize("text", ["a[" + "b," * 10_500 + "]", "a[b]\n" * 10_500, "a[b]" + "a[" + "c=1," * 20_000 + "]"])
def test_the_attributes_of_a_node_are_limited_and_that_is_said(text: str) -> None:
    graph = read_dot(f"digraph g {{ {text} z[label=last] }}".encode())
    shown = graph.attributes(0)
    assert len(shown) == 10_001
    assert shown["…"] == "only the first 10,000 attributes are shown"
    assert list(shown)[:2] == ["id", "b"]
    assert graph.attributes(1)["label"] == "last"


def test_a_dot_of_others() -> None:
    graph = read_dot(
        b'strict digraph "a b" { // c\n node [shape=box]; a -> b:n -> "c\\"d" [style=dashed];\n'
        b'subgraph cluster_1 { label="L1"; x [label=<<b>hi</b> &lt;x&gt;>]; subgraph cluster_2 {label=L2 y} }\n'
        b"x->a; z }"
    )
    assert graph.nodes["full_name"].tolist() == ["L1/hi <x>", "L1/L2/y", "z", "a", "b", 'c"d']
    assert graph.edges["kind"].tolist() == ["data", "control", "control"]
    assert graph.title == "a b"
    assert not graph.problems
    assert read_dot(b"digraph { a -> b").problems


def test_golden_frames_of_two_texts() -> None:
    graph = read_ir((DATA / "00_bootstrap_0000.ir").read_bytes())
    space = "NameSpace[Entry: 'mindspore.nn.wrap.cell_wrapper.TrainOneStepCell.construct']"
    symbol = "mindspore.nn.wrap.cell_wrapper.TrainOneStepCell.construct"
    assert graph.nodes[["name", "full_name", "type", "kind"]].to_numpy().tolist() == [
        ["CNode_1", "Default/resolve-op0", "resolve", "operator"],
        ["CNode_2", "Default/DoUnpackCall-op0", "DoUnpackCall", "operator"],
        ["inputs", "inputs", "Parameter", "parameter"],
        *([name, name, "Const", "constant"] for name in (space, symbol)),
    ]
    assert graph.edges[["source", "target", "input"]].to_numpy().tolist() == [[3, 0, 0], [4, 0, 1], [0, 1, 0], [2, 1, 1]]
    assert (graph.outputs, graph.title) == ((1,), "mindspore_nn_wrap_cell_wrapper_TrainOneStepCell_construct_4")
    drawn = read_dot((DATA / "00_bootstrap_0001.dot").read_bytes())
    assert drawn.nodes[["name", "type", "kind"]].to_numpy().tolist() == [
        ["CNode_5", "Return", "operator"], ["CNode_2", "DoUnpackCall", "operator"], ["CNode_1", "resolve", "operator"],
        ["Return", "Primitive", "constant"], ["DoUnpackCall", "Primitive", "constant"],
        ["Parameter_3", "Parameter", "parameter"], ["resolve", "Primitive", "constant"],
        ["Entry: 'mindspore.nn.wrap.cell_wrapper.TrainOneStepCell.construct'", "NameSpace", "constant"],
        [symbol, "Symbol", "constant"],
    ]  # fmt: skip
    assert drawn.edges[["source", "target", "input"]].to_numpy().tolist() == [
        [3, 0, 0], [1, 0, 1], [4, 1, 0], [2, 1, 1], [5, 1, 2], [6, 2, 0], [7, 2, 1], [8, 2, 2],
    ]  # fmt: skip


SLOW = (
    b"/* ", b'"\\"', b"<td>", b"<", b"n [label=<<table bgcolor='cornsilk'><td>", b"a:b->", b"subgraph x { a%d", b"[", b"a=",
    b"\\\n",
)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("piece", SLOW)
def test_a_dot_made_to_be_slow_ends(piece: bytes) -> None:
    pieces = [piece.replace(b"%d", b"%d " % number) for number in range(20_000)]
    read_dot(b"digraph mindspore {" + b"".join(pieces))


@pytest.mark.parametrize("piece", [b"$(@a:", b"(", b'"', b"%0(a", b"[{<", b", ", b") = "])
def test_an_ir_text_made_to_be_slow_ends(piece: bytes) -> None:
    read_ir(b"# IR entry: @m\nsubgraph @m() {\n  %0(a) = F(" + piece * 20_000 + b"\n  Return(" + piece * 20_000)
