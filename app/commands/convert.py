"""The command `convert`: an ONNX model becomes a MindSpore script, its weights and a report. The server never converts.

Exit codes: 0 everything was converted; 3 converted, with marked Cells; 1 the model cannot be read, files cannot be written, or
--check found a difference beyond tolerance; 2 bad options; 130 interrupted.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import sys
from typing import TYPE_CHECKING

from app.commands.settings import SettingError
from app.commands.terminal import printable

if TYPE_CHECKING:
    from app.conversion.check_result import ConversionComparison
    from app.conversion.converting import Conversion, ConversionOptions

MARKED = 3
"""Exit code if some nodes became marked Cells."""
_NO_ONNX = "convert needs ONNX, which is not installed: pip install 'mindscope[convert]'"
_NO_MEANING = {
    "in_file": "PyTorch scripts are not converted: export the model with torch.onnx.export",
    "project_path": "PyTorch scripts are not converted: export the model with torch.onnx.export",
}
MOST_DIMENSIONS, MOST_INPUTS = 64, 32


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command, and those of mindconverter."""
    parser.add_argument("model", metavar="MODEL.onnx", nargs="?", help="the model")
    parser.add_argument("--model_file", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--output", metavar="DIR", default="output", help="directory to write to (default: output)")
    shape = "sizes of an input that the model leaves open, for example input=1,3,224,224; may be given several times"
    parser.add_argument("--shape", metavar="NAME=SIZES", action="append", nargs="+", default=[], help=shape)
    names = "names of values, separated by commas, {} which the model is converted (default: its {})"
    parser.add_argument("--input-nodes", metavar="NAMES", nargs="+", default=[], help=names.format("from", "inputs"))
    parser.add_argument("--output-nodes", metavar="NAMES", nargs="+", default=[], help=names.format("up to", "outputs"))
    parser.add_argument("--safetensors", action="store_true", help="write weights as .safetensors, not .ckpt")
    parser.add_argument("--check", action="store_true", help="run model and script and compare every value (needs MindSpore)")
    python = "Python interpreter with MindSpore for --check (default: this one)"
    parser.add_argument("--mindspore", metavar="PYTHON", default=sys.executable, help=python)
    parser.add_argument("--report", metavar="DIR", help=argparse.SUPPRESS)
    for name in ("input_nodes", "output_nodes"):  # as mindconverter writes them
        parser.add_argument(f"--{name}", nargs="+", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    for name in _NO_MEANING:
        parser.add_argument(f"--{name}", metavar="FILE", help=argparse.SUPPRESS)


def convert(options: argparse.Namespace) -> int:
    """Convert a model and return the exit code."""
    for name, text in _NO_MEANING.items():
        if getattr(options, name) is not None:
            _say(f"--{name} has no meaning any more: {text}")
    if options.model and options.model_file:
        raise SettingError(f"--model_file: expected one model, found {options.model!r}, too")
    path = options.model or options.model_file
    if not path:
        raise SettingError("MODEL.onnx: expected a model, found none")
    if path.lower().endswith(".pb"):
        command = f"python -m tf2onnx.convert --graphdef {path} --inputs NAME:0 --outputs NAME:0 --output model.onnx"
        raise SettingError(f"{path}: expected an ONNX model; convert this one first: {command}")
    if not os.path.isfile(path):
        raise SettingError(f"MODEL.onnx: expected an existing file, found {path!r}")
    if importlib.util.find_spec("onnx") is None:
        _say(_NO_ONNX)
        return 1
    return _convert(path, options)


def _say(text: str) -> None:
    print(f"mindscope: {printable(text)}", file=sys.stderr)


def _convert(path: str, options: argparse.Namespace) -> int:
    from app.conversion import converting, output
    from app.conversion.refusals import ConversionError

    reports = options.report or options.output
    try:
        conversion = converting.convert(path, _options(path, options))
        writers = output.weight_files(conversion)
        output.refuse_existing(options.output, [*output.script_files(conversion), *writers])
        output.refuse_existing(reports, list(output.report_files(conversion, None)))
        found = _checked(conversion, options) if options.check else None
        output.write_files(options.output, {**output.script_files(conversion), **writers})
        output.write_files(reports, output.report_files(conversion, found))
    except output.OutputExistsError as error:
        raise SettingError(str(error)) from None
    except ConversionError as error:
        _say(str(error))
        return 1
    except OSError as error:
        _say(f"{error.filename or options.output}: expected a place to write to, found: {error.strerror}")
        return 1
    _summary(conversion, found, options.output)
    if found is not None and found.failed:
        return 1
    return 0 if conversion.complete else MARKED


def _options(path: str, options: argparse.Namespace) -> ConversionOptions:
    from app.conversion.converting import ConversionOptions

    texts = [text for several in options.shape for text in several]
    return ConversionOptions(
        _shapes(path, texts), _names(options.input_nodes), _names(options.output_nodes), options.safetensors
    )


def _names(texts: list[str]) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def _shapes(path: str, texts: list[str]) -> dict[str, tuple[int, ...]]:
    """Parse NAME=SIZES; sizes without a name are those of the inputs in order, as mindconverter takes them."""
    found: dict[str, tuple[int, ...]] = {}
    for place, text in enumerate(texts):
        name, equals, sizes = text.rpartition("=")
        numbers = sizes.split(",")
        if not all(re.fullmatch(r"[1-9]\d{0,9}", number.strip()) for number in numbers) or len(numbers) > MOST_DIMENSIONS:
            raise SettingError(f"--shape: expected a name and sizes such as input=1,3,224,224, found {text!r}")
        found[name if equals else _input_name(path, place)] = tuple(int(number) for number in numbers)
    if len(found) > MOST_INPUTS:
        raise SettingError(f"--shape: expected at most {MOST_INPUTS} inputs, found {len(found)}")
    return found


def _input_name(path: str, place: int) -> str:
    from app.conversion.onnx_model import load

    names = load(path).inputs
    if place >= len(names):
        raise SettingError(f"--shape: expected at most {len(names)} shapes, one per input, found more")
    return names[place]


def _checked(conversion: Conversion, options: argparse.Namespace) -> ConversionComparison:
    from app.conversion.checking import check

    return check(conversion, options.mindspore)


def _summary(conversion: Conversion, found: ConversionComparison | None, directory: str) -> None:
    total = len(conversion.emissions) + len(conversion.folded)
    marked = conversion.script.refusals
    print(f"{total - len(marked)} of {total} nodes converted: {printable(os.path.join(directory, conversion.name))}.py")
    for message in marked.values():
        print(f"not converted: {printable(message)}")
    if found is None:
        return
    first = found.first_beyond
    if found.state != "checked":
        print(f"not checked: {printable(found.reason)}")
        return
    largest = max((row["largest"] or 0.0 for row in found.rows), default=0.0)
    print(f"checked on the CPU: {len(found.rows)} values, largest difference {largest:.2g}")
    if found.reason:
        print(f"{printable(found.reason)}{': ' + printable(found.error) if found.error else ''}")
    if first:
        print(f"first beyond tolerance: {printable(first['value'])} of node {first['node']}, {first['largest']}")
