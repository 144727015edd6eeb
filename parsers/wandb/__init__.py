"""Reads what Weights & Biases keeps of a run that is not, or not yet, on its server: run-<id>.wandb."""
