"""Computes what the list of runs and the overview state about a run."""
