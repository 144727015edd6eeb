"""Trains small networks on scikit-learn's digits with numpy and records the runs of the demo: `python -m tests.writers.digits`."""
