"""Trains networks on scikit-learn's digits in numpy and records the runs of the demo: `python -m tests.writers.digits`."""
