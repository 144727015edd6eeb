"""Reads runs of MLflow: directories of small text files, and databases."""
