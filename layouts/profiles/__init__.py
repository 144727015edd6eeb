"""What the pages about profiles share: the choice of a profile (catalogue, choice) and the body around each page (body)."""
