"""Scalar series: their lines, groups of runs, derived curves and insights."""
