"""Graphs of every format as one class: nodes and edges as frames, attributes and source lines on demand."""
