"""Searches for good settings."""
