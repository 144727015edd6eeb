"""Benchmarks of the figures that the README promises, and of peers if they are installed. They never fail a build."""
