"""What is recorded by step and larger than a number: histograms, images, tensors, landscapes, texts."""
