"""Contexts: declarations, and what they ask of the statements that name them."""
