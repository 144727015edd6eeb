"""The pages about what a training run recorded."""
