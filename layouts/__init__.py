"""Frames to figures and pages."""
