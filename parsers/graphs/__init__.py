"""Graphs of every format as one kind of object: nodes and edges as frames, attributes and source lines on demand."""
