"""Traces: what ran when, on every track of a rank."""
