"""Drawings of computation graphs on the canvas, for the pages that have one."""
