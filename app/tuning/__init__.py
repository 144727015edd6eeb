"""Hyper-parameter search on Optuna: trials as processes, followed by their event files. Started by `mindscope tune` only."""
