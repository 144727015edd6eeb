"""Dumped tensors: operators, first causes, comparison, watchpoints."""
