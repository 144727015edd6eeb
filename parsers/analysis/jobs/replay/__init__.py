"""Savings by replay: what a job's steps would take if one thing were different, from the order in which its work depends.

`graph_of` makes a graph of the frames of a job; `replayed` is the longest path through it after a `JobChange`; `what_ifs` are
the changes that are worth asking for. The unchanged replay is the recording, so a saving is the difference of two replays.
"""

from __future__ import annotations
