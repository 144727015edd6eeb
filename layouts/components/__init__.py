"""Dash components that pages are built of: props in, component out."""
