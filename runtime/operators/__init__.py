"""Pieces of statements that are not a subject of their own."""
