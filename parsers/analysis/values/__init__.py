"""Histograms and tensors: statistics, distributions, comparison."""
