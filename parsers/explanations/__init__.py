"""Reads what an explainer recorded of images: predictions, heat maps, counterfactuals, and scores of the explainers."""
