"""The table of mappings: operator of ONNX -> function."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.conversion.calls import Call

Mapping = Callable[[Call], str | Sequence[str]]
MAPPINGS: dict[str, Mapping] = {}


def maps(*operators: str) -> Callable[[Mapping], Mapping]:
    """Enter a function as the mapping of operators of the default domain."""

    def enter(mapping: Mapping) -> Mapping:
        for operator in operators:
            assert operator not in MAPPINGS, operator
            MAPPINGS[operator] = mapping
        return mapping

    return enter
