"""Adapters to frameworks: each is one module, which is imported where its framework is in use."""
