"""State that several statements share."""
