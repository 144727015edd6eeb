"""What the pages about explanations of models share."""
