"""Dash components that pages are built from: props in, component out."""
