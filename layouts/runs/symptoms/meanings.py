"""Which symptom explains an insight or a piece of advice: "What does this mean?" of the pages that show them.

A table, so that those pages do not import all symptoms; a test holds that each symptom named asks for the rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from layouts.kit.links import page_link

OF_INSIGHTS: Mapping[str, str] = MappingProxyType({
    "non_finite": "not_a_number", "divergence": "stops_learning", "unmoved": "no_learning",
    "overfitting": "worse_on_validation", "frozen": "stops_learning", "stall": "slower_than_before",
    "spike": "stops_learning", "shift": "stops_learning",
    "oscillation": "fluctuates", "noisier": "fluctuates", "slower": "slower_than_before", "speed": "slower_than_before",
    "plateau": "stops_learning", "gap": "fluctuates",
})  # fmt: skip
"""Kind of an insight -> symptom."""
OF_ADVICE: Mapping[str, str] = MappingProxyType({
    "interval": "long_interval", "fetching": "long_interval", "empty": "long_interval", "queue_use": "long_interval",
    "cpu": "long_interval", "idle": "device_gaps", "gaps": "device_gaps", "synchronising": "device_gaps",
    "launching": "device_gaps", "pageable": "device_gaps", "ai_cpu": "long_computing", "short_kernels": "long_computing",
    "float32": "long_computing", "shapes": "long_computing", "communication": "long_communication",
    "slow_link": "long_communication", "small_packets": "long_communication", "alignment": "long_communication",
    "retransmission": "long_communication", "contention": "long_communication", "slow_rank": "slow_cluster",
    "bubble": "model_parallel", "stages": "model_parallel", "memory": "out_of_memory", "leak": "out_of_memory",
})  # fmt: skip
"""Rule of the advice -> symptom."""
OF_CAUSES = "not_a_number"
"""The symptom that the page of the first cause belongs to."""


def meaning_link(symptom: str, run: str) -> Mapping[str, Any]:
    """Return the attributes of a link to a symptom of a run."""
    return page_link("guides", run, [("symptom", symptom)])
