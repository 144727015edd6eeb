"""Readers of device memory: what was in use over time, by which block, by component, and as planned."""
