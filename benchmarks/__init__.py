"""Measures what the product promises, beside its peers where they are installed. Not tests: nothing here fails a build."""
