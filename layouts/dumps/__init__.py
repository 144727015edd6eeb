"""What the pages about dumps of tensors share."""
