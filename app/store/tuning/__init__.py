"""What the store reads and keeps of studies."""
