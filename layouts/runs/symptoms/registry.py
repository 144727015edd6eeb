"""All symptoms in the order of the guides."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from layouts.runs.symptoms import (
    device_gaps,
    first_look,
    fluctuates,
    long_communication,
    long_computing,
    long_interval,
    model_parallel,
    no_learning,
    not_a_number,
    out_of_memory,
    ranks_differ,
    slow_cluster,
    slower_than_before,
    stops_learning,
    worse_on_validation,
    worse_than_reference,
)
from layouts.runs.symptoms.model import Symptom

_MODULES = (
    not_a_number, no_learning, stops_learning, fluctuates, worse_on_validation, worse_than_reference, ranks_differ,
    first_look, long_interval, long_computing, device_gaps, long_communication, model_parallel, slow_cluster, out_of_memory,
    slower_than_before,
)  # fmt: skip
SYMPTOMS: Mapping[str, Symptom] = MappingProxyType({module.SYMPTOM.name: module.SYMPTOM for module in _MODULES})
"""Name -> symptom."""
