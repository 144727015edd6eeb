"""Model conversion: an ONNX model becomes a MindSpore script, its weights and a report. Used by `mindscope convert` only.

`convert(path, options)` does all of it. A model is loaded (`onnx_model`), its shapes are inferred and its shape arithmetic is
folded (`shapes`, `folding`), every node is mapped (`operators`, `joining`), and the script is written (`blocks`, `script`).
Nothing here imports MindSpore: `checking` starts an interpreter that has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.conversion.converting import Conversion, ConversionOptions, convert

__all__ = ["Conversion", "ConversionOptions", "convert"]


def __getattr__(name: str) -> Any:
    # The package `onnx` is an extra: importing a module beside this file must not need it.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from app.conversion import converting

    return getattr(converting, name)
