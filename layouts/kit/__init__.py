"""What every page may use and no subject owns."""
