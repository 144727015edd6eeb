"""Operators of several ranks laid over each other: what each rank ran when, and which operator of one is that of another."""
