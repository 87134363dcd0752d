"""Contexts: partitions of statements that begin and end with events and time."""
