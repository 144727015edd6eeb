"""Units are written by layouts/kit/units.py and assets/kit/units.js alone: a formatter elsewhere fails here.

Texts of parsers and of the terminal have whole numbers only, as f"{n:,}" writes them; they do not import pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
UNIT = r"(?:%|[KMGT]iB|[kMGT]B(?:/s)?|B|ns|µs|ms|s|[MGT]?FLOP[sS]?(?:/s)?)"
PYTHON = re.compile(
    rf"""\{{[^{{}}"]*:,?\.?\d*[fgde]\}}\ ?{UNIT}(?![\w;])   # f"{{value:.1f}} ms"
    | :,?\.\d+%(?:\}}|"\.format)                          # f"{{share:.1%}}"
    | \bnumber\([^\n]*(?:\b100(?:\.0)?\ \*|\*\ 100(?:\.0)?\b)
    | "[KMGT]iB",?\ ?(?:\(?1024|1\ ?<<|\d+\))             # tables of units
    | (?:1024|1\ <<\ \d0)[^\n]{{0,12}}"[KMGT]iB" """,
    re.VERBOSE,
)
SCRIPT = re.compile(
    rf"""\.(?:toFixed|toPrecision|toExponential)\(
    | \.toLocaleString\("en"
    | Intl\.NumberFormat
    | (?<!translate\()`[^`\n]*\}}\ {UNIT}`""",
    re.VERBOSE,
)
CSS = re.compile(r'(?:width|height|left|top|right|--[\w-]+)["\']?\]?: ?f?"|style=')
ALLOWED = {
    "app/commands/gate_reports.py": "lines of a terminal; a gate does not import pages",
    "app/commands/hooks.py": "repeats a setting as it was typed",
    "app/saving/saving.py": "repeats a setting as it was typed",
    "app/conversion/report.py": "the form of mindconverter's own report",
    "app/tuning/lines.py": "lines of a terminal and a log; a search does not import pages",
    "app/tuning/trials.py": "repeats a setting as it was typed",
    "assets/graphs/camera.js": "a place in the address",
    "assets/kit/cards/lines.js": "values of curves",
    "assets/lineage/brushes.js": "a value in the address",
    "assets/jobs/communication/page.js": "cells of a matrix, which share one unit",
    "assets/explanations/counterfactual/numbers.js": "probabilities",
    "assets/dumps/debugger/watch_form.js": "repeats a setting as it was typed",
    "assets/dumps/debugger/display_names.js": "values of tensors",
    "assets/values/histograms/zoom.js": "a value in the address",
    "assets/profiles/operators/page.js": "numbers of columns, whose unit is in the head",
    "assets/lineage/optimisation/fitting.js": "the R² of a fit",
    "assets/lineage/optimisation/table.js": "correlations, and widths of bars",
    "assets/jobs/pipeline/bands.js": "ticks of an axis",
    "assets/explanations/saliency/cells.js": "probabilities, rounded outwards as mindspore-xai does",
    "assets/explanations/saliency/large.js": "values of a map",
    "assets/curves/scalars/zoom.js": "a value in the address",
    "assets/jobs/strategy/page.js": "cells of a grid, which share one unit",
    "assets/explanations/uncertainty/selection.js": "a value in the address",
    "assets/profiles/axis.js": "ticks of an axis",
    "assets/kit/tensor_grid/numbers.js": "values of tensors",
    "assets/kit/tensor_grid/table.js": "a style",
    "assets/profiles/memory/tiles.js": "a style",
}
"""File -> why it may format numbers by itself."""
RAISES = re.compile(r"\braise\b|Error\(|UnfitOrder\(|InvalidInput\(|BadInput\(")


def found_in(path: Path) -> Iterator[str]:
    pattern = PYTHON if path.suffix == ".py" else SCRIPT
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        code = line.partition("  # ")[0] if path.suffix == ".py" else line.partition("// ")[0]
        if pattern.search(code) and not CSS.search(code) and not RAISES.search(code):
            yield f"{path.relative_to(ROOT)}:{number}: {line.strip()}"


def sources() -> Iterator[Path]:
    for folder, pattern in (("layouts", "*.py"), ("app", "*.py"), ("assets", "*.js")):
        for path in sorted((ROOT / folder).rglob(pattern)):
            if "vendor" not in path.parts and path.parts[-2:] not in {("kit", "units.py"), ("kit", "units.js")}:
                yield path


def test_only_the_kit_formats_units() -> None:
    bad = {str(path.relative_to(ROOT)): list(found_in(path)) for path in sources()}
    private = [line for name, lines in bad.items() if name not in ALLOWED for line in lines]
    assert private == []
    assert [name for name in ALLOWED if not bad.get(name)] == [], "on the list, but without a formatter"


@pytest.mark.parametrize(
    "line",
    ['text = f"{100 * share:.1f} %"', 'text = f"{share:.0%}"', 'text = "{:.1%}".format', 'text = f"{size / scale:,.1f} MiB"',
     'text = f"{fmt.number(100.0 * share, 2)} %"', 'UNITS = (("GiB", 1 << 30),)', 'UNITS = ((1 << 30, "GiB"),)'],
)  # fmt: skip
def test_private_formatters_of_python_are_found(line: str) -> None:
    assert PYTHON.search(line)


@pytest.mark.parametrize(
    "line",
    ["return `${Math.round(share * 100)} %`;", "value.toFixed(1)", "Number(value.toPrecision(3))", 'n.toLocaleString("en")',
     "new Intl.NumberFormat()", "return `${ns / 1e6} ms`;"],
)  # fmt: skip
def test_private_formatters_of_scripts_are_found(line: str) -> None:
    assert SCRIPT.search(line)
