"""What every run is made of."""
