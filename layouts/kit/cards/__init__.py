"""What pages with one card per tag share."""
