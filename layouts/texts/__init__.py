"""The catalogue of the interface's texts, one module per part of it: TEXTS = {key: (English, Chinese)}."""
