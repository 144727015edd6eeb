"""A figure that several pages show is computed in one place: what reads its columns elsewhere is found in the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WHERE = {
    "total_ns": (
        "advice/cluster", "advice/host", "advice/kernels", "advice/launching", "advice/operators", "advice/packets",
        "advice/pipeline", "advice/shapes", "advice/steps", "bubble", "efficiency/kernels", "efficiency/measured",
        "efficiency/roofline", "limiting", "memory/growth", "operator_shapes", "operator_times", "preparation",
        "rank_table", "replay/recording", "runs/probes/profiles", "runs/probes/two_runs", "shape_tables", "shape_times",
        "stage_operators", "steps", "waiting", "warm_up", "who_is_slow",
    ),
    "least_bytes": ("advice/memory",),
    "bubble_ns": ("waiting",),
    "computing_ns": (
        "advice/cluster", "advice/stages", "limiting", "rank_operators/tables", "rank_table", "replay/recording",
        "stage_operators", "steps", "waiting",
    ),
    "allocated_bytes": ("advice/memory", "memory_snapshots/exhaustion", "memory_snapshots/profile"),
    "reserved_bytes": ("advice/memory", "memory/modules", "memory_snapshots/exhaustion", "memory_snapshots/profile"),
    "own_bubble_ns": ("advice/cluster", "bubble", "limiting", "rank_table", "step_parts", "two_jobs", "waiting"),
    "free_ns": (
        "advice/launching", "advice/steps", "limiting", "rank_table", "replay/recording", "stage_operators", "waiting", "steps",
    ),
    "exposed_ns": ("advice/cluster", "advice/steps", "limiting", "steps"),
    "lateness_ns": (
        "advice/cluster", "limiting", "rank_table", "ranks_by_step", "stragglers", "traffic", "who_is_slow",
    ),
    "own_wait_ns": ("dimensions", "ranks_by_step", "traffic", "transfer", "two_jobs"),
    "transit_ns": ("advice/packets", "advice/steps", "lateness", "traffic", "transfer"),
    "peak_allocated_bytes": ("advice/memory", "held_memory", "rank_operators/tables"),
    "peak_reserved_bytes": ("advice/memory", "held_memory"),
    "peak_process_bytes": ("held_memory",),
}  # fmt: skip
"""Columns of frames -> the modules of parsers/analysis that make figures of them, which test_agreement.py compares. A new one
belongs here and in a test there, or, better, calls one of these. total_ns is the time of operators, too."""
SHOWN = frozenset({*WHERE, "own_bubble_ns", "total_ns", "wait_ns", "idle_ns", "pp", "stage"})
"""Columns of which pages and routes make no figure: they call what does."""
REDUCED = frozenset((
    "mean", "sum", "median", "max", "min", "nanmean", "nansum", "nanmedian", "nanmax", "nanmin", "average", "quantile",
    "percentile", "fsum", "bincount", "polyfit", "nunique", "agg", "idxmax", "argmax", "cumsum", "maximum", "minimum", "unique",
))  # fmt: skip
"""Functions that make one number of many."""
FITTED = re.compile(r"polyfit|linregress|lstsq|kendall|theil", re.IGNORECASE)
"""Functions that fit a line, or test for a trend."""
DRAWN = frozenset((
    "layouts/jobs/cluster/bars.py _x_axis", "layouts/jobs/cluster/rows.py _together", "layouts/jobs/job/what_if.py drawn",
    "layouts/jobs/communication/figures.py parts_of", "layouts/jobs/pipeline/page.py said",
    "layouts/jobs/pipeline/story.py bubble", "layouts/jobs/pipeline/tables.py times",
    "layouts/jobs/pipeline/tables.py _row", "layouts/profiles/idling.py _calls",
    "layouts/profiles/operators/compare.py _totals", "layouts/profiles/operators/compare.py changes",
    "layouts/profiles/operators/page.py _sums", "layouts/profiles/operators/rooflines.py figure",
    "layouts/profiles/preparation/feeding.py times", "layouts/profiles/profile_overview/summary.py operators_card",
    "layouts/profiles/shapes/figures.py by_step", "layouts/profiles/shapes/tables.py head",
))  # fmt: skip
"""Functions of pages that read such columns and reduce something: ends of an axis, bars, sums over operators of a table or rows
of a page, whose values test_agreement.py compares or no other page has."""
LAST = frozenset((
    "layouts/curves/curve_alternatives.py", "layouts/kit/figures/alternatives.py", "layouts/kit/state.py",
    "layouts/profiles/memory/curve.py", "layouts/values/landscape/drawing.py", "app/conversion/folding.py",
    "app/tuning/results.py", "parsers/analysis/curves/final_values.py", "parsers/analysis/curves/groups.py",
    "parsers/analysis/profiles/memory/modules.py", "parsers/analysis/values/landscapes.py",
))  # fmt: skip
"""Modules that take the last of some values: of a curve `final_values`, of others ends of axes, lists of a request, parts."""
LEAKS = frozenset(("parsers/analysis/profiles/memory/leaks.py", "parsers/analysis/jobs/advice/packets.py"))
"""Modules of jobs and profiles that fit a line: the growth of memory, and times of packets by their size."""


def modules(*packages: str, having: re.Pattern[str]) -> Iterator[tuple[str, ast.Module]]:
    """Yield path and tree of each module of the packages that has such a text, without those that simulate the demo."""
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            name, text = path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
            if not name.startswith("app/demo/") and having.search(text):
                yield name, ast.parse(text)


def called(node: ast.AST) -> set[str]:
    """Return the names of the functions that are called below a node, without what they are attributes of."""
    found = (one.func for one in ast.walk(node) if isinstance(one, ast.Call))
    known = [one for one in found if isinstance(one, ast.Attribute | ast.Name)]
    return {one.attr if isinstance(one, ast.Attribute) else one.id for one in known}


def columns(node: ast.AST) -> set[str]:
    """Return the texts and attributes below a node."""
    texts = {one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)}
    return texts | {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}


def reducing(trees: Iterable[tuple[str, ast.AST]]) -> set[str]:
    """Return the functions that read a column of `SHOWN` and reduce something."""
    return {
        f"{name} {one.name}" for name, tree in trees for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef) and columns(one) & SHOWN and called(one) & REDUCED
    }  # fmt: skip


def taking_the_last(trees: Iterable[tuple[str, ast.AST]]) -> set[str]:
    """Return the modules that take the last of what is called value or values."""
    def is_last(one: ast.AST) -> bool:
        if not isinstance(one, ast.Subscript) or not isinstance(one.slice, ast.UnaryOp) or ast.unparse(one.slice) != "-1":
            return False
        names = {part.id for part in ast.walk(one.value) if isinstance(part, ast.Name)}
        return bool((names | columns(one.value)) & {"value", "values"})

    return {name for name, tree in trees if any(is_last(one) for one in ast.walk(tree))}


def fitting(trees: Iterable[tuple[str, ast.AST]]) -> set[str]:
    """Return the modules that fit a line, or test for a trend."""
    return {name for name, tree in trees if FITTED.search(ast.unparse(tree))}


@pytest.mark.parametrize("column", WHERE)
def test_figures_of_a_column_are_made_in_modules_that_are_compared(column: str) -> None:
    named = re.compile(rf"\"{column}\"|\.{column}\b")
    folder = ROOT / "parsers" / "analysis"
    found = {path.relative_to(folder) for path in folder.rglob("*.py") if named.search(path.read_text("utf-8"))}
    assert {str(path.with_suffix("")).removeprefix("jobs/").removeprefix("profiles/") for path in found} == set(WHERE[column])


def test_pages_and_routes_make_no_figures_of_steps_operations_and_memory() -> None:
    named = re.compile(rf"[\"'.](?:{'|'.join(SHOWN)})\b")
    assert reducing(modules("layouts", "app", having=named)) == DRAWN


def test_last_values_are_taken_in_one_place() -> None:
    assert taking_the_last(modules("layouts", "app", "parsers/analysis", having=re.compile(r"\[-1\]"))) == LAST


def test_leaks_are_judged_in_one_place() -> None:
    packages = ("layouts/jobs", "layouts/profiles", "app/routes", "parsers/analysis/jobs", "parsers/analysis/profiles")
    assert fitting(modules(*packages, having=FITTED)) == LEAKS


MUTANTS = {
    "bubble": "return float(np.nanmean(steps['own_bubble_ns'] / steps['total_ns']))",
    "step time": "took = steps['total_ns'].to_numpy()\n    return np.median(took[1:])",
    "idle time": "return steps.free_ns.sum() / 1e6",
    "exposed communication": "values = steps['exposed_ns']\n    return values.mean()",
    "transit": "return np.sum(collectives['transit_ns'])",
    "lateness": "return collectives.groupby('rank')['lateness_ns'].agg('sum')",
    "peak": "return max(memory['allocated_bytes'])",
    "peak of ranks": "return ranks['peak_reserved_bytes'].max()",
    "number of stages": "return steps['pp'].nunique()",
    "number of stages by files": "return int(max(stages['stage'])) + 1",
}  # fmt: skip
"""Figures of the list, computed by a page on its own."""


@pytest.mark.parametrize("figure", MUTANTS)
def test_a_page_that_computes_a_figure_on_its_own_is_found(figure: str) -> None:
    mutant = ast.parse(f"def mutant(steps, collectives, memory, ranks, stages):\n    {MUTANTS[figure]}\n")
    assert reducing([("page.py", mutant)]) == {"page.py mutant"}


@pytest.mark.parametrize("line", ["series.value[-1]", "values[np.isfinite(values)][-1]", "run.series(tag).value[kept][-1]"])
def test_a_last_value_of_its_own_is_found(line: str) -> None:
    assert taking_the_last([("page.py", ast.parse(line))]) == {"page.py"}


@pytest.mark.parametrize("line", ["np.polyfit(steps, minima, 1)[0]", "stats.kendalltau(steps, minima)", "theil_sen(minima)"])
def test_a_leak_of_its_own_is_found(line: str) -> None:
    assert fitting([("page.py", ast.parse(line))]) == {"page.py"}
