"""What the store reads and keeps of profiles and traces."""
