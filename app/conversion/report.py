"""Writes the report of a conversion: JSON with all facts, and the three files of mindconverter."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import onnx

import app
from app.conversion import frames
from app.conversion.naming import comment

if TYPE_CHECKING:
    from app.conversion.check_result import ConversionComparison
    from app.conversion.converting import Conversion

VERSION = 1


def facts(conversion: Conversion, check: ConversionComparison | None = None) -> dict[str, Any]:
    """Return all facts of the report, as plain values."""
    model, rows = conversion.model, frames.node_rows(conversion)
    counts = Counter(row["state"] for row in rows)
    return {
        "format": "mindscope conversion", "version": VERSION, "model": conversion.name,
        "source": {"file": model.path.replace("\\", "/").rpartition("/")[2], "opset": model.opset,
                   "producer": model.proto.producer_name,
                   "inputs": [_value(conversion, name) for name in model.inputs],
                   "outputs": [_value(conversion, name) for name in model.outputs]},
        "versions": {"mindscope": app.__version__, "onnx": onnx.__version__},
        "script": f"{conversion.name}.py", "weights_file": conversion.weight_file,
        "counts": {state: counts[state] for state in (frames.CONVERTED, frames.FOLDED, frames.MARKED)},
        "nodes": rows, "weights": frames.weight_rows(conversion.script.parameters, model.weights),
        "unused": frames.unused(model),
        "check": check.facts() if check else {"state": "not checked", "reason": "the option --check was not given"},
    }  # fmt: skip


def _value(conversion: Conversion, name: str) -> dict[str, Any]:
    known = conversion.model.types.get(name)
    shape = None if known is None or known.shape is None else list(known.shape)
    return {"name": name, "dtype": known.dtype if known else "", "shape": shape}


def report_json(conversion: Conversion, check: ConversionComparison | None = None) -> str:
    """Return `conversion_of_MODEL.json`."""
    return json.dumps(facts(conversion, check), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def report_text(conversion: Conversion) -> str:
    """Return `report_of_MODEL.txt` as mindconverter writes it: marked nodes by line, then the share that is converted."""
    lines = ["[Start Convert]"]
    for row in frames.node_rows(conversion):
        if row["state"] == frames.MARKED:
            operator = f"'onnx::{comment(row['operator'])}'"
            lines += [f"line {row['first_line']}:0: [UnConvert] {operator} didn't convert. {row['message']}"]
    lines.append("[Convert Over]")
    total = len(conversion.emissions) + len(conversion.folded)
    share = 1 - len(conversion.script.refusals) / total if total else 1.0
    return "\n".join([*lines, f"Converted Rate: {share:.2%}."]) + "\n"


def weight_map(conversion: Conversion) -> str:
    """Return `weight_map_of_MODEL.json` as mindconverter writes it."""
    entries = [
        {"converted_weight": {"name": row["parameter"], "shape": row["shape"], "data_type": row["dtype"]},
         "source_weight": {"name": row["source"], "shape": row["source_shape"], "data_type": row["source_dtype"]}}
        for row in frames.weight_rows(conversion.script.parameters, conversion.model.weights) if row["source"]
    ]  # fmt: skip
    return json.dumps({conversion.name: entries}, indent=1, ensure_ascii=False) + "\n"


def operator_csv(conversion: Conversion) -> str:
    """Return `operator_scanning_report.csv`: operators, how many, and whether all of them are converted."""
    rows = frames.node_rows(conversion)
    counts = Counter(row["operator"] for row in rows)
    marked = {row["operator"] for row in rows if row["state"] == frames.MARKED}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("operator_name", "count", "status"))
    for name, count in counts.most_common():
        writer.writerow((_cell(comment(name)), count, "unsupported" if name in marked else "supported"))
    return out.getvalue()


def _cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in "=+-@" and text else text
