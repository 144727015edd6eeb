"""The kinds of files from which only frames of jobs are read (`parsers.profiler.ranks`).

`communication_matrix.json` and the legacy `hccl_raw_<rank>.csv` and
`<device>_cluster_analyse_<mode>_<stages>_<ranks>_<rank>.csv` are of one rank. Those of `cluster_analysis_output`, written by
msprof-analyze and MindStudio Insight, are of all ranks of a job.
"""

from __future__ import annotations

import re

from parsers.profiler.frame_parts import ProfileFileKind, numbered

MATRIX = ProfileFileKind("communication_matrix", numbered("communication_matrix", "json"))
HCCL_RAW = ProfileFileKind("hccl_raw", numbered("hccl_raw"), marks_profile=True)
CLUSTER_ANALYSE = ProfileFileKind(
    "cluster_analyse",
    re.compile(r"(?:ascend|gpu)_cluster_analyse_[a-z-]+_\d{1,9}_\d{1,9}_(?P<rank>\d{1,9})\.csv"),
    marks_profile=True,
    shown="ascend_cluster_analyse_pipeline-parallel_2_8_*.csv",
)
CLUSTER_STEPS = ProfileFileKind("cluster_steps", re.compile(r"cluster_step_trace_time\.csv"), marks_profile=True, of_job=True)
CLUSTER_COMMUNICATION = ProfileFileKind(
    "cluster_communication", re.compile(r"cluster_communication\.json"), marks_profile=True, of_job=True
)
CLUSTER_MATRIX = ProfileFileKind(
    "cluster_matrix", re.compile(r"cluster_communication_matrix\.json"), marks_profile=True, of_job=True
)
CLUSTER_GROUPS = ProfileFileKind("cluster_groups", re.compile(r"communication_group\.json"), of_job=True)
CLUSTER_DATABASE = ProfileFileKind("cluster_database", re.compile(r"cluster_analysis\.db"), marks_profile=True, of_job=True)

JOB_FILES = (
    MATRIX, HCCL_RAW, CLUSTER_ANALYSE, CLUSTER_STEPS, CLUSTER_COMMUNICATION, CLUSTER_MATRIX, CLUSTER_GROUPS, CLUSTER_DATABASE,
)  # fmt: skip
